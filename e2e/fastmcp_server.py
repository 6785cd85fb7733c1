"""A FastMCP server with one tool of every kind: on standard streams, or over HTTP on a free
loopback port with `--http`."""

import asyncio
import base64
import sys

from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image
from pydantic import BaseModel

server = FastMCP("kinds")

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Forecast(BaseModel):
    city: str
    degrees: float
    days: list[str]


@server.tool
def add(a: int, b: int = 1) -> int:
    """Adds two numbers."""
    return a + b


@server.tool
def forecast(city: str) -> Forecast:
    """Says what the weather will be, with a schema for it."""
    return Forecast(city=city, degrees=21.5, days=["Monday", "Dienstag", "水曜日"])


@server.tool
async def count(to: int, ctx: Context, pause: float = 0.02) -> str:
    """Counts, and tells how far it is."""
    for done in range(1, to + 1):
        await ctx.report_progress(done, to, f"{done} of {to}")
        await asyncio.sleep(pause)
    return f"counted to {to}"


@server.tool
def fail(reason: str = "as asked for") -> str:
    """Always raises."""
    raise ValueError(reason)


@server.tool
def dot() -> Image:
    """Draws one dot."""
    return Image(data=base64.b64decode(PNG), format="png")


ended = 0


@server.tool
async def hang() -> str:
    """Never answers; `hung` tells how often it was cancelled."""
    global ended
    try:
        await asyncio.sleep(3600)
    finally:
        ended += 1
    return "woke up"


@server.tool
def hung() -> int:
    """How often `hang` was cancelled."""
    return ended


if "--http" in sys.argv:
    server.run(transport="http", host="127.0.0.1", port=0, show_banner=False)
else:
    server.run(show_banner=False)
