"""On a CPU the inputs decide which attention kernel runs, and two of four backends refuse."""

import warnings

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile

torch.manual_seed(0)
query, key, value = (torch.randn(1, 4, 64, 32) for _ in range(3))
expected = torch.softmax(query @ key.mT / 32**0.5, dim=-1) @ value
lower = torch.ones(64, 64, dtype=torch.bool).tril()
PREFIX = "aten::_scaled_dot_product_"


def kernel_of(**options):
    """Return the result and the kernel that made it, as the profiler names it."""
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        result = F.scaled_dot_product_attention(query, key, value, **options)
    (name,) = {event.key for event in recorded.key_averages() if event.key.startswith(PREFIX)}
    return result, name.removeprefix(PREFIX)


print(f"cuda available {torch.cuda.is_available()}, tensors on {query.device.type}")
print(f"flash switch   {torch.backends.cuda.flash_sdp_enabled()}")
print("one backend allowed")
refused = 0
for backend in ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "MATH"):
    with warnings.catch_warnings(), sdpa_kernel(getattr(SDPBackend, backend)):
        warnings.simplefilter("ignore")  # a refusal also warns, once for each reason
        try:
            result, kernel = kernel_of()
        except RuntimeError as error:
            refused += 1
            print(f"  {backend:20} refused: {' '.join(str(error).split()[:3])}")
            continue
    torch.testing.assert_close(result, expected)
    print(f"  {backend:20} ran {kernel}")
print(f"refused {refused} of 4")

print("all backends allowed")
for label, options in {
    "plain": {},
    "is_causal": {"is_causal": True},
    "boolean mask": {"attn_mask": lower},
    "dropout 0.1": {"dropout_p": 0.1},
    "scale 1.0": {"scale": 1.0},
}.items():
    print(f"  {label:20} ran {kernel_of(**options)[1]}")
torch.testing.assert_close(kernel_of(is_causal=True)[0], kernel_of(attn_mask=lower)[0])

nothing = torch.zeros(64, 64, dtype=torch.bool)
scores = torch.full((64,), float("-inf"))
print(f"row with no key allowed: SDPA {kernel_of(attn_mask=nothing)[0][0, 0, 0, 0].item():.1f}")
print(f"row with no key allowed: softmax by hand {torch.softmax(scores, dim=0)[0].item():.1f}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.5"]
#
# [tool.capture]
# title = "Which attention kernel runs on a CPU"
# env = { KINETO_LOG_LEVEL = "99" }
# upstream = ["torch.nn.attention.sdpa_kernel"]
#
# [tool.capture.values]
# cuda_available = '^cuda available (\w+)'
# flash_switch = '^flash switch +(\w+)'
# refused = '^refused (\d+)'
# backends = '^refused \d+ of (\d+)'
# flash_kernel = 'FLASH_ATTENTION +ran (\w+)'
# refusal = 'EFFICIENT_ATTENTION +refused: (.+)'
# math_kernel = 'MATH +ran (\w+)'
# plain = '^  plain +ran (\w+)'
# causal = '^  is_causal +ran (\w+)'
# mask = '^  boolean mask +ran (\w+)'
# dropout = '^  dropout 0.1 +ran (\w+)'
# empty_row = 'allowed: SDPA ([\w.-]+)'
# empty_row_by_hand = 'softmax by hand ([\w.-]+)'
#
# [tool.capture.claims.cpu-has-two-backends]
# says  = "on CPU tensors two of the four backends refuse"
# holds = "refused == 2 and backends == 4"
#
# [tool.capture.claims.dropout-leaves-the-fused-kernel]
# says  = "dropout sends CPU attention from the fused kernel to the plain one, a mask does not"
# holds = "plain == flash_kernel and mask == plain and causal == plain and dropout == math_kernel"
#
# [tool.capture.claims.empty-row-is-zero]
# says  = "a row that may look at no key is zero, where a softmax by hand is nan"
# holds = "empty_row == 0 and empty_row_by_hand != empty_row_by_hand"
# ///
