"""The shuffle does not depend on the number of workers; random numbers drawn in the dataset do."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

ITEMS, EPOCH = 6, 0


class Noisy(Dataset):
    """Each item draws from the three global generators, and from one keyed by its index."""

    def __len__(self):
        return ITEMS

    def __getitem__(self, index):
        keyed = torch.Generator().manual_seed(EPOCH * ITEMS + index)
        return {
            "index": index,
            "torch": torch.rand(1).item(),
            "numpy": np.random.rand(),
            "random": random.random(),
            "keyed": torch.rand(1, generator=keyed).item(),
        }


def epoch(workers, seed):
    """What one epoch yields, by name; everything that can be seeded is."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)
    shuffle = torch.Generator().manual_seed(7)
    options = {"batch_size": None, "num_workers": workers, "generator": shuffle}
    items = list(DataLoader(Noisy(), shuffle=True, **options))
    return {name: [round(item[name], 4) for item in items] for name in items[0]}


if __name__ == "__main__":
    base = epoch(workers=0, seed=0)
    print(f"order with 0 workers {base['index']}")
    print("workers  seed  order   torch   numpy   random  keyed   (against the first row)")
    for workers in (0, 1, 2):
        for seed in (0, 1):
            found = epoch(workers, seed)
            assert found == epoch(workers, seed)  # each setting repeats itself
            same = ["same" if found[name] == base[name] else "other" for name in base]
            print(f"{workers:7d}{seed:6d}  {'  '.join(f'{word:6s}' for word in same)}".rstrip())
    two = epoch(2, 0)
    print(f"2 workers: {len(set(two['torch']))} different torch numbers in {ITEMS} items")
    print(f"2 workers: seeds 0 and 1 give the same numbers: {two == epoch(2, 1)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2", "numpy"]
#
# [tool.capture]
# title = "What the number of workers changes"
# needs = ["two_cpus"]
# upstream = ["torch.utils.data.DataLoader", "torch.utils.data._utils.worker._worker_loop"]
#
# [tool.capture.values]
# order = '^order with 0 workers (.+)$'
# order_two = '^ +2 +0 +(\w+)'
# torch_one = '^ +1 +0 +\w+ +(\w+)'
# torch_two = '^ +2 +0 +\w+ +(\w+)'
# numpy_two = '^ +2 +0 +\w+ +\w+ +(\w+)'
# random_two = '^ +2 +0 +\w+ +\w+ +\w+ +(\w+)'
# keyed_two = '^ +2 +0 .* (\w+)$'
# order_seed = '^ +0 +1 +(\w+)'
# torch_seed = '^ +0 +1 +\w+ +(\w+)'
# keyed_seed = '^ +0 +1 .* (\w+)$'
# distinct = '^2 workers: (\d+)'
# seeds_agree = 'give the same numbers: (\w+)'
# items = 'numbers in (\d+) items'
#
# [tool.capture.claims.the-order-is-the-samplers]
# says  = "two workers yield the same order as none"
# holds = 'order_two == "same"'
#
# [tool.capture.claims.the-numbers-are-the-workers]
# says  = "with workers, torch, NumPy and random give other numbers in the dataset"
# holds = 'torch_one == "other" and torch_two == "other" and numpy_two == "other" and random_two == "other"'
#
# [tool.capture.claims.a-key-is-independent]
# says  = "a generator keyed by the index gives the same numbers with any number of workers and any seed"
# holds = 'keyed_two == "same" and keyed_seed == "same"'
#
# [tool.capture.claims.the-loaders-generator-decides]
# says  = "with workers and a generator for the loader, the global seed changes nothing"
# holds = 'seeds_agree == "True"'
#
# [tool.capture.claims.workers-differ]
# says  = "two workers do not repeat each other's numbers"
# holds = "distinct == items"
# ///
