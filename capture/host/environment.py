"""What moves on a host from capture to capture: its software, and what else it was doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from capture.plain_data import about


@dataclass(frozen=True)
class Environment:
    """What moved or may move on the host: software, gates and limits at the time of the capture."""

    chip: str = field(metadata=about("the processors in one line"))
    os: str = field(metadata=about("distribution, kernel, architecture"))
    python: str
    torch: str | None = field(metadata=about("full version with local suffix; null when not importable"))
    cuda_build: str | None = field(metadata=about("CUDA version torch was built for; null for a CPU build"))
    cpu_capability: str | None = field(metadata=about("vector ISA that torch's own kernels use"))
    driver: str | None = field(metadata=about("GPU driver version"))
    gates: Mapping[str, bool] = field(metadata=about("what this host could do"))
    threads: Mapping[str, int] = field(metadata=about("torch's intra-op and inter-op threads"))
    packages: Mapping[str, str] = field(metadata=about("versions of the declared dependencies but torch"))
    limits: Mapping[str, str] = field(
        default_factory=dict, metadata=about("container limits on CPUs and memory, where there are any", True)
    )
    xla: Mapping[str, str] = field(
        default_factory=dict,
        metadata=about("what torch_xla drives, and the variables that decide that, where it works", True),
    )


@dataclass(frozen=True)
class Conditions:
    """What else the machine was doing during a timing capture; shares are of one CPU's time, 0 to count."""

    load_before: float | None = field(metadata=about("one-minute load average before the first execution"))
    foreign_cpu: float = field(metadata=about("CPUs kept busy by other processes during the kept execution"))
    steal: float | None = field(metadata=about("share of time the hypervisor took, 0 to 1"))
    governor: str | None = field(metadata=about("CPU frequency governor"))
    gpu: str | None = field(default=None, metadata=about("GPU clocks and throttle reasons"))
    busy: bool | None = field(default=None, metadata=about("taken beside other work with --accept-noise"))
    cpu_mhz: int | None = field(default=None, metadata=about("highest frequency of a CPU right after it, in MHz"))
    cpu_max_mhz: int | None = field(default=None, metadata=about("highest frequency that a CPU can reach, in MHz"))
    throttled: int | None = field(default=None, metadata=about("how often heat slowed a CPU down meanwhile"))
    cores: str | None = field(
        default=None, metadata=about("only where cores differ: hybrid, unpinned; or to how many CPUs it was bound")
    )
    on_battery: bool | None = field(default=None, metadata=about("whether it ran on battery, where there is one"))
