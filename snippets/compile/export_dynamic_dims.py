"""torch.export fixes every size that you do not name, and AUTO gives way to code that fixes it."""

import torch
from torch.export import Dim, export

torch.manual_seed(0)
example = torch.randn(8, 4)


class Free(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(x).relu()


class Fixed(Free):
    def forward(self, x):
        return self.linear(x.view(8, 4)).relu()


def range_of(program):
    for found in program.range_constraints.values():
        upper = str(found.upper)
        return f"{found.lower} to {upper if upper.isdigit() else 'any'}"
    return "fixed"


def answer(program, model, size):
    rows = torch.randn(size, 4)
    try:
        result = program.module()(rows)
    except Exception:
        return "refused"
    torch.testing.assert_close(result, model(rows))
    return "ok"


cases = [
    ("nothing said", Free(), None),
    ("Dim.AUTO", Free(), {0: Dim.AUTO}),
    ("Dim, 2 to 64", Free(), {0: Dim("batch", min=2, max=64)}),
    ("AUTO, fixed code", Fixed(), {0: Dim.AUTO}),
    ("DYNAMIC, fixed code", Fixed(), {0: Dim.DYNAMIC}),
]
print(f"{'size of dimension 0':21}{'range':11}{'8':9}{'1':9}{'3':9}100")
for name, model, shapes in cases:
    try:
        program = export(model, (example,), dynamic_shapes=(shapes,))
    except Exception as error:
        print(f"{name:21}export raises {type(error).__name__}")
        continue
    answers = [answer(program, model, size) for size in (8, 1, 3, 100)]
    print(f"{name:21}{range_of(program):11}" + "".join(f"{item:9}" for item in answers).rstrip())

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Which sizes an exported program takes"
# needs = ["compile"]
# upstream = ["torch.export.export", "torch.export.Dim"]
#
# [tool.capture.values]
# silent_range = '^nothing said +(\S.*?)  '
# silent_other = '^nothing said .* (\w+) +\w+$'
# auto_range = '^Dim.AUTO +(\S.*?)  '
# auto_other = '^Dim.AUTO .* (\w+) +\w+$'
# auto_one = '^Dim.AUTO +\d to any +ok +(\w+)'
# named_one = '^Dim, 2 to 64 +2 to 64 +ok +(\w+)'
# named_range = '^Dim, 2 to 64 +(\S.*?)  '
# named_outside = '^Dim, 2 to 64 .* (\w+)$'
# fixed_auto = '^AUTO, fixed code +(\S.*?)  '
# fixed_dynamic = '^DYNAMIC, fixed code +export raises (\w+)'
#
# [tool.capture.claims.static-by-default]
# says = "with nothing said every other size is refused"
# holds = 'silent_range == "fixed" and silent_other == "refused"'
#
# [tool.capture.claims.range-is-checked]
# says = "a named range is checked when the program runs"
# holds = 'named_range == "2 to 64" and named_outside == "refused" and auto_other == "ok"'
#
# [tool.capture.claims.a-lower-end-of-two-is-no-check]
# says = "a range that begins at 2 still takes size 1"
# holds = 'auto_one == "ok" and named_one == "ok"'
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.auto-gives-way]
# says = "code that fixes the size is refused under DYNAMIC and quietly obeyed under AUTO"
# holds = 'fixed_auto == "fixed" and fixed_dynamic == "UserError"'
# where = 'torch >= "2.13" and torch < "2.15"'
# ///
