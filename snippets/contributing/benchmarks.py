"""The runner against plain loops and other tools, side by side in one process tree."""

import importlib.util
import pathlib
import subprocess
import sys

# The tool is installed from its repository, where the benchmarks lie beside its tests.
package = importlib.util.find_spec("capture").origin
tests = pathlib.Path(package).parents[1] / "tests"
command = [sys.executable, "-m", "benchmarks", "--rounds", "3"]
done = subprocess.run(command, cwd=tests, capture_output=True, text=True, check=True)
print(done.stdout.rstrip())
missed = done.stdout.count("MISSED")
print(f"\n{missed} of the bounds missed")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2", "sphinx-gallery", "jupyter-cache", "mkdocs-jupyter"]
#
# [tool.capture]
# title = "The runner against plain loops and other tools"
# needs = ["module:capture", "two_cpus"]
# timing = true
# timeout = 3600
#
# [tool.capture.values]
# against_loop = 'forked engine +python x\.py, 20 times +([\d.]+)x'
# against_forks = 'forked engine +a minimal fork loop +([\d.]+)x'
# fresh_against_loop = 'fresh engine +python x\.py, 20 times +([\d.]+)x'
# against_gallery = 'sphinx-gallery, in process +([\d.]+)x'
# against_cache = 'jupyter-cache +([\d.]+)x'
# against_mkdocs = 'mkdocs-jupyter +([\d.]+)x'
# no_op = 'run, 1,000 current +read and hash all, libyaml +([\d.]+)x'
# memory = 'limit lifted +one line printed +([-\d.]+) MB more'
# memory_ended = 'ended at 64 MiB +one line printed +([-\d.]+) MB more'
# missed = '^(\d+) of the bounds missed'
#
# [tool.capture.compare]
# ratio = { against_loop = 1.5, against_forks = 1.3, no_op = 1.3 }
#
# [tool.capture.claims.twelve-times-faster]
# says  = "the forked engine captures twenty snippets twelve times faster than a loop runs them"
# holds = "against_loop >= 12"
# where = 'os == "linux"'
#
# [tool.capture.claims.near-the-floor]
# says  = "with limits, host facts and records it takes at most 1.3 times the time of a bare fork loop"
# holds = "against_forks <= 1.3"
# where = 'os == "linux"'
#
# [tool.capture.claims.faster-than-other-tools]
# says  = "twice as fast as sphinx-gallery, and twenty times as fast as jupyter-cache and mkdocs-jupyter"
# holds = "against_gallery >= 2 and against_cache >= 20 and against_mkdocs >= 20"
# where = 'os == "linux"'
#
# [tool.capture.claims.nothing-to-do-is-cheap]
# says  = "with nothing to do, a run takes at most twice the time of reading and hashing the files"
# holds = "no_op <= 2"
#
# [tool.capture.claims.memory-stays-flat]
# says  = "the runner's memory grows by less than 20 MB while a snippet prints 1 GB"
# holds = "memory < 20 and memory_ended < 20"
# where = 'os == "linux"'
# ///
