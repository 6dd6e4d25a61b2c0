"""Commands: their declaration, and those that explain texts, names and settings.

Arguments: a document's URI, or an object with ``uri`` and further options. A command uses the open text, saved or not, works
on another thread or in another process, and answers with values. A failure is an answer with ``ok`` false and ``error``.
Commands that write files or run kernels are refused in an untrusted workspace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from lsprotocol import types

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.flow_text import dot, flow_at, mermaid, values
from visa_lsp.ide.workspace import Language
from visa_lsp.lsp.capabilities import (
    SHOW_REFERENCES,
)
from visa_lsp.lsp.handlers import sources
from visa_lsp.lsp.handlers.document_sync import ask_settings
from visa_lsp.lsp.jobs.model import Result, Stop
from visa_lsp.lsp.visa_server import VisaServer
from visa_lsp.lsp.work_progress import show_progress
from visa_lsp.safe_io import MAX_OBJECT_BYTES, read_file

if TYPE_CHECKING:
    from visa_lsp.ide.workspace import OpenDocument

logger = logging.getLogger(__name__)

Work: TypeAlias = Callable[[], Result]
Handler: TypeAlias = Callable[[VisaServer, Any, Any], Awaitable[Result]]

QUICK: Final = "quick"
UNTRUSTED: Final = "the workspace is not trusted: files cannot be written and kernels cannot be run"
DIGITS: Final = 10
_MAX_DEPTH: Final = 20


class BadArgument(ValueError):  # noqa: N818 - a mistake of the caller, answered with words
    """The arguments of a command are invalid."""


class Call:
    """A call of a command: its arguments and what they name. ``stop`` ends the work, ``finish`` completes its answer."""

    def __init__(self, ls: VisaServer, arguments: Any) -> None:
        self.ls = ls
        self.arguments = arguments
        self.options: dict[str, str] = {}
        self.stop = Stop()
        self.finish: Callable[[Result], Result] = lambda answer: answer

    def read(self, needed: str = "uri", second: str = "launch") -> dict[str, str]:
        """Read the options of the call and return a copy. Raises BadArgument."""
        self.options = options_of(self.arguments, needed, second)
        return dict(self.options)

    @property
    def uri(self) -> str:
        """The document."""
        return self.options.get("uri", "")

    @property
    def path(self) -> str | None:
        """The file of the document."""
        return self.ls.files.path_of(self.uri)

    @property
    def text(self) -> str:
        """The text of the document. Raises BadArgument if it cannot be read."""
        return text_of(self.ls, self.uri)

    @property
    def platform(self) -> str | None:
        """The platform of the options, else that of the document."""
        return self.options.get("platform") or self.ls.documents.platform_name(self.uri) or None

    @property
    def opened(self) -> OpenDocument | None:
        """The document, if it is open."""
        return self.ls.documents.get(self.uri)

    @property
    def beside(self) -> dict[str, str]:
        """The texts of open documents in the document's folder, by path."""
        if self.path is None:
            return {}
        folder = Path(self.path).parent
        texts = list_open_texts(self.ls, Language.VISA, Language.ZEINFO)
        return {place: text for place, text in texts.items() if place != self.path and Path(place).parent == folder}

    @property
    def quick(self) -> dict[str, Any]:
        """``{"quick": {...}}`` if the call has such an object, a launch file as a value; else empty. Raises BadArgument."""
        value = plain(self.arguments[0] if self.arguments else None)
        quick = value.get(QUICK) if isinstance(value, dict) else None
        if quick is None:
            return {}
        if not isinstance(quick, dict):
            raise BadArgument(f"`{QUICK}` must be an object with the keys of a launch file")
        return {QUICK: quick}

    async def answer(self, title: str, token: Any, prepare: Callable[[Call], Work]) -> Result:
        """Prepare on the event loop, work on another thread, and convert failures to answers.

        Cancelling the request stops the work.
        """
        try:
            work = prepare(self)
            async with show_progress(self.ls, title, token, own=True):
                answer = await asyncio.get_running_loop().run_in_executor(self.ls.thread_pool, work)
        except BadArgument as error:
            answer = {"ok": False, "error": str(error)}
        except asyncio.CancelledError:
            self.stop.ask()
            raise
        except Exception as error:
            logger.exception("a command failed")
            answer = {"ok": False, "error": f"internal error: {type(error).__name__}: {error}"}
        return self.finish(answer)


def command(
    name: str, title: str, *, trusted: bool = False, before: Callable[[VisaServer], Awaitable[Any]] | None = None
) -> Callable[[Callable[[Call], Work]], Handler]:
    """Make a function a command: it reads a call and returns the work, which is done on another thread.

    ``trusted`` commands are refused in an untrusted workspace; ``before`` is called first.
    """

    def declare(prepare: Callable[[Call], Work]) -> Handler:
        async def handler(ls: VisaServer, arguments: Any, token: Any) -> Result:
            if trusted and not ls.documents.trusted:
                return {"ok": False, "error": UNTRUSTED, "untrusted": True}
            if before is not None:
                await before(ls)
            return await Call(ls, arguments).answer(title, token, prepare)

        # Not by ``wraps``, because the library reads the parameters of the wrapped function.
        handler.__name__, handler.__module__, handler.__doc__ = prepare.__name__, prepare.__module__, prepare.__doc__
        return named(name)(handler)

    return declare


def named(name: str) -> Callable[[Handler], Handler]:
    """Make a function the handler of a command."""

    def declare(handler: Handler) -> Handler:
        handler.command = name  # type: ignore[attr-defined]
        return handler

    return declare


# The modules of jobs, by name. They load rooms that the server does not need.
_JOBS: Final = {
    "command_answers": lambda: import_module("visa_lsp.lsp.jobs.command_answers"),
    "comparing": lambda: import_module("visa_lsp.lsp.jobs.comparing"),
    "compiling": lambda: import_module("visa_lsp.lsp.jobs.compiling"),
    "machine_code": lambda: import_module("visa_lsp.lsp.jobs.machine_code"),
    "proving": lambda: import_module("visa_lsp.lsp.jobs.proving"),
    "zebins": lambda: import_module("visa_lsp.lsp.jobs.zebins"),
}


def later(module: str, name: str, *args: Any) -> Work:
    """Return the call of a function of ``lsp.jobs``, whose module is loaded on the thread that works."""
    return lambda: getattr(_JOBS[module](), name)(*args)


def options_of(arguments: Any, needed: str = "uri", second: str = "launch") -> dict[str, str]:
    """Return the named options of a call: of an object, or of one or two positional arguments. Raises BadArgument."""
    argument = arguments[0] if isinstance(arguments, list) and arguments else arguments
    options: dict[str, Any]
    if isinstance(argument, str):
        options = {needed: argument}
        if isinstance(arguments, list) and len(arguments) > 1:
            options[second] = arguments[1]
    elif isinstance(argument, dict):
        options = dict(argument)
    elif argument is not None and hasattr(argument, "_asdict"):
        options = argument._asdict()  # the library converts parameters of unknown methods to objects
    else:
        raise BadArgument(f"the first argument must be `{needed}`, or an object with `{needed}`")
    kept = {key: value for key, value in options.items() if value is not None and key != QUICK}
    for key, value in kept.items():
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise BadArgument(f"`{key}` must be a string")
    if not isinstance(kept.get(needed), str):
        raise BadArgument(f"the object has no `{needed}`" if needed not in kept else f"`{needed}` must be a string")
    return {key: str(value) for key, value in kept.items()}


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as plain dictionaries, lists and scalars."""
    if depth > _MAX_DEPTH:
        raise BadArgument(f"`{QUICK}` is nested too deeply")
    if isinstance(value, dict):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    return value


def text_of(ls: VisaServer, uri: str) -> str:
    """Return the text of an open document, else of its file."""
    opened = ls.documents.get(uri)
    if opened is not None:
        return opened.document.text
    path = ls.files.path_of(uri)
    if path is None:
        raise BadArgument(f"`{uri}` is neither open nor a file")
    try:
        return read_file(path).decode("utf-8")
    except (OSError, ValueError) as error:
        raise BadArgument(f"`{path}` cannot be read: {error}") from error


def bytes_of(ls: VisaServer, uri: str) -> str | bytes:
    """Return the text of an open document, else the bytes of its file. Raises BadArgument if it cannot be read."""
    opened, path = ls.documents.get(uri), ls.files.path_of(uri)
    if opened is not None:
        return opened.analysis.document.text
    if path is None:
        raise BadArgument(f"`{uri}` is neither open nor a file")
    try:
        return read_file(path, MAX_OBJECT_BYTES)
    except OSError as error:
        raise BadArgument(f"`{uri}` cannot be read: {error.strerror or error}") from None


def list_open_texts(ls: VisaServer, *languages: Language) -> dict[str, str]:
    """Return the texts of open documents by path; they replace the files."""
    texts = {ls.files.path_of(d.key): d.analysis.document.text for d in ls.documents if d.language in languages}
    return {place: text for place, text in texts.items() if place is not None}


def is_object(uri: str) -> bool:
    """Return whether a document is an object, by its name."""
    return uri.lower().endswith(".isa")


# ---- texts, names, settings ----


@command("visa.showControlFlow", "vISA: control flow")
def on_control_flow(call: Call) -> Work:
    """Return the control-flow graph of a kernel as DOT, as Mermaid, and as values."""
    options = call.read(second="kernel")
    opened = call.ls.find_open(types.TextDocumentIdentifier(call.uri))
    analysis = opened.analysis if opened else Analysis.of(call.text, call.platform)
    line = options.get("line")
    number = int(line) if line is not None and line.isdigit() else None
    return lambda: _flow(analysis, options.get("kernel"), number)


def _flow(analysis: Analysis, kernel: str | None, line: int | None) -> Result:
    flow = flow_at(analysis, kernel, line)
    if flow is None:
        return {"ok": False, "error": f"unknown kernel or function `{kernel}`" if kernel else "the text has no kernel"}
    document = analysis.document
    return {"ok": True, "dot": dot(document, flow), "mermaid": mermaid(document, flow), **values(document, flow)}


@command("visa.showZeInfo", "vISA: ze_info")
def on_ze_info(call: Call) -> Work:
    """Return the ze_info of a document: that of its folder, or one inferred from the text."""
    call.read()
    return later("command_answers", "ze_info", call.text, call.path, call.platform, call.beside)


@command("visa.explain", "vISA: explaining")
def on_explain(call: Call) -> Work:
    """Return the page of an instruction, a finding, a variable, a type, an attribute or a word of the glossary."""
    options = call.read("word", "platform")
    return later("command_answers", "explain", options["word"], options.get("platform"))


@command("visa.words", "vISA: listing words")
def on_words(_call: Call) -> Work:
    """Return the words with a page, each with its kind and a line."""
    return later("command_answers", "words")


@command("visa.platformOf", "vISA: looking for the platform", before=ask_settings)
def on_platform_of(call: Call) -> Work:
    """Return the platform in force for a text, and its origin in words; both are empty for an unknown platform.

    ``checked`` is true if findings are those of the platform, too, because files only name what a text runs on. A client
    requests this when a setting has changed.
    """
    call.read()
    documents = call.ls.documents
    name = documents.platform_name(call.uri)
    origin = "the setting" if documents.settings_for(call.uri).platform else "visa-lsp.toml"
    if documents.compiled and call.uri.startswith(documents.compiled):
        origin = "the compilation"
    return later("command_answers", "platform_of", call.text, call.path, (name, origin) if name else None)


@command("visa.launchTemplate", "vISA: reading arguments")
def on_launch_template(call: Call) -> Work:
    """Return the text of a launch file to fill in, with the arguments of ze_info, or with the values in ``quick``."""
    options = {**call.read(), **call.quick, "platform": call.platform, "opened": call.beside}
    return later("command_answers", "launch_template", call.text, call.path, options)


@named("visa.instructionsOf")
async def on_instructions_of(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return the instructions that were compiled from a source file, or from one line of it; lines count from 0.

    ``lines`` has an object for each line: ``line``, the number of its ``instructions`` and their ``locations``. ``cut``
    is true if there are too many to list.
    """
    try:
        path, line = _source_line(ls, arguments)
    except BadArgument as error:
        return {"ok": False, "error": str(error)}
    async with show_progress(ls, "vISA: looking for instructions", token) as work:
        return await sources.instructions_of(ls, path, line, work)


def _source_line(ls: VisaServer, arguments: list[Any]) -> tuple[str, int | None]:
    """Return the file and the line of a call."""
    options = options_of(arguments, second="line")
    path, line = ls.files.path_of(options["uri"]), options.get("line")
    if path is None:
        raise BadArgument(f"`{options['uri']}` is not a file")
    if line is not None and not (line.isdecimal() and len(line) < DIGITS):
        raise BadArgument("`line` must be a number from 0")
    return path, None if line is None else int(line)


@named(SHOW_REFERENCES)
async def on_show_references(ls: VisaServer, arguments: list[Any], _token: Any) -> Result:
    """Return the place of a lens; the client shows its references."""
    is_open = isinstance(arguments, list) and bool(arguments) and ls.documents.get(str(arguments[0])) is not None
    return {"ok": is_open, "arguments": arguments}
