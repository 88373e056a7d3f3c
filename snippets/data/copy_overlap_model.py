"""When copies overlap with compute: a timeline of host, copy engine and compute, in pure Python."""

BATCHES = 100


def run(host, copy, compute, pinned, streams, buffers=2):
    """Time a batch when each batch is prepared, copied and computed under the given rules."""
    host_free = copied = 0
    done = []  # when the compute of each batch ends
    for i in range(BATCHES):
        prepared = host_free + host
        before = done[-1] if done else 0
        # One stream: a queue, so the copy waits for the batch before. Two: only for a buffer.
        buffer_free = done[i - buffers] if i >= buffers else 0
        start = max(prepared, copied, before if streams == 1 else buffer_free)
        copied = start + copy
        done.append(max(copied, before) + compute)
        # A copy from pageable memory keeps the host; from pinned memory the host goes on.
        host_free = prepared if pinned else copied
    return done[-1] / BATCHES


rules = {
    "pageable, one stream": {"pinned": False, "streams": 1},
    "pinned, one stream": {"pinned": True, "streams": 1},
    "pageable, two streams": {"pinned": False, "streams": 2},
    "pinned, two streams": {"pinned": True, "streams": 2},
    "pinned, two, one buffer": {"pinned": True, "streams": 2, "buffers": 1},
}
loads = {"busy host": (7, 4, 6), "idle host": (1, 4, 6)}
print("a model: no device is asked; copying takes 4 units, computing 6")
print("units a batch, 100 batches  host 7  host 1")
for name, rule in rules.items():
    times = [run(*load, **rule) for load in loads.values()]
    print(f"{name:26s}{times[0]:8.1f}{times[1]:8.1f}")

# No rule beats the slowest of the three, and the best one is bounded by it.
for load in loads.values():
    best = run(*load, pinned=True, streams=2)
    assert max(load) <= best < max(load) + sum(load) / BATCHES

# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.capture]
# title = "Host, copy engine and compute on a timeline"
#
# [tool.capture.values]
# pageable_busy = '^pageable, one stream +([\d.]+)'
# pageable_idle = '^pageable, one stream +\S+ +([\d.]+)'
# pinned_busy = '^pinned, one stream +([\d.]+)'
# pinned_idle = '^pinned, one stream +\S+ +([\d.]+)'
# pageable_two_busy = '^pageable, two streams +([\d.]+)'
# pageable_two_idle = '^pageable, two streams +\S+ +([\d.]+)'
# two_busy = '^pinned, two streams +([\d.]+)'
# two_idle = '^pinned, two streams +\S+ +([\d.]+)'
# one_buffer_busy = '^pinned, two, one buffer +([\d.]+)'
# one_buffer_idle = '^pinned, two, one buffer +\S+ +([\d.]+)'
#
# [tool.capture.claims.pinning-alone]
# says  = "on one stream, pinning gains nothing where the host is idle"
# holds = "pinned_idle == pageable_idle"
#
# [tool.capture.claims.all-three-overlap]
# says  = "pinned memory, a second stream and a second buffer together beat two of them with a busy host"
# holds = "two_busy < pinned_busy and two_busy < pageable_two_busy and two_busy < one_buffer_busy"
#
# [tool.capture.claims.faster-than-neither]
# says  = "with a busy host, pinned memory and a second stream beat pageable memory on one stream"
# holds = "two_busy < pageable_busy"
#
# [tool.capture.claims.a-second-buffer]
# says  = "with one buffer, two streams are as slow as one"
# holds = "one_buffer_busy == pinned_busy and one_buffer_idle == pinned_idle"
# ///
