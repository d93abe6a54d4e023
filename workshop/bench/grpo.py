"""The peer of grpo.ts: TRL's GRPOTrainer with generate of transformers. A round is a step of its training loop."""

import os
import sys
import tempfile
from pathlib import Path

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import peer
from datasets import Dataset
from peer import random_model, read_shape
from trl import GRPOConfig, GRPOTrainer
from trl_rounds import Rounds

workshop = Path(__file__).parents[1]
sys.path.append(str(workshop / "interop/trl"))
from settings import settings  # noqa: E402
from tiny_tokenizer import read_tokenizer  # noqa: E402

warm_up = 2
shape = read_shape()
episodes = shape["prompts"] * shape["groupSize"]
prompts = [f"Topic {topic}:" + " river" * shape["words"] for topic in range(shape["prompts"])]


def length(completions, completion_ids, **_):
    assert all(len(ids) == shape["newTokens"] for ids in completion_ids)
    scores = [len(answer[0]["content"]) % 16 / 16 for answer in completions]
    groups = [scores[i : i + shape["groupSize"]] for i in range(0, episodes, shape["groupSize"])]
    assert all(len(set(group)) > 1 for group in groups)
    return scores


with tempfile.TemporaryDirectory() as out:
    GRPOTrainer(
        model=random_model(shape),
        processing_class=read_tokenizer(workshop.parent / "packages/checkpoints/tiny"),
        reward_funcs=length,
        train_dataset=Dataset.from_list(
            [{"prompt": [{"role": "user", "content": prompt}]} for prompt in prompts]
        ),
        callbacks=[Rounds(warm_up)],
        args=GRPOConfig(
            **{**settings, "bf16": peer.is_bfloat16},
            output_dir=out,
            num_generations=shape["groupSize"],
            per_device_train_batch_size=episodes,
            learning_rate=1e-6,
            beta=0.0,
            temperature=1.0,
            max_completion_length=shape["newTokens"],
            # Forbids the end token, so that each answer has all its tokens.
            generation_kwargs={"min_new_tokens": shape["newTokens"]},
            max_steps=1_000_000,
        ),
    ).train()
