"""A server of FastMCP: over stdio, or over Streamable HTTP on the port that the first argument names."""

import sys

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("shop", instructions="Prices are in euros.")


@server.tool
def price(item: str, count: int = 1) -> dict:
    """The price of some items."""
    if item != "apple":
        raise ToolError(f"no such item: {item}")
    return {"total": 2 * count}


if len(sys.argv) > 1:
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
else:
    server.run(show_banner=False)
