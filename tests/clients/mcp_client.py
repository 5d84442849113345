"""The official MCP client for Python: makes a picture over HTTP and over standard input and output, and reads it."""

import asyncio
import base64
import io
import os
import sys

import httpx
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from PIL import Image

base, key, binary = sys.argv[1:4]


async def story(session, where):
    hello = await session.initialize()
    tools = {tool.name for tool in (await session.list_tools()).tools}
    assert {"artgen_imagine", "facegen_swap", "design_remove_background", "quota", "wait_for_job"} <= tools, tools
    heard = []

    async def progress(done, total, message):
        heard.append((done, total, message))

    made = await session.call_tool(
        "artgen_imagine", {"prompt": "a lighthouse at dawn [[delay 400ms]]"}, progress_callback=progress
    )
    failed = getattr(made, "is_error", None) or getattr(made, "isError", False)
    assert not failed, made
    pictures = [part for part in made.content if part.type == "image"]
    assert pictures and heard, (made, heard)
    preview = Image.open(io.BytesIO(base64.b64decode(pictures[0].data)))
    link = next(part for part in made.content if part.type == "resource_link")
    whole = await session.read_resource(link.uri)
    picture = Image.open(io.BytesIO(base64.b64decode(whole.contents[0].blob)))
    assert picture.width >= preview.width
    refused = await session.call_tool("artgen_imagine", {"prompt": "x", "mode": "warp"})
    assert "mode" in refused.content[0].text
    print(f"mcp python {where}: {len(tools)} tools, preview {preview.size}, whole {picture.size}, {len(heard)} progress")
    return hello


async def over_http():
    async with httpx_client() as http:
        async with streamable_http_client(f"{base}/mcp", http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await story(session, "http")


def httpx_client():
    try:
        import httpx2 as library
    except ImportError:
        library = httpx
    return library.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=120)


async def over_pipes():
    environment = {**os.environ, "ATELIER_CLIENT_URL": base, "ATELIER_CLIENT_KEY": key}
    server = StdioServerParameters(command=binary, args=["mcp"], env=environment)
    async with stdio_client(server) as (reading, writing):
        async with ClientSession(reading, writing) as session:
            await story(session, "stdio")


asyncio.run(over_http())
asyncio.run(over_pipes())
