"""Hugging Face's tokenizers: trains a byte-level tokenizer with the pattern of Qwen2, and tokenises the texts one by one."""

import json
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import tokenizers
from exchange import read_request, serve
from tokenizers import Regex, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split
from tokenizers.trainers import BpeTrainer

shape = read_request()["shape"]
folder = shape["folder"]
file = f"{folder}/tokenizer.json"
with open(f"{folder}/texts.json", encoding="utf-8") as texts_file:
    texts = json.load(texts_file)
with open(file, encoding="utf-8") as given:
    special = [token["content"] for token in json.load(given)["added_tokens"]]

words = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
made = Tokenizer(BPE())
made.pre_tokenizer = Sequence([Split(Regex(words), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)])
made.decoder = ByteLevelDecoder()
made.train_from_iterator(
    texts,
    BpeTrainer(
        vocab_size=shape["vocabulary"],
        special_tokens=special,
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    ),
)
made.save(file)


def run_round():
    tokenizer = Tokenizer.from_file(file)
    return [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]


with open(f"{folder}/tokens.json", "w", encoding="utf-8") as tokens_file:
    json.dump(run_round(), tokens_file)
serve(run_round, {"tokenizers": tokenizers.__version__})
