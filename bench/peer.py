"""What the peers share: the model, and the exchange with the benchmark, one JSON line a message."""

import json
import sys
import time

import torch
import transformers
from transformers import Qwen2Config, Qwen2ForCausalLM

transformers.logging.set_verbosity_error()


def read_shape():
    """The sizes, from the first line; sets the number of threads."""
    request = json.loads(sys.stdin.readline())
    torch.set_num_threads(request["threads"])
    return request["shape"]


def random_model(shape):
    torch.manual_seed(1)
    config = Qwen2Config(
        vocab_size=shape["vocabulary"],
        hidden_size=shape["width"],
        intermediate_size=shape["inner"],
        num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"],
        num_key_value_heads=shape["keyValueHeads"],
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
    )
    return Qwen2ForCausalLM(config).float()


def serve(run_round):
    """Answers each further line with the seconds that a round took."""
    answer({"torch": torch.__version__, "transformers": transformers.__version__})
    for _ in sys.stdin:
        start = time.perf_counter()
        run_round()
        answer({"seconds": time.perf_counter() - start})


def answer(message):
    print(json.dumps(message), flush=True)
