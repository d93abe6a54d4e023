"""TRL's side of the comparison: GRPOTrainer with its own tool loop, in an environment that the parent process runs.

Communicates by JSON lines. The first line on stdin is the request. After it, each line on stdout is a question, and the next
line on stdin is its answer: {"method": "reset" | "step" | "report", ...}.
"""

import json
import os
import re
import sys
import time

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
import trl
from datasets import Dataset
from settings import settings
from tiny_tokenizer import read_tokenizer
from transformers import Qwen2ForCausalLM, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

# Keep the trainer's output out of the JSON lines.
lines, sys.stdout = sys.stdout, sys.stderr


def ask(method, **parameters):
    print(json.dumps({"method": method, **parameters}), file=lines, flush=True)
    return json.loads(sys.stdin.readline())


class SearchEpisode:
    """An episode of the environment. TRL keeps one object per place in the batch and resets it for each rollout."""

    made = 0
    #: The current turn of all episodes: TRL runs the calls of one turn one by one.
    turn = 0
    #: Seconds spent waiting for the environment since the last report, and seconds that the environment itself took.
    waited, worked, exchanges = 0.0, 0.0, 0

    def __init__(self):
        self._place = SearchEpisode.made
        SearchEpisode.made += 1

    def reset(self, task, **_):
        self._rewards = {}
        self._ask("reset", task=task)

    def search(self, query: str) -> str:
        """
        Find documents.

        Args:
            query: What to search for.
        """
        return self._call({"name": "search", "arguments": {"query": query}})

    def _finish(self, message, stopped):
        """Sends the last turn: an answer, a call that comes too late, or a turn that the token limit cut off."""
        calls = message.get("tool_calls")
        if not stopped:
            self._step({"text": "", "toolCalls": [], "stopReason": "length"})
        elif calls:
            self._call(calls[0]["function"])
        else:
            self._step({"text": message["content"], "toolCalls": [], "stopReason": "stop"})

    def _call(self, function):
        return self._step({"text": "", "toolCalls": [{"id": "", **function}], "stopReason": "tool_call"})

    def _step(self, action):
        transition = self._ask("step", turn=SearchEpisode.turn, action=action)
        for name, value in transition["rewards"].items():
            self._rewards[name] = self._rewards.get(name, 0.0) + (value or 0.0)
        return transition["text"]

    def _ask(self, method, **parameters):
        start = time.perf_counter()
        reply = ask(method, episode=self._place, **parameters)
        SearchEpisode.waited += time.perf_counter() - start
        SearchEpisode.worked += reply["seconds"]
        SearchEpisode.exchanges += 1
        return reply


def em(environments, completions, completion_ids, **_):
    for episode, messages, ids in zip(environments, completions, completion_ids, strict=True):
        last = messages[-1]
        if last["role"] == "assistant":
            episode._finish(last, stopped=ids[-1] == tokenizer.eos_token_id)
    return [episode._rewards.get("em", 0.0) for episode in environments]


def retrieved(environments, **_):
    return [episode._rewards.get("retrieved", 0.0) for episode in environments]


class MeasuredTrainer(GRPOTrainer):
    """Measures the time and the tokens of rollouts, and checks that no token of the environment is learned from."""

    def _generate_single_turn(self, *arguments, **named):
        SearchEpisode.turn += 1
        return super()._generate_single_turn(*arguments, **named)

    def _generate(self, prompts):
        start = time.perf_counter()
        generated = super()._generate(prompts)
        self.rollout_seconds = time.perf_counter() - start
        _, completion_ids, tool_mask, completions, *_ = generated
        self.generated_tokens = sum(map(sum, tool_mask))
        if self.state.global_step == 0:
            for ids, mask, messages in zip(completion_ids, tool_mask, completions, strict=True):
                check_mask(ids, mask, messages)
        return generated


def check_mask(ids, mask, messages):
    """Asserts that exactly the tool results, with their markers from the chat template, are masked out."""
    masked = tokenizer.decode([i for i, bit in zip(ids, mask, strict=True) if bit == 0])
    answer = r"<\|im_start\|> ?tool<tool_response>.*?</tool_response><\|im_end\|>"
    assert re.fullmatch(rf"(({answer})+<\|im_start\|> ?assistant)*", masked, re.DOTALL), masked
    answers = sum(message["role"] == "tool" for message in messages)
    assert len(re.findall(answer, masked, re.DOTALL)) == answers, masked


class RepeatingTrainer(MeasuredTrainer):
    """Samples nothing: each turn is that of a recorded episode, and the first step's rows and rewards are reported."""

    def _generate_single_turn(self, prompt_ids, *_, **__):
        SearchEpisode.turn += 1
        turns = [next_turn(list(map(int, ids))) for ids in prompt_ids]
        return [turn["action"] for turn in turns], [turn["logprobs"] for turn in turns]

    def _generate(self, prompts):
        generated = super()._generate(prompts)
        self.rows = dict(zip(("prompts", "completions", "masks"), generated, strict=False))
        return generated

    def _calculate_rewards(self, *arguments, **named):
        rewards = super()._calculate_rewards(*arguments, **named)
        ask("rows", **self.rows, rewards=rewards.tolist())
        return rewards


def next_turn(prompt):
    """The turn, of those that are left, whose prompt has most in common with TRL's."""

    def common(turn):
        recorded = turn["prompt"]
        pairs = enumerate(zip(prompt, recorded, strict=False))
        return next((i for i, (a, b) in pairs if a != b), min(len(prompt), len(recorded)))

    best = max(recorded_turns, key=lambda turn: (common(turn), -abs(len(turn["prompt"]) - len(prompt))))
    recorded_turns.remove(best)
    return best


class Report(TrainerCallback):
    def on_train_begin(self, *_, **__):
        self.start, self.cpu_before = time.perf_counter(), time.process_time()

    def on_step_end(self, args, state, control, **_):
        seconds = time.perf_counter() - self.start
        metrics = {name: values[-1] for name, values in trainer._metrics["train"].items() if values}
        reply = ask(
            "report",
            step=state.global_step,
            seconds=seconds,
            cpuSeconds=time.process_time() - self.cpu_before,
            em=metrics["rewards/em/mean"],
            reward=metrics["reward"],
            kl=metrics.get("kl"),
            generatedTokens=trainer.generated_tokens,
            rolloutSeconds=trainer.rollout_seconds,
            callFrequency=metrics["tools/call_frequency"],
            failureFrequency=metrics["tools/failure_frequency"],
            env={
                "waited": SearchEpisode.waited,
                "worked": SearchEpisode.worked,
                "exchanges": SearchEpisode.exchanges,
            },
        )
        SearchEpisode.waited, SearchEpisode.worked, SearchEpisode.exchanges = 0.0, 0.0, 0
        control.should_training_stop = reply["stop"]


request = json.loads(sys.stdin.readline())
setting = request["setting"]
torch.set_num_threads(request["threads"])
transformers.logging.set_verbosity_error()
transformers.set_seed(request["seed"])

tokenizer = read_tokenizer(request["checkpoint"])
recorded_turns = request.get("recorded") or []
episodes = setting["tasksPerStep"] * setting["groupSize"]
trainer = (RepeatingTrainer if recorded_turns else MeasuredTrainer)(
    model=Qwen2ForCausalLM.from_pretrained(request["checkpoint"], dtype=torch.float32),
    processing_class=tokenizer,
    environment_factory=SearchEpisode,
    reward_funcs=[em, retrieved],
    train_dataset=Dataset.from_list(request["tasks"]),
    callbacks=[Report()],
    args=GRPOConfig(
        **settings,
        output_dir=request["out"],
        seed=request["seed"],
        # Settings of both sides.
        num_generations=setting["groupSize"],
        per_device_train_batch_size=request["rowsAtATime"],
        gradient_accumulation_steps=episodes // request["rowsAtATime"],
        learning_rate=setting["learningRate"],
        beta=setting["beta"],
        temperature=setting["temperature"],
        reward_weights=[request["weights"]["em"], request["weights"]["retrieved"]],
        # maxTokens limits a turn. The model's context limits the whole conversation.
        generation_kwargs={"max_new_tokens": setting["maxTokens"]},
        max_completion_length=request["maxCompletionLength"],
        max_tool_calling_iterations=request["maxTurns"] - 1,
        max_steps=request["maxSteps"],
    ),
)
trainer.train()
trainer.save_model(request["out"])
versions = {"trl": trl.__version__, "torch": torch.__version__, "transformers": transformers.__version__}
ask("done", versions=versions)
