"""The peer of smollm2.ts in PyTorch: generate of transformers, and optimizer steps with fused AdamW, with sdpa attention."""

import exchange
import torch
import transformers
from generate import generate
from transformers import AutoModelForCausalLM

transformers.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
request = exchange.read_request()
torch.set_num_threads(request["threads"])
torch.manual_seed(1)
task, settings = request["task"], request["settings"]
model = AutoModelForCausalLM.from_pretrained(settings["folder"], dtype=getattr(torch, settings["dtype"]))
vocabulary = model.config.vocab_size


def sample(new_tokens):
    # The model has end tokens, at which it must not stop.
    generate(model, vocabulary, (task["conversations"], task["prompt"]), new_tokens, min_new_tokens=new_tokens)


def prepare_steps(model):
    if task["name"] == "lora":
        from peft import LoraConfig, get_peft_model

        adapters = LoraConfig(r=task["rank"], lora_alpha=2 * task["rank"], target_modules="all-linear")
        model = get_peft_model(model, adapters)
    model.train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, weight_decay=0.01, fused=True)
    tokens = torch.randint(0, vocabulary, (task["rows"], task["length"] + 1))

    autocast = torch.autocast("cpu", torch.bfloat16, enabled="autocast" in settings)

    def step():
        with autocast:
            logits = model(tokens[:, :-1], use_cache=False).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return [step]


if task["name"] == "sample":
    model.eval()
    parts = [lambda: sample(1), lambda: sample(1 + task["newTokens"])]
else:
    parts = prepare_steps(model)
for _ in range(1 if task["name"] == "sample" else 2):
    for part in parts:
        part()
exchange.serve_timed(parts, {"torch": torch.__version__, "transformers": transformers.__version__})
