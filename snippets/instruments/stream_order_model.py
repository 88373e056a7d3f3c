"""Two queues have no common order: run every order the rules allow and count the wrong reads."""

from math import comb


def orders(queues, after, done=()):
    """Yield each order in which first-in first-out queues can run, honouring the waits."""
    if not any(queues):
        yield done
    for i, queue in enumerate(queues):
        if not queue:
            continue
        step = queue[0]
        if step not in after or after[step] in done:
            yield from orders([*queues[:i], queue[1:], *queues[i + 1 :]], after, (*done, step))


def value_read(order, block_of_y):
    memory = {"block 0": 0, "block 1": 0}
    writes = {"write x": {"block 0": 1}, "write y": {block_of_y: 9}}
    for step in order[: order.index("read x")]:
        memory |= writes.get(step, {})
    return memory["block 0"]


def steps(order, queues, after, star):
    """An order as a line: who does what, and a wait where what it waits for is done."""
    lane = {step: "AB"[i] for i, queue in enumerate(queues) for step in queue}
    found = []
    for step in order:
        found.append(f"{lane[step]} {step}" + star * (step == "read x"))
        found += [f"{lane[b]} waits {lane[step]}" for b, a in after.items() if a == step]
    return " > ".join(found)


producer = ("load", "write x")
consumer = ("read x", "use x")
reuse = [("write x", "write y"), ("read x",)]
# Each case: the queues, "a step runs only after another", and the block that y is given.
cases = {
    "one stream": ([producer + consumer], {}, "block 1"),
    "two streams, no wait": ([producer, consumer], {}, "block 1"),
    "wait_stream after the write": ([producer, consumer], {"read x": "write x"}, "block 1"),
    "wait_stream before the write": ([producer, consumer], {"read x": "load"}, "block 1"),
    "x freed, block given to y": (reuse, {"read x": "write x"}, "block 0"),
    "x.record_stream, y elsewhere": (reuse, {"read x": "write x"}, "block 1"),
}
print("流 (stream) = 先进先出队列, a first-in first-out queue; no device is asked")
print("below each case one order, a wrong one if there is any: * reads a wrong value")
print(f"{'case':30s}{'orders':>6s}{'wrong':>7s}  verdict")
for name, (queues, after, block_of_y) in cases.items():
    possible = list(orders(queues, after))
    wrong = [order for order in possible if value_read(order, block_of_y) != 1]
    verdict = "race 竞态" if wrong else "ordered 有序"
    print(f"{name:30s}{len(possible):6d}{len(wrong):7d}  {verdict}")
    print("    " + steps((wrong or possible)[0], queues, after, "*" if wrong else ""))

# The same count by arithmetic: without a wait, any two of four places may be the producer's.
assert len(list(orders([producer, consumer], {}))) == comb(4, 2)

# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.capture]
# title = "Two queues, every order they can run in"
#
# [tool.capture.values]
# orders_free = '^two streams, no wait +(\d+)'
# wrong_free = '^two streams, no wait +\d+ +(\d+)'
# orders_waited = '^wait_stream after the write +(\d+)'
# wrong_waited = '^wait_stream after the write +\d+ +(\d+)'
# orders_early = '^wait_stream before the write +(\d+)'
# wrong_early = '^wait_stream before the write +\d+ +(\d+)'
# orders_reused = '^x freed, block given to y +(\d+)'
# wrong_reused = '^x freed, block given to y +\d+ +(\d+)'
# order_one = '^one stream .*\n +(A .+)'
# order_free = '^two streams, no wait .*\n +(A .+)'
# order_waited = '^wait_stream after the write .*\n +(A .+)'
# order_early = '^wait_stream before the write .*\n +(A .+)'
# order_reused = '^x freed, block given to y .*\n +(A .+)'
# order_recorded = '^x.record_stream, y elsewhere .*\n +(A .+)'
# verdict_one = '^one stream +\d+ +\d+ +(.+)'
# verdict_free = '^two streams, no wait +\d+ +\d+ +(.+)'
# verdict_waited = '^wait_stream after the write +\d+ +\d+ +(.+)'
# verdict_early = '^wait_stream before the write +\d+ +\d+ +(.+)'
# verdict_reused = '^x freed, block given to y +\d+ +\d+ +(.+)'
# verdict_recorded = '^x.record_stream, y elsewhere +\d+ +\d+ +(.+)'
# wrong_recorded = '^x.record_stream, y elsewhere +\d+ +(\d+)'
#
# [tool.capture.claims.no-wait-is-a-race]
# says  = "without a wait some order reads the old value"
# holds = "wrong_free > 0 and wrong_free < orders_free"
#
# [tool.capture.claims.a-wait-after-the-write-orders]
# says  = "a wait after the write leaves no order that reads the old value"
# holds = "wrong_waited == 0"
#
# [tool.capture.claims.a-wait-before-the-write-does-not]
# says  = "a wait queued before the write leaves fewer orders, and still a race"
# holds = "orders_early < orders_free and wrong_early > 0"
#
# [tool.capture.claims.record-stream-keeps-the-block]
# says  = "the reader is wrong in some order if its block is handed on, in none if it is kept"
# holds = "wrong_reused > 0 and wrong_recorded == 0"
# ///
