"""Makes a step of TRL's training loop a round of a benchmark."""

import sys
import time

import exchange
import trl
from peer import versions
from transformers import TrainerCallback


class Rounds(TrainerCallback):
    def __init__(self, warm_up):
        self.warm_up = warm_up

    def on_step_begin(self, args, state, control, **_):
        if state.global_step == self.warm_up:
            exchange.answer({**versions, "trl": trl.__version__})
        if state.global_step >= self.warm_up and not sys.stdin.readline():
            raise SystemExit
        self.start = time.perf_counter()

    def on_step_end(self, args, state, control, **_):
        if state.global_step > self.warm_up:
            exchange.answer_round(self.start)
