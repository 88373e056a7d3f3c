"""TF32 is float32 with 10 bits of mantissa: rounded by hand, a matrix product shows its error."""

import torch

SIZE = 512


def to_tf32(tensor):
    """Round a float32 tensor to 10 bits of mantissa, to nearest, ties to even."""
    bits = tensor.view(torch.int32)
    last_kept = (bits >> 13) & 1
    return ((bits + 0xFFF + last_kept) & ~0x1FFF).view(torch.float32)


for value in (1 + 2**-10, 1 + 2**-12, 3e38, 1e-30):
    single = torch.tensor([value], dtype=torch.float32)
    error = ((to_tf32(single).double() - single.double()) / single.double()).abs().item()
    print(f"{value:<22.12g} relative error in TF32 {error:.1e}")

torch.manual_seed(0)
left, right = torch.randn(2, SIZE, SIZE).unbind()
truth = left.double() @ right.double()


def error(product):
    return ((product.double() - truth).norm() / truth.norm()).item()


def in_dtype(dtype):
    """Inputs rounded to the dtype, products and sums in float32, as tensor cores add."""
    return left.to(dtype).float() @ right.to(dtype).float()


errors = {
    "float32": error(left @ right),
    "TF32 inputs": error(to_tf32(left) @ to_tf32(right)),
    "float16 inputs": error(in_dtype(torch.float16)),
    "bfloat16 inputs": error(in_dtype(torch.bfloat16)),
}
print(f"cuda available {torch.cuda.is_available()}: emulated, in float32 arithmetic")
print(f"{SIZE}x{SIZE} product of normal values, error relative to float64")
for name, size in errors.items():
    print(f"{name:16s}{size:.1e}")
print(f"TF32 / float32   {round(errors['TF32 inputs'] / errors['float32'], -2):.0f}x")
print(f"TF32 / float16   {errors['TF32 inputs'] / errors['float16 inputs']:.2f}x")
print(f"bfloat16 / TF32  {errors['bfloat16 inputs'] / errors['TF32 inputs']:.1f}x")

# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.2"]
#
# [tool.capture]
# title = "TF32, emulated on a CPU"
#
# [tool.capture.values]
# one_bit_kept = '^1\.0009\d+ +relative error in TF32 (\S+)'
# one_bit_lost = '^1\.0002\d+ +relative error in TF32 (\S+)'
# float32_error = '^float32 +(\d\S+)$'
# tf32_error = '^TF32 inputs +(\d\S+)$'
# bfloat16_error = '^bfloat16 inputs +(\d\S+)$'
# over_float32 = '^TF32 / float32 +(\d+)x'
# over_float16 = '^TF32 / float16 +([\d.]+)x'
# bfloat16_over_tf32 = '^bfloat16 / TF32 +([\d.]+)x'
#
# [tool.capture.claims.ten-bits]
# says  = "TF32 keeps 1 + 2^-10 and loses 1 + 2^-12"
# holds = "one_bit_kept == 0 and one_bit_lost > 0"
#
# [tool.capture.claims.as-float16]
# says  = "for values of ordinary size TF32 errs as float16 does, and more than 100 times as much as float32"
# holds = "over_float16 > 0.9 and over_float16 < 1.1 and over_float32 > 100"
#
# [tool.capture.claims.bfloat16-errs-more]
# says  = "bfloat16 errs more than four times as much as TF32"
# holds = "bfloat16_over_tf32 > 4"
# ///
