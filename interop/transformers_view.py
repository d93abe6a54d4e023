"""What transformers makes of a checkpoint folder: reads one JSON request from stdin, writes one JSON answer.

Request: {folder, sequences: [[id]], texts: [str], conversations: [{messages, tools}]}.
Answer: {logits: [base64 of float32 [T, vocabulary]], ids: [[id]], rendered: [str], rendered_ids: [[id]]}.
"""

import base64
import json
import sys

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
request = json.load(sys.stdin)
model = AutoModelForCausalLM.from_pretrained(request["folder"], dtype=torch.float32).eval()
tokenizer = AutoTokenizer.from_pretrained(request["folder"])


@torch.inference_mode()
def logits(tokens):
    return base64.b64encode(model(torch.tensor([tokens])).logits[0].numpy().tobytes()).decode()


def render(conversation):
    return tokenizer.apply_chat_template(
        conversation["messages"], tools=conversation["tools"], tokenize=False, add_generation_prompt=True
    )


def encode(text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


rendered = [render(conversation) for conversation in request["conversations"]]
answer = {
    "logits": [logits(tokens) for tokens in request["sequences"]],
    "ids": [encode(text) for text in request["texts"]],
    "rendered": rendered,
    "rendered_ids": [encode(text) for text in rendered],
}
json.dump(answer, sys.stdout)
