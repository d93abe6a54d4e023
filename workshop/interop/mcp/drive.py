"""Does what it is told with the client of MCP's Python SDK.

Arguments: how to negotiate ("legacy" or "auto"), then the URL of the server or its command. Reads requests from stdin and prints
answers, both as lines of JSON: {"tools": true}, {"prompt": name, "arguments": {}} or {"call": name, "arguments": {}}.
"""

import json
import os
import sys
from importlib.metadata import version

import anyio
from mcp import Client, StdioServerParameters

mode, *target = sys.argv[1:]


async def answer(client, request):
    arguments = request.get("arguments", {})
    if "tools" in request:
        return await client.list_tools()
    if "prompt" in request:
        return await client.get_prompt(request["prompt"], arguments)
    return await client.call_tool(request["call"], arguments)


async def main():
    command = StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
    server = target[0] if target[0].startswith("http") else command
    async with Client(server, mode=mode) as client:
        print(json.dumps({"version": client.protocol_version, "sdk": version("mcp")}), flush=True)
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            try:
                result = await answer(client, json.loads(line))
                reply = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            except Exception as error:
                reply = {"error": str(error)}
            print(json.dumps(reply), flush=True)


anyio.run(main)
