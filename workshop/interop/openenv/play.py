"""Plays whole episodes with the clients of OpenEnv.

Arguments: the server's URL. Reads JSON from stdin: for each task, the turns of a script, each a list of calls or a text. Prints
the rewards of each episode, by client.
"""

import json
import sys

from openenv import GenericEnvClient
from openenv.core import CallToolAction, MCPToolClient

url = sys.argv[1]
scripts = json.load(sys.stdin)


def call(name, arguments):
    return {"type": "call_tool", "tool_name": name, "arguments": arguments}


def actions(script):
    for turn in script:
        if isinstance(turn, str):
            yield call("episode_answer", {"text": turn})
        else:
            yield from (call(each["name"], each["arguments"]) for each in turn)


def play(client, script, task, step):
    result = client.reset(task=task)
    assert not result.done
    total = 0.0
    for action in actions(script):
        result = step(client, action)
        total += result.reward or 0.0
    return {"reward": total, "done": result.done, "steps": client.state()}


played = {"generic": [], "mcp": [], "tools": []}
with GenericEnvClient(base_url=url).sync() as client:
    for task, script in enumerate(scripts):
        episode = play(client, script, task, lambda client, action: client.step(action))
        episode["steps"] = episode["steps"]["step_count"]
        played["generic"].append(episode)
with MCPToolClient(base_url=url).sync() as client:
    played["tools"] = [tool.name for tool in client.list_tools()]
    for task, script in enumerate(scripts):
        step = lambda client, action: client.step(
            CallToolAction(tool_name=action["tool_name"], arguments=action["arguments"])
        )
        episode = play(client, script, task, step)
        episode["steps"] = episode["steps"].step_count
        played["mcp"].append(episode)
    client.reset(task=0)
    first = next(actions(scripts[0]))
    played["called"] = client.call_tool(first["tool_name"], **first["arguments"])
    played["mistake"] = client.call_tool("no_such_tool")
print(json.dumps(played))
