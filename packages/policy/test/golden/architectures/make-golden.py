"""Makes the numbers that architectures.test.ts compares each architecture with: logits, gradients, greedy tokens.

Run `python make-golden.py` with torch 2.13 or later, transformers and safetensors, then `npx biome format --write .` here. It writes a
subfolder for each case, or for the cases that are named: a random checkpoint, golden.json, logits.safetensors and gradients.safetensors.
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import (
    AutoModelForCausalLM,
    Cohere2Config,
    Exaone4Config,
    Gemma3TextConfig,
    GraniteConfig,
    Lfm2Config,
    LlamaConfig,
    MistralConfig,
    Olmo2Config,
    Olmo3Config,
    OlmoeConfig,
    Phi3Config,
    Qwen2Config,
    Qwen3_5TextConfig,
    Qwen3Config,
    Qwen3MoeConfig,
    SmolLM3Config,
)

torch.set_num_threads(1)

common = {
    "vocab_size": 37,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
four_layers = {**common, "num_hidden_layers": 4}


def rope(theta, **scaling):
    return {"rope_parameters": {"rope_theta": theta, "rope_type": "default", **scaling}}


def rope_of_each(theta, **scaling):
    plain = {"rope_theta": theta, "rope_type": "default"}
    return {"rope_parameters": {"sliding_attention": plain, "full_attention": {**plain, **scaling}}}


llama3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
longrope = {
    "rope_type": "longrope",
    "short_factor": [1.0, 1.5, 2.0],
    "long_factor": [1.0, 4.0, 9.0],
    "original_max_position_embeddings": 64,
    "partial_rotary_factor": 0.75,
}

cases = {
    "qwen2-untied": Qwen2Config(**common, **rope(5000.0), tie_word_embeddings=False),
    "qwen2-yarn": Qwen2Config(**common, **rope(1e6, **yarn), tie_word_embeddings=True),
    "qwen3": Qwen3Config(**common, **rope(1e6), head_dim=8, tie_word_embeddings=True),
    "qwen3-bias-yarn": Qwen3Config(
        **common, **rope(1e4, **yarn, beta_fast=8, attention_factor=1.3), head_dim=8, attention_bias=True
    ),
    "llama3": LlamaConfig(**common, **rope(500000.0, **llama3), tie_word_embeddings=False),
    "llama-biases-linear": LlamaConfig(
        **common, **rope(1e4, rope_type="linear", factor=2.0), attention_bias=True, mlp_bias=True
    ),
    "smollm2": LlamaConfig(
        **{**common, "hidden_size": 24, "num_attention_heads": 3, "num_key_value_heads": 1},
        **rope(1e5),
        tie_word_embeddings=True,
    ),
    "mistral": MistralConfig(**common, **rope(1e6), sliding_window=None, tie_word_embeddings=False),
    "mistral-window": MistralConfig(**common, **rope(1e4), sliding_window=8),
    "qwen2-window": Qwen2Config(**four_layers, **rope(1e4), use_sliding_window=True, sliding_window=8, max_window_layers=2),
    "qwen3-window": Qwen3Config(
        **common,
        **rope(1e4),
        head_dim=8,
        use_sliding_window=True,
        sliding_window=5,
        layer_types=["sliding_attention", "full_attention"],
    ),
    "granite": GraniteConfig(
        **common,
        **rope(1e4),
        attention_bias=True,
        tie_word_embeddings=True,
        embedding_multiplier=6.0,
        attention_multiplier=0.3,
        residual_multiplier=0.7,
        logits_scaling=2.5,
    ),
    "smollm3": SmolLM3Config(**four_layers, **rope(1e4), no_rope_layer_interval=2),
    "smollm3-window": SmolLM3Config(
        **four_layers, **rope(1e4), no_rope_layers=[1, 0, 0, 1], use_sliding_window=True, sliding_window=8
    ),
    "olmo2": Olmo2Config(**common, **rope(5e5)),
    "gemma3": Gemma3TextConfig(
        **four_layers,
        head_dim=8,
        rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
            "full_attention": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0},
        },
        query_pre_attn_scalar=12,
        sliding_window=8,
        sliding_window_pattern=3,
    ),
    "phi3": Phi3Config(**common, **rope(1e4)),
    "phi3-window": Phi3Config(**{**common, "num_key_value_heads": 4}, **rope(1e4), sliding_window=8),
    "cohere2": Cohere2Config(**four_layers, **rope(1e4), sliding_window=8, logit_scale=1.5),
    # Windows as long as the context: the layers still have positions. Without them, the gradients of the keys' biases would be 0.
    "cohere2-bias-yarn": Cohere2Config(
        **common,
        **rope(1e4, **yarn),
        attention_bias=True,
        tie_word_embeddings=False,
        sliding_window=64,
        layer_types=["sliding_attention"] * 2,
        logit_scale=0.8,
    ),
    "smollm3-yarn": SmolLM3Config(**four_layers, **rope(1e4, **yarn), no_rope_layer_interval=2),
    "olmo3": Olmo3Config(**four_layers, **rope_of_each(5e3), sliding_window=8),
    "olmo3-yarn": Olmo3Config(**four_layers, **rope_of_each(5e3, **yarn), sliding_window=8),
    "exaone4": Exaone4Config(**common, **rope(1e4, **llama3), sliding_window=None, layer_types=["full_attention"] * 2),
    "exaone4-window": Exaone4Config(**four_layers, **rope(1e4), sliding_window=8, layer_types=["sliding_attention", "full_attention"] * 2),
    # As Phi-4 mini. Its context is longer than that of the short factors.
    "phi4-mini": Phi3Config(
        **{**common, "hidden_size": 32, "max_position_embeddings": 128},
        **rope(1e4, **longrope),
        original_max_position_embeddings=64,
    ),
    "qwen3-moe": Qwen3MoeConfig(
        **common,
        **rope(1e4),
        head_dim=8,
        num_experts=5,
        num_experts_per_tok=2,
        moe_intermediate_size=12,
        norm_topk_prob=True,
    ),
    "qwen3-moe-dense-layers": Qwen3MoeConfig(
        **four_layers,
        **rope(1e4),
        head_dim=8,
        num_experts=4,
        num_experts_per_tok=3,
        moe_intermediate_size=8,
        decoder_sparse_step=2,
        mlp_only_layers=[3],
        use_sliding_window=True,
        sliding_window=8,
    ),
    "lfm2": Lfm2Config(
        **{**four_layers, "max_position_embeddings": 256, "intermediate_size": 48},
        **rope(1e4),
        conv_bias=True,
        block_multiple_of=8,
        layer_types=["conv", "full_attention", "conv", "conv"],
    ),
    # Heads of keys and values differ in numbers and widths. With more layers of small widths, transformers' own gradients have errors above 1e-4.
    "qwen3.5": Qwen3_5TextConfig(
        **{**common, "max_position_embeddings": 256},
        layer_types=["linear_attention", "full_attention"],
        rope_parameters={"rope_theta": 1e4, "rope_type": "default", "partial_rotary_factor": 0.25},
        head_dim=8,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=8,
        linear_value_head_dim=6,
        tie_word_embeddings=True,
    ),
    "olmoe": OlmoeConfig(**common, **rope(1e4), num_experts=6, num_experts_per_tok=2),
}


# Models whose norms add 1 to their weights.
centred_at_zero = ["gemma3_text", "qwen3_5_text"]


def by_expert(tensors):
    """The tensors of each expert by themselves, as checkpoints have them."""
    apart = {}
    for name, tensor in tensors.items():
        if ".experts." not in name:
            apart[name] = tensor
            continue
        stem, part = name.rsplit(".", 1)
        for expert, own in enumerate(tensor):
            pieces = own.chunk(2) if part == "gate_up_proj" else [own]
            parts = ["gate_proj", "up_proj"] if part == "gate_up_proj" else [part]
            for each, piece in zip(parts, pieces):
                apart[f"{stem}.{expert}.{each}.weight"] = piece.clone()
    return apart


def make(folder, config):
    torch.manual_seed(5)
    model = AutoModelForCausalLM.from_config(config).float()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # Large enough that no distribution is flat, and no bias or norm is at its trivial value.
            one = "norm" in name and (config.model_type not in centred_at_zero or ".linear_attn." in name)
            parameter.copy_((1 if one else 0) + 0.3 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)

    lengths = [150 if config.max_position_embeddings > 128 else 33, 9]
    sequences = [torch.randint(0, config.vocab_size, (length,)).tolist() for length in lengths]
    weights = [[0.0] + [round(float(torch.randn(())), 3) for _ in range(length - 1)] for length in lengths]

    total = torch.zeros(())
    logits = {}
    for row, (tokens, weight) in enumerate(zip(sequences, weights)):
        scores = model(torch.tensor([tokens])).logits[0]
        logits[str(row)] = scores.detach().clone()
        logprobs = torch.log_softmax(scores[:-1], -1).gather(1, torch.tensor(tokens[1:])[:, None])[:, 0]
        total = total + (torch.tensor(weight[1:]) * logprobs).sum()
    total.backward()
    save_file(logits, folder / "logits.safetensors")
    gradients = {name: p.grad.clone() for name, p in model.named_parameters()}
    save_file(by_expert(gradients), folder / "gradients.safetensors")

    greedy = []
    for tokens in sequences:
        prompt = torch.tensor([tokens])
        options = {"attention_mask": torch.ones_like(prompt), "do_sample": False, "max_new_tokens": 20, "pad_token_id": 0}
        greedy.append(model.generate(prompt, **options)[0, len(tokens) :].tolist())
    golden = {"tokens": sequences, "dLogprobs": weights, "greedy": greedy}
    (folder / "golden.json").write_text(json.dumps(golden) + "\n")


for name in sys.argv[1:] or cases:
    make(Path(__file__).parent / name, cases[name])
