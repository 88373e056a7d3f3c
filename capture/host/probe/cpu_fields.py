"""What every reader of a processor shares: the form of a reading, flags to capabilities, tidy values.

Nothing here raises: what a text lacks is null with its reason. A reason that starts with `not applicable` is
no failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from capture.host.host import Cpu

NOT_APPLICABLE = "not applicable"
X86_ISA = (
    ("AVX512", frozenset({"avx512f"})),
    ("AVX2", frozenset({"avx2"})),
    ("AVX", frozenset({"avx", "avx1.0"})),
    ("SSE4.2", frozenset({"sse4_2", "sse4.2"})),
)
ARM_ISA = (
    ("SVE2", frozenset({"sve2"})),
    ("SVE", frozenset({"sve"})),
    ("NEON", frozenset({"asimd", "neon", "advsimd"})),
)
BF16 = frozenset({"avx512_bf16", "amx_bf16", "bf16", "svebf16"})
VNNI = frozenset({"avx512_vnni", "avx_vnni", "asimddp", "dotprod", "i8mm"})
CAPABILITIES = ("isa", "bf16", "amx", "vnni")


@dataclass(frozen=True)
class CpuReading:
    """A processor, why each null is null, and where each fact comes from; keys are `cpu.<field>`."""

    cpu: Cpu
    reasons: Mapping[str, str]
    sources: Mapping[str, str]


def reading(
    values: Mapping[str, object], whys: Mapping[str, str], origins: Mapping[str, str], missing: str
) -> CpuReading:
    """Return a reading in which every null has a reason (`missing` by default) and every value its source."""
    known = [field.name for field in fields(Cpu)]
    cpu = Cpu(**{name: values.get(name) for name in known})  # type: ignore[arg-type]
    nulls = [name for name in known if getattr(cpu, name) is None]
    return CpuReading(
        cpu,
        # Most processors have one type of core; that field is left out rather than null.
        {f"cpu.{name}": whys.get(name, missing) for name in nulls if name != "core_types"},
        {f"cpu.{name}": origins[name] for name in known if name in origins and name not in nulls},
    )


def capabilities(flags: frozenset[str] | None, arm: bool) -> dict[str, object]:
    """Return isa, bf16, amx and vnni from flags; without flags only that ARM has no AMX is known."""
    if flags is None:
        return {"amx": False} if arm else {}
    isa = next((name for name, needed in (ARM_ISA if arm else X86_ISA) if needed & flags), None)
    return {"isa": isa, "bf16": bool(BF16 & flags), "amx": "amx_tile" in flags, "vnni": bool(VNNI & flags)}


def _is_x86(arch: str) -> bool:
    """Say whether a normalised architecture is x86."""
    return arch == "x86_64" or re.fullmatch(r"i\d86", arch) is not None


def is_arm(arch: str) -> bool:
    """Say whether a normalised architecture is ARM, 32-bit or 64-bit."""
    return arch.startswith("arm")


def foreign_fields(arch: str) -> dict[str, str]:
    """Return the reasons for the fields that belong to another architecture."""
    whys: dict[str, str] = {}
    if not _is_x86(arch):
        whys |= dict.fromkeys(("family", "model_number", "stepping"), f"{NOT_APPLICABLE}: only x86 has it")
    if not is_arm(arch):
        whys["part"] = f"{NOT_APPLICABLE}: only ARM has it"
    return whys


def describe_cores(counts: Iterable[tuple[int, str]]) -> str | None:
    """Return `8 x performance + 4 x efficiency` for several types of core, None for fewer than two."""
    parts = [f"{count} x {name}" for count, name in counts if count]
    return " + ".join(parts) if len(parts) > 1 else None


def number(text: str | None, base: int = 10) -> int | None:
    """Return a short decimal or hexadecimal number, or None for anything else."""
    pattern = r"(?:0[xX])?[0-9a-fA-F]{1,8}" if base == 16 else r"[0-9]{1,9}"
    return int(text, base) if text is not None and re.fullmatch(pattern, text) else None


def clean(text: str | None) -> str | None:
    """Return a reported name in one line of at most 100 characters; `unknown` and its like are null."""
    line = "".join(c if c.isprintable() and c != "\ufffd" else " " for c in text or "")
    line = " ".join(line.split())[:100].strip()
    return None if line.lower() in ("", "0", "unknown", "n/a", "none", "not specified") else line
