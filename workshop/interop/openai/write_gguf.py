"""Writes a Hugging Face folder of Qwen2 in float32 as a GGUF file, which llama.cpp opens: write_gguf.py <folder> <file>."""

import json
import sys
from pathlib import Path

import gguf
import numpy

CONTROL, USER_DEFINED, NORMAL = 3, 4, 1

TENSORS = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
}
LAYER_TENSORS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def read_safetensors(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    for name, about in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        assert about["dtype"] == "F32", f"{name} is {about['dtype']}"
        start, end = about["data_offsets"]
        values = numpy.frombuffer(data[8 + size + start : 8 + size + end], numpy.float32)
        yield name, values.reshape(about["shape"])


def gguf_name(name):
    base, suffix = name.rsplit(".", 1)
    if base in TENSORS:
        return f"{TENSORS[base]}.{suffix}"
    _, _, layer, rest = base.split(".", 3)
    return f"blk.{layer}.{LAYER_TENSORS[rest]}.{suffix}"


def main(folder, out):
    config = json.loads((folder / "config.json").read_text())
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    template = json.loads((folder / "tokenizer_config.json").read_text())["chat_template"]
    writer = gguf.GGUFWriter(out, "qwen2")
    writer.add_name("tiny")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(float(config["rope_theta"]))
    writer.add_file_type(0)
    writer.add_vocab_size(config["vocab_size"])

    vocabulary = tokenizer["model"]["vocab"]
    tokens = {token: text for text, token in vocabulary.items()}
    types = dict.fromkeys(tokens, NORMAL)
    for added in tokenizer["added_tokens"]:
        tokens[added["id"]] = added["content"]
        types[added["id"]] = CONTROL if added["special"] else USER_DEFINED
    order = range(config["vocab_size"])
    writer.add_tokenizer_model("gpt2")
    # This pre-tokenizer takes whole words that are in the vocabulary, as ours does. The merges are never used, but must exist.
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list([tokens[token] for token in order])
    writer.add_token_types([types[token] for token in order])
    writer.add_token_merges([f"{text[0]} {text[1:]}" for text in vocabulary if len(text) > 1])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_bos_token_id(config["pad_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(template)
    for name, values in read_safetensors(folder / "model.safetensors"):
        writer.add_tensor(gguf_name(name), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main(Path(sys.argv[1]), sys.argv[2])
