"""What leads to a page of the real site: its address, its description, search, and copies for other readers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from executions import case
from handbooks import REPOSITORY
from project import environment

ADDRESS = "https://reader.example/handbook/"
FORK = "https://github.com/someone/fork"


def build(folder: Path, **variables: str) -> Path:
    """Build the real site as it is published and return its folder."""
    ours = {"NO_MKDOCS_2_WARNING": "1", "CAPTURE_PUBLISH": "1", "HANDBOOK_SITE_URL": "", "HANDBOOK_REPO_URL": FORK}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=REPOSITORY, env=environment(ours | variables), capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a fork, at an address."""
    return build(tmp_path_factory.mktemp("addressed") / "site", HANDBOOK_SITE_URL=ADDRESS)


@pytest.fixture(scope="module")
def homeless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site where nobody has said at what address it will stand."""
    return build(tmp_path_factory.mktemp("homeless") / "site")


def pages(site: Path) -> dict[str, str]:
    """Return the HTML of every page, by its address from the site's root; not what only leads on."""
    found = {
        f"{path.parent.relative_to(site).as_posix()}/".removeprefix("./"): path.read_text("utf-8")
        for path in site.rglob("index.html")
    }
    return {address: html for address, html in found.items() if "This page has moved" not in html}


@case("site-moved")
def test_every_address_is_listed(case: str, site: Path) -> None:
    """Every page and heading of the site stands in the list, which the build compares with the site."""
    listed = (REPOSITORY / "published.txt").read_text("utf-8").splitlines()
    assert listed == sorted(set(listed))
    here = {f"/{address}" for address in pages(site)}
    for address, html in pages(site).items():
        here |= {f"/{address}#{name}" for name in re.findall(r'<h[1-6] id="([^"]+)"', html)}
    assert len(here) > 300
    assert here - set(listed) == set(), "run: make published"
