"""Two streams help where kernels leave part of the device free and the host can launch in time."""


def finish(kernels, streams, slots, launch):
    """Return when the last kernel ends; each is (slots it fills, time), dealt to streams in turn.

    The host launches one kernel after another. A kernel starts when it has been launched, when
    the one before it on its stream has ended, and when enough slots of the device are free.
    """
    running = []  # (end, slots)
    stream_free = [0] * streams
    started = 0
    for number, (need, time) in enumerate(kernels):
        stream = number % streams
        # Kernels of different streams start in the order of their launches, for simplicity.
        start = max(started, launch * (number + 1), stream_free[stream])
        for end, _ in sorted(running):
            if sum(size for until, size in running if until > start) + need <= slots:
                break
            start = max(start, end)
        started = start
        stream_free[stream] = start + time
        running.append((start + time, need))
    return max(end for end, _ in running)


SLOTS = 8
cases = {  # slots a kernel fills, its time, the time of a launch
    "small kernels": (2, 10, 1),
    "half the device each": (4, 10, 1),
    "more than half": (5, 10, 1),
    "the whole device": (8, 10, 1),
    "small, launched late": (2, 10, 10),
    "small, one graph launch": (2, 10, 0),
}
print(f"{'20 kernels on 8 slots':26s}{'1 stream':>9s}{'2':>11s}{'4':>11s}  gain of 2")
for name, (need, time, launch) in cases.items():
    kernels = [(need, time)] * 20
    one, two, four = (finish(kernels, streams, SLOTS, launch) for streams in (1, 2, 4))
    assert one >= two >= four >= 20 * need * time / SLOTS  # the device can do no better
    print(f"{name:26s}{one:9d}{two:11d}{four:11d}{one / two:10.1f}x")

# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.capture]
# title = "When a second stream helps, as a model"
#
# [tool.capture.values]
# small = '^small kernels .* ([\d.]+)x$'
# half = '^half the device each .* ([\d.]+)x$'
# more_than_half = '^more than half .* ([\d.]+)x$'
# whole = '^the whole device .* ([\d.]+)x$'
# late = '^small, launched late .* ([\d.]+)x$'
# graph = '^small, one graph launch .* ([\d.]+)x$'
#
# [tool.capture.claims.room-on-the-device]
# says  = "a second stream gains with small kernels, and nothing where two do not fit side by side"
# holds = "small > 1.5 and half > 1.5 and more_than_half == 1 and whole == 1"
#
# [tool.capture.claims.the-host-must-keep-up]
# says  = "where a launch takes as long as a kernel a second stream gains nothing, from a graph it does"
# holds = "late < 1.1 and graph > 1.9"
# ///
