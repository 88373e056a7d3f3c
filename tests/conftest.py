"""What every test gets: a cache folder of its own, so that none finds what another, or the user, has kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from capture.store import cache


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder of this test; the commands it starts use it as well."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv(cache.VARIABLE, str(folder))
    return folder
