"""Small handbooks in temporary folders: snippets, hosts and records as the tool writes them, pages, the real site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from capture import store
from capture.errors import Problem
from capture.host import host as hosts_module
from capture.host.environment import Environment
from capture.host.host import Accelerator, Cpu, Host, Kind
from capture.record import record as records_module
from capture.record.record import Record, Runs
from capture.site.markdown import handbook_pages, page_check, page_in_progress
from capture.site.model import site
from capture.snippet.snippet import Snippet
from capture.store import cache as store_cache
from capture.store import catalogue
from capture.store.catalogue import Catalogue

REPOSITORY = Path(__file__).resolve().parents[2]
CHIP = "AMD EPYC, AVX2, 2 vCPU (virtual machine)"  # of `host()`, whatever its label
CHIPS = {"h200": f"H200 + {CHIP}"}  # of `host("h200", "H200", "cuda")`
CURRENT = "c" * 64  # stands for the digest of the snippet as it is
STALE = "5" * 64
GATES = {"cuda": False, "rocm": False, "mps": False, "xpu": False, "xla": False}


class Handbook:
    """A handbook on disk; where there is none yet, an empty one begins."""

    def __init__(self, root: Path) -> None:
        self.root = root
        if not (root / "mkdocs.yml").exists():
            self.write("mkdocs.yml", "site_name: test\n")
        (root / "snippets").mkdir(exist_ok=True)

    @property
    def book(self) -> store.Handbook:
        """Its paths."""
        return store.Handbook(self.root)

    def catalogue(self) -> Catalogue:
        """Return all that it holds."""
        return catalogue.read_handbook(self.book)

    def read(self, path: str) -> str:
        """Return a file of the handbook."""
        return (self.root / path).read_text("utf-8")

    def write(self, path: str, text: str) -> Path:
        """Write a file of the handbook, as it is."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8"))
        return file

    def snippet(self, name: str, body: str, **options: Any) -> None:
        """Write a snippet; without `dependencies` it needs nothing but Python."""
        self.write(f"snippets/{name}.py", script(body, **{"dependencies": [], **options}))

    def parsed(self, name: str) -> Snippet:
        """Return a snippet of the handbook."""
        snippets, problems = store.read_snippets(self.book)
        assert name in snippets, problems
        return snippets[name]

    def record(self, snippet: str, label: str = "local") -> Record:
        """Return a stored record, whole and valid."""
        item = store.read_record(self.book, label, snippet)
        assert item is not None, f"no record of {snippet} on {label}"
        return item

    def records(self, label: str = "local") -> list[str]:
        """Return the ids of the stored records; each of them can be read."""
        found = store.record_ids(self.book, label)
        assert all(self.record(snippet, label) for snippet in found)
        return found

    def keep(self, item: Record | Host) -> None:
        """Write a host or a record, its content digest filled in; `CURRENT` becomes the digest of its snippet."""
        if isinstance(item, Host):
            store.write_host(self.book, item)
            return
        if item.source_sha256 == CURRENT:
            found = store.read_snippets(self.book)[0].get(item.snippet)
            item = replace(item, source_sha256=found.digest if found else "0" * 64)
        store.write_record(self.book, records_module.sealed(item))

    def mkdocs(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run MkDocs in this handbook and return what it said."""
        ours = ("CAPTURE_", "HANDBOOK_")
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(ours) or name == store_cache.VARIABLE
        }
        env = inherited | {"NO_MKDOCS_2_WARNING": "1"} | dict(env or {})
        return subprocess.run(
            [sys.executable, "-m", "mkdocs", *arguments],
            cwd=self.root, env=env, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def page(self, text: str, path: str = "docs/index.md") -> tuple[str, list[Problem]]:
        """Render a page as MkDocs would, without MkDocs; return its HTML and its problems."""
        config = store.read_site_config(self.book)
        page_in_progress.enter(
            site.from_catalogue(self.catalogue(), site.parse_settings(config)),
            page_in_progress.PageSource(path, text, "../"),
        )
        try:
            html: str = page_check.markdown_of(config).convert(handbook_pages.without_front_matter(text))
        except BaseException:
            page_in_progress.leave("")
            raise
        return html, page_in_progress.leave(html)

    def build(self, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Build the site strictly, into `site/`; with --quiet MkDocs would count no warning."""
        return self.mkdocs("build", "--strict", env=env)

    def html(self, page: str) -> str:
        """Return a built page, such as `instruments/index.html`."""
        return self.read(f"site/{page}")


def script(body: str, **options: Any) -> str:
    """Return a snippet: a body, and a header of its options (`values`, `claims`, `compare` and `env` are tables)."""
    options = {"title": "A title", **options}
    dependencies = toml(options.pop("dependencies", ["torch>=2.2"]))
    plain = [f"# {name} = {toml(value)}" for name, value in options.items() if not isinstance(value, dict)]
    lines = ["# /// script", '# requires-python = ">=3.11"', f"# dependencies = {dependencies}", "#"]
    lines += ["# [tool.capture]", *plain]
    for name, table in options.items():
        if isinstance(table, dict):
            lines += ["#", f"# [tool.capture.{name}]", *(f"# {key} = {toml(value)}" for key, value in table.items())]
    return "\n".join([body.rstrip("\n"), "", *lines, "# ///", ""])


def toml(value: object) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml(item) for item in value)}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, str):
        return f"'{value}'" if "'" not in value else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)


def host(label: str = "epyc", title: str = "EPYC, AVX2", kind: Kind = "cpu", **cpu: Any) -> Host:
    """Return a host with its fingerprint; keywords change its CPU."""
    facts: dict[str, Any] = {
        "vendor": "AMD", "model": "AMD EPYC", "family": 25, "model_number": 1, "stepping": 1, "part": None,
        "isa": "AVX2", "bf16": False, "amx": False, "vnni": False, "count": 2,
    }  # fmt: skip
    devices = () if kind == "cpu" else (Accelerator(kind, title, 143771, "9.0", 1),)
    return hosts_module.identified(
        Host(
            schema=hosts_module.SCHEMA, label=label, title=title, kind=kind, arch="x86_64", cpu=Cpu(**facts | cpu),
            accelerators=devices, memory_gib=24, virtualization="kvm", reasons={"cpu.part": "only ARM has it"},
            fingerprint="",
        )
    )  # fmt: skip


def record(snippet: str, label: str = "epyc", stdout: str = "out\n", **changes: Any) -> Record:
    """Return a record; keywords change its fields, and `torch`, `gates`, `chip`… those of its environment."""
    environment: dict[str, Any] = {
        "chip": CHIPS.get(label, CHIP), "os": "Debian 12, Linux 6.18, x86_64", "python": "3.11.7",
        "torch": "2.13.0+cpu", "cuda_build": None, "cpu_capability": "AVX2", "driver": None, "gates": GATES,
        "threads": {"intra": 2, "inter": 2}, "packages": {},
    }  # fmt: skip
    environment |= {name: changes.pop(name) for name in list(changes) if name in (*environment, "limits")}
    fields: dict[str, Any] = {
        "schema": records_module.SCHEMA, "snippet": snippet, "source_sha256": CURRENT, "host": label,
        "captured": "2026-11-29", "environment": Environment(**environment), "upstream": {},
        "runs": Runs(2, agree=True), "status": "ok", "exit_code": 0, "normalized": (), "content_sha256": "0" * 64,
        "stdout": stdout, "stderr": "",
    }  # fmt: skip
    return records_module.sealed(Record(**fields | changes))


def config(default_host: str | None, pages: Iterable[str], notebooks: Iterable[str] = ()) -> str:
    """Return the real mkdocs.yml with another nav, default host and notebooks, and nothing that moved."""
    text = (REPOSITORY / "mkdocs.yml").read_text("utf-8")
    text = re.sub(r"^nav:\n(?:[ \-#].*\n|\n)*", "", text, flags=re.MULTILINE)
    text = re.sub(r"^    default_host: .*$", f"    default_host: {default_host or 'none'}", text, flags=re.MULTILINE)
    text = re.sub(r"^    notebooks: .*$", f"    notebooks: {list(notebooks)}", text, flags=re.MULTILINE)
    text = re.sub(r"^  moved:\n(?:    .*\n)+", "  moved: {}\n", text, flags=re.MULTILINE)
    return text + "\nnav:\n" + "".join(f"  - {page}\n" for page in pages)


def make_handbook(
    folder: Path,
    snippets: Mapping[str, str] | None = None,
    hosts: Iterable[Host] | None = None,
    records: Iterable[Record] = (),
    pages: Mapping[str, str] | None = None,
    default_host: str | None = None,
    notebooks: Iterable[str] = (),
    site: bool = True,
) -> Handbook:
    """Write a handbook into a folder and return it; the first host is the default one unless another is named.

    Without a site it has neither pages nor what draws them.
    """
    hosts = [host()] if hosts is None else list(hosts)
    handbook = Handbook(folder)
    if site:
        pages = {"index.md": "# Start\n\nHello.\n"} if pages is None else pages
        handbook.write("mkdocs.yml", config(default_host or (hosts[0].label if hosts else None), pages, notebooks))
    for snippet_id, text in (snippets or {}).items():
        handbook.write(f"snippets/{snippet_id}.py", text)
    for item in (*hosts, *records):
        handbook.keep(item)
    for path, text in (pages or {}).items():
        handbook.write(f"docs/{path}", text)
    return handbook
