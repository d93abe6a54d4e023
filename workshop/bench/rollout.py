"""The peer of rollout.ts: generate of transformers, sampling from the whole distribution."""

import torch
from peer import random_model, read_shape, serve

shape = read_shape()
model = random_model(shape).eval()


def generate(new_tokens):
    prompts = torch.randint(0, shape["vocabulary"], (shape["sequences"], shape["prompt"]))
    with torch.inference_mode():
        output = model.generate(
            prompts,
            attention_mask=torch.ones_like(prompts),
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            max_new_tokens=new_tokens,
            pad_token_id=0,
        )
    assert output.shape == (shape["sequences"], shape["prompt"] + new_tokens)


generate(shape["newTokens"])
serve(lambda: generate(shape["newTokens"]))
