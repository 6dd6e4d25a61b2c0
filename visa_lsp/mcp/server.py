"""The Model Context Protocol on standard input and output: tools, the client's roots, and calls of the worker.

The only module that knows the protocol's SDK. Does no work itself: a worker does one call after another; a new worker
replaces one that ended or was stopped. Invariant: every call has a result or an error, and a message other than a
request has no effect.
"""

from __future__ import annotations

import json
import logging
import os
import re
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
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from visa_lsp.job_process import JobLost, JobProcess
from visa_lsp.mcp.tools import BY_NAME, TOOLS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any]

_NAME: Final = "visa-lsp"
_WORKER: Final = "visa_lsp.mcp.worker"
_ROOTS: Final = "roots"
_ROOTS_SECONDS: Final = 30.0
_PROGRESS_SECONDS: Final = 2.0
_MAX_WORKERS: Final = 4
_ID: Final = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|-?\d{1,18})')
_INSTRUCTIONS: Final = (
    "Tools for vISA, the virtual instruction set of Intel GPUs (.visaasm texts, .isa objects, launch files). "
    "check first, then read or explain, run to find faults. A long answer has a cursor: call again with it for the rest. "
    "Paths are relative to the first root. Send `edits` rather than the whole text again. Files are written only where "
    "`output`, `write` or `fix` says so."
)


def serve(version: str, seconds: float) -> None:
    """Serve one client until it ends; each call is limited to the given seconds."""
    # Off, because the SDK logs each malformed message with a traceback to standard error, the client's log.
    logging.basicConfig(level=logging.CRITICAL)
    anyio.run(_serve, version, seconds)


async def _serve(version: str, seconds: float) -> None:
    with Calls(seconds) as calls:
        server = server_of(calls, version)
        async with stdio_server() as (source, target), anyio.create_task_group() as group:
            sink, messages = anyio.create_memory_object_stream[Any](0)
            group.start_soon(_answer_malformed, source, sink, target)
            await server.run(messages, target, server.create_initialization_options())
            group.cancel_scope.cancel()


async def _answer_malformed(source: Any, sink: Any, target: Any) -> None:
    """Pass messages on; answer those that cannot be read, which the SDK drops without a word."""
    async with sink:
        async for message in source:
            if isinstance(message, Exception):
                await target.send(SessionMessage(_error_of(message)))
            else:
                await sink.send(message)


def _error_of(problem: Exception) -> types.JSONRPCError:
    """Return the answer to a message that cannot be read: not JSON, too deep, or no message of the protocol."""
    errors = problem.errors() if isinstance(problem, ValidationError) else []
    is_json = not any(error["type"] == "json_invalid" for error in errors)
    inputs = [error["input"] for error in errors]
    given = next((value for value in inputs if isinstance(value, dict)), inputs[0] if inputs else "")
    number = given.get("id") if isinstance(given, dict) else None
    if isinstance(given, str) and (hit := _ID.search(given)):
        number = json.loads(hit[1])
    words = "expected a JSON-RPC message" if is_json else f"cannot be read as JSON: {errors[0]['msg']}"[:300]
    code = types.INVALID_REQUEST if is_json else types.PARSE_ERROR
    is_id = isinstance(number, int | str) and not isinstance(number, bool)
    return types.JSONRPCError(
        jsonrpc="2.0", id=number if is_id else None, error=types.ErrorData(code=code, message=words)
    )


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
        return _result(await calls.call(tool.name, params.arguments or {}, roots, context.session.report_progress))

    return Server(_NAME, version=version, instructions=_INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


_TOOLS: Final = [
    types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema(),
        output_schema=tool.output_schema(),
        annotations=types.ToolAnnotations(
            read_only_hint=not tool.writes, destructive_hint=tool.writes, idempotent_hint=True, open_world_hint=False
        ),
    )
    for tool in TOOLS
]


def _result(outcome: dict[str, Any]) -> types.CallToolResult:
    if "error" in outcome:
        return types.CallToolResult(content=[types.TextContent(text=outcome["error"])], is_error=True)
    answer = outcome["answer"]
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
        roots = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult, _ROOTS_SECONDS)
        return folders_of(roots)
    # From protocol 2026-07-28 on a server sends no requests; the client repeats the call with its roots.
    given = (params.input_responses or {}).get(_ROOTS)
    if isinstance(given, types.ListRootsResult):
        return folders_of(given)
    if given is not None:
        raise MCPError(types.INVALID_PARAMS, "expected the client's roots in inputResponses")
    return types.InputRequiredResult(input_requests={_ROOTS: types.ListRootsRequest()})


def folders_of(roots: types.ListRootsResult) -> list[str]:
    """Return the folders of roots on this machine."""
    folders = []
    for root in roots.roots:
        parts = urlsplit(str(root.uri))
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            path = Path(url2pathname(parts.path))
            if path.is_absolute():
                folders.append(str(path))
    return folders


# ---- calls


class Calls:
    """The workers, each for one call at a time, and the files that calls wrote. Ends the workers at the end of the block."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._turns = anyio.CapacityLimiter(min(_MAX_WORKERS, os.cpu_count() or 1))
        self._idle: list[JobProcess] = []
        self._busy: set[JobProcess] = set()
        self._own: dict[str, None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in (*self._idle, *self._busy):
            worker.end()

    async def call(
        self, tool: str, arguments: dict[str, Any], roots: list[str], report: Callable[..., Awaitable[None]]
    ) -> dict[str, Any]:
        """Return the result of a call: ``answer`` or ``error``. A cancelled call ends its worker.

        ``report`` sends the progress: the seconds that have passed.
        """
        outcomes: list[dict[str, Any]] = []
        is_over, is_cancelled = anyio.Event(), threading.Event()

        async def ask(worker: JobProcess) -> None:
            # Shielded, because the next call must not get the worker of a cancelled one.
            with anyio.CancelScope(shield=True):
                outcomes.append(await anyio.to_thread.run_sync(self._ask, worker, job, is_cancelled))
            is_over.set()

        async with self._turns:
            job = json.dumps({"tool": tool, "arguments": arguments, "roots": roots, "own": list(self._own)}).encode()
            try:
                # Started on this thread, because Linux ends a worker with the thread that started it, and threads of a
                # pool end.
                worker = self._idle.pop() if self._idle else JobProcess(_WORKER)
            except OSError as error:
                return {"error": f"cannot start a process for the call: {error.strerror or error}"}
            self._busy.add(worker)
            async with anyio.create_task_group() as group:
                group.start_soon(ask, worker)
                began = anyio.current_time()
                try:
                    while not is_over.is_set():
                        with anyio.move_on_after(_PROGRESS_SECONDS):
                            await is_over.wait()
                        if not is_over.is_set():
                            passed = anyio.current_time() - began
                            await report(passed, None, f"{tool}: {passed:.0f} s")
                finally:
                    is_cancelled.set()
        self._own.update(dict.fromkeys(outcomes[0].pop("written", [])))
        return outcomes[0]

    def _ask(self, worker: JobProcess, job: bytes, is_cancelled: threading.Event) -> dict[str, Any]:
        try:
            outcome: dict[str, Any] = json.loads(worker.ask(job, self._seconds, lambda: not is_cancelled.is_set()))
        except JobLost as lost:
            self._busy.discard(worker)
            worker.end()
            return {"error": f"the call has no result: {lost}"}
        self._busy.discard(worker)
        self._idle.append(worker)
        return outcome
