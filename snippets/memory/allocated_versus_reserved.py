"""The real caching allocator, given the requests of the model: what it allocates and reserves."""

import torch

MIB = 2**20


def tensor(size):
    """An uninitialised block of so many bytes; no kernel runs, so no workspace is allocated."""
    return torch.empty(size, dtype=torch.uint8, device="cuda")


def report(step):
    blocks = [block for segment in torch.cuda.memory_snapshot() for block in segment["blocks"]]
    free = [block["size"] for block in blocks if block["state"] == "inactive"]
    row = f"{torch.cuda.memory_allocated() / MIB:9.0f}{torch.cuda.memory_reserved() / MIB:10.0f}"
    print(f"{step:24s}{row}{max(free, default=0) / MIB:14.0f}")


print(f"cuda available {torch.cuda.is_available()}, device {torch.cuda.get_device_name()}")
print(f"allocator {torch.cuda.memory.get_allocator_backend()}")
print(f"{'MiB after':24s}allocated  reserved  largest free")
one = tensor(4)
report("one float")
fours = [tensor(4 * MIB) for _ in range(6)]
report("six of 4 MiB")
twelve = tensor(12 * MIB)
report("one of 12 MiB")
del fours[::2]
report("del every second 4 MiB")
eight = tensor(8 * MIB)
report("one of 8 MiB")
torch.cuda.empty_cache()
report("empty_cache()")
del one, fours, twelve, eight
report("del everything")
torch.cuda.empty_cache()
report("empty_cache() again")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Allocated against reserved, on a device"
# needs = ["cuda"]
#
# [tool.capture.values]
# allocator = '^allocator (\S+)'
# reserved_for_one = '^one float +\S+ +([\d.]+)'
# reserved_before = '^del every second 4 MiB +\S+ +([\d.]+)'
# allocated_eight = '^one of 8 MiB +([\d.]+)'
# reserved_eight = '^one of 8 MiB +\S+ +([\d.]+)'
# reserved_kept = '^empty_cache\(\) {2,}\S+ +([\d.]+)'
# reserved_idle = '^del everything +\S+ +([\d.]+)'
# reserved_end = '^empty_cache\(\) again +\S+ +([\d.]+)'
#
# [tool.capture.claims.segments-as-in-the-model]
# says  = "torch's own allocator reserves 2, 42 and 62 MiB where the model does"
# holds = 'allocator != "native" or reserved_for_one == 2 and reserved_before == 42 and reserved_eight == 62'
# where = "gate.cuda"
#
# [tool.capture.claims.empty-cache-gives-back-whole-segments]
# says  = "empty_cache() gives nothing back while each segment holds a tensor, and all of it later"
# holds = 'allocator != "native" or reserved_kept == reserved_eight and reserved_idle > 0 and reserved_end == 0'
# where = "gate.cuda"
# ///
