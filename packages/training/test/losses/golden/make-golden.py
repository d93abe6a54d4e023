"""Makes losses.json: what TRL's own GRPOTrainer._compute_loss and autograd say of each loss and option.

Run `python make-golden.py` with torch 2.13 and trl 1.16, then `npx biome format --write .` here.
"""

import json
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import torch
from trl import GRPOTrainer

torch.manual_seed(5)
B, T = 4, 6
names = ["logprobs", "oldLogprobs", "sampledLogprobs", "referenceLogprobs", "entropy", "advantages"]
logprobs = -3 * torch.rand(B, T) - 0.05
advantages = torch.tensor([[-0.7], [0.4], [-1.1], [0.9]]).expand(B, T)
near = lambda scale: logprobs + scale * torch.randn(B, T)
inputs = dict(zip(names, [logprobs, near(0.4), near(0.5), near(0.3), 2 * torch.rand(B, T), advantages]))
mask = torch.tensor([[1, 1, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 1, 0], [1, 0, 0, 1, 1, 1]])

accelerator = SimpleNamespace(
    num_processes=1,
    gather=lambda x: x,
    reduce=lambda x, reduction: x,
    pad_across_processes=lambda x, dim, pad_index: x,
)


def mismatch(mode, floor, cap):
    """The ratio as GRPOTrainer._generate_and_score_completions makes it, which is too long to be called."""
    difference = (inputs["oldLogprobs"] - inputs["sampledLogprobs"]) * mask
    if mode.startswith("sequence"):
        difference = difference.sum(dim=-1, keepdim=True)
    ratio = torch.exp(difference)
    if mode.endswith("truncate"):
        return torch.clamp(ratio, min=floor, max=cap)
    return ratio.masked_fill((ratio < floor) | (ratio > cap), 0.0)


def case(loss, clip=(0.2, 0.28), ratioLevel="token", delta=None, ratioCap=5.0, beta=0.0, maxLength=8, sapoTemperatures=(1.0, 1.05),
         vespoPositive=(2.0, 3.0), vespoNegative=(3.0, 2.0), biasCorrectedKl=None, topEntropyQuantile=1.0, entropyCoefficient=0.0,
         mismatchCorrection=None, mismatchFloor=None, mismatchCap=3.0, offPolicyThreshold=None):
    options = {name: value for name, value in locals().items() if value is not None}
    current = inputs["logprobs"].clone().requires_grad_()
    entropy = inputs["entropy"].clone().requires_grad_()
    trainer = SimpleNamespace(
        args=SimpleNamespace(
            delta=delta, use_bias_correction_kl=bool(biasCorrectedKl), vespo_k_pos=vespoPositive[0], vespo_lambda_pos=vespoPositive[1],
            vespo_k_neg=vespoNegative[0], vespo_lambda_neg=vespoNegative[1], sapo_temperature_pos=sapoTemperatures[0],
            sapo_temperature_neg=sapoTemperatures[1], steps_per_generation=1,
        ),
        accelerator=accelerator, model=SimpleNamespace(training=False), aux_loss_enabled=False,
        loss_type=loss, importance_sampling_level=ratioLevel, beta=beta, max_completion_length=maxLength,
        epsilon_low=clip[0], epsilon_high=ratioCap if loss == "cispo" else clip[1],
        top_entropy_quantile=topEntropyQuantile, off_policy_mask_threshold=offPolicyThreshold,
        use_vllm=mismatchCorrection is not None, vllm_importance_sampling_correction=True,
        _entropy_bonus_enabled=entropyCoefficient > 0, use_adaptive_entropy=False, entropy_coef=entropyCoefficient,
        current_gradient_accumulation_steps=1, _metrics={"eval": defaultdict(list)},
        get_off_policy_mask=GRPOTrainer.get_off_policy_mask, get_gamma_weights=GRPOTrainer.get_gamma_weights,
        _get_per_token_logps_and_entropies=lambda *args, **kwargs: (current, entropy, None),
    )
    trainer.get_high_entropy_mask = lambda *args: GRPOTrainer.get_high_entropy_mask(trainer, *args)
    ids = torch.zeros(B, T, dtype=torch.long)
    batch = {
        "prompt_ids": ids, "prompt_mask": ids, "completion_ids": ids, "completion_mask": torch.ones_like(mask), "tool_mask": mask,
        "advantages": inputs["advantages"][:, 0], "old_per_token_logps": inputs["oldLogprobs"],
        "sampling_per_token_logps": inputs["sampledLogprobs"], "ref_per_token_logps": inputs["referenceLogprobs"],
        "num_items_in_batch": mask.sum(),
    }
    if mismatchCorrection is not None:
        batch["importance_sampling_ratio"] = mismatch(mismatchCorrection, mismatchFloor or 0.0, mismatchCap)
    value = GRPOTrainer._compute_loss(trainer, trainer.model, batch)
    value.backward()
    result = {"options": options, "value": value.item(), "dLogprobs": rounded(current.grad)}
    if entropyCoefficient > 0:
        result["dEntropy"] = rounded(entropy.grad)
    metrics = trainer._metrics["eval"]
    reported = ["kl", "entropy", "cispo_clip_ratio", "clip_ratio/low_mean", "clip_ratio/high_mean", "clip_ratio/region_mean"]
    result["metrics"] = {name: round(metrics[name][0], 7) for name in reported if name in metrics}
    return result


def rounded(values):
    return [[round(value, 7) for value in row] for row in values.tolist()]


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
