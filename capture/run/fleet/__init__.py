"""Captures on several machines through dask.distributed: it moves, runs and watches; we plan, judge and store."""
