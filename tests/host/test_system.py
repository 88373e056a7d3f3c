"""The system around the processors: names, virtualisation, and a container's limits on both cgroup versions."""

from __future__ import annotations

import pytest
from harness import hardware_texts as texts
from harness.executions import case
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.host.probe import system

KVM_CLOCK = "tsc kvm-clock"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (texts.DEBIAN, "Debian 12"),
        (texts.ALPINE, "Alpine Linux 3.19.1"),
        (texts.ARCH_LINUX, "Arch Linux"),
        ("", None),
        (texts.BINARY, None),
        ('NAME="', None),
    ],
)
def test_os_release(text, name):
    """Distribution and version are read with or without quotes; nothing readable is None."""
    assert system.parse_os_release(text) == name


def test_the_os_line_leaves_out_the_kernels_own_suffix():
    """A kernel's suffix may name who built it."""
    assert system.os_line("Debian 12", "Linux", "6.18.44-sams-laptop", "amd64") == "Debian 12, Linux 6.18, x86_64"
    assert system.os_line(None, "macOS", "15.1", "arm64") == "macOS 15.1, arm64"
    assert system.os_line(None, "Linux", "", "") == "Linux"


@case("host-no-wmic")
def test_windows_11_is_told_from_10_by_its_build(case):
    """Windows 11 reports version 10; wmic is not needed."""
    assert system.windows_line(10, 22631, "AMD64") == "Windows 11 (build 22631), x86_64"
    assert system.windows_line(10, 19045, "AMD64") == "Windows 10 (build 19045), x86_64"


@pytest.mark.parametrize(
    ("hypervisor", "clues", "container", "kernel", "kind"),
    [
        (True, KVM_CLOCK, True, "6.18", "kvm"),
        (False, "arch_sys_counter\nAmazon EC2 m7g.large", False, "6.1", "kvm"),
        (False, "arch_sys_counter\nAmazon EC2 m7g.metal", False, "6.1", None),
        (True, "tsc hyperv_clocksource_tsc_page\nMicrosoft Corporation Virtual Machine", False, "6.5-azure", "hyper-v"),
        (False, "tsc hpet\nMicrosoft Corporation Surface Laptop 5", False, "6.5", None),
        (True, "tsc\nVMware, Inc. VMware7,1", False, "5.14", "vmware"),
        (True, "tsc\ninnotek GmbH VirtualBox", False, "5.14", "virtualbox"),
        (True, "xen tsc", False, "5.14", "xen"),
        (False, "tsc\nQEMU QEMU Virtual Machine", False, "5.14", "qemu"),
        (True, "tsc", False, "5.14", "vm"),
        (True, "", True, "5.15.90.1-microsoft-standard-WSL2", "wsl"),
        (False, "tsc hpet\nDell Inc. XPS", True, "6.8", "container"),
        (False, "tsc hpet\nDell Inc. XPS", False, "6.8", None),
        (False, "", False, "", None),
    ],
)
def test_virtualization(hypervisor, clues, container, kernel, kind):
    """A hypervisor is named where something names it and comes before a container; bare metal is None."""
    assert system.virtualization(hypervisor, clues, container, kernel) == kind


def test_containers_are_told_by_cgroup_or_by_a_file():
    """Docker, Kubernetes and Podman leave one sign or the other."""
    assert system.in_container("0::/\n", ["/.dockerenv"])
    assert system.in_container("4:memory:/kubepods/besteffort/pod1\n", [])
    assert not system.in_container("0::/init.scope\n", [])


@pytest.mark.parametrize(
    ("text", "quota"),
    [
        ("600000 100000\n", 6.0),
        ("50000 100000", 0.5),
        ("max 100000\n", None),
        ("-1 100000", None),
        ("", None),
        ("0 0", None),
        ("100000 0", None),
        (texts.BINARY, None),
        ("9" * 5000 + " 1", None),
    ],
)
def test_quota(text, quota):
    """`max` and -1 mean no limit; garbage is none either."""
    assert system.parse_quota(text) == quota


@pytest.mark.parametrize(
    ("text", "limit"),
    [("1073741824\n", 1 << 30), ("max\n", None), ("9223372036854771712\n", None), ("", None), ("x", None), ("0", None)],
)
def test_memory_limit(text, limit):
    """`max`, and version 1's largest number, mean no limit."""
    assert system.parse_memory_limit(text) == limit


@case("host-cgroup")
def test_limits_in_words(case):
    """The bank's container: 6 CPUs and 1 GiB of a machine with 24; what does not limit has no entry."""
    assert system.limits(6.0, 1 << 30, 24, 24) == {"cpus": "6.0", "memory": "1 GiB"}
    assert system.limits(None, None, 24, 24) == {}
    assert system.limits(0.5, 512 << 20, 4, 24) == {"cpus": "0.5", "memory": "512 MiB", "affinity": "4"}
    assert system.limits(None, 3 << 29, None, None) == {"memory": "1.5 GiB"}
    assert system.limits(None, 64 << 30, None, None, installed=32 << 30) == {}


def test_version_2_takes_the_tightest_limit_up_to_the_root(tmp_path):
    """A service without a limit of its own is bound by its slice."""
    inner = tmp_path / "user.slice" / "job.service"
    inner.mkdir(parents=True)
    (inner / "cpu.max").write_text("max 100000\n")
    (inner / "memory.max").write_text("2147483648\n")
    (inner.parent / "cpu.max").write_text("150000 100000\n")
    (inner.parent / "memory.max").write_text("1073741824\n")
    own = "0::/user.slice/job.service\n"
    assert system.cpu_quota(str(tmp_path), own) == 1.5
    assert system.memory_limit(str(tmp_path), own) == 1 << 30


@case("host-cgroup")
def test_a_container_sees_its_own_limits_at_the_root(case, tmp_path):
    """In a cgroup namespace the path is `/`, and the files of the bank's case lie at the root."""
    (tmp_path / "cpu.max").write_text("600000 100000\n")
    (tmp_path / "memory.max").write_text("1073741824\n")
    assert system.cpu_quota(str(tmp_path), "0::/\n") == 6.0
    assert system.memory_limit(str(tmp_path), "0::/../other\n") == 1 << 30


@case("host-cgroup")
def test_version_1_is_read(case, tmp_path):
    """Quota and period lie in two files; a path of the host that is not mounted falls back to the root."""
    (tmp_path / "cpu").mkdir()
    (tmp_path / "memory").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("200000\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("536870912\n")
    own = "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/\n"
    assert system.cpu_quota(str(tmp_path), own) == 2.0
    assert system.memory_limit(str(tmp_path), own) == 512 << 20


def test_no_cgroup_at_all(tmp_path):
    """Without the file system there is no limit and no error."""
    assert system.cpu_quota(str(tmp_path / "absent"), "") is None
    assert system.memory_limit(str(tmp_path / "absent"), texts.BINARY) is None


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_any_text_is_read(text):
    """No text makes a parser fail."""
    system.parse_os_release(text)
    system.parse_quota(text)
    system.parse_memory_limit(text)
    system.cgroup_folders(text, "memory")
    system.os_line(text, text, text, text)
    system.virtualization(True, text, False, text)
    system.in_container(text, [])


def test_this_system_is_read():
    """The readers answer on the machine that runs the tests."""
    assert system.read_os()
    assert system.memory_bytes() > 1 << 20
    assert system.gibibytes(system.read_memory())
    assert system.gibibytes(1) == 1
    assert system.gibibytes(None) is None
    assert isinstance(dict(system.read_limits()), dict)
    kind, source = system.read_virtualization()
    assert source
    assert kind != ""
