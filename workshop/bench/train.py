"""The peer of train.ts: a batch of the same size in eager PyTorch, with the default attention of transformers (sdpa)."""

import torch
from peer import random_model, read_shape, serve_steps

shape = read_shape()
model = random_model(shape).train()
tokens = torch.randint(0, shape["vocabulary"], (shape["rows"], shape["length"] + 1))


def loss():
    logits = model(tokens[:, :-1], use_cache=False).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


serve_steps(model, shape, loss)
