"""A host-to-host copy accepts non_blocking=True and ignores it: complete, unpinned, no warning."""

import textwrap
import warnings

import torch

source = torch.arange(8_000_000, dtype=torch.float32)
expected = source.clone()


def copy_into(non_blocking):
    return torch.empty_like(source).copy_(source, non_blocking=non_blocking)


def to_host(non_blocking):
    return source.to("cpu", non_blocking=non_blocking, copy=True)


def plain_to(non_blocking):
    return source.to("cpu", non_blocking=non_blocking)


print(f"cuda available {torch.cuda.is_available()}, built for CUDA {torch.version.cuda}")
print(f"{'copy of 32 MB':20s}{'non_blocking':14s}{'complete':10s}{'pinned':8s}warnings")
warned = 0
for label, copy in {"dst.copy_": copy_into, "to(cpu, copy=True)": to_host}.items():
    for non_blocking in (False, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = copy(non_blocking)
            # Spoil the source at once: a copy still under way would pick up the -1.
            source.fill_(-1)
        complete = torch.equal(result, expected)
        source.copy_(expected)
        warned += len(caught)
        row = f"{label:20s}{non_blocking!s:14s}{complete!s:10s}{result.is_pinned()!s:8s}"
        print(f"{row}{len(caught)}")
        assert complete
print(f"warnings in all: {warned}")
print(f"to(cpu, non_blocking=True) without copy=True copies: {plain_to(True) is not source}")

try:
    pinned = f"pinned {source[:4].pin_memory().is_pinned()}"
except Exception as error:
    message = textwrap.shorten(str(error).partition(". ")[0], 56, placeholder=" ...")
    pinned = f"{type(error).__name__}: {message}"
print(f"pin_memory() on this host: {pinned}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "non_blocking=True between two host tensors"
#
# [tool.capture.values]
# complete = '^dst\.copy_ +True +(\w+)'
# pinned = '^dst\.copy_ +True +\w+ +(\w+)'
# warnings = 'warnings in all: (\d+)'
# copies = 'without copy=True copies: (\w+)'
# pin_memory = 'on this host: (.+)'
#
# [tool.capture.claims.accepted-and-inert]
# says  = "a host copy with non_blocking=True is complete on return, unpinned, without a warning"
# holds = 'complete == "True" and pinned == "False" and warnings == 0'
#
# [tool.capture.claims.to-the-same-device-is-no-copy]
# says  = "to() on the device the tensor is on returns the tensor itself"
# holds = 'copies == "False"'
# ///
