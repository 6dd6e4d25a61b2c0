"""The server's commands: they work on the open text, saved or not, and answer with values.

Arguments: a document's URI, or an object with ``uri`` and what the command knows besides. The work is done off the event
loop. A failure is an answer with ``ok`` false and ``error``. What writes files or runs kernels is refused in an
untrusted workspace.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from visa_lsp.ide.analysis import Analysis
from visa_lsp.ide.flow_text import dot, flow_at, mermaid, values
from visa_lsp.ide.inline_values import RunValues
from visa_lsp.lsp.handlers import info
from visa_lsp.lsp.progress import working

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.lsp.services import Result
    from visa_lsp.lsp.session import VisaServer

logger = logging.getLogger(__name__)

ASSEMBLE: Final = "visa.assemble"
DISASSEMBLE: Final = "visa.disassemble"
RUN: Final = "visa.run"
SHOW_CONTROL_FLOW: Final = "visa.showControlFlow"
SHOW_ZE_INFO: Final = "visa.showZeInfo"
EXPLAIN: Final = "visa.explain"
LAUNCH_TEMPLATE: Final = "visa.launchTemplate"
# A lens carries this command; the client shows the list that ``textDocument/references`` gives.
SHOW_REFERENCES: Final = "visa.showReferences"
DISASSEMBLY: Final = "visa/disassembly"
SCHEME: Final = "visa-disassembly"
UNTRUSTED: Final = "the workspace is not trusted: nothing is written or run in it"
_MOST_VALUES: Final = 8


def register(server: VisaServer) -> None:
    """Declare the handlers of this module."""
    for name, handler in (
        (ASSEMBLE, on_assemble),
        (DISASSEMBLE, on_disassemble),
        (RUN, on_run),
        (SHOW_CONTROL_FLOW, on_control_flow),
        (SHOW_ZE_INFO, on_ze_info),
        (EXPLAIN, on_explain),
        (LAUNCH_TEMPLATE, on_launch_template),
        (SHOW_REFERENCES, on_show_references),
    ):
        server.command(name)(handler)
    server.feature(DISASSEMBLY)(on_disassembly)
    server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)(on_text_content)


class BadArgument(ValueError):  # noqa: N818 - a mistake of the caller, answered with words
    """What a command was given is of no use."""


def _options(arguments: Any, needed: str = "uri", second: str = "launch") -> dict[str, str]:
    """The named options of a call: of an object, or the needed one alone with another behind it."""
    first = arguments[0] if isinstance(arguments, list) and arguments else arguments
    options: dict[str, Any]
    if isinstance(first, str):
        options = {needed: first}
        if isinstance(arguments, list) and len(arguments) > 1:
            options[second] = arguments[1]
    elif isinstance(first, dict):
        options = dict(first)
    elif first is not None and hasattr(first, "_asdict"):
        options = first._asdict()
    elif first is not None and hasattr(first, "__dict__"):
        options = dict(vars(first))
    else:
        raise BadArgument(f"the first argument is `{needed}`, or an object with `{needed}`")
    kept = {key: value for key, value in options.items() if value is not None}
    for key, value in kept.items():
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise BadArgument(f"`{key}` must be a string")
    if not isinstance(kept.get(needed), str):
        raise BadArgument(f"the object has no `{needed}`" if needed not in kept else f"`{needed}` must be a string")
    return {key: str(value) for key, value in kept.items()}


def _text(ls: VisaServer, uri: str) -> str:
    """The text of a document as it is open, else as its file has it."""
    opened = ls.documents.get(uri)
    if opened is not None:
        return opened.analysis.document.text
    path = ls.files.path_of(uri)
    if path is None:
        raise BadArgument(f"`{uri}` is not open and no file")
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadArgument(f"`{path}` cannot be read: {error}") from error


def _platform(ls: VisaServer, options: dict[str, str]) -> str | None:
    return options.get("platform") or ls.documents.platform_name(options.get("uri", "")) or None


async def _answer(ls: VisaServer, title: str, token: Any, prepare: Callable[[], Callable[[], Result]]) -> Result:
    """Prepare on the event loop, work on another thread, turn failures into answers."""
    try:
        call = prepare()
        async with working(ls, title, token, own=True):
            return await asyncio.get_running_loop().run_in_executor(ls.thread_pool, call)
    except BadArgument as error:
        return {"ok": False, "error": str(error)}
    except Exception as error:
        logger.exception("a command failed")
        return {"ok": False, "error": f"internal error: {type(error).__name__}: {error}"}


def _refused(ls: VisaServer) -> Result | None:
    return None if ls.documents.trusted else {"ok": False, "error": UNTRUSTED, "untrusted": True}


# ---- objects ----


async def on_assemble(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Assemble a document into an object file beside it."""

    def prepare() -> Callable[[], Result]:
        options = _options(arguments)
        text, path, platform = _text(ls, options["uri"]), ls.files.path_of(options["uri"]), _platform(ls, options)
        return lambda: ls.services.assemble(text, path, platform)

    return _refused(ls) or await _answer(ls, "vISA: assembling", token, prepare)


async def on_disassemble(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Give an object's file as text; a text as what its object says."""
    return await _disassemble(ls, arguments, token)


async def _disassemble(ls: VisaServer, arguments: Any, token: Any) -> Result:
    def prepare() -> Callable[[], Result]:
        options = _options(arguments)
        uri = options["uri"]
        if uri.startswith(f"{SCHEME}:"):
            uri = "file:" + uri.partition(":")[2].removesuffix(".visaasm")
        path = ls.files.path_of(uri)
        is_object = uri.lower().endswith(".isa")
        text = None if is_object else _text(ls, uri)
        platform = _platform(ls, {**options, "uri": uri})
        # What is shown is a document of its own: it has the object's path, and a suffix that says what it is.
        shown = f"{SCHEME}:{uri.partition(':')[2]}.visaasm"
        return lambda: {**ls.services.disassemble(text, path, platform), "uri": shown}

    return await _answer(ls, "vISA: disassembling", token, prepare)


async def on_disassembly(ls: VisaServer, params: Any) -> Result:
    """``visa/disassembly``: what an editor shows for an object's file."""
    return await _disassemble(ls, params, None)


async def on_text_content(
    ls: VisaServer, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult | None:
    """``workspace/textDocumentContent``: the same for clients of the protocol's version 3.18."""
    answer = await _disassemble(ls, {"uri": params.uri}, None)
    return types.TextDocumentContentResult(text=str(answer.get("text") or f"// {answer.get('error')}\n"))


# ---- running ----


async def on_run(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Run a document's kernel as a launch file says, or as ``launchText``, the text of one, does."""
    uri = ""

    def prepare() -> Callable[[], Result]:
        nonlocal uri
        options = _options(arguments)
        uri = options["uri"]
        if options.get("launch", "").startswith("file:"):
            options["launch"] = ls.files.path_of(options["launch"]) or ""
        text, path = _text(ls, uri), ls.files.path_of(uri)
        platform = _platform(ls, options)
        if platform:
            options["platform"] = platform
        return lambda: ls.services.run(text, path, options)

    answer = _refused(ls) or await _answer(ls, "vISA: running", token, prepare)
    opened = ls.documents.get(uri)
    if answer.get("kernel") and opened is not None:
        try:
            held = info.arguments_beside(ls, opened, str(answer["kernel"]))
        except Exception:  # without it values are shown by name only
            logger.exception("the arguments of %s are not known", uri)
            held = {}
        ls.runs[uri] = _values_of(answer, held)
        workspace = ls.client_capabilities.workspace
        if workspace and workspace.inline_value and workspace.inline_value.refresh_support:
            ls.workspace_inline_value_refresh(None)
    return answer


def _values_of(answer: Result, arguments: dict[str, int]) -> RunValues:
    """What is kept of a run for inline values."""
    variables: dict[str, str] = {}
    for buffer in answer.get("buffers", ()):
        head = ", ".join(str(v) for v in buffer["head"][:_MOST_VALUES])
        held = [name for name, index in arguments.items() if index == buffer["arg"]]
        for name in (str(buffer["name"]), str(buffer["arg"]), *held):
            variables[name] = (
                f"{buffer['dtype']}{buffer['shape']} [{head}{', …' if len(buffer['head']) > _MOST_VALUES else ''}]"
            )
    lines: dict[int, list[str]] = {}
    for fault in answer.get("faults", ()):
        if fault.get("line"):
            lines.setdefault(fault["line"] - 1, []).append(f"{fault['kind']}: {fault['message']}")
    return RunValues(str(answer["kernel"]), variables, lines)


async def on_launch_template(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Give the text of a launch file to fill in, with what ze_info tells of the arguments."""

    def prepare() -> Callable[[], Result]:
        options = _options(arguments)
        text, path, platform = _text(ls, options["uri"]), ls.files.path_of(options["uri"]), _platform(ls, options)
        return lambda: ls.services.launch_template(text, path, platform)

    return await _answer(ls, "vISA: reading arguments", token, prepare)


# ---- looking ----


async def on_control_flow(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Give the control-flow graph of a kernel as DOT, as Mermaid, and as values."""

    def prepare() -> Callable[[], Result]:
        options = _options(arguments, second="kernel")
        opened = ls.opened(types.TextDocumentIdentifier(options["uri"]))
        analysis = opened.analysis if opened else Analysis.of(_text(ls, options["uri"]), _platform(ls, options))
        line = options.get("line")
        number = int(line) if line is not None and line.isdigit() else None
        return lambda: _flow(analysis, options.get("kernel"), number)

    return await _answer(ls, "vISA: control flow", token, prepare)


def _flow(analysis: Analysis, kernel: str | None, line: int | None) -> Result:
    flow = flow_at(analysis, kernel, line)
    if flow is None:
        return {"ok": False, "error": f"there is no kernel or function `{kernel}`" if kernel else "there is no kernel"}
    document = analysis.document
    return {"ok": True, "dot": dot(document, flow), "mermaid": mermaid(document, flow), **values(document, flow)}


async def on_ze_info(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Give the ze_info of a document: its file's, or one made from the text."""

    def prepare() -> Callable[[], Result]:
        options = _options(arguments)
        text, path, platform = _text(ls, options["uri"]), ls.files.path_of(options["uri"]), _platform(ls, options)
        return lambda: ls.services.zeinfo(text, path, platform)

    return await _answer(ls, "vISA: ze_info", token, prepare)


async def on_explain(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Give the page of an opcode, a finding's code, a predefined variable, a type or an attribute."""

    def prepare() -> Callable[[], Result]:
        options = _options(arguments, needed="word", second="platform")
        return lambda: ls.services.explain(options["word"], options.get("platform"))

    return await _answer(ls, "vISA: explaining", token, prepare)


async def on_show_references(ls: VisaServer, arguments: list[Any], _token: Any) -> Result:
    """Give the place of a lens back; the client shows its references."""
    known = isinstance(arguments, list) and bool(arguments) and ls.documents.get(str(arguments[0])) is not None
    return {"ok": known, "arguments": arguments}
