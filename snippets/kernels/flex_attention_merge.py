"""With one logsumexp a query, attention over two halves of the keys merges into the exact whole."""

import math
import warnings

import torch
from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention

warnings.filterwarnings("ignore", "flex_attention called without torch.compile")
torch.manual_seed(0)


def attend(query, key, value, block_mask=None):
    output, aux = flex_attention(
        query,
        key,
        value,
        block_mask=block_mask,
        enable_gqa=query.shape[1] != key.shape[1],
        return_aux=AuxRequest(lse=True),
    )
    return output, aux.lse


def merged(query, key, value):
    """Attend to each half of the keys alone; weigh each output by its share of the whole sum."""
    halves = zip(key.chunk(2, dim=2), value.chunk(2, dim=2), strict=True)
    (left, left_lse), (right, right_lse) = (attend(query, *half) for half in halves)
    lse = torch.logaddexp(left_lse, right_lse)
    exact = left * (left_lse - lse).exp()[..., None] + right * (right_lse - lse).exp()[..., None]
    return exact, (left + right) / 2, lse


print(f"cuda available {torch.cuda.is_available()}")
print(f"{'case':15}{'query':16}{'key':16}{'out':16}{'lse':12}merged  mean error")
for name, heads, key_heads, queries, keys in (
    ("square", 2, 2, 16, 16),
    ("more keys", 2, 2, 16, 48),
    ("one query", 2, 2, 1, 48),
    ("grouped heads", 4, 2, 16, 16),
):
    query = torch.randn(1, heads, queries, 8)
    key, value = (torch.randn(1, key_heads, keys, 8) for _ in range(2))
    output, lse = attend(query, key, value)
    repeated = key.repeat_interleave(heads // key_heads, dim=1)
    torch.testing.assert_close(lse, (query @ repeated.mT / math.sqrt(8)).logsumexp(dim=-1))
    exact, mean, merged_lse = merged(query, key, value)
    torch.testing.assert_close(merged_lse, lse)
    shapes = "".join(f"{tuple(item.shape)!s:16}" for item in (query, key, output))
    same = torch.allclose(exact, output, atol=1e-5)
    error = (mean - output).abs().max().item()
    print(f"{name:15}{shapes}{tuple(lse.shape)!s:12}{same!s:8}{error:6.2f}")

nobody = create_block_mask(lambda b, h, q, k: q < 0, None, None, 16, 16, device="cpu")
output, lse = attend(*(torch.randn(1, 2, 16, 8) for _ in range(3)), block_mask=nobody)
print(f"no key allowed: largest output {output.abs().max().item():.1f}, lse {lse.max().item()}")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.10"]
#
# [tool.capture]
# title = "Two halves merged by their logsumexp"
# needs = ["compile"]
# upstream = ["torch.nn.attention.flex_attention.flex_attention"]
#
# [tool.capture.values]
# square_query = '^square +(\([^)]*\))'
# square_key = '^square +\([^)]*\) +(\([^)]*\))'
# square_out = '^square +(?:\([^)]*\) +){2}(\([^)]*\))'
# square_lse = '^square +(?:\([^)]*\) +){3}(\([^)]*\))'
# more_query = '^more keys +(\([^)]*\))'
# more_key = '^more keys +\([^)]*\) +(\([^)]*\))'
# more_out = '^more keys +(?:\([^)]*\) +){2}(\([^)]*\))'
# more_lse = '^more keys +(?:\([^)]*\) +){3}(\([^)]*\))'
# one_query = '^one query +(\([^)]*\))'
# one_key = '^one query +\([^)]*\) +(\([^)]*\))'
# one_out = '^one query +(?:\([^)]*\) +){2}(\([^)]*\))'
# one_lse = '^one query +(?:\([^)]*\) +){3}(\([^)]*\))'
# grouped_query = '^grouped heads +(\([^)]*\))'
# grouped_key = '^grouped heads +\([^)]*\) +(\([^)]*\))'
# grouped_out = '^grouped heads +(?:\([^)]*\) +){2}(\([^)]*\))'
# grouped_lse = '^grouped heads +(?:\([^)]*\) +){3}(\([^)]*\))'
# square_merged = '^square .* (True|False) '
# square_mean_error = '^square .* ([\d.]+)$'
# empty_output = '^no key allowed: largest output ([\d.]+)'
# empty_lse = '^no key allowed: .* lse (\S+)'
#
# [tool.capture.claims.merge-is-exact]
# says  = "weighed by their logsumexp the halves give the whole; their plain mean does not"
# holds = 'square_merged == "True" and square_mean_error > 0.1'
#
# [tool.capture.claims.empty-row]
# says  = "a query that may see no key has output zero and logsumexp minus infinity"
# holds = "empty_output == 0 and empty_lse < -1e30"
# ///
