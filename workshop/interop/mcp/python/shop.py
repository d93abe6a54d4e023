"""The shop on FastMCP. Arguments: nothing for stdio, or the port of 127.0.0.1 for Streamable HTTP."""

import sys

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools.base import ToolResult
from mcp_types import ResourceLink, ToolListChangedNotification
from pydantic import BaseModel

shop = FastMCP("shop", instructions="Prices are in euros.")


class Address(BaseModel):
    city: str


class Line(BaseModel):
    item: str
    count: int = 1


class Order(BaseModel):
    address: Address
    lines: list[Line]


@shop.tool
def price(item: str, count: int = 1) -> str:
    """The price of some items."""
    if item != "apple":
        raise ToolError(f"no such item: {item}")
    return f"{count} of {item}: {2 * count} euros"


@shop.tool
def stock() -> ToolResult:
    """What the shop has, as data only."""
    return ToolResult(content=[], structured_content={"apple": 3, "pear": 0})


@shop.tool
def ship(order: Order) -> str:
    """Ships an order."""
    return f"{sum(line.count for line in order.lines)} items to {order.address.city}"


@shop.tool
def receipt() -> ResourceLink:
    """A link to the last receipt."""
    return ResourceLink(type="resource_link", uri="shop://receipts/1", name="receipt", description="the last sale")


@shop.tool
async def pack(context: Context) -> str:
    """Packs three boxes, and reports each."""
    for box in (1, 2, 3):
        await context.report_progress(box, 3, f"box {box}")
    return "packed"


@shop.tool
async def unlock(context: Context) -> str:
    """Unlocks the tool `cellar`."""
    shop.enable(names={"cellar"})
    await context.send_notification(ToolListChangedNotification())
    return "unlocked"


@shop.tool
def cellar() -> str:
    """What is in the cellar."""
    return "cider"


shop.disable(names={"cellar"})

if len(sys.argv) > 1:
    shop.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="ERROR")
else:
    shop.run(show_banner=False, log_level="ERROR")
