"""The peer of train.ts: a batch of the same size in eager PyTorch, with the default attention of transformers (sdpa)."""

import torch
from peer import random_model, read_shape, serve

shape = read_shape()
model = random_model(shape).train()
tokens = torch.randint(0, shape["vocabulary"], (shape["rows"], shape["length"] + 1))
matrices = [p for p in model.parameters() if p.ndim >= 2]
others = [p for p in model.parameters() if p.ndim < 2]
optimizer = torch.optim.AdamW(
    [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}], lr=1e-4
)


def step():
    logits = model(tokens[:, :-1], use_cache=False).logits
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
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
