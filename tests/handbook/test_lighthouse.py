"""Lighthouse judges three pages; `make lighthouse` installs it and runs this."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.built import lessons
from harness.handbooks import REPOSITORY

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TOOL = REPOSITORY / ".venv-lighthouse/node_modules/.bin/lighthouse"
GATED = ("accessibility", "best-practices", "seo")


@pytest.mark.parametrize("page", ["", lessons()[0], "reference/matrix/"], ids=["landing", "lesson", "reference"])
def test_lighthouse_finds_little(published_address: str, tmp_path: Path, page: str) -> None:
    """At least 95 for accessibility, best practices and SEO; how fast it is depends on the machine and is printed."""
    tool = str(TOOL) if TOOL.is_file() else shutil.which("lighthouse")
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not tool or not browser:
        pytest.skip("Lighthouse or Chromium is not installed: make lighthouse")
    out = tmp_path / "report.json"
    done = subprocess.run(
        [
            tool, f"{published_address}/{page}", "--quiet", "--output=json", f"--output-path={out}",
            "--chrome-flags=--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage",
        ],
        env=os.environ | {"CHROME_PATH": browser}, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(out.read_text("utf-8"))
    scores = {name: round(100 * found["score"]) for name, found in report["categories"].items()}
    print(f"\n{page or 'start'}: {scores}")
    poor = {name: scores[name] for name in GATED if scores[name] < 95}
    faults = [audit["title"] for audit in report["audits"].values() if audit["score"] == 0]
    assert poor == {}, faults
