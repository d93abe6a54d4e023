"""OpenEnv's echo: an environment as OpenEnv's servers run it, but in process, with OpenEnv's actions and observations."""

from importlib.metadata import version

from exchange import read_request, serve
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class Said(Action):
    text: str


class Heard(Observation):
    text: str


class Echo(Environment[Said, Heard, State]):
    def __init__(self, turns):
        super().__init__()
        self.turns = turns
        self.current = State()

    def reset(self, seed=None, episode_id=None, **_):
        self.current = State(episode_id=episode_id, step_count=0)
        return Heard(text="Say")

    def step(self, action, timeout_s=None, **_):
        self.current.step_count += 1
        return Heard(text=action.text, reward=0.0, done=self.current.step_count >= self.turns)

    @property
    def state(self):
        return self.current


shape = read_request()["shape"]
env = Echo(shape["turns"])


def run_round():
    over = True
    for step in range(shape["steps"]):
        if over:
            env.reset(seed=step, episode_id=str(step))
        heard = env.step(Said(text="hello"))
        over = heard.done
    assert heard.text == "hello" and over


run_round()
serve(run_round, {"openenv-core": version("openenv-core")})
