"""The peer of group.ts: the padded rows in eager PyTorch. Logits are computed for the answers only, as in TRL."""

import torch
from peer import random_model, read_shape, serve

shape = read_shape()
model = random_model(shape).train()
rows, answer = shape["rows"], shape["answer"]
prompt = torch.randint(0, shape["vocabulary"], (1, shape["prompt"])).expand(rows, -1)
tokens = torch.cat([prompt, torch.randint(0, shape["vocabulary"], (rows, answer))], dim=1)
matrices = [p for p in model.parameters() if p.ndim >= 2]
others = [p for p in model.parameters() if p.ndim < 2]
optimizer = torch.optim.AdamW(
    [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}], lr=1e-4
)


def step():
    logits = model(tokens[:, :-1], use_cache=False, logits_to_keep=answer).logits
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, -answer:].flatten())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def run_round():
    for _ in range(shape["steps"]):
        step()


step()
step()
serve(run_round)
