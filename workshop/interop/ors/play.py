"""Plays an environment that toolenv serves with a client of Python, and prints JSON of what it saw.

Arguments: the package, ors or openreward, and the URL. Reads from stdin, as JSON: the name of the environment, and for each task of the
split train the calls of a script, each a list of a name and its input.
"""

import asyncio
import json
import os
import sys

package, url = sys.argv[1], sys.argv[2]
os.environ["OPENREWARD_API_URL"] = os.environ["OPENREWARD_SESSION_URL"] = url
os.environ["OPENREWARD_DISABLE_UPDATE_CHECK"] = "1"
given = json.load(sys.stdin)
name, scripts = given["environment"], given["scripts"]

if package == "ors":
    from ors.client import AsyncORS, ToolCallError
    from ors.client._http import resumable_sse

    client = AsyncORS(base_url=url)
else:
    from openreward import AsyncOpenReward
    from openreward.api._session.http import resumable_sse
    from openreward.api.environments.types import ToolCallError

    client = AsyncOpenReward(api_key="a-key-of-openreward")


async def episode(environment, script, **task):
    rewards, text, finished = [], "", False
    async with environment.session(**task) as session:
        prompt = await session.get_prompt()
        tools = [each.name for each in await session.list_tools()]
        for tool, arguments in script:
            output = await session.call_tool(tool, arguments)
            rewards.append(output.reward)
            text, finished = output.blocks[0].text, output.finished
    return {
        "prompt": [block.text for block in prompt],
        "tools": tools,
        "reward": sum(each or 0 for each in rewards),
        "finished": finished,
        "text": text,
    }


async def mistakes(environment):
    seen = []
    async with environment.session(split="train", index=0) as session:
        for tool, arguments in given["mistakes"]:
            try:
                await session.call_tool(tool, arguments)
                seen.append("no error")
            except ToolCallError as error:
                seen.append(str(error))
    return seen


async def cut(environment, tool, arguments):
    """Breaks the stream off after its task_id, and asks again."""
    async with environment.session(split="train", index=0) as session:
        path, ids = f"/{name}/call", []
        body = {"name": tool, "input": arguments}
        headers = {"X-Session-ID": session.sid}
        async with session.client.post(path, json=body, headers=headers) as response:
            async for line in response.content:
                if line.startswith(b"data:"):
                    ids.append(line[5:].decode().strip())
                    break
        more = {"token": None} if package == "openreward" else {}
        result = await resumable_sse(session.client, path, json=body, sid=session.sid, task_id=ids[0], **more)
        return result["output"]["blocks"][0]["text"]


async def main():
    environment = client.environments.get(name) if package == "ors" else client.environments.get("any", variant=name)
    splits = await environment.list_splits()
    tasks = await environment.list_tasks("train")
    seen = {
        "splits": splits,
        "shared": [each.name for each in await environment.list_tools()],
        "count": await environment.num_tasks("train"),
        "tasks": [task.task_spec for task in tasks[:3]],
        "last": (await environment.get_task("train", -1)).task_spec,
        "range": [task.task_spec for task in await environment.get_task_range("train", start=-2)],
    }
    seen["episodes"] = [await episode(environment, script, task=tasks[i]) for i, script in enumerate(scripts)]
    seen["placed"] = await episode(environment, scripts[1], split="train", index=1, secrets={"OPENAI_API_KEY": "a-secret-of-the-client"})
    seen["many"] = [
        each["reward"] for each in await asyncio.gather(*[episode(environment, scripts[0], task=tasks[0]) for _ in range(64)])
    ]
    seen["mistakes"] = await mistakes(environment)
    seen["big"] = (await episode(environment, [given["big"]], split="train", index=0))["text"]
    seen["cut"] = await cut(environment, *given["big"])
    if package == "openreward":
        async with environment.session(split="train", index=1) as session:
            seen["terminal"] = await session.is_assistant_message_final()
            seen["roles"] = [message.role for message in await session.get_messages()]
            seen["answered"] = (await session.call_terminal_tool("no answer")).finished
    for connection in client.environments._clients.values():
        await connection.close()
    print(json.dumps(seen))


asyncio.run(main())
