"""The official MCP client for Python: makes a picture over HTTP and over standard input and output, and reads it."""

import asyncio
import base64
import io
import os
import sys

import httpx
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from PIL import Image

base, key, binary = sys.argv[1:4]


async def story(session, where):
    if isinstance(session, ClientSession):
        await session.initialize()
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
    print(f"mcp python {where} {session.protocol_version}: {len(tools)} tools, preview {preview.size}, whole {picture.size}, {len(heard)} progress")
    return session.protocol_version


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


def pipes():
    environment = {**os.environ, "ATELIER_CLIENT_URL": base, "ATELIER_CLIENT_KEY": key}
    return StdioServerParameters(command=binary, args=["mcp"], env=environment)


async def over_pipes():
    async with stdio_client(pipes()) as (reading, writing):
        async with ClientSession(reading, writing) as session:
            await story(session, "stdio")


async def without_a_handshake():
    """The newest revision, which the client finds by itself; hanging up ends the job; an unknown one is said to be."""
    async with httpx_client() as http:
        async with Client(streamable_http_client(f"{base}/mcp", http_client=http), mode="auto") as client:
            assert await story(client, "http") == LATEST_MODERN_VERSION, client.protocol_version
            before = {row["jobId"] for row in await jobs(http)}
            call = asyncio.create_task(client.call_tool("artgen_imagine", {"prompt": "a hill [[delay 20s]]"}))
            begun = await soon(lambda: unfinished(http, before))
            call.cancel()
            await soon(lambda: ended(http, begun))
        async with Client(streamable_http_client(f"{base}/mcp", http_client=http), mode="legacy") as client:
            assert await story(client, "http") == LATEST_HANDSHAKE_VERSION
        meta = {"io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {}}
        answer = await http.post(f"{base}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}})
        assert answer.status_code == 400 and answer.json()["error"]["data"]["supported"] == [LATEST_MODERN_VERSION], answer.text
    async with Client(pipes(), mode="auto") as client:
        assert await story(client, "stdio") == LATEST_MODERN_VERSION, client.protocol_version


async def jobs(http):
    return (await http.get(f"{base}/jobs/v1?limit=20")).json()["data"]


async def unfinished(http, before):
    return next((row["jobId"] for row in await jobs(http) if row["jobId"] not in before), None)


async def ended(http, job):
    return next((row for row in await jobs(http) if row["jobId"] == job and row["status"] == "FAILED"), None)


async def soon(ask):
    for _ in range(100):
        found = await ask()
        if found:
            return found
        await asyncio.sleep(0.1)
    raise AssertionError("it did not happen")


asyncio.run(over_http())
asyncio.run(over_pipes())
asyncio.run(without_a_handshake())
