"""A host: what identifies it, what does not, and how it is named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from harness.handbooks import host, record

from capture import store
from capture.errors import CaptureError
from capture.host import host as hosts
from capture.host.host import Accelerator, Host
from capture.record import record as records

H200 = Accelerator("cuda", "NVIDIA H200", 143771, "9.0", 1)
BARE = replace(host(), virtualization=None)


def test_a_host_survives_plain_data() -> None:
    """Facts, nulls and their reasons."""
    item = replace(host(kind="cuda", core_types="8 x performance + 4 x efficiency"), accelerators=(H200,))
    text = store.host_text(item)
    assert store.parse_host(text, "host.yaml")[0] == item


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"label": "another"}, id="cmp-hostname"),
        pytest.param({"title": "Another"}, id="title"),
        pytest.param({"memory_gib": 1}, id="cmp-freq-jitter"),
        pytest.param({"reasons": {"cpu.part": "x86"}}, id="reasons"),
        pytest.param({"fingerprint": "0"}, id="its-own-fingerprint"),
    ],
)
def test_what_moves_is_no_part_of_the_identity(changes: dict[str, object]) -> None:
    """Names, limits and sampled values never make another machine."""
    assert hosts.fingerprint(replace(host(), **changes)) == hosts.fingerprint(host())  # type: ignore[arg-type]


def test_nothing_sampled_and_no_name_can_be_stored() -> None:
    """cmp-freq-jitter, cmp-hostname, priv-node: no field for a clock, a load, a node, a serial or an address."""
    plain = set(store.load(store.host_text(replace(host(), accelerators=(H200,))), "host.yaml")[1])
    words = (
        "mhz",
        "freq",
        "load",
        "temp",
        "uptime",
        "free",
        "node",
        "hostname",
        "user",
        "serial",
        "uuid",
        "mac",
        "pci",
        "boot",
    )
    assert [name for name in plain for word in words if word in name.split(".")[-1]] == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        pytest.param({"model": "EPYC A"}, {"model": "EPYC B"}, "cpu.model: EPYC A -> EPYC B", id="cmp-mixed-pool"),
        pytest.param({"isa": "AVX2"}, {"isa": "AVX512"}, "cpu.isa: AVX2 -> AVX512", id="host-vm-model"),
        pytest.param({"count": 2}, {"count": 4}, "cpu.count: 2 -> 4", id="count"),
        pytest.param({"stepping": 1}, {"stepping": None}, "cpu.stepping: 1 -> None", id="now-unknown"),
        pytest.param({}, {"core_types": "4 x a"}, "cpu.core_types: None -> 4 x a", id="host-hybrid"),
        pytest.param({"core_types": "4 x a"}, {}, "cpu.core_types: 4 x a -> None", id="no-longer-hybrid"),
    ],
)
def test_another_processor_is_another_machine(old: dict[str, object], new: dict[str, object], said: str) -> None:
    """The fingerprint differs, and the difference is told in words."""
    one, other = host(**old), host(**new)  # type: ignore[arg-type]
    assert one.fingerprint != other.fingerprint
    assert hosts.differences(one, other) == (said,)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"name": "A100-SXM4"}, "accelerators: 1 x NVIDIA H200 -> 1 x A100-SXM4", id="cmp-gpu-variant"),
        pytest.param({"memory_mib": 18432}, "accelerators.memory: 143771 -> 18432", id="host-mig"),
        pytest.param({"capability": "8.0"}, "accelerators.capability: 9.0 -> 8.0", id="capability"),
        pytest.param({"count": 8}, "accelerators: 1 x NVIDIA H200 -> 8 x NVIDIA H200", id="count"),
    ],
)  # fmt: skip
def test_another_device_is_another_machine(change: dict[str, object], said: str) -> None:
    """Also a slice of the same device, and more of them."""
    one = replace(host(), accelerators=(H200,))
    other = replace(host(), accelerators=(replace(H200, **change),))  # type: ignore[arg-type]
    assert hosts.fingerprint(one) != hosts.fingerprint(other)
    assert hosts.differences(one, other) == (said,)


@pytest.mark.parametrize("change", [{"arch": "arm64"}, {"virtualization": None}])
def test_architecture_and_hypervisor_are_part_of_the_identity(change: dict[str, object]) -> None:
    """A virtual machine on the same chip computes otherwise."""
    assert hosts.fingerprint(replace(host(), **change)) != hosts.fingerprint(host())  # type: ignore[arg-type]
    assert len(hosts.differences(host(), replace(host(), **change))) == 1  # type: ignore[arg-type]


def test_equal_hosts_have_no_differences() -> None:
    """Whatever they are called."""
    assert hosts.differences(host("epyc"), host("another", "Another")) == ()


@pytest.mark.parametrize("label", ["epyc-avx2", "h200", "m3-macbook", "local", "a", "4090", "x.y-z", "a" * 41])
def test_a_label_names_hardware(label: str) -> None:
    """Lower-case letters, digits, dot and hyphen."""
    assert hosts.check_label(label) == label


@pytest.mark.parametrize(
    "label", ["", "H200", "-x", ".x", "a b", "a/b", "a_b", "../x", "a..b", "é", "a" * 42, "a\n", "a\\b"]
)
def test_another_label_is_refused_with_the_form(label: str) -> None:
    """It becomes a folder and an address; nothing in it may lead elsewhere."""
    with pytest.raises(CaptureError, match="use lower-case letters, digits"):
        hosts.check_label(label)


def test_reading_refuses_a_wrong_label_and_a_newer_schema() -> None:
    """Both say what to do."""
    text = store.host_text(host())
    with pytest.raises(CaptureError, match=r"h\.yaml:2: label: host label \"E\": use lower-case"):
        store.parse_host(text.replace("label: epyc", "label: E"), "h.yaml")
    with pytest.raises(CaptureError, match=r"h\.yaml:1: schema 9 is newer than this tool knows"):
        store.parse_host(text.replace("schema: 1", "schema: 9"), "h.yaml")
    with pytest.raises(CaptureError, match=r"h\.yaml:1: schema: there is no schema -1; this tool knows 1"):
        store.parse_host(text.replace("schema: 1", "schema: -1"), "h.yaml")


@pytest.mark.parametrize(
    ("item", "line"),
    [
        (host(), "AMD EPYC, AVX2, 2 vCPU (virtual machine)"),
        (BARE, "AMD EPYC, AVX2, 2 CPUs"),
        (replace(host(count=1), virtualization=None), "AMD EPYC, AVX2, 1 CPU"),
        (replace(host(), virtualization="container"), "AMD EPYC, AVX2, 2 vCPU (container)"),
        (replace(host(), accelerators=(H200,)), "NVIDIA H200 + AMD EPYC, AVX2, 2 vCPU (virtual machine)"),
        (replace(BARE, accelerators=(replace(H200, count=2),)), "2 x NVIDIA H200 + AMD EPYC, AVX2, 2 CPUs"),
        (replace(BARE, accelerators=(replace(H200, count=8),)), "8 x NVIDIA H200 + AMD EPYC, AVX2, 2 CPUs"),
        (replace(host(model=None, part="0x41/0xd0c", isa=None, count=None)), "0x41/0xd0c (virtual machine)"),
        (replace(host(model=None, isa=None, count=None), arch="arm64", virtualization=None), "arm64 CPU"),
    ],
)  # fmt: skip
def test_the_badge_line_puts_the_accelerator_first(item: Host, line: str) -> None:
    """What is known, in one line; what is unknown is left out."""
    assert hosts.chip(item) == line


def test_a_record_carries_its_own_description_of_the_chip() -> None:
    """A reader needs no second file to know on what a result was got."""
    assert records.encode(record("a/b"))["environment"]["chip"] == hosts.chip(host())
