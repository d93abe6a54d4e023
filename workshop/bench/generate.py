"""What the peers of rollout.ts and smollm2.ts sample: tokens after random prompts, from the whole distribution."""

import torch


def generate(model, vocabulary, prompts, new_tokens, **settings):
    """`prompts` is a shape: conversations, tokens of each."""
    tokens = torch.randint(0, vocabulary, prompts)
    with torch.inference_mode():
        output = model.generate(
            tokens,
            attention_mask=torch.ones_like(tokens),
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            max_new_tokens=new_tokens,
            pad_token_id=0,
            **settings,
        )
    assert output.shape == (prompts[0], prompts[1] + new_tokens)
