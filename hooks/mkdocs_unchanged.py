"""Speed, and nothing else: a site of which nothing has changed since it was built is left as it is."""

from __future__ import annotations

import datetime
import logging
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority

from capture.errors import CaptureError
from capture.render import unchanged
from capture.render.building import LOGGER, Watch

LOG = logging.getLogger("mkdocs.capture")
WATCH = Watch(logging.WARNING)
MADE: list[unchanged.Made] = []


def on_startup(command: str, dirty: bool, **_: object) -> None:
    """Hear from now on what is wrong; whether anything is to be built is known once the settings are."""
    MADE.clear()
    WATCH.count = 0
    if command == "build" and not dirty:
        LOGGER.addHandler(WATCH)


@event_priority(300)
def on_config(config: MkDocsConfig) -> None:
    """End the command where there is nothing to build, before any plugin begins."""
    if WATCH not in LOGGER.handlers:
        return
    try:
        found = unchanged.made(config, Path(__file__).parent, datetime.datetime.now(datetime.UTC))
    except CaptureError:
        return  # a fault, which the build tells
    if found is None or not WATCH.sees:
        return
    MADE[:] = [found]
    place = Path(config.site_dir)
    if unchanged.is_built(Path(config.config_file_path).resolve().parent, found.key, place):
        LOG.info("Nothing has changed since %s was built: it is left as it is", place.name)
        raise SystemExit(0)


@event_priority(-300)
def on_post_build(config: MkDocsConfig) -> None:
    """Remember the site, if nothing was wrong with it and whatever changes from now on must show."""
    if MADE and MADE[0].settled and not WATCH.count:
        unchanged.remember(Path(config.config_file_path).resolve().parent, MADE[0].key, Path(config.site_dir))
