"""The echo of verifiers: rollouts of a ToolEnv with a model that answers at once. Steps are only possible within a rollout."""

import asyncio
from importlib.metadata import version

import verifiers as vf
from datasets import Dataset, disable_progress_bars
from exchange import read_request, serve
from verifiers.clients import Client
from verifiers.types import Response, ResponseMessage, ToolCall


def echo(text: str) -> str:
    """Repeats the text."""
    return text


class Caller(Client):
    """A model that calls the tool in every turn."""

    def __init__(self):
        pass

    async def get_response(self, *_, **__):
        call = ToolCall(id="c", name="echo", arguments='{"text": "hello"}')
        message = ResponseMessage(
            role="assistant", content="", tool_calls=[call], finish_reason="tool_calls", is_truncated=False
        )
        return Response(id="r", created=0, model="m", message=message)

    def setup_client(self, *_):
        raise NotImplementedError

    to_native_tool = to_native_prompt = get_native_response = setup_client
    raise_from_native_response = from_native_response = close = setup_client


disable_progress_bars()
shape = read_request()["shape"]
rows = Dataset.from_list([{"question": "Say", "answer": "hello"}])
env = vf.ToolEnv(tools=[echo], max_turns=shape["turns"], dataset=rows, rubric=vf.Rubric(funcs=[]))
episode = env.get_dataset()[0]
client = Caller()


async def rollouts():
    for _ in range(shape["steps"] // shape["turns"]):
        state = await env.rollout(episode, client, "m")
        assert state["error"] is None and len(state["trajectory"]) == shape["turns"]


def run_round():
    asyncio.run(rollouts())


run_round()
serve(run_round, {"verifiers": version("verifiers")})
