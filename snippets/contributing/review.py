"""What a reviewer reads after somebody captured again: one class for each record, worst first."""

import os
import pathlib
import subprocess
import sys

HEADER = """/// script
dependencies = []
[tool.capture]
title = "{name}"
[tool.capture.values]
gain = 'gain +([0-9.]+)x'
[tool.capture.compare]
ratio = {{ gain = 1.5 }}
[tool.capture.claims.{name}-gains]
says = "the second way is faster"
holds = "gain > 1"
///"""
book = pathlib.Path("handbook")
git = ("git", "-c", "user.name=reviewer", "-c", "user.email=reviewer@example.org", "-c", "init.defaultBranch=main")
env = os.environ | {"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"}


def run(*command):
    done = subprocess.run(command, cwd=book, env=env, capture_output=True, text=True)
    return done.stdout


def capture(*arguments):
    return run(sys.executable, "-m", "capture", *arguments)


def snippet(name, gain, text="ways agree"):
    body = f'print("gain {gain}x")\nprint("{text}")\n\n'
    header = "".join(f"# {line}\n" for line in HEADER.format(name=name).splitlines())
    (book / f"snippets/demo/{name}.py").write_text(body + header)


(book / "snippets/demo").mkdir(parents=True)
(book / "mkdocs.yml").write_text("site_name: a small handbook\n")
for name in ("loop", "fused", "copied", "pinned"):
    snippet(name, 3.0)
capture("run", "--host", "laptop")
run(*git, "init"), run(*git, "add", "."), run(*git, "commit", "-m", "first captures")

snippet("loop", 0.8)  # no longer faster, as its claim says
snippet("fused", 2.5)  # within the factor that the header allows
snippet("copied", 3.0, text="ways differ")
capture("run", "--host", "laptop")
record = book / "docs/captures/laptop/demo/pinned.yaml"
record.write_text(record.read_text().replace("3.0x", "9.0x"))  # by hand
print(capture("diff", "--strict").rstrip())

# /// script
# requires-python = ">=3.11"
# dependencies = []
#
# [tool.capture]
# title = "A pull request, as its reviewer sees it"
# needs = ["module:capture"]
#
# [tool.capture.values]
# to_read = 'differ, (\d+) to read'
#
# [tool.capture.compare]
# volatile = ['\([0-9a-f]{7,12}\)']
# ///
