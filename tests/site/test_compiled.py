"""Templates that are compiled by another process or kept of another build: the same templates, only sooner."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest
from harness.handbooks import make_handbook
from harness.project import until
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files

from capture import store
from capture.site import compiled, helper
from capture.site.model import templates


@pytest.fixture
def config(tmp_path: Path) -> MkDocsConfig:
    """The settings of a handbook with Material."""
    return load_config(str(make_handbook(tmp_path, pages={"index.md": "# Start\n"}).root / "mkdocs.yml"))


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[store.Cache]:
    """A cache that holds nothing yet, and our own templates as if none was compiled."""
    templates.environment.cache_clear()
    with store.Cache(tmp_path / "other", "templates") as found:
        templates.environment().bytecode_cache = compiled.Bytecode(found)
        yield found
    templates.environment.cache_clear()


@pytest.fixture
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were a CPU for another process, and none of the other tests had left a thread."""
    monkeypatch.setattr(helper, "possible", lambda count: count > 0)


def of_theme(config: MkDocsConfig) -> list[str]:
    """Return the files that MkDocs takes from the theme."""
    found = Files([])
    found.add_files_from_theme(config.theme.get_env(), config)
    return [file.src_uri for file in found]


def test_a_theme_gives_the_same_files(config: MkDocsConfig, cache: store.Cache) -> None:
    """Icons are not walked through, and nothing that MkDocs would copy is missing; icons can be used all the same."""
    plain = of_theme(config)
    icons = len(config.theme.get_env().list_templates())
    compiled.quicken(config.theme, cache)
    env = config.theme.get_env()
    assert of_theme(config) == plain != []
    assert len(env.list_templates()) < icons / 10
    assert env.get_template(".icons/material/account.svg").render().startswith("<svg")


def test_what_a_template_names_is_found(config: MkDocsConfig) -> None:
    """What it extends, also as one of two, and all that those include; a name that leads nowhere is passed over."""
    found = list(compiled.closure(config.theme.get_env(), ["main.html", "nowhere.html"]))
    assert {"main.html", "base.html", "partials/nav.html", "partials/nav-item.html"} <= set(found)
    assert "nowhere.html" not in found
    assert len(found) == len(set(found))


@pytest.mark.usefixtures("two_cpus")
def test_another_process_compiles(config: MkDocsConfig, cache: store.Cache) -> None:
    """What it made is taken over, ours first; then no template of either is compiled here."""
    compiled.quicken(config.theme, cache)
    ahead = compiled.Ahead(cache, config.theme.get_env())
    one = ahead.helper
    assert one
    until(lambda: one.state(0)[0] != helper.FREE, "both are begun")
    ahead.take(1)
    ours = set(cache.used)
    assert len(ours) == len(templates.environment().list_templates())
    ahead.take(0)
    ahead.close()
    env = config.theme.get_env()
    assert len(cache.used) > len(ours) + 20
    known = dict(cache.used)
    for name in ("main.html", "base.html", "partials/nav.html", "404.html"):
        env.get_template(name)
    assert dict(cache.used) == known


@pytest.mark.usefixtures("two_cpus")
def test_a_process_that_dies_is_done_without(config: MkDocsConfig, cache: store.Cache) -> None:
    """Nothing is taken over, and the templates are compiled here."""
    compiled.quicken(config.theme, cache)
    ahead = compiled.Ahead(cache, config.theme.get_env())
    assert ahead.helper
    os.kill(ahead.helper.pid, signal.SIGKILL)
    os.waitpid(ahead.helper.pid, 0)
    ahead.helper.table[0] = ahead.helper.table[helper.PLACE.size] = helper.BEGUN
    for number in (1, 0):
        ahead.take(number)
    ahead.close()
    assert cache.used == {}
    config.theme.get_env().get_template("main.html")
    assert len(cache.used) == 1


@pytest.mark.usefixtures("two_cpus")
def test_what_is_kept_needs_no_other_process(config: MkDocsConfig, tmp_path: Path, cache: store.Cache) -> None:
    """A second build compiles nothing; an edited template is compiled again, and only that."""
    folder = tmp_path / "templates"
    folder.mkdir()
    env = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), bytecode_cache=compiled.Bytecode(cache))
    for name in ("one", "two"):
        (folder / name).write_text(f"{name} {{{{ 1 }}}}")
        assert env.get_template(name).render() == f"{name} 1"
    cache.known = dict(cache.used)
    assert compiled.Ahead(cache, config.theme.get_env()).helper is None
    (folder / "one").write_text("other {{ 2 }}")
    fresh = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), bytecode_cache=compiled.Bytecode(cache))
    assert [fresh.get_template(name).render() for name in ("one", "two")] == ["other 2", "two 1"]
    assert [key for key in cache.used if cache.used[key] != cache.known[key]] == list(cache.known)[:1]
