"""write_model.py qwen3|llama <tiny policy> <folder>: a random model in the tiny policy's shape, because SkyRL's JAX backend has no Qwen2."""

import json
import shutil
import sys

import numpy as np
from safetensors.numpy import save_file

kind, source, folder = sys.argv[1:]
config = json.load(open(f"{source}/config.json"))
width, inner = config["hidden_size"], config["intermediate_size"]
heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
size = width // heads
random = np.random.default_rng(0)


def matrix(rows, columns):
    return (random.standard_normal((rows, columns)) * 0.05).astype(np.float32)


weights = {"model.embed_tokens.weight": matrix(config["vocab_size"], width)}
for layer in range(config["num_hidden_layers"]):
    at = f"model.layers.{layer}."
    weights |= {
        f"{at}self_attn.q_proj.weight": matrix(heads * size, width),
        f"{at}self_attn.k_proj.weight": matrix(groups * size, width),
        f"{at}self_attn.v_proj.weight": matrix(groups * size, width),
        f"{at}self_attn.o_proj.weight": matrix(width, heads * size),
        f"{at}mlp.gate_proj.weight": matrix(inner, width),
        f"{at}mlp.up_proj.weight": matrix(inner, width),
        f"{at}mlp.down_proj.weight": matrix(width, inner),
        f"{at}input_layernorm.weight": np.ones(width, np.float32),
        f"{at}post_attention_layernorm.weight": np.ones(width, np.float32),
    }
    if kind == "qwen3":
        weights |= {f"{at}self_attn.{name}_norm.weight": np.ones(size, np.float32) for name in "qk"}
# Some words are likelier than others, as a trained model has it: ten steps can raise or lower them one by one.
weights["model.norm.weight"] = np.full(width, 3, np.float32)
save_file(weights, f"{folder}/model.safetensors", {"format": "pt"})
config |= {
    "architectures": ["Qwen3ForCausalLM" if kind == "qwen3" else "LlamaForCausalLM"],
    "model_type": kind,
    "head_dim": size,
    "attention_bias": False,
    "tie_word_embeddings": True,
}
json.dump(config, open(f"{folder}/config.json", "w"), indent=1)
for name in ("tokenizer.json", "tokenizer_config.json"):
    shutil.copy(f"{source}/{name}", folder)
