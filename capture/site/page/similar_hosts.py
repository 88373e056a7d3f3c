"""Which host is like which: what a page tells the reader's choice of a host, as JSON."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping

from capture.site.model.site import Site
from capture.version_numbers import without_local

_ELEMENT_ID = "capture-hosts"


def hosts_element(site: Site) -> str:
    """Return a hidden element with every host and the others from the nearest on; nothing where there is one host.

    Not a script element of data: a theme that puts pages in place without loading anew runs those as scripts.
    """
    if len(site.order) < 2:
        return ""
    place = {label: number for number, label in enumerate(site.order)}
    torch = torch_releases(site)
    listing = [
        {
            "label": label,
            "title": site.titles[label],
            "near": [place[other] for other in nearest_hosts(site, label, torch)],
        }
        for label in site.order
    ]
    data = json.dumps(listing, ensure_ascii=False, separators=(",", ":"))
    return f'<div id="{_ELEMENT_ID}" hidden data-hosts="{html.escape(data)}"></div>'


def nearest_hosts(site: Site, label: str, torch: Mapping[str, str]) -> list[str]:
    """Return the other hosts, the most alike first, and where they are as alike in the order of the tabs.

    `torch` are the releases of all hosts. Kind goes before machine, machine before software: what a GPU answers tells
    more to one with another GPU than the CPU beside it does.
    """
    hosts = site.catalogue.hosts
    own = hosts[label]

    def unlike(other: str) -> tuple[bool, ...]:
        item = hosts[other]
        return (
            item.kind != own.kind,
            [device.name for device in item.accelerators] != [device.name for device in own.accelerators],
            item.fingerprint != own.fingerprint,
            item.arch != own.arch,
            item.cpu.isa != own.cpu.isa,
            torch[other] != torch[label],
        )

    return sorted((other for other in site.order if other != label), key=unlike)


def torch_releases(site: Site) -> dict[str, str]:
    """Return the newest torch of each host without what its build adds; empty where it has none."""
    newest = {label: site.catalogue.newest(label).torch for label in site.order}
    return {label: without_local(torch) if torch else "" for label, torch in newest.items()}
