"""Time in next() is waiting: workers hide a slow dataset if together they outpace the step."""

import statistics
import time

import torch
from torch.utils.data import DataLoader, Dataset

BATCH, BATCHES = 4, 20
ITEM_S, STEP_S = 0.006, 0.015  # waiting for storage, and for a device: neither uses the CPU


class Slow(Dataset):
    def __len__(self):
        return BATCH * BATCHES

    def __getitem__(self, index):
        time.sleep(ITEM_S)
        return torch.tensor(float(index))


def epoch(loader):
    """Milliseconds to the first batch, of a later step, and of that step waiting in next()."""
    waits, steps, total = [], [], 0.0
    asked = time.perf_counter()
    iterator = iter(loader)  # this starts the workers
    for _ in range(BATCHES):
        batch = next(iterator)
        got = time.perf_counter()
        time.sleep(STEP_S)
        done = time.perf_counter()
        waits.append((got - asked) * 1e3)
        steps.append((done - asked) * 1e3)
        asked = done
        total += batch.sum().item()
    assert total == sum(range(BATCH * BATCHES))
    return waits[0], statistics.median(steps[5:]), statistics.median(waits[5:])


if __name__ == "__main__":
    print(f"loading a batch takes {BATCH * ITEM_S * 1e3:.0f} ms, a step {STEP_S * 1e3:.0f} ms")
    print(f"{'second epoch':22s}first batch   then a step   of it waiting")
    steps = {}
    for name in ("0 workers", "1 worker", "2 workers", "2 workers, persistent"):
        workers, keep = int(name[0]), "persistent" in name
        loader = DataLoader(Slow(), BATCH, num_workers=workers, persistent_workers=keep)
        epoch(loader)
        first, steps[name], wait = epoch(loader)
        row = f"{first:8.1f} ms{steps[name]:11.1f} ms{100 * wait / steps[name]:12.0f} %"
        print(f"{name:22s}{row}")
    print(f"0 workers / 1 worker  {steps['0 workers'] / steps['1 worker']:.2f}x")
    print(f"1 worker / 2 workers  {steps['1 worker'] / steps['2 workers']:.2f}x")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Waiting for data, by number of workers"
# needs = ["two_cpus"]
# timing = true
#
# [tool.capture.values]
# load_ms = 'a batch takes (\d+) ms'
# step_ms = 'ms, a step (\d+) ms'
# none_ms = '^0 workers +[\d.]+ ms +([\d.]+) ms'
# none_waiting = '^0 workers .* (\d+) %'
# one_ms = '^1 worker +[\d.]+ ms +([\d.]+) ms'
# one_waiting = '^1 worker .* (\d+) %'
# two_ms = '^2 workers +[\d.]+ ms +([\d.]+) ms'
# two_waiting = '^2 workers +[\d.]+ ms .* (\d+) %'
# two_first_ms = '^2 workers +([\d.]+) ms'
# persistent_first_ms = '^2 workers, persistent +([\d.]+) ms'
# none_over_one = '^0 workers / 1 worker +([\d.]+)x'
# one_over_two = '^1 worker / 2 workers +([\d.]+)x'
#
# [tool.capture.compare]
# ratio = { one_over_two = 1.25, none_over_one = 1.25 }
# spread = 1.25
# volatile = ['\d+\.\d+ ms', '\d+ %']
#
# [tool.capture.claims.without-workers-they-add]
# says  = "without workers a step takes as long as loading and computing together"
# holds = "none_ms > load_ms + step_ms"
#
# [tool.capture.claims.workers-hide-the-loading]
# says  = "one worker leaves the step waiting; two outpace it, and the wait is less than a fifth of the step"
# holds = "one_waiting > 20 and two_waiting < 20"
# where = 'os == "linux" and cpu.count >= 2'
#
# [tool.capture.claims.starting-workers-costs]
# says  = "in a second epoch, new workers take longer to the first batch than persistent ones"
# holds = "two_first_ms > persistent_first_ms"
# ///
