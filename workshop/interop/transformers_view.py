"""Opens a checkpoint folder with transformers: reads one JSON request from stdin and writes one JSON answer.

Request: {folder, base?, sequences: [[id]], texts: [str], conversations: [{messages, tools}], examples?: [{tokens, labels}],
new_tokens?: int}. With a base, the model is the base with the adapter in folder/adapter, applied by peft. Labels are tokens, or -100.
Answer: {logits: [base64 of float32 [T, vocabulary]], ids: [[id]], rendered: [str], rendered_ids: [[id]], auto_tokenizer:
{name: str, rendered_ids: [[id]]}, loss?: float, greedy?: [[id]]}. The loss is that of one padded batch of the examples. greedy has
at most new_tokens tokens after each conversation, with the token that ends the turn.

PreTrainedTokenizerFast uses tokenizer.json unchanged. AutoTokenizer of transformers 5 makes a Qwen2Tokenizer for every
folder with model_type qwen2, which keeps the vocabulary and the merges and replaces the rest by Qwen's own.
"""

import base64
import json
import sys

import torch
import transformers
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
request = json.load(sys.stdin)
base = request.get("base")
model = AutoModelForCausalLM.from_pretrained(base or request["folder"], dtype=torch.float32).eval()
if base:
    model = PeftModel.from_pretrained(model, f"{request['folder']}/adapter").eval()
tokenizer = PreTrainedTokenizerFast.from_pretrained(request["folder"])
auto_tokenizer = AutoTokenizer.from_pretrained(request["folder"])


@torch.inference_mode()
def logits(tokens):
    return base64.b64encode(model(torch.tensor([tokens])).logits[0].numpy().tobytes()).decode()


@torch.inference_mode()
def loss(examples):
    def padded(rows, value):
        return torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=value)

    tokens = padded([each["tokens"] for each in examples], 0)
    attention = padded([[1] * len(each["tokens"]) for each in examples], 0)
    labels = padded([each["labels"] for each in examples], -100)
    return model(input_ids=tokens, attention_mask=attention, labels=labels).loss.item()


@torch.inference_mode()
def greedy(tokens):
    prompt = torch.tensor([tokens])
    output = model.generate(
        prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=request["new_tokens"]
    )
    return output[0, len(tokens) :].tolist()


def render(conversation):
    return tokenizer.apply_chat_template(
        conversation["messages"], tools=conversation["tools"], tokenize=False, add_generation_prompt=True
    )


def encode(text, tokenizer=tokenizer):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


rendered = [render(conversation) for conversation in request["conversations"]]
answer = {
    "logits": [logits(tokens) for tokens in request["sequences"]],
    "ids": [encode(text) for text in request["texts"]],
    "rendered": rendered,
    "rendered_ids": [encode(text) for text in rendered],
    "auto_tokenizer": {
        "name": type(auto_tokenizer).__name__,
        "rendered_ids": [encode(text, auto_tokenizer) for text in rendered],
    },
}
if "examples" in request:
    answer["loss"] = loss(request["examples"])
if "new_tokens" in request:
    answer["greedy"] = [greedy(tokens) for tokens in answer["rendered_ids"]]
json.dump(answer, sys.stdout)
