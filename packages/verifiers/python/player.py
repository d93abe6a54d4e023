"""
Plays the tasks of an environment of verifiers 0.4: `player.py <options>`, a JSON object. Reads requests from standard input, and writes answers to
standard output, an object a line. The first line says what was loaded, or why it was not.
"""

import asyncio
import contextlib
import itertools
import json
import os
import sys

# What libraries print must not come between the answers.
answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def answer(message):
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def words(kind, message):
    """An error may repeat what a model has written, of any length."""
    return f"{kind}: {message}"[:2000]


class Player:
    """`configs`: the config of verifiers for each split. `max_turns`: most requests of an agent."""

    def __init__(self, configs, max_turns):
        from verifiers.v1.configs.agent import agent_config_fields
        from verifiers.v1.utils.loaders import load_environment, resolve_env_config

        self.envs = {}
        for split, given in configs.items():
            config = resolve_env_config(given)
            seats = agent_config_fields(config)
            for role, spec in seats.items():
                setattr(config, role, seated(spec, config.taskset.id, given.get(role) or {}, max_turns))
            self.envs[split] = load_environment(config)
            # The other roles have models of their own.
            self.roles = [role for role, spec in seats.items() if spec.client is None]
        self.serving = contextlib.AsyncExitStack()
        self.opened = {}

    def loaded(self):
        import verifiers

        env = next(iter(self.envs.values()))
        return {
            "version": verifiers.__version__,
            "roles": self.roles,
            "runsCodeHere": any(runs_code_here(env, role) for role in self.roles),
        }

    def tasks(self, split, limit):
        for task in itertools.islice(self.envs[split].taskset, limit):
            whole = task.data.model_dump(mode="json")
            yield {name: whole[name] for name in task.data.model_dump(exclude_defaults=True)}

    async def play(self, split, task, url, key, variable):
        """`variable`: names the environment variable for the key. Programs of an agent do not inherit variables with API_KEY in their names."""
        from verifiers.v1.clients import EvalClientConfig, ModelContext
        from verifiers.v1.types import SamplingConfig

        env = self.envs[split]
        # Only the first episode waits for the servers that all share.
        if split not in self.opened:
            self.opened[split] = asyncio.ensure_future(self.serving.enter_async_context(env.serving()))
        await asyncio.shield(self.opened[split])
        data = env._task_cls.data_type().model_validate(task)
        (slot,) = env.slots(env._task_cls(data, env.config.taskset.task))
        os.environ[variable] = key
        try:
            client = EvalClientConfig(base_url=url, api_key_var=variable)
            context = ModelContext(client=client, model="policy", sampling=SamplingConfig())
            return scored(await env.run_slot(slot, context), self.roles)
        finally:
            os.environ.pop(variable, None)


def seated(spec, taskset, given, max_turns):
    """Unless the config says otherwise, programs of the agent run on this machine, and none of them runs code that the model writes."""
    from verifiers.v1.runtimes import SubprocessConfig
    from verifiers.v1.utils.loaders import default_harness_id, harness_config_type

    update = {"max_turns": spec.max_turns or max_turns}
    if "runtime" not in given:
        update["runtime"] = SubprocessConfig()
    if spec.harness is None and default_harness_id(taskset) == "bash":
        update["harness"] = harness_config_type("null").model_validate({"id": "null"})
    return spec.model_copy(update=update)


def runs_code_here(env, role):
    from verifiers.v1.runtimes import SubprocessConfig

    return env._harnesses[role].EXECUTES_CODE and isinstance(env._agent_specs[role].runtime, SubprocessConfig)


def scored(episode, roles):
    """What the policy's runs came to: the means of their scores, and the last error. Runs that verifiers would not train on do not count."""
    traces = [trace for trace in episode.traces if trace.agent.name in roles and trace.agent.trainable]
    errors = [error for part in (*episode.traces, episode) for error in part.errors]
    scores = {}
    for trace in traces:
        values = {name: reward and reward.score for name, reward in trace.rewards.items()}
        for name, value in {**trace.metrics, **values}.items():
            scores.setdefault(name, []).append(value)
    return {
        "isScored": episode.ok and len(traces) > 0,
        "reward": mean([trace.reward for trace in traces]),
        "scores": {name: mean(values) for name, values in scores.items()},
        "stop": next((trace.stop_condition for trace in traces), None),
        "error": words(errors[-1].type, errors[-1].message) if errors else None,
    }


def mean(values):
    return None if not values or None in values else sum(values) / len(values)


async def serve(player):
    """Requests: `tasks`, `play`, and `cancel` of an earlier request by its `id`."""
    running = {}

    async def run(request):
        id = request["id"]
        try:
            if "play" in request:
                answer({"id": id, "result": await player.play(**request["play"], variable=f"TOOLENV_API_KEY_{id}")})
            else:
                for task in player.tasks(**request["tasks"]):
                    answer({"id": id, "task": task})
                    # Episodes go on meanwhile.
                    await asyncio.sleep(0)
                answer({"id": id, "result": None})
        except asyncio.CancelledError:
            answer({"id": id, "error": "cancelled"})
        except Exception as error:
            answer({"id": id, "error": words(type(error).__name__, error)})
        finally:
            running.pop(id, None)

    reader = asyncio.StreamReader(limit=2**30)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async with player.serving:
        while line := await reader.readline():
            request = json.loads(line)
            if "cancel" in request:
                if task := running.get(request["cancel"]):
                    task.cancel()
            else:
                running[request["id"]] = asyncio.ensure_future(run(request))
        for task in [*running.values()]:
            task.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)


async def main(options):
    try:
        player = Player(**options)
        loaded = player.loaded()
    except Exception as error:
        answer({"id": 0, "error": words(type(error).__name__, error)})
        return
    answer({"id": 0, "result": loaded})
    await serve(player)


asyncio.run(main(json.loads(sys.argv[1])))
