"""The same twenty snippets, executed by tools that execute code for documentation."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from benchmarks import engines, generated
from benchmarks.rounds import HERE, Measure, interleaved, python, row, timed
from benchmarks.table import Faster, Row

GALLERY, CACHE, MKDOCS = "sphinx-gallery, in process", "jupyter-cache", "mkdocs-jupyter"
GALLERY_CONF = """
project = "benchmark"
extensions = ["sphinx_gallery.gen_gallery"]
sphinx_gallery_conf = {
    "examples_dirs": "examples", "gallery_dirs": "built", "filename_pattern": "/s", "image_scrapers": (),
    "reset_modules": (), "min_reported_time": 1e9, "abort_on_example_error": True, "download_all_examples": False,
}
"""
MKDOCS_CONF = """
site_name: benchmark
plugins: [{mkdocs-jupyter: {execute: true, allow_errors: false, cache: false, include: ["*.ipynb"]}}]
"""


def notebook(code: str) -> str:
    """Return a notebook of one cell."""
    cell = {
        "cell_type": "code", "id": "only", "metadata": {}, "source": code, "outputs": [], "execution_count": None,
    }  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": [cell]})


def gallery(folder: Path, bodies: list[str]) -> Measure:
    """Return a measure of sphinx-gallery: it generates and executes, and writes no page."""
    generated.write(folder / "conf.py", GALLERY_CONF)
    generated.write(folder / "index.rst", "Benchmark\n=========\n\n.. toctree::\n\n   built/index\n")
    generated.write(folder / "examples" / "README.rst", "Examples\n========\n")
    for number, body in enumerate(bodies):
        code = body.partition('"""\n')[2]
        title = f"Example {number}"
        generated.write(folder / "examples" / f"s{number:04d}.py", f'"""\n{title}\n{"=" * len(title)}\n"""\n{code}')

    def build() -> None:
        python("-m", "sphinx", "-q", "-b", "dummy", folder, folder / "out")
        printed = [path for path in folder.glob("built/s*.rst") if "first " in path.read_text("utf-8").split("Out")[-1]]
        assert len(printed) == len(bodies), f"{len(printed)} of {len(bodies)} examples ran"

    return timed(build, before=lambda: removed(folder / "out", folder / "built"))


def cache(folder: Path, bodies: list[str]) -> Measure:
    """Return a measure of jupyter-cache executing notebooks one after the other into an empty cache."""
    paths = [generated.write(folder / f"s{number:04d}.ipynb", notebook(body)) for number, body in enumerate(bodies)]
    return timed(
        lambda: python(HERE / "cache_notebooks.py", folder / "cache", *paths), before=lambda: removed(folder / "cache")
    )


def mkdocs(folder: Path, bodies: list[str]) -> Measure:
    """Return a measure of a MkDocs build that executes notebooks."""
    generated.write(folder / "mkdocs.yml", MKDOCS_CONF)
    generated.write(folder / "docs" / "index.md", "# Benchmark\n")
    for number, body in enumerate(bodies):
        generated.write(folder / "docs" / f"s{number:04d}.ipynb", notebook(body))

    def build() -> None:
        python("-m", "mkdocs", "build", "-q", "-f", folder / "mkdocs.yml")
        built = list(folder.glob("site/s*/index.html"))
        assert len(built) == len(bodies), f"{len(built)} of {len(bodies)} pages"

    return timed(build, before=lambda: removed(folder / "site"))


def removed(*folders: Path) -> None:
    """Remove what an earlier round left, so that nothing is taken from it."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def compare(folder: Path, rounds: int, tell: Callable[[str], None]) -> list[Row]:
    """Measure the forked engine against each tool."""
    bodies = [generated.trivial(number) for number in range(engines.COUNT)]
    generated.handbook(folder / "handbook", bodies)
    found = interleaved(
        {
            engines.FORKED: engines.engine(folder / "handbook", "forked"),
            GALLERY: gallery(folder / "gallery", bodies),
            CACHE: cache(folder / "cached", bodies),
            MKDOCS: mkdocs(folder / "mkdocs", bodies),
        },
        rounds,
        tell,
    )
    wanted = {GALLERY: Faster(2), CACHE: Faster(20), MKDOCS: Faster(20)}
    return [row(found, engines.FORKED, name, how) for name, how in wanted.items()]
