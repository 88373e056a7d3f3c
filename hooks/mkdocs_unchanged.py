"""Speed, and nothing else: a site of which nothing has changed since it was built is left as it is."""

from __future__ import annotations

import datetime
import logging
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority

from capture import store
from capture.errors import CaptureError
from capture.site import unchanged
from capture.site.building import LOGGER, Watch

LOG = logging.getLogger("mkdocs.capture")
WATCH = Watch(logging.WARNING)
BUILDS: list[bool] = []  # whether the command builds a site that stays, and whole
MADE: list[store.Inputs] = []
HELD: list[tuple[int, Path]] = []  # the lock of the site's folder


def on_startup(command: str, dirty: bool, **_: object) -> None:
    """Hear from now on what is wrong; whether anything is to be built is known once the settings are."""
    MADE.clear()
    WATCH.count = 0
    LOGGER.addHandler(WATCH)
    BUILDS[:] = [command == "build" and not dirty] if command != "serve" else []


@event_priority(1e9)
def on_config(config: MkDocsConfig) -> None:
    """End the command where there is nothing to build, before any plugin begins."""
    root, place = Path(config.config_file_path).resolve().parent, Path(config.site_dir)
    if BUILDS:  # two at once would leave a mixture
        try:
            lock = store.hold(place, LOG.info)
        except CaptureError as error:
            raise PluginError(str(error)) from error
        HELD[:] = [(lock, place)] if lock is not None else []
    if any(BUILDS) and WATCH.sees:
        MADE[:] = made(config)
        if MADE and unchanged.is_built(root, MADE[0].key, place):
            LOG.info("Nothing has changed since %s was built: it is left as it is", place.name)
            raise SystemExit(0)


def made(config: MkDocsConfig) -> list[store.Inputs]:
    """Return what the site is made of; nothing where that cannot be told, or where a setting is at fault."""
    try:
        found = unchanged.made(config, Path(__file__).parent, datetime.datetime.now(datetime.UTC))
    except CaptureError:
        return []  # the build tells
    return [found] if found else []


@event_priority(-2e9)
def on_post_build(config: MkDocsConfig) -> None:
    """Remember the site, if nothing was wrong, no other build wrote into it, and each later change must show."""
    alone = bool(HELD) and store.release(*HELD.pop())
    if MADE and MADE[0].settled and alone and not WATCH.count:
        root = Path(config.config_file_path).resolve().parent
        unchanged.remember(root, MADE[0].key, Path(config.site_dir))


def on_shutdown() -> None:
    """Let the next build begin."""
    while HELD:
        store.release(*HELD.pop())
