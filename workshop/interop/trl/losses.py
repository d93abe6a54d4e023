"""What TRL says of many losses. Reads a list of {inputs, mask, options} from stdin, and writes a list of results."""

import json
import sys
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).parents[3] / "packages/training/test/update/losses/golden"))
from trl_loss import trl_loss  # noqa: E402

results = []
for case in json.load(sys.stdin):
    # In float64, so that a difference is one of formulas.
    inputs = {name: torch.tensor(rows, dtype=torch.float64) for name, rows in case["inputs"].items()}
    results.append(trl_loss(inputs, torch.tensor(case["mask"]), **case["options"]))
json.dump(results, sys.stdout)
