"""On a CPU flex_attention gives its logsumexp only uncompiled and its largest scores never."""

import logging
import math
import warnings

import torch
from torch.nn.attention.flex_attention import AuxRequest, flex_attention

# A CUDA build without a device logs where it would look for CUDA.
logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
torch.manual_seed(0)
query, key, value = (torch.randn(1, 2, 16, 8) for _ in range(3))
scores = query @ key.mT / math.sqrt(8)
expected = torch.softmax(scores, dim=-1) @ value
SOLE_LSE, SOLE_MAX = AuxRequest(lse=True), AuxRequest(max_scores=True)


def ask(function, first=query, **options):
    """Return which outputs came back, each checked against its definition, or the refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one about speed, one about return_lse
        try:
            answer = function(first, key, value, **options)
        except Exception as error:
            return f"refused by {type(error).__name__}"
    output, extra = answer if isinstance(answer, tuple) else (answer, None)
    torch.testing.assert_close(output, expected)
    lse = extra if torch.is_tensor(extra) else getattr(extra, "lse", None)
    if lse is None:
        return "out" if extra is None else "out, no aux"
    torch.testing.assert_close(lse, scores.logsumexp(dim=-1))
    return "out, lse"


requests = {
    "nothing": {},
    "AuxRequest()": {"return_aux": AuxRequest()},
    "lse": {"return_aux": SOLE_LSE},
    "max_scores": {"return_aux": SOLE_MAX},
    "return_lse": {"return_lse": True},
    "return_lse and lse": {"return_lse": True, "return_aux": SOLE_LSE},
    "gradient": {"first": query.clone().requires_grad_()},
}
print(f"cuda available {torch.cuda.is_available()}, tensors on {query.device.type}")
print(f"{'asked for':20}{'uncompiled':34}compiled")
for name, options in requests.items():
    torch.compiler.reset()  # so that no row depends on the one before: see below
    answers = ask(flex_attention, **options), ask(torch.compile(flex_attention), **options)
    print(f"{name:20}{answers[0]:34}{answers[1]}")

torch.compiler.reset()
compiled = torch.compile(flex_attention)
print("one compiled function, three calls")
for step, request in enumerate((SOLE_LSE, SOLE_MAX, SOLE_LSE), start=1):
    name = "lse" if request.lse else "max_scores"
    print(f"  call {step} {name:11}{ask(compiled, return_aux=request)}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Auxiliary outputs of flex_attention on a CPU"
# needs = ["compile"]
# timeout = 240
# upstream = ["torch.nn.attention.flex_attention.flex_attention"]
#
# [tool.capture.values]
# cuda_available = '^cuda available (\w+)'
# nothing_eager = '^nothing +(.+?)  +\S'
# nothing_compiled = '^nothing +.+?  +(\S.*)'
# empty_eager = '^AuxRequest\(\) +(.+?)  +\S'
# empty_compiled = '^AuxRequest\(\) +.+?  +(\S.*)'
# lse_eager = '^lse +(.+?)  +\S'
# lse_compiled = '^lse +.+?  +(\S.*)'
# max_eager = '^max_scores +(.+?)  +\S'
# max_compiled = '^max_scores +.+?  +(\S.*)'
# old_eager = '^return_lse  +(.+?)  +\S'
# old_compiled = '^return_lse  +.+?  +(\S.*)'
# both_eager = '^return_lse and lse +(.+?)  +\S'
# both_compiled = '^return_lse and lse +.+?  +(\S.*)'
# gradient_eager = '^gradient +(.+?)  +\S'
# gradient_compiled = '^gradient +.+?  +(\S.*)'
# first_call = '^  call 1 lse +(.+)'
# second_call = '^  call 2 max_scores +(.+)'
# third_call = '^  call 3 lse +(.+)'
#
# [tool.capture.claims.lse-only-uncompiled]
# says  = "on CPU tensors lse comes back uncompiled and equals logsumexp; compiled it is refused"
# holds = 'lse_eager == "out, lse" and lse_compiled == "refused by InductorError"'
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.no-max-scores]
# says  = "on CPU tensors max_scores is refused, compiled or not"
# holds = 'max_eager == "refused by NotImplementedError" and max_compiled == max_eager'
# where = 'torch >= "2.13" and torch < "2.15"'
#
# [tool.capture.claims.refusal-switches-compile-off]
# says  = "once max_scores was refused, the same compiled function gives the lse that it refused before"
# holds = 'first_call == lse_compiled and third_call == lse_eager'
# where = 'torch >= "2.13" and torch < "2.15"'
# ///
