"""The peer of lora.ts: a batch of the same size in eager PyTorch, with the adapters of peft, which keeps all activations."""

import torch
from peer import random_model, read_shape, serve_steps
from peft import LoraConfig, get_peft_model

shape = read_shape()
adapters = LoraConfig(r=shape["rank"], lora_alpha=2 * shape["rank"], target_modules="all-linear")
model = get_peft_model(random_model(shape), adapters).train()
tokens = torch.randint(0, shape["vocabulary"], (shape["rows"], shape["length"] + 1))


def loss():
    logits = model(tokens[:, :-1], use_cache=False).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


serve_steps(model, shape, loss)
