"""The server's commands: they use the open text, saved or not, and answer with values.

Arguments: a document's URI, or an object with ``uri`` and further options. The work is done on other threads or in
other processes. A failure is an answer with ``ok`` false and ``error``. Commands that write files or run kernels are
refused in an untrusted workspace.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote, unquote

from lsprotocol import types

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.stats.dumps import DUMP_SUFFIX
from visa_lsp.companions import LAUNCH
from visa_lsp.embed.languages import Host, host_of
from visa_lsp.ide.features.flow_text import dot, flow_at, mermaid, values
from visa_lsp.ide.features.inline_values import RunValues
from visa_lsp.ide.workspace import Language, OpenDocument
from visa_lsp.lsp.capabilities import (
    ASSEMBLE,
    CHECK_WITH_COMPILER,
    COMPILE,
    DIFF,
    DISASSEMBLE,
    EXPLAIN,
    GEN,
    INSTRUCTIONS_OF,
    LAUNCH_TEMPLATE,
    PLATFORM_OF,
    PROVE,
    READ,
    RUN,
    RUN_ALL,
    SHOW_CONTROL_FLOW,
    SHOW_REFERENCES,
    SHOW_ZE_INFO,
    STATS,
    WHY,
    WORDS,
    ZEBIN,
)
from visa_lsp.lsp.convert import raw_range
from visa_lsp.lsp.handlers import info, sources
from visa_lsp.lsp.handlers.document_sync import ask_settings
from visa_lsp.lsp.jobs import command_answers
from visa_lsp.lsp.jobs.model import Result, RunJob, Stop
from visa_lsp.lsp.jobs.run_client import run_all_in_subprocess, run_in_subprocess, stats_in_subprocess
from visa_lsp.lsp.visa_server import MachineCode, VisaServer
from visa_lsp.lsp.work_progress import send_partial, show_progress
from visa_lsp.safe_io import MAX_OBJECT_BYTES, read_file
from visa_lsp.syntax.document import Document
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.embed.host_text import HostText
    from visa_lsp.ide.zeinfo.info_document import HeldArgument

logger = logging.getLogger(__name__)

QUICK: Final = "quick"
DISASSEMBLY: Final = "visa/disassembly"
SCHEME: Final = "visa-disassembly"
CODE_SCHEME: Final = "visa-code"
UNTRUSTED: Final = "the workspace is not trusted: files cannot be written and kernels cannot be run"
_MAX_VALUES: Final = 8
_LOOK_FOR_EDITS: Final = 0.1  # seconds
_MAX_DEPTH: Final = 20
_MAX_TIMEOUT_SECONDS: Final = 86400  # seconds
_DIGITS: Final = 10


def register(server: VisaServer) -> None:
    """Declare the handlers of this module."""
    for name, handler in (
        (ASSEMBLE, on_assemble),
        (DISASSEMBLE, on_disassemble),
        (ZEBIN, on_zebin),
        (DIFF, on_diff),
        (RUN, on_run),
        (RUN_ALL, on_run_all),
        (WHY, on_why),
        (PROVE, on_prove),
        (STATS, on_stats),
        (READ, on_read),
        (GEN, on_gen),
        (COMPILE, on_compile),
        (CHECK_WITH_COMPILER, on_check_with_compiler),
        (SHOW_CONTROL_FLOW, on_control_flow),
        (SHOW_ZE_INFO, on_ze_info),
        (EXPLAIN, on_explain),
        (WORDS, on_words),
        (PLATFORM_OF, on_platform_of),
        (LAUNCH_TEMPLATE, on_launch_template),
        (SHOW_REFERENCES, on_show_references),
        (INSTRUCTIONS_OF, on_instructions_of),
    ):
        server.command(name)(handler)
    server.feature(DISASSEMBLY)(on_disassembly)
    server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)(on_text_content)


class BadArgument(ValueError):  # noqa: N818 - a mistake of the caller, answered with words
    """The arguments of a command are invalid."""


def options_of(arguments: Any, needed: str = "uri", second: str = "launch") -> dict[str, str]:
    """Return the named options of a call: of an object, or of one or two positional arguments. Raises BadArgument."""
    first = arguments[0] if isinstance(arguments, list) and arguments else arguments
    options: dict[str, Any]
    if isinstance(first, str):
        options = {needed: first}
        if isinstance(arguments, list) and len(arguments) > 1:
            options[second] = arguments[1]
    elif isinstance(first, dict):
        options = dict(first)
    elif first is not None and hasattr(first, "_asdict"):
        options = first._asdict()  # the library converts parameters of unknown methods to objects
    else:
        raise BadArgument(f"the first argument must be `{needed}`, or an object with `{needed}`")
    kept = {key: value for key, value in options.items() if value is not None and key != QUICK}
    for key, value in kept.items():
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise BadArgument(f"`{key}` must be a string")
    if not isinstance(kept.get(needed), str):
        raise BadArgument(f"the object has no `{needed}`" if needed not in kept else f"`{needed}` must be a string")
    return {key: str(value) for key, value in kept.items()}


def _quick(arguments: list[Any]) -> dict[str, Any]:
    """Return ``{"quick": {...}}`` if the call has such an object, a launch file as a value; else an empty dict."""
    value = _json(arguments[0] if arguments else None)
    quick = value.get(QUICK) if isinstance(value, dict) else None
    if quick is None:
        return {}
    if not isinstance(quick, dict):
        raise BadArgument(f"`{QUICK}` must be an object with the keys of a launch file")
    return {QUICK: quick}


def _json(value: Any, depth: int = 0) -> Any:
    """Return a value as plain dictionaries, lists and scalars."""
    if depth > _MAX_DEPTH:
        raise BadArgument(f"`{QUICK}` is nested too deeply")
    if isinstance(value, dict):
        return {str(key): _json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(item, depth + 1) for item in value]
    return value


def _text(ls: VisaServer, uri: str) -> str:
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


def _platform(ls: VisaServer, options: dict[str, str]) -> str | None:
    return options.get("platform") or ls.documents.platform_name(options.get("uri", "")) or None


async def _answer(ls: VisaServer, title: str, token: Any, prepare: Callable[[], Callable[[], Result]]) -> Result:
    """Prepare on the event loop, work on another thread, and convert failures to answers."""
    try:
        call = prepare()
        async with show_progress(ls, title, token, own=True):
            return await asyncio.get_running_loop().run_in_executor(ls.thread_pool, call)
    except BadArgument as error:
        return {"ok": False, "error": str(error)}
    except Exception as error:
        logger.exception("a command failed")
        return {"ok": False, "error": f"internal error: {type(error).__name__}: {error}"}


async def _answer_or_stop(
    ls: VisaServer, title: str, token: Any, prepare: Callable[[], Callable[[], Result]], stop: Stop
) -> Result:
    """Return the answer of work that is allowed in trusted folders only; cancelling the request stops the work."""
    try:
        return _refuse_untrusted(ls) or await _answer(ls, title, token, prepare)
    except asyncio.CancelledError:
        stop.ask()
        raise


def _refuse_untrusted(ls: VisaServer) -> Result | None:
    return None if ls.documents.trusted else {"ok": False, "error": UNTRUSTED, "untrusted": True}


# ---- objects ----


async def on_assemble(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Assemble a document into an object file beside it."""

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments)
        text, path, platform = _text(ls, options["uri"]), ls.files.path_of(options["uri"]), _platform(ls, options)
        return lambda: command_answers.assemble_text(text, path, platform)

    return _refuse_untrusted(ls) or await _answer(ls, "vISA: assembling", token, prepare)


async def on_disassemble(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return an object file as text; for a text, the text of its object."""
    return await _disassemble(ls, arguments, token)


async def _disassemble(ls: VisaServer, arguments: Any, token: Any) -> Result:
    def prepare() -> Callable[[], Result]:
        options = options_of(arguments)
        uri = options["uri"]
        if uri.startswith(f"{SCHEME}:"):
            uri = "file:" + uri.partition(":")[2].removesuffix(".visaasm")
        path = ls.files.path_of(uri)
        is_object = uri.lower().endswith(".isa")
        text = None if is_object else _text(ls, uri)
        platform = _platform(ls, {**options, "uri": uri})
        # A separate document with the path of the object and a suffix for its kind.
        shown = f"{SCHEME}:{uri.partition(':')[2]}.visaasm"
        return lambda: {**command_answers.disassemble(text, path, platform), "uri": shown}

    return await _answer(ls, "vISA: disassembling", token, prepare)


async def on_zebin(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return the contents of a zebin: sections, kernels, ze_info, and vISA as text."""

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments)
        path, platform = ls.files.path_of(options["uri"]), _platform(ls, options)
        if path is None:
            raise BadArgument("a zebin must be a file")
        return lambda: command_answers.zebin(path, platform)

    return await _answer(ls, "vISA: reading the zebin", token, prepare)


async def on_diff(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Compare a text or an object (``uri``) with another one (``other``), open documents or else files.

    The answer has ``kernels`` as in ``visa-lsp diff --format json``, ``a`` and ``b`` (the texts of both with the names
    of the first), and ``rows`` (the pairs of adjacent lines).
    """

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments, second="other")
        other = options.get("other")
        if other is None:
            raise BadArgument("the object has no `other`, the document to compare with")
        platform = _platform(ls, options)
        one, its = ((_source(ls, uri), ls.files.path_of(uri) or uri) for uri in (options["uri"], other))
        return lambda: command_answers.diff(one, its, platform)

    return await _answer(ls, "vISA: comparing", token, prepare)


def _source(ls: VisaServer, uri: str) -> str | bytes:
    """Return the text of an open document, else the bytes of its file."""
    opened, path = ls.documents.get(uri), ls.files.path_of(uri)
    if opened is not None:
        return opened.analysis.document.text
    if path is None:
        raise BadArgument(f"`{uri}` is neither open nor a file")
    try:
        return read_file(path, MAX_OBJECT_BYTES)
    except OSError as error:
        raise BadArgument(f"`{uri}` cannot be read: {error.strerror or error}") from None


async def on_disassembly(ls: VisaServer, params: Any) -> Result:
    """Answer ``visa/disassembly``: the text that an editor shows for an object file."""
    return await _disassemble(ls, params, None)


async def on_text_content(
    ls: VisaServer, params: types.TextDocumentContentParams
) -> types.TextDocumentContentResult | None:
    """Answer ``workspace/textDocumentContent``: the text of a disassembly or of pseudo-code, for clients of protocol 3.18."""
    if params.uri.startswith(f"{CODE_SCHEME}:"):
        answer = await on_read(ls, [unquote(params.uri.partition("?")[2])], None)
        lines = (line["text"] for kernel in answer.get("kernels", ()) for line in (*kernel["lines"], {"text": ""}))
        answer["text"] = "\n".join(lines)
    else:
        answer = await _disassemble(ls, {"uri": params.uri}, None)
    return types.TextDocumentContentResult(text=str(answer.get("text") or f"// {answer.get('error')}\n"))


async def on_read(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return the kernels of a text, of an object, or of the blocks of vISA in another language, as pseudo-code.

    The answer is that of ``visa-lsp read --format json`` with ``uri``, a name for the pseudo-code. ``visa`` are lines
    of the document, from 1. For a text with errors the answer is its first error, with its ``line``.
    """

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments)
        uri, path = options["uri"], ls.files.path_of(options["uri"])
        hosted = ls.host(types.TextDocumentIdentifier(uri))
        parts = _blocks(*hosted) if hosted is not None else [(uri, None if _is_object(uri) else _text(ls, uri), None)]
        job = {"path": path, "platform": _platform(ls, options), "opened": _beside(ls, path), "parts": parts}
        name = uri.rpartition("/")[2]
        return lambda: {**ls.reading.read(job), "uri": f"{CODE_SCHEME}:/{name}.visacode?{quote(uri, safe='')}"}

    return await _answer(ls, "vISA: reading", token, prepare)


def _blocks(opened: OpenDocument, host: HostText) -> list[tuple[str, str, list[int | None]]]:
    """Return, for each block of a host, a name, its text, and the line of the host, from 1, for each of its lines."""
    from visa_lsp.embed.block_text import block_text, blocks_of

    found = []
    for number in range(len(blocks_of(host))):
        block = block_text(host, number, opened.key.rpartition("/")[2])
        lines = [None if line is None else line + 1 for line in block.lines_in_host(host)]
        found.append((f"{opened.key}#{number}", block.text, lines))
    return found


# ---- running ----


async def on_run(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Run a text, an object, or the program of a launch file.

    The launch of a text or an object is its launch file, ``launchText``, the text of one, or ``quick``, an object with the
    keys of one, completed from ze_info. Cancelling the request ends the run.
    """
    uri, stop = "", Stop()

    def prepare() -> Callable[[], Result]:
        nonlocal uri
        named = options_of(arguments)
        uri = named["uri"]
        options: dict[str, Any] = {**named, **_quick(arguments)}
        if uri.endswith(LAUNCH):
            _complete_launch_options(ls, options)
            return lambda: run_in_subprocess(None, None, options, stop)
        if named.get("launch", "").startswith("file:"):
            options["launch"] = ls.files.path_of(named["launch"]) or ""
        platform = _platform(ls, named)
        if platform and (named.get("platform") or QUICK in options or not _is_object(uri)):
            options["platform"] = platform
        text, path = None if _is_object(uri) else _text(ls, uri), ls.files.path_of(uri)
        if text is None and path is None:
            raise BadArgument("an object has to be a file")
        if opened := _beside(ls, path):
            options["opened"] = opened
        return lambda: run_in_subprocess(text, path, options, stop)

    answer = await _answer_or_stop(ls, "vISA: running", token, prepare, stop)
    _remember(ls, uri, answer)
    return answer


async def on_why(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Explain an element of a buffer (``value``), a fault by its number, or the first failure of a run.

    Options: ``launch``, ``launchText``, ``platform`` as for ``visa.run``; ``against``, the URI of a reference program;
    ``most``, the number of nodes. The answer is that of ``visa-lsp why --format json``. Cancelling the request ends the
    run.
    """
    stop = Stop()

    def prepare() -> Callable[[], Result]:
        options: dict[str, Any] = dict(options_of(arguments))
        uri, is_launch = options["uri"], options["uri"].endswith(LAUNCH)
        asked: dict[str, Any] = {"value": options["value"]} if "value" in options else {}
        for name in ("fault", "most"):
            if name in options:
                asked[name] = _count(options[name], name)
        if "against" in options:
            other = options["against"]
            path = ls.files.path_of(other) or other
            asked["against"] = {"path": path} if _is_object(other) else {"path": path, "text": _text(ls, other)}
        if is_launch:
            _complete_launch_options(ls, options)
        elif options.get("launch", "").startswith("file:"):
            options["launch"] = ls.files.path_of(options["launch"]) or ""
        if not _is_object(uri) and not is_launch and (platform := _platform(ls, options)):
            options["platform"] = platform
        text = None if is_launch or _is_object(uri) else _text(ls, uri)
        job = {**options, "why": asked}
        return lambda: run_in_subprocess(text, None if is_launch else ls.files.path_of(uri), job, stop)

    return await _answer_or_stop(ls, "vISA: explaining", token, prepare, stop)


async def on_prove(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Prove a text or an object for every launch.

    Options: ``assume``, a list of conditions of launches; ``properties``, with commas between; ``kernel``, ``timeout`` and ``platform``.
    The answer is that of ``visa-lsp prove --format json``, and the same as ``text``. Cancelling the request ends the proof.
    """
    stop = Stop()

    def prepare() -> Callable[[], Result]:
        value = _json(arguments[0] if arguments else None)
        assume = value.pop("assume", None) or [] if isinstance(value, dict) else []
        if not isinstance(assume, list) or not all(isinstance(one, str) for one in assume):
            raise BadArgument("`assume` must be a list of conditions, such as `len(y) >= n`")
        options = options_of([value], second="properties")
        uri = options["uri"]
        path, is_object = ls.files.path_of(uri), _is_object(uri)
        if is_object and path is None:
            raise BadArgument("an object has to be a file")
        if not is_object and (platform := _platform(ls, options)):
            options["platform"] = platform
        text, opened = None if is_object else _text(ls, uri), _beside(ls, path)
        return lambda: command_answers.prove(path or uri, text, path, options, assume, opened, stop)

    return await _answer_or_stop(ls, "vISA: proving", token, prepare, stop)


def _count(word: str, name: str) -> int:
    if not word.isdecimal() or not 0 < len(word) < _DIGITS or int(word) == 0:
        raise BadArgument(f"`{name}` must be a whole number from 1 on")
    return int(word)


class MadeRun(NamedTuple):
    """A text made for a run, its launch as an object, and the number of values to report for a buffer."""

    text: str
    launch: dict[str, Any]
    head: int


async def run_made(
    ls: VisaServer, arguments: list[Any], token: Any, make: Callable[[dict[str, str]], MadeRun]
) -> Result:
    """Run a text that ``make`` creates from the options of a call; ``quick`` of the call overrides parts of its launch.

    A cancelled request ends the run.
    """
    stop = Stop()

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments, second="block")
        made = make(options)
        asked = _quick(arguments).get(QUICK, {})
        args = asked.get("args", {})
        if not isinstance(args, dict):
            raise BadArgument("`args` must be an object with the names of buffers")
        launch = {**made.launch, **asked, "args": {**made.launch["args"], **args}}
        job = {QUICK: launch, "head": made.head}
        if platform := _platform(ls, options):
            job["platform"] = platform
        return lambda: run_in_subprocess(made.text, None, job, stop)

    return await _answer_or_stop(ls, "vISA: running", token, prepare, stop)


def _is_object(uri: str) -> bool:
    return uri.lower().endswith(".isa")


def _complete_launch_options(ls: VisaServer, options: dict[str, Any]) -> None:
    """Add the text of a launch file and of its kernel to the options of a run, as open in the editor."""
    path = ls.files.path_of(options["uri"])
    if not options["uri"].endswith(LAUNCH):
        raise BadArgument(f"`{options['uri']}` is not a launch file: expected a name that ends in {LAUNCH[0]}")
    if QUICK in options:
        raise BadArgument(f"`{QUICK}` requires a text or an object, not a launch file")
    if path is None:
        raise BadArgument("a launch file must be a file: its paths are relative to it")
    opened = ls.documents.get(options["uri"])
    if opened is not None:
        options["launchText"] = opened.analysis.document.text
    options["launch"] = path
    options["opened"] = _list_open_texts(ls, Language.VISA, Language.ZEINFO)


async def on_stats(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return the figures of the kernels of a text or an object, line by line, or those of a dump.

    With ``lives`` the answer also has the lines where each variable is live. An edit of the text ends the work, with
    ``edited`` in the answer; so does a cancelled request.
    """
    uri, stop = "", Stop()

    def prepare() -> Callable[[], Result]:
        nonlocal uri
        options = options_of(arguments)
        uri = options["uri"]
        is_made = _is_object(uri) or uri.lower().endswith(DUMP_SUFFIX)
        text, path = None if is_made else _text(ls, uri), ls.files.path_of(uri)
        if text is None and path is None:
            raise BadArgument("an object or a dump has to be a file")
        platform = _platform(ls, options) if options.get("platform") or not is_made else None
        asked = {"platform": platform, "lives": options.get("lives")}
        return lambda: stats_in_subprocess(text, path, asked, stop)

    counting = asyncio.ensure_future(_answer(ls, "vISA: counting", token, prepare))
    await asyncio.sleep(0)  # the text is the current one from here on
    before = ls.documents.get(uri)
    try:
        while not (await asyncio.wait([counting], timeout=_LOOK_FOR_EDITS))[0]:
            if ls.documents.get(uri) is not before:
                stop.ask()
                await asyncio.wait([counting])
                return {"ok": False, "error": "the text was edited", "edited": True}
    except asyncio.CancelledError:
        stop.ask()
        raise
    return counting.result()


async def on_run_all(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Run launch files one after another in one process: ``uris``, and the options of ``visa.run`` for all of them.

    With ``partialResultToken`` each answer is sent as progress when it is ready; otherwise all are in ``runs``.
    ``timeout`` is a number of seconds for each. Cancelling the request ends the current run and starts no other.
    """
    stop = Stop()
    runs: list[Result] = []

    def prepare() -> Callable[[], Result]:
        uris, seconds, partial, options = _batch(arguments)

        def done(uri: str, answer: Result) -> None:
            _remember(ls, uri, answer)
            if partial is not None:
                send_partial(ls, partial, {**answer, "uri": uri})
            runs.append({"uri": uri, "ok": answer["ok"]} if partial is not None else {**answer, "uri": uri})

        jobs: dict[str, RunJob] = {}
        for uri in dict.fromkeys(uris):
            try:
                job: dict[str, Any] = options_of([{**options, "uri": uri}])
                _complete_launch_options(ls, job)
                jobs[uri] = (None, None, job, seconds)
            except BadArgument as error:
                done(uri, {"ok": False, "error": str(error)})
        loop, named = asyncio.get_running_loop(), list(jobs)

        def tell(number: int, answer: Result) -> None:
            loop.call_soon_threadsafe(done, named[number], answer)

        return lambda: run_all_in_subprocess(list(jobs.values()), stop, tell)

    answer = await _answer_or_stop(ls, "vISA: running tests", token, prepare, stop)
    return {**answer, "runs": runs} if answer["ok"] else answer


def _batch(arguments: list[Any]) -> tuple[list[str], float | None, str | int | None, dict[str, Any]]:
    """Return the arguments of ``visa.runAll``: launch files, seconds for each, the token for answers, the options of each run."""
    value = _json(arguments[0] if arguments else None)
    options = dict(value) if isinstance(value, dict) else {}
    uris, seconds, partial = (options.pop(key, None) for key in ("uris", "timeout", "partialResultToken"))
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise BadArgument("the argument must be an object with `uris`, a list of launch files")
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (number and 0 < seconds <= _MAX_TIMEOUT_SECONDS):
        raise BadArgument(f"`timeout` must be a number of seconds, at most {_MAX_TIMEOUT_SECONDS}")
    if partial is not None and (isinstance(partial, bool) or not isinstance(partial, str | int)):
        raise BadArgument("`partialResultToken` must be a string or a number")
    return uris, seconds, partial, options


def _list_open_texts(ls: VisaServer, *languages: Language) -> dict[str, str]:
    """Return the texts of open documents by path; they replace the files."""
    texts = {ls.files.path_of(d.key): d.analysis.document.text for d in ls.documents if d.language in languages}
    return {place: text for place, text in texts.items() if place is not None}


def _beside(ls: VisaServer, path: str | None) -> dict[str, str]:
    """Return the texts of open documents in a document's folder."""
    if path is None:
        return {}
    folder = Path(path).parent
    opened = _list_open_texts(ls, Language.VISA, Language.ZEINFO)
    return {place: text for place, text in opened.items() if place != path and Path(place).parent == folder}


def _remember(ls: VisaServer, uri: str, answer: Result) -> None:
    """Store the results of a run, for the inline values of its text."""
    source = answer.get("source")
    opened = ls.documents.get(uri)
    if uri.endswith(LAUNCH):
        opened = ls.files.find_open(Path(source)) if source else None
    elif _is_object(uri):
        opened = ls.documents.get(f"{SCHEME}:{uri.partition(':')[2]}.visaasm")
    if not answer.get("kernel") or opened is None:
        return
    try:
        held = info.arguments_beside(ls, opened, str(answer["kernel"]))
    except Exception:  # without the text, values are shown by name only
        logger.exception("the arguments of %s are not known", uri)
        held = {}
    ls.runs[opened.key] = (opened.analysis.document.text, _values_of(answer, held))
    ls.refresh("inline_value")


def _values_of(answer: Result, arguments: dict[str, HeldArgument]) -> RunValues:
    """Return the results of a run for inline values."""
    variables: dict[str, str] = {}

    def keep(entry: Result, text: str) -> None:
        held = [name for name, argument in arguments.items() if argument.index == entry["arg"]]
        for name in (str(entry["name"]), str(entry["arg"]), *held):
            variables[name] = text

    for buffer in answer.get("buffers", ()):
        keep(buffer, f"{buffer['dtype']}{buffer['shape']} [{_format_values(buffer['head'])}]")
    for entry in answer.get("values", ()):
        many = len(entry["values"]) != 1
        keep(entry, f"({_format_values(entry['values'])})" if many else str(entry["values"][0]))
    lines: dict[int, list[str]] = {}
    for fault in answer.get("faults", ()):
        if fault.get("line"):
            lines.setdefault(fault["line"] - 1, []).append(f"{fault['kind']}: {fault['message']}")
    names = {name: argument.name for name, argument in arguments.items() if argument.name}
    return RunValues(str(answer["kernel"]), variables, lines, names)


def _format_values(values: list[Any]) -> str:
    """Return the first of the values as text."""
    return ", ".join(str(v) for v in values[:_MAX_VALUES]) + (", …" if len(values) > _MAX_VALUES else "")


# ---- machine code ----


async def on_gen(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return the machine code of a text by the finalizer, line by line; lens and hover show it from then on.

    A cancelled request ends the finalizer.
    """
    stop = Stop()
    asked: list[tuple[OpenDocument, bool]] = []  # the document, and whether its platform is set

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments)
        uri = options["uri"]
        opened, known = ls.documents.get(uri), ls.machine_code.get(uri)
        platform = _platform(ls, options)
        if opened is not None:
            asked.append((opened, bool(platform)))
        if platform := platform or (known.assumed if known is not None else ""):
            options["platform"] = platform
        if source := options.get("source"):
            options["source"] = ls.files.path_of(source) or source
        text, path = _text(ls, uri), ls.files.path_of(uri)
        return lambda: command_answers.gen(text, path, dict(options), stop)

    answer = await _answer_or_stop(ls, "vISA: machine code", token, prepare, stop)
    for opened, is_named in asked:
        code = MachineCode(opened.analysis.document, answer, is_platform_named=is_named)
        if not (is_named or answer.get("kernels")) and (before := ls.machine_code.get(opened.key)) is not None:
            code.assumed = before.assumed
        ls.machine_code[opened.key] = code
        ls.refresh("code_lens")
    return answer


async def on_compile(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Compile the file of a source for one device; return the texts of its kernels, and the messages of the compiler.

    A cancelled request ends the compiler.
    """
    stop = Stop()

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments)
        path = ls.files.path_of(options["uri"])
        if path is None:
            raise BadArgument(f"`{options['uri']}` is not a file")
        if platform := _platform(ls, options):
            options["platform"] = platform
        if ls.documents.compiled and (folder := ls.files.path_of(ls.documents.compiled)):
            options["folder"] = folder
        return lambda: command_answers.compile_answer(path, dict(options), stop)

    return await _answer_or_stop(ls, "vISA: compiling", token, prepare, stop)


async def on_check_with_compiler(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Compile an OpenCL source as open in the editor, and return the compiler's findings in columns of the client.

    Findings about inline assembly lie at the line of the string. A cancelled request ends the compiler.
    """
    stop = Stop()
    texts: list[Document] = []

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments)
        uri = options["uri"]
        if platform := _platform(ls, options):
            options["platform"] = platform
        text, path = _text(ls, uri), ls.files.path_of(uri)
        if host_of(path or uri) is not Host.OPENCL:
            raise BadArgument(f"`{uri}` is not an OpenCL source, the only language that the compiler accepts")
        texts.append(Document.parse(text))
        return lambda: command_answers.compiler_check(text, path, dict(options), stop)

    answer = await _answer_or_stop(ls, "vISA: compiling", token, prepare, stop)
    for finding in answer.get("findings", ()):
        finding["range"] = raw_range(texts[0], _span_of(texts[0], finding), ls.encoding)
    return answer


def _span_of(document: Document, finding: dict[str, int]) -> Span:
    """Return the place of a finding that has lines and columns from 1."""
    start = document.line_start(finding["line"] - 1) + finding["column"] - 1
    end = document.line_start(finding["end_line"] - 1) + finding["end_column"] - 1
    return Span(start, max(start, min(end, len(document))))


async def on_platform_of(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return the platform in force for a text, and its origin in words; both are empty for an unknown platform.

    ``checked`` tells whether findings are those of the platform, too: files tell only what a text runs on.
    """

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments)
        uri, path, text = options["uri"], ls.files.path_of(options["uri"]), _text(ls, options["uri"])
        named = ls.documents.platform_name(uri)
        by = "the setting" if ls.documents.settings_for(uri).platform else "visa-lsp.toml"
        if ls.documents.compiled and uri.startswith(ls.documents.compiled):
            by = "the compilation"
        return lambda: command_answers.platform_of(text, path, (named, by) if named else None)

    await ask_settings(ls)  # the client requests this when a setting has changed
    return await _answer(ls, "vISA: looking for the platform", token, prepare)


async def on_launch_template(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return the text of a launch file to fill in, with the arguments of ze_info, or with the values in ``quick``."""

    def prepare() -> Callable[[], Result]:
        named = options_of(arguments)
        text, path = _text(ls, named["uri"]), ls.files.path_of(named["uri"])
        options = {**named, **_quick(arguments), "platform": _platform(ls, named), "opened": _beside(ls, path)}
        return lambda: command_answers.launch_template(text, path, options)

    return await _answer(ls, "vISA: reading arguments", token, prepare)


# ---- inspection ----


async def on_control_flow(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return the control-flow graph of a kernel as DOT, as Mermaid, and as values."""

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments, second="kernel")
        opened = ls.find_open(types.TextDocumentIdentifier(options["uri"]))
        analysis = opened.analysis if opened else Analysis.of(_text(ls, options["uri"]), _platform(ls, options))
        line = options.get("line")
        number = int(line) if line is not None and line.isdigit() else None
        return lambda: _flow(analysis, options.get("kernel"), number)

    return await _answer(ls, "vISA: control flow", token, prepare)


def _flow(analysis: Analysis, kernel: str | None, line: int | None) -> Result:
    flow = flow_at(analysis, kernel, line)
    if flow is None:
        return {"ok": False, "error": f"unknown kernel or function `{kernel}`" if kernel else "the text has no kernel"}
    document = analysis.document
    return {"ok": True, "dot": dot(document, flow), "mermaid": mermaid(document, flow), **values(document, flow)}


async def on_ze_info(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return the ze_info of a document: that of its folder, or one inferred from the text."""

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments)
        text, path, platform = _text(ls, options["uri"]), ls.files.path_of(options["uri"]), _platform(ls, options)
        opened = _beside(ls, path)
        return lambda: command_answers.ze_info(text, path, platform, opened)

    return await _answer(ls, "vISA: ze_info", token, prepare)


async def on_explain(ls: VisaServer, arguments: list[Any], token: Any) -> Result:
    """Return the page of an instruction, a finding, a variable, a type, an attribute or a word of the glossary."""

    def prepare() -> Callable[[], Result]:
        options = options_of(arguments, needed="word", second="platform")
        return lambda: command_answers.explain(options["word"], options.get("platform"))

    return await _answer(ls, "vISA: explaining", token, prepare)


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
    if line is not None and not (line.isdecimal() and len(line) < _DIGITS):
        raise BadArgument("`line` must be a number from 0")
    return path, None if line is None else int(line)


async def on_words(ls: VisaServer, _arguments: list[Any], token: Any) -> Result:
    """Return the words with a page, each with its kind and a line."""
    return await _answer(ls, "vISA: listing words", token, lambda: command_answers.words)


async def on_show_references(ls: VisaServer, arguments: list[Any], _token: Any) -> Result:
    """Return the place of a lens; the client shows its references."""
    known = isinstance(arguments, list) and bool(arguments) and ls.documents.get(str(arguments[0])) is not None
    return {"ok": known, "arguments": arguments}
