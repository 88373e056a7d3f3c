"""Two processes average their gradients in each backward, and inside no_sync only in the last."""

import os
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


def worker(rank, folder):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", f"file://{folder}/meeting", rank=rank, world_size=2)
    model = DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
    reductions, lines = [], []

    def average(state, bucket):
        dist.all_reduce(bucket.buffer())  # blocking, so that no callback outlives the process
        reductions.append(bucket.index())
        finished = torch.futures.Future()
        finished.set_result(bucket.buffer() / 2)
        return finished

    model.register_comm_hook(None, average)
    x = torch.full((1, 2), float(rank + 1))

    def report(name):
        gradient = model.module.weight.grad
        both = [torch.empty_like(gradient) for _ in range(2)]
        dist.all_gather(both, gradient)
        assert torch.equal(*both)
        lines.append(f"{name:30s}{gradient[0, 0]:9.1f}{len(reductions):12d}")
        reductions.clear()
        model.zero_grad()

    model(x).sum().backward()
    report("one backward")
    for _ in range(4):
        model(x).sum().backward()
    report("four, all reduced")
    with model.no_sync():
        for _ in range(3):
            model(x).sum().backward()
    model(x).sum().backward()
    report("four, three under no_sync")
    if rank == 0:
        (folder / "report").write_text("\n".join(lines))
    dist.barrier()
    dist.destroy_process_group()
    os._exit(0)  # gloo's threads may abort while an interpreter shuts down


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        mp.spawn(worker, (Path(name),), nprocs=2)
        print(f"{'inputs 1 and 2, ranks agree':30s}{'gradient':>9s}{'all-reduces':>12s}")
        print((Path(name) / "report").read_text())

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Two processes on gloo"
# needs = ["gloo"]
# upstream = ["torch.nn.parallel.DistributedDataParallel.no_sync"]
#
# [tool.capture.values]
# one_gradient = '^one backward +([\d.]+)'
# one_reductions = '^one backward +[\d.]+ +(\d+)'
# all_gradient = '^four, all reduced +([\d.]+)'
# all_reductions = '^four, all reduced +[\d.]+ +(\d+)'
# last_gradient = '^four, three under no_sync +([\d.]+)'
# last_reductions = '^four, three under no_sync +[\d.]+ +(\d+)'
#
# [tool.capture.claims.the-mean-arrives-at-both]
# says  = "both ranks hold the mean of the gradients for inputs 1 and 2"
# holds = "one_gradient == 1.5"
#
# [tool.capture.claims.one-reduction-is-enough]
# says  = "no_sync gives the same sum over four steps with one all-reduce in place of four"
# holds = "last_gradient == all_gradient and all_reductions == 4 and last_reductions == 1"
# ///
