"""Writes a GGUF file of a Llama as a Hugging Face folder: convert_gguf.py <file.gguf> <folder>. It needs gguf and numpy, not PyTorch."""

import json
import sys
from pathlib import Path

import gguf
import numpy

CONTROL = 3
TENSORS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
LAYER_TENSORS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def hugging_face_name(name):
    base, suffix = name.rsplit(".", 1)
    if base in TENSORS:
        return f"{TENSORS[base]}.{suffix}"
    _, layer, rest = base.split(".")
    return f"model.layers.{layer}.{LAYER_TENSORS[rest]}.{suffix}"


def rotary_halves(matrix, heads):
    """llama.cpp rotates neighbours, and transformers rotates halves: undoes the reordering of the rows of each head."""
    rows, width = matrix.shape
    return matrix.reshape(heads, rows // heads // 2, 2, width).swapaxes(1, 2).reshape(rows, width)


def bfloat16(values):
    """The nearest bfloat16 of each float32, ties to even, as 16 bits."""
    bits = numpy.ascontiguousarray(values, numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def write_safetensors(path, tensors):
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, bits in tensors.items():
        header[name] = {"dtype": "BF16", "shape": bits.shape, "data_offsets": [offset, offset + bits.nbytes]}
        offset += bits.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for bits in tensors.values():
            file.write(bits.tobytes())


def read_weights(reader, heads):
    tensors = {}
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        name = hugging_face_name(tensor.name)
        for projection, count in heads.items():
            if projection in name:
                values = rotary_halves(values, count)
        tensors[name] = bfloat16(values)
    return tensors


def tokenizer_of(tokens, types, merges):
    """The tokenizer of SmolLM: pairs of bytes, and each digit is a word."""
    special = [
        {"id": id, "content": tokens[id], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        for id, kind in enumerate(types)
        if kind == CONTROL
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level],
        },
        "post_processor": None,
        "decoder": byte_level | {"add_prefix_space": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {text: id for id, text in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in merges],
        },
    }


def main(file, folder):
    reader = gguf.GGUFReader(file)
    field = lambda name: reader.fields[name].contents()
    tokens = field("tokenizer.ggml.tokens")
    begin, end, unknown, padding = (field(f"tokenizer.ggml.{name}_token_id") for name in ("bos", "eos", "unknown", "padding"))
    ends = {"bos_token_id": begin, "eos_token_id": end, "pad_token_id": padding}
    heads, key_value_heads = field("llama.attention.head_count"), field("llama.attention.head_count_kv")
    width = field("llama.embedding_length")
    weights = read_weights(reader, {"q_proj": heads, "k_proj": key_value_heads})
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(tokens),
        "hidden_size": width,
        "intermediate_size": field("llama.feed_forward_length"),
        "num_hidden_layers": field("llama.block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": key_value_heads,
        "head_dim": width // heads,
        "hidden_act": "silu",
        "max_position_embeddings": field("llama.context_length"),
        # The file has it in float32, whose decimals are 9.999999747378752e-06.
        "rms_norm_eps": float(f"{field('llama.attention.layer_norm_rms_epsilon'):.6g}"),
        "rope_theta": field("llama.rope.freq_base"),
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": "lm_head.weight" not in weights,
        "dtype": "bfloat16",
        **ends,
    }
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokens[begin],
        "eos_token": tokens[end],
        "pad_token": tokens[padding],
        "unk_token": tokens[unknown],
        "model_max_length": config["max_position_embeddings"],
        "clean_up_tokenization_spaces": False,
    }
    tokenizer = tokenizer_of(tokens, field("tokenizer.ggml.token_type"), field("tokenizer.ggml.merges"))
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "tokenizer.json": tokenizer,
        "tokenizer_config.json": tokenizer_config,
        "generation_config.json": ends,
        "config.json": config,
    }
    write_safetensors(folder / "model.safetensors", weights)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "chat_template.jinja").write_text(field("tokenizer.chat_template"), encoding="utf-8")


main(sys.argv[1], Path(sys.argv[2]))
