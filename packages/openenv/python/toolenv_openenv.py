"""Trains in environments that `toolenv serve <environment> --protocol openenv` serves, with TRL or verifiers.

TRL: each tool of the environment is a method of `environment(url)`, and `score` gives the final answers and the rewards.

    trainer = GRPOTrainer(
        environment_factory=environment(url), reward_funcs=[score], train_dataset=Dataset.from_list(rows(url, 64)), ...
    )

verifiers: this module is a taskset and its environment. Replies are JSON calls of tools, or the answer.

    uv run eval toolenv_openenv --env.player.harness.id null --env.player.runtime.type subprocess \
        --env.taskset.base-url http://127.0.0.1:8000 --env.taskset.tasks 64

A fault of the infrastructure raises `EpisodeAborted`: such an episode has no reward and must not be learned from.
"""

import asyncio
import inspect
import json
import os
from collections.abc import Iterator
from typing import Any

from openenv import GenericEnvClient

__all__ = ["Episode", "EpisodeAborted", "environment", "rows", "score"]


class EpisodeAborted(RuntimeError):
    """The environment or the connection failed. The episode is not scored."""


class Episode:
    """A connection to a served environment, which plays one episode at a time.

    Args:
        url: Of the server, as http://127.0.0.1:8000.
        token: Bearer token of the server. Default: the variable OPENENV_TOKEN.
        timeout: Seconds that a step may take.
    """

    def __init__(self, url: str, token: str | None = None, timeout: float = 600.0):
        self._client = GenericEnvClient(
            base_url=url,
            message_timeout_s=timeout,
            # A trainer that computes for minutes must not lose its episodes.
            websocket_ping_interval_s=None,
            headers=_headers(token),
        ).sync()
        self._connected = False
        self.done = True
        #: Weighted sum of the rewards so far; None if none was scored.
        self.reward: float | None = None
        #: Sum of each reward by its name.
        self.rewards: dict[str, float] = {}

    def reset(self, **task: Any) -> list[dict[str, Any]]:
        """Begins an episode of a task: `task` by index, or `seed`. Returns its messages."""
        self.done, self.reward, self.rewards = False, None, {}
        return self._ask(lambda: self._client.reset(**task)).observation["messages"]

    def tools(self) -> list[dict[str, Any]]:
        """The tools on offer: name, description and input_schema. They do not include the answer."""
        listed = self._ask(lambda: self._client.step({"type": "list_tools"})).observation["tools"]
        return [tool for tool in listed if tool["name"] != "episode_answer"]

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Calls a tool. Returns what the policy reads, which may be the mistake that it made."""
        action = {"type": "call_tool", "tool_name": name, "arguments": arguments}
        return self._step(action)["result"]["data"]

    def turn(self, text: str, stop_reason: str = "stop") -> list[dict[str, Any]]:
        """Says something without calling a tool, such as the answer. Returns the messages that follow."""
        return self._step({"type": "turn", "text": text, "stop_reason": stop_reason})["messages"]

    def close(self) -> None:
        self._client.close()

    def _step(self, action: dict[str, Any]) -> dict[str, Any]:
        result = self._ask(lambda: self._client.step(action))
        self.done = bool(result.done)
        if result.reward is not None:
            self.reward = (self.reward or 0.0) + result.reward
        for name, value in result.observation["metadata"]["rewards"].items():
            self.rewards[name] = self.rewards.get(name, 0.0) + (value or 0.0)
        return result.observation

    def _ask(self, ask: Any) -> Any:
        try:
            if not self._connected:
                self._client.connect()
                self._connected = True
            return ask()
        except Exception as error:
            raise EpisodeAborted(str(error)) from error


def environment(url: str, token: str | None = None) -> type:
    """A class for TRL's `environment_factory`. Its public methods are the tools that the environment offers at first."""
    probe = Episode(url, token)
    try:
        probe.reset()
        tools = probe.tools()
    finally:
        probe.close()

    def __init__(self):
        self._episode = Episode(url, token)
        self._fault = None

    def reset(self, task: int | None = None, seed: int | None = None, **_):
        self._fault = None
        wanted = {"task": task, "seed": seed}
        self._episode.reset(**{name: value for name, value in wanted.items() if value is not None})

    methods = {tool["name"]: _method(tool) for tool in tools}
    clash = next((name for name in methods if name in ("reset", "get_reward") or name.startswith("_")), None)
    if clash is not None:
        raise ValueError(f'TRL cannot call a tool named "{clash}": rename the tool.')
    return type("ToolenvEnvironment", (), {"__init__": __init__, "reset": reset, **methods})


def rows(url: str, count: int, token: str | None = None, first: int = 0) -> list[dict[str, Any]]:
    """Rows of a dataset for TRL: the prompt and the index of `count` tasks, from task `first`."""
    episode = Episode(url, token)
    try:
        return [{"prompt": episode.reset(task=task), "task": task} for task in range(first, first + count)]
    finally:
        episode.close()


def score(environments: list[Any], completions: list[Any], **_: Any) -> list[float]:
    """Reward function for TRL: gives each final answer, and returns the rewards.

    Raises:
        EpisodeAborted: An episode failed. TRL would take a missing reward for 0, and learn from it.
    """
    rewards = []
    for env, completion in zip(environments, completions, strict=True):
        if env._fault is not None:
            raise env._fault
        episode, last = env._episode, completion[-1]
        if not episode.done:
            # A conversation that ends with a call or its result was cut off.
            is_answer = last["role"] == "assistant" and not last.get("tool_calls")
            episode.turn(_text(last) if is_answer else "", "stop" if is_answer else "length")
        rewards.append(episode.reward or 0.0)
    return rewards


_types = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


def _method(tool: dict[str, Any]) -> Any:
    """A method with the signature and the docstring from which transformers makes the tool's schema."""
    name, schema = tool["name"], tool["input_schema"]
    properties, required = schema.get("properties", {}), schema.get("required", [])

    def method(self, **arguments):
        try:
            return self._episode.call(name, arguments)
        except EpisodeAborted as fault:
            # TRL shows errors to the model. `score` raises this one.
            self._fault = fault
            return ""

    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    lines = []
    for key, each in sorted(properties.items(), key=lambda item: item[0] not in required):
        kind = each.get("type")
        annotation = _types.get(kind, str) if isinstance(kind, str) else str
        default = inspect.Parameter.empty if key in required else each.get("default")
        if default is None:
            annotation = annotation | None
        parameters.append(inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
        method.__annotations__[key] = annotation
        lines.append(f"    {key}: {' '.join(str(each.get('description', key)).split())}")
    described = " ".join(tool["description"].split()) or name
    method.__name__ = method.__qualname__ = name
    method.__doc__ = described + ("\n\nArgs:\n" + "\n".join(lines) if lines else "")
    method.__annotations__["return"] = str
    method.__signature__ = inspect.Signature(parameters, return_annotation=str)
    return method


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _headers(token: str | None) -> dict[str, str]:
    token = token or os.environ.get("OPENENV_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}


try:
    import verifiers.v1 as vf
except ModuleNotFoundError as missing:
    if missing.name != "verifiers":
        raise
else:
    __all__ += ["ToolenvEnv", "ToolenvTaskset"]

    class ToolenvConfig(vf.TasksetConfig):
        base_url: str = "http://127.0.0.1:8000"
        """Of the server."""
        tasks: int = 1
        """Number of its tasks to play."""
        first: int = 0
        """Index of the first task."""

    class ToolenvData(vf.TaskData):
        base_url: str
        task: int

    class ToolenvTask(vf.Task[ToolenvData]):
        pass

    class ToolenvTaskset(vf.Taskset[ToolenvTask, ToolenvConfig]):
        def load(self) -> Iterator[ToolenvTask]:
            url, first = self.config.base_url, self.config.first
            for task in range(first, first + self.config.tasks):
                data = ToolenvData(idx=task, name=f"{url}#{task}", prompt=None, base_url=url, task=task)
                yield ToolenvTask(data, self.config.task)

    class ToolenvEnvConfig(vf.EnvConfig):
        player: vf.AgentConfig = vf.AgentConfig()

    class ToolenvEnv(vf.Env[ToolenvEnvConfig]):
        async def run(self, task, agents):
            episode = Episode(task.data.base_url)
            try:
                messages = await asyncio.to_thread(episode.reset, task=task.data.task)
                tools = await asyncio.to_thread(episode.tools)
                said = [message["content"] for message in messages]
                async with agents.player.interaction(task) as interaction:
                    segment = await interaction.turn("\n\n".join([*said, _how_to_call(tools)]))
                    while not segment.terminated:
                        read = await asyncio.to_thread(_play_reply, episode, segment.last_reply)
                        if episode.done:
                            break
                        segment = await interaction.turn(read)
                for name, value in episode.rewards.items():
                    interaction.trace.record_metric(name, value)
                interaction.trace.record_reward("reward", episode.reward or 0.0)
            finally:
                await asyncio.to_thread(episode.close)


def _how_to_call(tools: list[dict[str, Any]]) -> str:
    if not tools:
        return ""
    return (
        'To call a tool, reply only with JSON: {"tool_name": "...", "arguments": {...}}. '
        f"Any other reply is your answer. Tools: {json.dumps(tools)}"
    )


def _play_reply(episode: Episode, reply: str) -> str:
    """Plays a call or an answer. Returns what the policy reads next."""
    text = reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        call = json.loads(text)
    except json.JSONDecodeError:
        call = None
    if isinstance(call, dict) and isinstance(call.get("tool_name"), str):
        arguments = call.get("arguments", {})
        return episode.call(call["tool_name"], arguments if isinstance(arguments, dict) else {})
    return "\n\n".join(message["content"] for message in episode.turn(reply))
