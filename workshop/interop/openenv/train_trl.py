"""Two steps of TRL's GRPO on the tiny policy, in an environment that the parent process serves.

Arguments: the folder of toolenv_openenv.py, the server's URL, the checkpoint, a folder for output. Prints JSON.
"""

import json
import os
import sys
import time

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"
package, url, checkpoint, out = sys.argv[1:]
sys.path[:0] = [package, os.path.join(os.path.dirname(__file__), "../trl")]
lines, sys.stdout = sys.stdout, sys.stderr

import torch
import transformers
import trl
from datasets import Dataset
from tiny_tokenizer import read_tokenizer
from toolenv_openenv import environment, rows, score
from transformers import Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

torch.set_num_threads(2)
transformers.logging.set_verbosity_error()
tokenizer = read_tokenizer(checkpoint)
rewards = []


def scored(**given):
    of_batch = score(**given)
    rewards.extend(of_batch)
    return of_batch


start = time.time()
trainer = GRPOTrainer(
    model=Qwen2ForCausalLM.from_pretrained(checkpoint, dtype=torch.float32),
    processing_class=tokenizer,
    environment_factory=environment(url),
    reward_funcs=[scored],
    train_dataset=Dataset.from_list(rows(url, 4)),
    args=GRPOConfig(
        output_dir=out,
        seed=1,
        num_generations=4,
        per_device_train_batch_size=8,
        max_steps=2,
        max_completion_length=600,
        max_tool_calling_iterations=4,
        learning_rate=1e-4,
        bf16=False,
        gradient_checkpointing=False,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    ),
)
before = trainer.model.model.layers[0].self_attn.q_proj.weight.detach().clone()
trainer.train()
moved = (trainer.model.model.layers[0].self_attn.q_proj.weight - before).abs().max().item()
calls = [log["tools/call_frequency"] for log in trainer.state.log_history if "tools/call_frequency" in log]
result = {
    "steps": trainer.state.global_step,
    "rewards": rewards,
    "moved": moved,
    "calls": calls,
    "seconds": time.time() - start,
    "trl": trl.__version__,
}
print(json.dumps(result), file=lines)
