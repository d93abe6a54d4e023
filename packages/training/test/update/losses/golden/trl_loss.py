"""The losses of TRL: calls GRPOTrainer._compute_loss with arrays in place of a model. Needs torch 2.13 and trl 1.16."""

from collections import defaultdict
from types import SimpleNamespace

import torch
from trl import GRPOTrainer

accelerator = SimpleNamespace(
    num_processes=1,
    gather=lambda x: x,
    reduce=lambda x, reduction: x,
    pad_across_processes=lambda x, dim, pad_index: x,
)


def trl_loss(inputs, mask, loss, clip, maxLength, ratioLevel, ratioCap, beta, sapoTemperatures, vespoPositive, vespoNegative,
             topEntropyQuantile, entropyCoefficient, mismatchCap, delta=None, biasCorrectedKl=False, mismatchCorrection=None,
             mismatchFloor=0.0, offPolicyThreshold=None):
    """Value, gradients and metrics. `inputs` are tensors [B, T] by the names of PolicyLossInputs; options are those of PolicyLossOptions."""
    current = inputs["logprobs"].clone().requires_grad_()
    entropy = inputs["entropy"].clone().requires_grad_()
    trainer = SimpleNamespace(
        args=SimpleNamespace(
            delta=delta, use_bias_correction_kl=biasCorrectedKl, vespo_k_pos=vespoPositive[0], vespo_lambda_pos=vespoPositive[1],
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
    ids = torch.zeros(mask.shape, dtype=torch.long)
    batch = {
        "prompt_ids": ids, "prompt_mask": ids, "completion_ids": ids, "completion_mask": torch.ones_like(mask), "tool_mask": mask,
        "advantages": inputs["advantages"][:, 0], "old_per_token_logps": inputs["oldLogprobs"],
        "sampling_per_token_logps": inputs["sampledLogprobs"], "ref_per_token_logps": inputs["referenceLogprobs"],
        "num_items_in_batch": mask.sum(),
    }
    if mismatchCorrection is not None:
        batch["importance_sampling_ratio"] = mismatch(inputs, mask, mismatchCorrection, mismatchFloor, mismatchCap)
    value = GRPOTrainer._compute_loss(trainer, trainer.model, batch)
    value.backward()
    metrics = trainer._metrics["eval"]
    reported = ["kl", "entropy", "cispo_clip_ratio", "clip_ratio/low_mean", "clip_ratio/high_mean", "clip_ratio/region_mean"]
    return {
        "value": value.item(),
        "dLogprobs": current.grad.tolist(),
        **({"dEntropy": entropy.grad.tolist()} if entropyCoefficient > 0 else {}),
        "metrics": {name: metrics[name][0] for name in reported if name in metrics},
    }


def mismatch(inputs, mask, mode, floor, cap):
    """The ratio as GRPOTrainer._generate_and_score_completions makes it, which is too long to be called."""
    difference = (inputs["oldLogprobs"] - inputs["sampledLogprobs"]) * mask
    if mode.startswith("sequence"):
        difference = difference.sum(dim=-1, keepdim=True)
    ratio = torch.exp(difference)
    if mode.endswith("truncate"):
        return torch.clamp(ratio, min=floor, max=cap)
    return ratio.masked_fill((ratio < floor) | (ratio > cap), 0.0)
