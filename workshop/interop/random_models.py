"""Writes random models of many architectures with transformers: reads one JSON request from stdin and writes one JSON answer.

Request: {folder, tokenizer, vocabulary, end, sequences: [[id]], models: {name: {class, config, ..}}}. Each model is written to folder/name, with
the tokenizer files of the folder `tokenizer`. `class` is that of its configuration. Answer: {name: [base64 of float32 logits [T, vocabulary]]}.
"""

import base64
import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
request = json.load(sys.stdin)
answer = {}
for seed, (name, given) in enumerate(request["models"].items()):
    torch.manual_seed(seed)
    ids = {"vocab_size": request["vocabulary"], "eos_token_id": request["end"], "pad_token_id": None, "bos_token_id": None}
    fields = given["config"]
    text = fields.get("text_config")
    config = getattr(transformers, given["class"])(**({**fields, "text_config": {**text, **ids}} if text else {**fields, **ids}))
    model = (AutoModelForImageTextToText if text else AutoModelForCausalLM).from_config(config).float().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    folder = Path(request["folder"]) / name
    model.save_pretrained(folder)
    for file in ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"]:
        if (Path(request["tokenizer"]) / file).exists():
            shutil.copy(Path(request["tokenizer"]) / file, folder)
    with torch.inference_mode():
        answer[name] = [
            base64.b64encode(model(input_ids=torch.tensor([tokens])).logits[0].numpy().tobytes()).decode()
            for tokens in request["sequences"]
        ]
json.dump(answer, sys.stdout)
