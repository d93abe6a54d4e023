"""The peer of draw.ts: the logits processors of transformers, and a draw from what they leave."""

import itertools
import json

import torch
from peer import read_shape, serve
from transformers import MinPLogitsWarper, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

shape = read_shape()
torch.manual_seed(1)
normal = torch.randn(1, shape["vocabulary"])


def processors(drawing):
    yield TemperatureLogitsWarper(drawing["temperature"])
    if "topK" in drawing:
        yield TopKLogitsWarper(drawing["topK"])
    if "topP" in drawing:
        yield TopPLogitsWarper(drawing["topP"])
    if "minP" in drawing:
        yield MinPLogitsWarper(drawing["minP"])


cases = json.loads(shape["cases"])
ready = [(case["spread"] * normal, list(processors(case["drawing"]))) for case in cases]
turns = itertools.cycle(ready)


def draw():
    scores, chosen = next(turns)
    with torch.inference_mode():
        for process in chosen:
            scores = process(None, scores)
        return torch.multinomial(torch.softmax(scores, -1), 1).item()


for _ in ready:
    draw()
serve(draw)
