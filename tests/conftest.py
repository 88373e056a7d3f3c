"""What every test gets: a cache folder of its own, so that none finds what another, or the user, has kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from capture.store import cache

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver


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

    return publish(tmp_path_factory.mktemp("published") / "site")


@pytest.fixture(scope="session")
def published_address(published: Path) -> Iterator[str]:
    """Return where the real site is served."""
    from harness.browsers import serve

    server = serve(published)
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
