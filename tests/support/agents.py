"""An agent without a model: a client of the official SDK over stdio, which measures what it gets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from time import perf_counter
from typing import Any

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

ROOT = Path(__file__).parents[2]
COMMAND = ["-m", "visa_lsp", "mcp"]
PATHS = ("path", "launch", "a", "b")
TEXTS = ("text", "a_text", "b_text", "launch_text")
MAX_CHARS = 8_000  # 2,000 tokens of four characters, the text and the values of an answer together


class Agent:
    """A connection with a server whose root is a folder; ``answers`` has the bytes of each answer and of what it is about."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.answers: list[tuple[str, int, int, float]] = []

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its answer. The SDK compares it with the output schema."""
        began = perf_counter()
        result = await self.client.call_tool(tool, arguments)
        seconds = perf_counter() - began
        assert not result.is_error, result.content[0].text
        text = result.content[0].text
        assert json.loads(text) == result.structured_content
        if "max_tokens" not in arguments:
            assert 2 * len(text) <= MAX_CHARS, (tool, arguments, len(text))
        self.answers.append((tool, len(text.encode()), self.raw_bytes(arguments), seconds))
        return result.structured_content

    async def call_refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that has to give an error, and return its message."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        return result.content[0].text

    async def pages(self, tool: str, member: str, **arguments: Any) -> list[Any]:
        """Return the member of all the pages of an answer."""
        found = [await self.call(tool, **arguments)]
        while cursor := found[-1].get("cursor"):
            found.append(await self.call(tool, **arguments, cursor=cursor))
        return [page[member] for page in found]

    def raw_bytes(self, arguments: dict[str, Any]) -> int:
        """Return the bytes that an agent without the tools would have to read: the programs, else the pages of instructions."""
        size = sum(len(arguments.get(key, "").encode()) for key in TEXTS)
        for path in (self.folder / arguments[key] for key in PATHS if arguments.get(key)):
            files = (
                [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path] if path.is_file() else []
            )
            size += sum(one.stat().st_size for one in files)
        return size or (ROOT / "docs" / "instructions.md").stat().st_size


@contextlib.asynccontextmanager
async def agent(folder: Path, mode: str = "auto", roots: list[Path] | None = None, **env: str) -> AsyncIterator[Agent]:
    """Start a server in a folder, whose roots are that folder unless others are given; an empty list leaves them out."""
    uris = [root.as_uri() for root in ([folder] if roots is None else roots)]

    async def answer_roots(_context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in uris])

    server = StdioServerParameters(
        command=sys.executable, args=COMMAND, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT), **env}
    )
    # The SDK's scopes have to end in the task that they began in, which a fixture cannot promise.
    ready, over = asyncio.Event(), asyncio.Event()
    made: list[Client] = []

    async def hold() -> None:
        try:
            async with Client(
                stdio_client(server), mode=mode, list_roots_callback=answer_roots if uris else None
            ) as client:
                made.append(client)
                ready.set()
                await over.wait()
        finally:
            ready.set()

    task = asyncio.create_task(hold())
    await ready.wait()
    try:
        if made:
            yield Agent(made[0], folder)
    finally:
        over.set()
        await task
