"""What tests share: a cache folder for each, one Chromium a module, the real site once a run; and what runs first.

On several cores a module is run by one worker, since what its tests share is made once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from capture.store import cache

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

# The rooms whose modules take longest begin, so that no worker is left with a long one at the end.
BEGIN = ("handbook", "run", "site", "review", "store")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the long rooms begin."""
    items.sort(key=lambda item: BEGIN.index(item.path.parent.name) if item.path.parent.name in BEGIN else len(BEGIN))


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return a folder that is made once in a run of the tests, by the worker that needs it first."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, made = base / name, base / f"{name}.made"
    with FileLock(base / f"{name}.lock"):
        if not made.exists():
            make(folder)
            made.touch()
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder of this test; the commands it starts use it as well."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv(cache.VARIABLE, str(folder))
    return folder


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    """Return a Chromium of its own for a module of browser tests."""
    from harness.browsers import chromium  # here, since only these tests need Selenium

    found = chromium(tmp_path_factory.mktemp("profile"))
    yield found
    found.quit()


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the real site as it is published; nobody writes to it."""
    from harness.built import publish

    return once(tmp_path_factory, "published", lambda folder: publish(folder / "site")) / "site"


@pytest.fixture(scope="session")
def published_address(published: Path) -> Iterator[str]:
    """Return where the real site is served."""
    from harness.browsers import serve

    server = serve(published)
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
