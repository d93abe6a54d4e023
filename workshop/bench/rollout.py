"""The peer of rollout.ts: generate of transformers."""

from generate import generate
from peer import random_model, read_shape, serve

shape = read_shape()
model = random_model(shape).eval()


def sample():
    generate(model, shape["vocabulary"], (shape["sequences"], shape["prompt"]), shape["newTokens"])


sample()
serve(sample)
