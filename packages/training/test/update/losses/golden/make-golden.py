"""Makes losses.json: what TRL's own GRPOTrainer._compute_loss and autograd say of each loss and option.

Run `python make-golden.py` with torch 2.13 and trl 1.16, then `npx biome format --write .` here.
"""

import json
from pathlib import Path

import torch

from trl_loss import trl_loss

torch.manual_seed(5)
B, T = 4, 6
names = ["logprobs", "oldLogprobs", "sampledLogprobs", "referenceLogprobs", "entropy", "advantages"]
logprobs = -3 * torch.rand(B, T) - 0.05
advantages = torch.tensor([[-0.7], [0.4], [-1.1], [0.9]]).expand(B, T)
near = lambda scale: logprobs + scale * torch.randn(B, T)
inputs = dict(zip(names, [logprobs, near(0.4), near(0.5), near(0.3), 2 * torch.rand(B, T), advantages]))
mask = torch.tensor([[1, 1, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 1, 0], [1, 0, 0, 1, 1, 1]])


def case(loss, clip=(0.2, 0.28), maxLength=8, **options):
    options = {"loss": loss, "clip": clip, "ratioLevel": "token", "ratioCap": 5.0, "beta": 0.0, "biasCorrectedKl": False, "maxLength": maxLength,
               "sapoTemperatures": (1.0, 1.05), "vespoPositive": (2.0, 3.0), "vespoNegative": (3.0, 2.0), "topEntropyQuantile": 1.0,
               "entropyCoefficient": 0.0, "mismatchCap": 3.0, **options}
    found = trl_loss(inputs, mask, **options)
    for name in ["dLogprobs", "dEntropy"]:
        if name in found:
            found[name] = [[round(value, 7) for value in row] for row in found[name]]
    found["metrics"] = {name: round(value, 7) for name, value in found["metrics"].items()}
    return {"options": options, **found}


losses = ["grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo"]
cases = [case(loss) for loss in losses]
cases += [case(loss, ratioLevel="sequence") for loss in losses]
cases += [case(loss, beta=0.1) for loss in losses]
cases += [case("grpo", clip=(3e-4, 4e-4), ratioLevel="sequence"), case("dapo", delta=1.05), case("grpo", delta=1.05, ratioLevel="sequence")]
cases += [case("cispo", ratioCap=1.1), case("sapo", sapoTemperatures=(2.0, 3.0))]
cases += [case(loss, topEntropyQuantile=0.4) for loss in ["grpo", "cispo"]]
cases += [case("grpo", entropyCoefficient=0.1), case("dr_grpo", entropyCoefficient=0.1, topEntropyQuantile=0.5)]
cases += [case("dapo", mismatchCorrection=mode, mismatchCap=1.2) for mode in ["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]]
cases += [case("dapo", offPolicyThreshold=threshold, mismatchCorrection="token_truncate") for threshold in [0.1, 0.4, 0.5]]
cases += [case("luspo", ratioLevel=level, beta=beta) for level in ["token", "sequence"] for beta in [0.0, 0.1]]
cases += [case("luspo", clip=(2e-3, 2.5e-3), ratioLevel="sequence", entropyCoefficient=0.1), case("vespo"), case("vespo", beta=0.1)]
cases += [case("vespo", vespoPositive=(1.0, 0.5), vespoNegative=(0.0, 4.0))]
cases += [case("vespo", mismatchCorrection=mode, mismatchCap=1.2) for mode in ["token_truncate", "token_mask"]]
cases += [case(loss, beta=0.1, biasCorrectedKl=True, ratioLevel=level) for loss in ["grpo", "dapo", "cispo"] for level in ["token", "sequence"]]
modes = ["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]
cases += [case("dapo", mismatchCorrection=mode, mismatchFloor=0.8, mismatchCap=1.5) for mode in modes]
golden = {"inputs": {name: values.tolist() for name, values in inputs.items()}, "mask": mask.tolist(), "cases": cases}
(Path(__file__).parent / "losses.json").write_text(json.dumps(golden))
