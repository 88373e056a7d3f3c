"""Events time the queue, not the kernels: a model of a host and a device shows the gaps."""


def simulate(kernel, launch, calls, backlog=0):
    """Return by events, by the kernels alone, and by the host clock, all in microseconds.

    The host needs `launch` for each call and goes on at once. The device runs its queue in order
    and starts a kernel when it was launched and the one before is done. `backlog` is work queued
    earlier, behind which the device is still busy.
    """
    host = 0
    free = backlog  # when the device has finished what is queued so far
    start_event = max(host, free)
    busy = 0
    for _ in range(calls):
        host += launch
        begin = max(host, free)
        free = begin + kernel
        busy += kernel
    launched = host
    end_event = free
    return end_event - start_event, busy, launched


CALLS = 200
LAUNCH = 5  # microseconds of host time a call, of the usual order
cases = {
    "large kernels": (500, 0),
    "tiny kernels, as launched": (2, 0),
    "tiny kernels, queue full": (2, 2000),
}
print(f"{CALLS} calls, {LAUNCH} us to launch one; microseconds a call")
print(f"{'case':26}{'kernel':>8}{'events':>8}{'host':>7}  events/kernel")
for name, (kernel, backlog) in cases.items():
    events, busy, launched = simulate(kernel, LAUNCH, CALLS, backlog)
    row = f"{name:26}{busy / CALLS:8.2f}{events / CALLS:8.2f}{launched / CALLS:7.2f}"
    print(f"{row}{events / busy:15.2f}")

# Where the host is slower than the kernel, the launches set the pace: check against arithmetic.
assert simulate(2, LAUNCH, CALLS)[0] == CALLS * LAUNCH + 2
assert simulate(500, LAUNCH, CALLS)[0] == LAUNCH + CALLS * 500

# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.capture]
# title = "What two events enclose, as a model"
#
# [tool.capture.values]
# launch_us = 'calls, (\d+) us to launch'
# large = '^large kernels .* ([\d.]+)$'
# tiny_kernel_us = '^tiny kernels, as launched +([\d.]+)'
# tiny_events_us = '^tiny kernels, as launched +[\d.]+ +([\d.]+)'
# tiny = '^tiny kernels, as launched .* ([\d.]+)$'
# queued = '^tiny kernels, queue full .* ([\d.]+)$'
#
# [tool.capture.claims.events-read-the-launch-rate]
# says  = "where launching takes longer than the kernel, events read more than twice the kernel's time"
# holds = "tiny > 2 and tiny_events_us >= launch_us"
#
# [tool.capture.claims.a-full-queue-has-no-gaps]
# says  = "with large kernels or a full queue, events read the kernels' time"
# holds = "large == 1 and queued == 1"
# ///
