"""Makes schedules.json: the shares of the learning rate that transformers' schedules give to each step.

Run `python make-golden.py` with torch 2.13 and transformers 5.23, then `npx biome format --write .` here.
"""

import json
from pathlib import Path

import torch
from transformers import get_scheduler

steps = 24
schedules = [
    ("constant", "constant", 0, {}),
    ("constant_with_warmup", "constant_with_warmup", 5, {}),
    ("linear", "linear", 0, {}),
    ("linear", "linear", 5, {}),
    ("cosine", "cosine", 0, {}),
    ("cosine", "cosine", 5, {}),
    ("cosine", "cosine_with_min_lr", 5, {"min_lr_rate": 0.1}),
]


def shares(name, warmup, more):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = get_scheduler(name, optimizer, warmup, steps, scheduler_specific_kwargs=more)
    found = []
    for _ in range(steps):
        found.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return found


golden = [
    {"schedule": ours, "warmup": warmup, "least": more.get("min_lr_rate", 0), "shares": shares(name, warmup, more)}
    for ours, name, warmup, more in schedules
]
Path(__file__).with_name("schedules.json").write_text(json.dumps({"steps": steps, "golden": golden}))
