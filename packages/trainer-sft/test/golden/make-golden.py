"""Makes dpo.json: what TRL's own DPOTrainer._compute_loss and autograd say of each loss and option.

Run `python make-golden.py` with torch 2.13 and trl 1.16, then `npx biome format --write .` here.
"""

import json
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import torch
from trl import DPOTrainer

torch.manual_seed(7)
PAIRS, T = 3, 7
mask = torch.tensor([
    [0, 0, 1, 1, 1, 1, 1], [0, 1, 1, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1, 0],
    [0, 0, 1, 1, 0, 0, 0], [0, 1, 1, 0, 1, 1, 1], [0, 0, 0, 0, 1, 0, 0],
])
logprobs = (-3 * torch.rand(2 * PAIRS, T) - 0.05) * mask
reference = (logprobs + torch.randn(2 * PAIRS, T)) * mask

accelerator = SimpleNamespace(device="cpu", gather=lambda x: x, gather_for_metrics=lambda x: x)


def case(lossType="sigmoid", beta=0.1, labelSmoothing=0.0, rpoAlpha=0.0):
    options = dict(locals())
    current = logprobs.clone().requires_grad_()
    nothing = torch.zeros(2 * PAIRS, T - 1)

    def answers(log_probs):
        outputs = SimpleNamespace(log_probs=log_probs[:, 1:], entropy=nothing, mean_logits=nothing, is_top1=nothing.bool())
        call = lambda **kwargs: outputs
        return call

    class Model:
        training = False

        def __call__(self, **kwargs):
            # The model gives 0 where there is no label.
            return answers(current * mask)()

    losses = [lossType] + (["sft"] if rpoAlpha else [])
    trainer = SimpleNamespace(
        model=Model(), ref_model=answers(reference), accelerator=accelerator, aux_loss_enabled=False, ld_alpha=None,
        precompute_ref_logps=False, f_divergence_type="reverse_kl", loss_types=losses, loss_weights=[1.0, rpoAlpha][: len(losses)],
        beta=beta, label_smoothing=labelSmoothing, use_weighting=False, _metrics={"eval": defaultdict(list)},
        _total_train_tokens=0, args=SimpleNamespace(gradient_checkpointing_kwargs=None),
    )
    inputs = {"input_ids": torch.ones_like(mask), "attention_mask": torch.ones_like(mask), "completion_mask": mask}
    import trl.trainer.dpo_trainer as module
    from contextlib import nullcontext

    module.disable_gradient_checkpointing = lambda *args, **kwargs: nullcontext()
    module.is_peft_model = lambda model: False
    loss = DPOTrainer._compute_loss(trainer, trainer.model, inputs, False)
    loss.backward()
    kept = ["rewards/chosen", "rewards/rejected", "rewards/margins", "rewards/accuracies", "logps/chosen", "logps/rejected"]
    metrics = {name: trainer._metrics["eval"][name][0] for name in kept}
    return {"options": options, "value": loss.item(), "dLogprobs": current.grad.tolist(), "metrics": metrics}


cases = [
    case(), case(beta=0.7), case("hinge"), case("hinge", beta=2.0), case("ipo"), case("ipo", beta=0.5),
    case("robust", labelSmoothing=0.1), case("robust", beta=1.3, labelSmoothing=0.3), case(rpoAlpha=0.5),
]
golden = {"mask": mask.tolist(), "logprobs": logprobs.tolist(), "referenceLogprobs": reference.tolist(), "cases": cases}
Path(__file__).with_name("dpo.json").write_text(json.dumps(golden))
