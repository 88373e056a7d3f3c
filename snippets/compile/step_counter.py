"""An int counter on a module is a constant, so each step recompiles until the limit is hit."""

import logging

import torch
import torch._dynamo as dynamo

graphs = 0
log_lines = []


class Keep(logging.Handler):
    def emit(self, record):
        log_lines.append(record.getMessage())


log = logging.getLogger("torch._dynamo.convert_frame")
log.handlers = [Keep()]  # instead of standard error
log.propagate = False


def backend(graph_module, example_inputs):
    global graphs
    graphs += 1
    return graph_module.forward


class Average(torch.nn.Module):
    def __init__(self, start):
        super().__init__()
        if isinstance(start, torch.Tensor):
            self.register_buffer("step", start)
        else:
            self.step = start

    def forward(self, x):
        self.step += 1
        return x / self.step


def run(name, make_start):
    global graphs
    dynamo.reset()
    graphs = 0
    log_lines.clear()
    model = torch.compile(Average(make_start()), backend=backend)
    for step in range(1, 13):
        torch.testing.assert_close(model(torch.ones(2)), torch.ones(2) / step)
    print(f"{name:20}{step:5d}{graphs:8d}{len(log_lines):11d}")
    return any("allow_unspec_int_on_nn_module" in line for line in log_lines)


print(f"{'counter':20}steps  graphs  log lines")
hinted = run("int", lambda: 0)
run("float", lambda: 0.0)
run("buffer", lambda: torch.zeros(()))
with dynamo.config.patch(allow_unspec_int_on_nn_module=True):
    run("int, option set", lambda: 0)
print(f"the log line names the option  {hinted}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "A counter that recompiles"
# needs = ["compile"]
# upstream = ["torch.compile"]
#
# [tool.capture.values]
# steps = '^int +(\d+)'
# int_graphs = '^int +\d+ +(\d+)'
# int_log = '^int +\d+ +\d+ +(\d+)'
# float_graphs = '^float +\d+ +(\d+)'
# buffer_graphs = '^buffer +\d+ +(\d+)'
# option_graphs = '^int, option set +\d+ +(\d+)'
# hinted = '^the log line names the option +(\w+)'
#
# [tool.capture.claims.int-hits-the-limit]
# says = "an int counter makes a graph a step until the limit stops it"
# holds = "int_graphs == 8 and int_log == 1"
# where = 'torch < "2.15"'
#
# [tool.capture.claims.buffer-never-recompiles]
# says = "a buffer needs one graph, a float or the option two"
# holds = "buffer_graphs == 1 and float_graphs == 2 and option_graphs == 2"
# ///
