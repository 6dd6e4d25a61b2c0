"""The Model Context Protocol on standard input and output: tools, the client's roots, and calls of the worker.

The only module that knows the protocol's SDK. Does no work itself: a worker does one call after another; a new worker
replaces one that ended or was stopped. Invariant: every call has a result or an error, and a message other than a
request has no effect.
"""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from visa_lsp.job_process import JobLost, JobProcess
from visa_lsp.mcp.tools import BY_NAME, TOOLS

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any]

_NAME: Final = "visa-lsp"
_WORKER: Final = "visa_lsp.mcp.worker"
_ROOTS: Final = "roots"
_ROOTS_SECONDS: Final = 30.0
_INSTRUCTIONS: Final = (
    "Tools for vISA, the virtual instruction set of Intel GPUs (.visaasm texts, .isa objects, launch files). "
    "check first, then read or explain, run to find faults. A long answer has a cursor: call again with it for the rest. "
    "Paths are relative to the first root. Files are written only where `output` or `fix` says so."
)


def serve(version: str, seconds: float) -> None:
    """Serve one client until it ends; each call is limited to the given seconds."""
    # Off, because the SDK logs each malformed message with a traceback to standard error, the client's log.
    logging.basicConfig(level=logging.CRITICAL)
    anyio.run(_serve, version, seconds)


async def _serve(version: str, seconds: float) -> None:
    with Calls(seconds) as calls:
        server = server_of(calls, version)
        async with stdio_server() as (source, target):
            await server.run(source, target, server.create_initialization_options())


def server_of(calls: Calls, version: str) -> Server[Any]:
    """Return the server of these calls."""

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_TOOLS)

    async def call_tool(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = BY_NAME.get(params.name)
        if tool is None:
            names = ", ".join(BY_NAME)
            raise MCPError(types.INVALID_PARAMS, f"unknown tool {params.name[:80]!r}; known tools: {names}")
        roots = await _roots_of(context, params) if tool.reads else []
        if isinstance(roots, types.InputRequiredResult):
            return roots
        return _result(await calls.call(tool.name, params.arguments or {}, roots))

    return Server(_NAME, version=version, instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


_TOOLS: Final = [
    types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema(),
        output_schema=tool.output_schema(),
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )
    for tool in TOOLS
]


def _result(found: dict[str, Any]) -> types.CallToolResult:
    if "error" in found:
        return types.CallToolResult(content=[types.TextContent(text=found["error"])], is_error=True)
    answer = found["answer"]
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=answer)


# ---- roots


async def _roots_of(context: Context, params: types.CallToolRequestParams) -> list[str] | types.InputRequiredResult:
    """Return the folders of the client's roots, or a request for them; the current folder for a client without roots.

    Raises MCPError if the client has roots but does not send them.
    """
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return [str(Path.cwd())]
    if context.session.can_send_request:
        found = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult, _ROOTS_SECONDS)
        return folders_of(found)
    # From protocol 2026-07-28 on a server sends no requests; the client repeats the call with its roots.
    given = (params.input_responses or {}).get(_ROOTS)
    if isinstance(given, types.ListRootsResult):
        return folders_of(given)
    if given is not None:
        raise MCPError(types.INVALID_PARAMS, "expected the client's roots in inputResponses")
    return types.InputRequiredResult(input_requests={_ROOTS: types.ListRootsRequest()})


def folders_of(roots: types.ListRootsResult) -> list[str]:
    """Return the folders of roots on this machine."""
    found = []
    for root in roots.roots:
        parts = urlsplit(str(root.uri))
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            path = Path(url2pathname(parts.path))
            if path.is_absolute():
                found.append(str(path))
    return found


# ---- calls


class Calls:
    """The worker and the calls that wait for it, one at a time. Ends the worker at the end of the block."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._turn = anyio.Lock()
        self._worker: JobProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    async def call(self, tool: str, arguments: dict[str, Any], roots: list[str]) -> dict[str, Any]:
        """Return the result of a call: ``answer`` or ``error``. A cancelled call ends the worker."""
        job = json.dumps({"tool": tool, "arguments": arguments, "roots": roots}).encode()
        found: list[dict[str, Any]] = []
        is_over, is_cancelled = anyio.Event(), threading.Event()

        async def ask(worker: JobProcess) -> None:
            # Shielded, because the next call must not get the worker of a cancelled one.
            with anyio.CancelScope(shield=True):
                found.append(await anyio.to_thread.run_sync(self._ask, worker, job, is_cancelled))
            is_over.set()

        async with self._turn:
            try:
                # Started on this thread, because Linux ends a worker with the thread that started it, and threads of a
                # pool end.
                self._worker = self._worker or JobProcess(_WORKER)
            except OSError as error:
                return {"error": f"cannot start a process for the call: {error.strerror or error}"}
            async with anyio.create_task_group() as group:
                group.start_soon(ask, self._worker)
                try:
                    await is_over.wait()
                finally:
                    is_cancelled.set()
        return found[0]

    def _ask(self, worker: JobProcess, job: bytes, is_cancelled: threading.Event) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(worker.ask(job, self._seconds, lambda: not is_cancelled.is_set()))
        except JobLost as lost:
            self._end()
            return {"error": f"the call has no result: {lost}"}
        return found

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()
