"""A view is a shape and strides over a shared storage, so ten elements can keep a million alive."""

import io

import torch

table = torch.arange(12.0).reshape(3, 4)
results = {
    "t": table,
    "t.T": table.T,
    "t[:, ::2]": table[:, ::2],
    "t[1]": table[1],
    "t.reshape(4, 3)": table.reshape(4, 3),
    "t.T.reshape(12)": table.T.reshape(12),
    "t[:1].expand(3, 4)": table[:1].expand(3, 4),
    "t[[0, 1]]": table[[0, 1]],
    "t.clone()": table.clone(),
}


def shares(one, other):
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


print(f"cuda available {torch.cuda.is_available()}")
print(f"{'expression':20}{'shape':9}{'stride':9}{'contiguous':12}shares storage")
for name, result in results.items():
    shape, stride = str(tuple(result.shape)), str(result.stride())
    print(f"{name:20}{shape:9}{stride:9}{result.is_contiguous()!s:12}{shares(result, table)}")
shared = sum(shares(result, table) for result in results.values())
print(f"expressions that share t's storage: {shared} of {len(results)}")

row = table[0]
row += 100
print(f"after row += 100, t[0, 0] {table[0, 0].item():.0f}, version of t {table._version}")

big = torch.zeros(1_000_000)


def saved_bytes(tensor):
    buffer = io.BytesIO()
    torch.save(tensor, buffer)
    return buffer.getbuffer().nbytes


view, copy = big[:10], big[:10].clone()
assert torch.equal(view, copy)
print(f"{'ten elements':20}{'need':>8}{'keep alive':>14}{'torch.save writes':>20}")
for name, tensor in (("big[:10]", view), ("big[:10].clone()", copy)):
    kept = tensor.untyped_storage().nbytes()
    size = f"{tensor.numel() * 4:6} B{kept / 1000:11.0f} kB"
    print(f"{name:20}{size}{saved_bytes(tensor) / 1000:17.0f} kB")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "Views, strides and what stays alive"
#
# [tool.capture.values]
# shared = 'share t.s storage: (\d+) of'
# expressions = 'share t.s storage: \d+ of (\d+)'
# reshape_view = '^t\.reshape\(4, 3\) .* (\w+)$'
# reshape_copy = '^t\.T\.reshape\(12\) .* (\w+)$'
# transposed_stride = '^t\.T +\(4, 3\) +(\(.+?\))'
# expand_stride = '^t\[:1\]\.expand\(3, 4\) +\(3, 4\) +(\(.+?\))'
# index_copy = '^t\[\[0, 1\]\] .* (\w+)$'
# written = 't\[0, 0\] (\d+),'
# version = 'version of t (\d+)'
# need_bytes = '^big\[:10\] +(\d+) B'
# kept_kb = '^big\[:10\] .* B +(\d+) kB'
# saved_kb = '^big\[:10\] .* kB +(\d+) kB'
# clone_saved_kb = '^big\[:10\]\.clone\(\) .* kB +(\d+) kB'
#
# [tool.capture.claims.reshape-is-either]
# says  = "reshape returns a view where strides allow it and a copy where they do not"
# holds = 'reshape_view == "True" and reshape_copy == "False"'
#
# [tool.capture.claims.a-slice-keeps-everything]
# says  = "a ten-element slice keeps and saves the whole million, its clone does not"
# holds = "kept_kb == 4000 and saved_kb >= kept_kb and clone_saved_kb < 10"
# ///
