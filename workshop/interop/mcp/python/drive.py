"""Does what it is told with the client of MCP's Python SDK, or of FastMCP.

Arguments: "mcp" or "fastmcp", how to negotiate ("legacy" or "auto"), then the URL of the server or its command. Reads requests from
stdin and prints answers, both as lines of JSON: {"tools": true}, {"prompt": name} or {"call": name, "arguments": {}}.
"""

import json
import os
import sys

import anyio
import fastmcp
import mcp

library, mode, *target = sys.argv[1:]
if target[0].startswith("http"):
    server = target[0]
elif library == "mcp":
    server = mcp.StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))
else:
    server = fastmcp.client.StdioTransport(command=target[0], args=target[1:], env=dict(os.environ))


async def answer(client, request):
    # FastMCP's own results hide a part of the server's.
    method, *arguments = (
        ["list_tools"]
        if "tools" in request
        else ["get_prompt", request["prompt"]]
        if "prompt" in request
        else ["call_tool", request["call"], request.get("arguments", {})]
    )
    return await getattr(client, method if library == "mcp" else f"{method}_mcp")(*arguments)


async def main():
    async with {"mcp": mcp, "fastmcp": fastmcp}[library].Client(server, mode=mode) as client:
        print(json.dumps({"version": client.protocol_version}), flush=True)
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            try:
                result = await answer(client, json.loads(line))
                reply = result.model_dump(mode="json", by_alias=True, exclude_none=True)
            except Exception as error:
                reply = {"error": str(error)}
            print(json.dumps(reply), flush=True)


anyio.run(main)
