"""Benchmarks of the runner, side by side with plain loops and other tools; `make bench` runs them."""
