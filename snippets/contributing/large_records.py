"""Commands over up to ten thousand records, against the fastest read of the same files."""

import importlib.util
import pathlib
import subprocess
import sys

# The tool is installed from its repository, where the benchmarks lie beside its tests.
package = importlib.util.find_spec("capture").origin
tests = pathlib.Path(package).parents[1] / "tests"
command = [sys.executable, "-m", "benchmarks", "commands", "--rounds", "3"]
done = subprocess.run(command, cwd=tests, capture_output=True, text=True, check=True)
print(done.stdout.rstrip())
missed = done.stdout.count("MISSED")
print(f"\n{missed} of the bounds missed")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Commands over ten thousand records"
# needs = ["module:capture", "two_cpus"]
# timing = true
# timeout = 3600
#
# [tool.capture.values]
# cold_100 = '^check, nothing kept, 100 records +YAML read, 100 records +([\d.]+)x'
# cold_1000 = '^check, nothing kept, 1,000 records +YAML read, 1,000 records +([\d.]+)x'
# cold_10000 = '^check, nothing kept, 10,000 records +YAML read, 10,000 records +([\d.]+)x'
# warm_100 = '^check, 100 records +YAML read, 100 records +([\d.]+)x'
# warm_1000 = '^check, 1,000 records +YAML read, 1,000 records +([\d.]+)x'
# warm_10000 = '^check, 10,000 records +YAML read, 10,000 records +([\d.]+)x'
# check_grows = '^check, 10,000 records +check, 1,000 records +([\d.]+)x'
# status_grows = '^status, 10,000 records +status, 1,000 records +([\d.]+)x'
# diff_grows = '^diff, 10,000 records +diff, 1,000 records +([\d.]+)x'
# run_grows = '^run, all current, 10,000 records +run, all current, 1,000 records +([\d.]+)x'
# check_memory = '^check, nothing kept, 10,000 records +its peak +([\d.]+) MB'
# diff_memory = '^diff, 10,000 records +its peak +([\d.]+) MB'
# missed = '^(\d+) of the bounds missed'
#
# [tool.capture.compare]
# ratio = { cold_1000 = 1.5, warm_1000 = 1.5 }
#
# [tool.capture.claims.near-the-floor]
# says  = "with nothing kept, check takes at most twelve times as long as parsing the same files with libyaml"
# holds = "cold_1000 <= 12 and cold_10000 <= 12"
#
# [tool.capture.claims.parsed-before]
# says  = "where the records were parsed before, it takes at most four times as long"
# holds = "warm_1000 <= 4 and warm_10000 <= 4"
#
# [tool.capture.claims.grows-in-line]
# says  = "with ten times the records no command takes more than twelve times as long"
# holds = "check_grows <= 12 and status_grows <= 12 and diff_grows <= 12 and run_grows <= 12"
#
# [tool.capture.claims.memory-stays-small]
# says  = "no command holds 300 MB over ten thousand records"
# holds = "check_memory < 300 and diff_memory < 300"
# ///
