"""The peer of grpo-tools.ts: TRL's GRPOTrainer with peft, in the environment that the parent process serves. A round is a step."""

import os
import sys
import tempfile
from pathlib import Path

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import peer
import torch
from datasets import Dataset
from peer import read_shape
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer
from trl_rounds import Rounds

workshop = Path(__file__).parents[1]
sys.path += [str(workshop / "interop/trl"), str(workshop.parent / "packages/openenv/python")]
from response_template import response_template  # noqa: E402
from settings import settings  # noqa: E402
from toolenv_openenv import environment, rows, score  # noqa: E402

# Calls in Hermes' format, and results as a user's message, which is how toolenv talks to a model whose template has no tools.
template = """{% for message in messages %}{% if message.role == 'tool' %}<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% else %}<|im_start|>{{ message.role }}
{{ message.content or '' }}{% for call in message.tool_calls or [] %}<tool_call>
{{ {'name': call.function.name, 'arguments': call.function.arguments} | tojson }}
</tool_call>{% endfor %}<|im_end|>
{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

shape = read_shape()
episodes = shape["prompts"] * shape["groupSize"]
tokenizer = AutoTokenizer.from_pretrained(shape["policy"], padding_side="left")
tokenizer.chat_template, tokenizer.response_template = template, response_template("<|im_start|>assistant\n")
tasks = rows(shape["url"], 64)
for task in tasks:
    task["prompt"][0] = {"role": "system", "content": shape["system"]}

with tempfile.TemporaryDirectory() as out:
    GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(shape["policy"], dtype=torch.float32),
        processing_class=tokenizer,
        peft_config=LoraConfig(r=shape["rank"], lora_alpha=2 * shape["rank"], target_modules="all-linear"),
        environment_factory=environment(shape["url"]),
        reward_funcs=[score],
        train_dataset=Dataset.from_list(tasks),
        # A step takes minutes, and nothing is compiled in the first.
        callbacks=[Rounds(0)],
        args=GRPOConfig(
            **{**settings, "bf16": peer.is_bfloat16},
            output_dir=out,
            num_generations=shape["groupSize"],
            # Eight rows at a time take 16 GB.
            per_device_train_batch_size=shape["rowsAtATime"],
            gradient_accumulation_steps=episodes // shape["rowsAtATime"],
            learning_rate=1e-6,
            beta=0.0,
            temperature=1.0,
            generation_kwargs={"max_new_tokens": shape["maxTokens"]},
            max_completion_length=shape["maxTokens"] * shape["maxTurns"],
            max_tool_calling_iterations=shape["maxTurns"] - 1,
            max_steps=1_000_000,
        ),
    ).train()
