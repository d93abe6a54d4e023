"""Makes half-precision.safetensors: float32 numbers, and what torch 2.13 rounds them to in bfloat16 and float16.

They cover every case of rounding: numbers of all magnitudes, halfway between two 16-bit numbers, one bit beside that, too large,
too small, infinite and NaN.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file

torch.manual_seed(5)
anything = torch.randint(-(2**31), 2**31, (300,)).to(torch.int32).view(torch.float32)
ordinary = torch.randn(200) * torch.tensor(2.0) ** torch.randint(-27, 18, (200,))
halves = torch.randint(-(2**15), 2**15, (150,)).to(torch.int16)
between = []
for dtype in [torch.bfloat16, torch.float16]:
    lower = halves.view(dtype).double()
    upper = (halves + 1).view(dtype).double()
    middle = ((lower + upper) / 2).float()
    below, above = (torch.nextafter(middle, torch.tensor(to)) for to in [-torch.inf, torch.inf])
    between += [middle, below, above]
edges = [0.0, 65504.0, 65519.996, 65520.0, 3.4e38, 2.0**-14, 2.0**-24, 2.0**-25, 2.0**-26, 2.0**-149, torch.inf, torch.nan]
edges = torch.tensor(edges)
numbers = torch.cat([anything, ordinary, *between, edges, -edges])
save_file(
    {"float32": numbers, "bfloat16": numbers.bfloat16(), "float16": numbers.half()},
    Path(__file__).parent / "half-precision.safetensors",
)
