"""Makes the numbers that golden.test.ts compares the model, its gradients and AdamW with.

Run `python make-golden.py` with torch 2.13, transformers and safetensors, then `npx biome format --write .` here. It writes
checkpoint/, golden.json, logits.safetensors, gradients.safetensors and weights-after-three-steps.safetensors into its folder.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import Qwen2Config, Qwen2ForCausalLM

here = Path(__file__).parent
torch.manual_seed(3)
torch.set_num_threads(1)

config = Qwen2Config(
    vocab_size=37,
    hidden_size=16,
    intermediate_size=24,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
    rms_norm_eps=1e-6,
    rope_parameters={"rope_theta": 5000.0, "rope_type": "default"},
    tie_word_embeddings=True,
    bos_token_id=None,
    eos_token_id=2,
)
model = Qwen2ForCausalLM(config).float()
with torch.no_grad():
    for name, parameter in model.named_parameters():
        # Large enough that no distribution is flat, and no bias or norm is at its trivial value.
        parameter.copy_((1 if "norm" in name else 0) + 0.3 * torch.randn_like(parameter))
model.save_pretrained(here / "checkpoint")
(here / "checkpoint" / "generation_config.json").unlink(missing_ok=True)

lengths = [17, 9, 12]
sequences = [torch.randint(0, config.vocab_size, (length,)).tolist() for length in lengths]
masks = [[int(t > 0 and torch.rand(()) < 0.6) for t in range(length)] for length in lengths]
weights = [[round(float(torch.randn(())), 3) for _ in range(length)] for length in lengths]
temperature = 0.8


def token_logprobs(tokens, temperature):
    """[T - 1]: log p(token t | tokens before t) for t = 1 ... T - 1."""
    logits = model(torch.tensor([tokens])).logits[0, :-1] / temperature
    return torch.log_softmax(logits, -1).gather(1, torch.tensor(tokens[1:])[:, None])[:, 0]


def objective():
    total = torch.zeros(())
    for tokens, mask, weight in zip(sequences, masks, weights):
        chosen = torch.tensor(mask[1:]) * torch.tensor(weight[1:])
        total = total + (chosen * token_logprobs(tokens, temperature)).sum()
    return total


with torch.no_grad():
    logits = {str(row): model(torch.tensor([tokens])).logits[0] for row, tokens in enumerate(sequences)}
    logprobs = [[0.0, *token_logprobs(tokens, temperature).tolist()] for tokens in sequences]

save_file(logits, here / "logits.safetensors")

model.zero_grad()
objective().backward()
save_file({name: p.grad.clone() for name, p in model.named_parameters()}, here / "gradients.safetensors")

optimizer_options = {"learningRate": 1e-2, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4, "weightDecay": 0.1}
max_grad_norm = 0.5
decayed = [p for p in model.parameters() if p.ndim >= 2]
others = [p for p in model.parameters() if p.ndim < 2]
optimizer = torch.optim.AdamW(
    [{"params": decayed, "weight_decay": optimizer_options["weightDecay"]}, {"params": others, "weight_decay": 0.0}],
    lr=optimizer_options["learningRate"],
    betas=(optimizer_options["beta1"], optimizer_options["beta2"]),
    eps=optimizer_options["epsilon"],
)
norms = []
for _ in range(3):
    optimizer.zero_grad()
    objective().backward()
    norms.append(float(torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)))
    optimizer.step()
save_file({name: p.detach().clone() for name, p in model.named_parameters()}, here / "weights-after-three-steps.safetensors")


def rounded(value):
    return [rounded(v) for v in value] if isinstance(value, list) else round(value, 6)


golden = {
    "tokens": sequences,
    "mask": masks,
    "dLogprobs": weights,
    "temperature": temperature,
    "logprobs": rounded(logprobs),
    "adamw": {**optimizer_options, "maxGradNorm": max_grad_norm},
    "gradNorms": rounded(norms),
}
(here / "golden.json").write_text(json.dumps(golden) + "\n")
