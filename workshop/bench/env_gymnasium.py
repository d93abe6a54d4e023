"""Gymnasium's echo: returns the text of the action, in the default wrappers of gym.make."""

import gymnasium
from exchange import read_request, serve
from gymnasium.spaces import Text


class Echo(gymnasium.Env):
    action_space = Text(max_length=16)
    observation_space = Text(max_length=16)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return "Say", {}

    def step(self, action):
        return action, 0.0, False, False, {}


shape = read_request()["shape"]
gymnasium.register("Echo-v0", entry_point=Echo, max_episode_steps=shape["turns"])
env = gymnasium.make("Echo-v0")


def run_round():
    over = True
    for step in range(shape["steps"]):
        if over:
            env.reset(seed=step)
        heard, _, terminated, truncated, _ = env.step("hello")
        over = terminated or truncated
    assert heard == "hello" and over


run_round()
serve(run_round, {"gymnasium": gymnasium.__version__})
