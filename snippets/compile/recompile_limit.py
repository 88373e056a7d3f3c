"""At the recompile limit a function goes on in eager mode; one line of log is all that says so."""

import logging

import torch
import torch._dynamo as dynamo

sizes = range(2, 14)
counts = {"graphs": 0, "runs": 0}
log_lines = []


class Keep(logging.Handler):
    def emit(self, record):
        log_lines.append(record.getMessage())


log = logging.getLogger("torch._dynamo.convert_frame")
log.handlers, log.propagate = [Keep()], False  # instead of standard error


def backend(graph_module, example_inputs):
    counts["graphs"] += 1

    def run_graph(*inputs):
        counts["runs"] += 1
        return graph_module.forward(*inputs)

    return run_graph


def double(x):
    return x * 2


def run(name, stance="default", **options):
    dynamo.reset()
    log_lines.clear()
    counts.update(graphs=0, runs=0)
    calls = 0
    compiled = torch.compile(double, backend=backend, **options)
    ending = "-"
    try:
        for size in sizes:
            with torch.compiler.set_stance(stance if calls else "default"):
                assert compiled(torch.ones(size)).sum() == 2 * size
            calls += 1
    except Exception as error:
        ending = type(error).__name__
    done = f"{calls:5}{counts['graphs']:7}{counts['runs']:10}{len(log_lines):5}"
    print(f"{name:18}{done}  {ending}")


print(f"recompile_limit {dynamo.config.recompile_limit}, {len(sizes)} sizes")
print("way               calls graphs  compiled  log  raises")
run("dynamic=False", dynamic=False)
print("  " + log_lines[0].splitlines()[0])
run("fullgraph=True", dynamic=False, fullgraph=True)
run("fail_on_recompile", dynamic=False, stance="fail_on_recompile")
run("nothing said")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Twelve sizes and a limit"
# needs = ["compile"]
# upstream = ["torch.compile", "torch.compiler.set_stance"]
#
# [tool.capture.values]
# limit = '^recompile_limit (\d+),'
# sizes = '^recompile_limit \d+, (\d+) sizes'
# calls = '^dynamic=False +(\d+)'
# graphs = '^dynamic=False +\d+ +(\d+)'
# compiled = '^dynamic=False +\d+ +\d+ +(\d+)'
# log_lines = '^dynamic=False +\d+ +\d+ +\d+ +(\d+)'
# log_line = '^  (torch.*)'
# fullgraph_calls = '^fullgraph=True +(\d+)'
# fullgraph_raises = '^fullgraph=True .* (\w+)$'
# stance_calls = '^fail_on_recompile +(\d+)'
# stance_raises = '^fail_on_recompile .* (\w+)$'
# dynamic_graphs = '^nothing said +\d+ +(\d+)'
# dynamic_compiled = '^nothing said +\d+ +\d+ +(\d+)'
#
# [tool.capture.claims.eager-after-the-limit]
# says = "after the limit every call succeeds, none of them compiled, and one log line says so"
# holds = "graphs == limit and compiled == limit and calls == sizes and log_lines == 1"
#
# [tool.capture.claims.two-ways-to-be-told]
# says = "fullgraph raises at the limit, the stance fail_on_recompile at the first recompile"
# holds = "fullgraph_calls == limit and stance_calls == 1"
#
# [tool.capture.claims.dynamic-stays-below]
# says = "automatic dynamic shapes serve all sizes with two graphs"
# holds = "dynamic_graphs == 2 and dynamic_compiled == sizes"
# ///
