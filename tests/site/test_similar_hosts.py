"""Which host stands in for another."""

import html
import json
import re

from harness.handbooks import host, make_handbook, record, script

from capture.site.model import site
from capture.site.page import similar_hosts
from capture.store.catalogue import Catalogue

SNIPPET = script("print()\n")


def test_nearness_goes_by_kind_then_machine_then_software(tmp_path):
    """Another GPU before a CPU, the same machine with another torch before another machine."""
    hosts = [host("epyc"), host("old", "Old"), host("arm", "Arm", isa="NEON"), host("h200", "H200", "cuda"),
             host("a100", "A100", "cuda")]  # fmt: skip
    records = [record("x/all", "epyc"), record("x/all", "old", torch="2.2.0"), record("x/all", "arm"),
               record("x/all", "h200"), record("x/all", "a100")]  # fmt: skip
    made = make_handbook(tmp_path, {"x/all": SNIPPET}, hosts, records)
    known = site.from_catalogue(made.catalogue(), site.Settings(default_host="epyc"))
    assert known.order == ("epyc", "a100", "arm", "h200", "old")
    torch = similar_hosts.torch_releases(known)
    assert similar_hosts.nearest_hosts(known, "epyc", torch) == ["old", "arm", "a100", "h200"]
    assert similar_hosts.nearest_hosts(known, "h200", torch) == ["a100", "epyc", "old", "arm"]
    assert similar_hosts.nearest_hosts(known, "arm", torch)[0] == "epyc"


def test_many_hosts_cost_little(tmp_path, monkeypatch):
    """Each host's records are looked through once, however many hosts there are to compare it with."""
    hosts = [host(f"h{number}", f"H {number}") for number in range(30)]
    made = make_handbook(tmp_path, {"x/all": SNIPPET}, hosts, [record("x/all", item.label) for item in hosts])
    known = site.from_catalogue(made.catalogue(), site.Settings())
    asked, newest = [], Catalogue.newest
    monkeypatch.setattr(Catalogue, "newest", lambda self, label: asked.append(label) or newest(self, label))
    assert '"label"' in html.unescape(similar_hosts.hosts_element(known))
    assert len(asked) == 30


def test_a_page_is_told_every_host(tmp_path):
    """Labels, titles and nearness stand in an attribute, whatever a title holds; one host needs no choice."""
    hosts = [host("epyc", "<b> \"EPYC\" & 'co'"), host("h200", "H200", "cuda")]
    records = [record("x/all", "epyc"), record("x/all", "h200")]
    made = make_handbook(tmp_path / "two", {"x/all": SNIPPET}, hosts, records)
    text = similar_hosts.hosts_element(site.from_catalogue(made.catalogue(), site.Settings()))
    found = re.fullmatch(r'<div id="capture-hosts" hidden data-hosts="([^"<>]*)"></div>', text)
    assert json.loads(html.unescape(found[1])) == [
        {"label": "epyc", "title": "<b> \"EPYC\" & 'co'", "near": [1]},
        {"label": "h200", "title": "H200", "near": [0]},
    ]
    alone = make_handbook(tmp_path / "one", {"x/all": SNIPPET}, hosts[:1], records[:1])
    assert similar_hosts.hosts_element(site.from_catalogue(alone.catalogue(), site.Settings())) == ""
