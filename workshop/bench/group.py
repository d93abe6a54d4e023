"""The peer of group.ts: the padded rows in eager PyTorch. Logits are computed for the answers only, as in TRL."""

import torch
from peer import random_model, read_shape, serve_steps

shape = read_shape()
model = random_model(shape).train()
rows, answer = shape["rows"], shape["answer"]
prompt = torch.randint(0, shape["vocabulary"], (1, shape["prompt"])).expand(rows, -1)
tokens = torch.cat([prompt, torch.randint(0, shape["vocabulary"], (rows, answer))], dim=1)


def loss():
    logits = model(tokens[:, :-1], use_cache=False, logits_to_keep=answer).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, -answer:].flatten())


serve_steps(model, shape, loss)
