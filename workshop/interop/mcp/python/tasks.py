"""A server on FastMCP whose tools run as tasks: over stdio, or over Streamable HTTP at a port."""

import asyncio
import sys

import mcp_types
from fastmcp import Context, FastMCP
from fastmcp_tasks import TasksExtension

mcp = FastMCP("tasks")
mcp.add_extension(TasksExtension())


@mcp.tool(task=True)
async def slow(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return f"slept {seconds}"


@mcp.tool(task=True)
async def fails() -> str:
    raise ValueError("no disk")


@mcp.tool(task=True)
async def asks(context: Context):
    if context.input_responses:
        return f"hello {context.input_responses['who'].content['name']}"
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    form = mcp_types.ElicitRequestFormParams(message="Who?", requested_schema=schema)
    ask = mcp_types.ElicitRequest(method="elicitation/create", params=form)
    return mcp_types.InputRequiredResult(input_requests={"who": ask})


@mcp.tool
async def quick() -> str:
    return "quick"


quiet = {"show_banner": False, "log_level": "CRITICAL"}
if len(sys.argv) > 1:
    mcp.run(transport="http", port=int(sys.argv[1]), **quiet)
else:
    mcp.run(**quiet)
