"""A caching allocator in pure Python: memory is reserved in segments and given back only whole."""

MIB = 2**20
segments, pools = [], {}  # a segment is a list of blocks [bytes, name, or None if free]


def allocate(name, size):
    """Take the smallest free block that fits, or a new segment; split off what is left over."""
    size = -(-size // 512) * 512  # rounded up
    pool = "small" if size <= MIB else "large"
    fitting = [
        (blocks[i][0], blocks, i)
        for blocks in segments
        for i in range(len(blocks))
        if pools[id(blocks)] == pool and blocks[i][1] is None and blocks[i][0] >= size
    ]
    if not fitting:
        large = 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
        segments.append([[2 * MIB if pool == "small" else large, None]])
        pools[id(segments[-1])] = pool
        fitting = [(0, segments[-1], 0)]
    _, blocks, i = min(fitting, key=lambda found: found[0])
    rest = blocks[i][0] - size
    if rest >= (512 if pool == "small" else MIB + 1):
        blocks[i : i + 1] = [[size, name], [rest, None]]
    blocks[i][1] = name


def free(*names):
    for blocks in segments:
        for block in blocks:
            block[1] = None if block[1] in names else block[1]
        for i in range(len(blocks) - 1, 0, -1):  # free neighbours become one block
            if blocks[i][1] is None and blocks[i - 1][1] is None:
                blocks[i - 1][0] += blocks.pop(i)[0]


def empty_cache(*_):
    segments[:] = [blocks for blocks in segments if any(name for _, name in blocks)]


fours = [f"four {i}" for i in range(6)]
steps = {
    "one float": (allocate, [("one", 4)]),
    "six of 4 MiB": (allocate, [(name, 4 * MIB) for name in fours]),
    "one of 12 MiB": (allocate, [("twelve", 12 * MIB)]),
    "del every second 4 MiB": (free, [fours[::2]]),
    "one of 8 MiB": (allocate, [("eight", 8 * MIB)]),
    "empty_cache()": (empty_cache, [()]),
    "del everything": (free, [("one", "twelve", "eight", *fours)]),
    "empty_cache() again": (empty_cache, [()]),
}
print(f"{'MiB after':24s}allocated  reserved  largest free")
for step, (action, requests) in steps.items():
    for request in requests:
        action(*request)
    used = [size for blocks in segments for size, name in blocks if name]
    unused = [size for blocks in segments for size, name in blocks if name is None]
    row = f"{sum(used) / MIB:9.0f}{sum(used + unused) / MIB:10.0f}"
    print(f"{step:24s}{row}{max(unused, default=0) / MIB:14.0f}")

# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.capture]
# title = "A caching allocator in fifty lines"
#
# [tool.capture.values]
# reserved_for_one = '^one float +\S+ +([\d.]+)'
# allocated_six = '^six of 4 MiB +([\d.]+)'
# reserved_six = '^six of 4 MiB +\S+ +([\d.]+)'
# reserved_twelve = '^one of 12 MiB +\S+ +([\d.]+)'
# allocated_before = '^del every second 4 MiB +([\d.]+)'
# reserved_before = '^del every second 4 MiB +\S+ +([\d.]+)'
# largest_before = '^del every second 4 MiB +\S+ +\S+ +([\d.]+)'
# reserved_eight = '^one of 8 MiB +\S+ +([\d.]+)'
# reserved_kept = '^empty_cache\(\) {2,}\S+ +([\d.]+)'
# reserved_idle = '^del everything +\S+ +([\d.]+)'
# reserved_end = '^empty_cache\(\) again +\S+ +([\d.]+)'
#
# [tool.capture.claims.free-but-in-pieces]
# says  = "more than 8 MiB are free, no piece is that large, and a new segment is reserved"
# holds = "reserved_before - allocated_before > 8 and largest_before < 8 and reserved_eight > reserved_before"
#
# [tool.capture.claims.empty-cache-gives-back-whole-segments]
# says  = "empty_cache() gives nothing back while each segment holds a tensor, and all of it later"
# holds = "reserved_kept == reserved_eight and reserved_idle > 0 and reserved_end == 0"
# ///
