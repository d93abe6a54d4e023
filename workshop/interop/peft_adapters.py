"""Writes LoRA adapters of a base model with peft: reads one JSON request from stdin and writes one JSON answer.

Request: {base, folder, sequences: [[id]], variants: {name: arguments of LoraConfig}}. Each adapter is random, and written to folder/name as peft
does it. Answer: {name: [base64 of float32 logits [T, vocabulary]]}, one for each sequence.
"""

import base64
import json
import sys

import torch
import transformers
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

transformers.logging.set_verbosity_error()
request = json.load(sys.stdin)
answer = {}
for seed, (name, arguments) in enumerate(request["variants"].items()):
    torch.manual_seed(seed)
    base = AutoModelForCausalLM.from_pretrained(request["base"], dtype=torch.float32)
    model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM", **arguments)).eval()
    for parameter_name, parameter in model.named_parameters():
        if "lora_" in parameter_name:
            torch.nn.init.normal_(parameter, std=0.1)
    model.save_pretrained(f"{request['folder']}/{name}")
    with torch.inference_mode():
        answer[name] = [
            base64.b64encode(model(torch.tensor([tokens])).logits[0].numpy().tobytes()).decode()
            for tokens in request["sequences"]
        ]
json.dump(answer, sys.stdout)
