"""Commands that run kernels, each in another process, and the results that later requests show. Cancelling ends a run."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from visa_lsp.app.stats.dumps import DUMP_SUFFIX
from visa_lsp.companions import LAUNCH
from visa_lsp.ide.features.inline_values import RunValues
from visa_lsp.ide.workspace import Language
from visa_lsp.lsp.capabilities import RUN
from visa_lsp.lsp.handlers import info
from visa_lsp.lsp.handlers.commands import (
    DIGITS,
    QUICK,
    BadArgument,
    Call,
    Work,
    command,
    is_object,
    list_open_texts,
    named,
    options_of,
    plain,
    text_of,
)
from visa_lsp.lsp.handlers.objects import SCHEME
from visa_lsp.lsp.jobs.run_client import run_all_in_subprocess, run_in_subprocess
from visa_lsp.lsp.work_progress import send_partial

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.ide.zeinfo.described_inputs import HeldArgument
    from visa_lsp.lsp.jobs.model import Result, RunJob
    from visa_lsp.lsp.visa_server import VisaServer

logger = logging.getLogger(__name__)

_MAX_VALUES: Final = 8
_LOOK_FOR_EDITS: Final = 0.1  # seconds
_MAX_TIMEOUT_SECONDS: Final = 86400


@command(RUN, "vISA: running", trusted=True)
def on_run(call: Call) -> Work:
    """Run a text, an object, or the program of a launch file.

    The launch of a text or an object is its launch file, ``launchText``, the text of one, or ``quick``, an object with the
    keys of one, completed from ze_info.
    """
    options: dict[str, Any] = {**call.read(), **call.quick}
    uri = call.uri
    call.finish = lambda answer: _remember(call.ls, uri, answer)
    if uri.endswith(LAUNCH):
        _complete_launch_options(call.ls, options)
        return lambda: run_in_subprocess(None, None, options, call.stop)
    _find_launch(call, options)
    if call.platform and (call.options.get("platform") or QUICK in options or not is_object(uri)):
        options["platform"] = call.platform
    text, path = None if is_object(uri) else call.text, call.path
    if text is None and path is None:
        raise BadArgument("an object has to be a file")
    if beside := call.beside:
        options["opened"] = beside
    return lambda: run_in_subprocess(text, path, options, call.stop)


def _find_launch(call: Call, options: dict[str, Any]) -> None:
    """Replace the URI of a launch file in the options by its path."""
    if options.get("launch", "").startswith("file:"):
        options["launch"] = call.ls.files.path_of(options["launch"]) or ""


@command("visa.why", "vISA: explaining", trusted=True)
def on_why(call: Call) -> Work:
    """Explain an element of a buffer (``value``), a fault by its number, or the first failure of a run.

    Options: ``launch``, ``launchText``, ``platform`` as for ``visa.run``; ``against``, the URI of a reference program;
    ``most``, the number of nodes. The answer is that of ``visa-lsp why --format json``.
    """
    options: dict[str, Any] = dict(call.read())
    uri, is_launch = call.uri, call.uri.endswith(LAUNCH)
    question: dict[str, Any] = {"value": options["value"]} if "value" in options else {}
    question |= {name: _count(options[name], name) for name in ("fault", "most") if name in options}
    if other := options.get("against"):
        place = call.ls.files.path_of(other) or other
        question["against"] = {"path": place} if is_object(other) else {"path": place, "text": text_of(call.ls, other)}
    if is_launch:
        _complete_launch_options(call.ls, options)
    else:
        _find_launch(call, options)
        if not is_object(uri) and call.platform:
            options["platform"] = call.platform
    text = None if is_launch or is_object(uri) else call.text
    path = None if is_launch else call.path
    return lambda: run_in_subprocess(text, path, {**options, "why": question}, call.stop)


def _count(word: str, name: str) -> int:
    if not word.isdecimal() or not 0 < len(word) < DIGITS or int(word) == 0:
        raise BadArgument(f"`{name}` must be a whole number from 1 on")
    return int(word)


class MadeRun(NamedTuple):
    """A text made for a run, its launch as an object, and the number of values to report for a buffer."""

    text: str
    launch: dict[str, Any]
    head: int


def run_made(call: Call, make: Callable[[dict[str, str]], MadeRun]) -> Work:
    """Run a text that ``make`` creates from the options of a call; ``quick`` of the call overrides parts of its launch."""
    run = make(call.read(second="block"))
    quick = call.quick.get(QUICK, {})
    args = quick.get("args", {})
    if not isinstance(args, dict):
        raise BadArgument("`args` must be an object with the names of buffers")
    job = {QUICK: {**run.launch, **quick, "args": {**run.launch["args"], **args}}, "head": run.head}
    if call.platform:
        job["platform"] = call.platform
    return lambda: run_in_subprocess(run.text, None, job, call.stop)


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
    options["opened"] = list_open_texts(ls, Language.VISA, Language.ZEINFO)


@named("visa.stats")
async def on_stats(ls: VisaServer, arguments: Any, token: Any) -> Result:
    """Return the figures of the kernels of a text or an object, line by line, or those of a dump.

    With ``lives`` the answer also has the lines where each variable is live. An edit of the text ends the work, with
    ``edited`` in the answer.
    """
    call = Call(ls, arguments)
    counting = asyncio.ensure_future(call.answer("vISA: counting", token, _count_figures))
    await asyncio.sleep(0)  # the text is the current one from here on
    before = call.opened
    try:
        while not (await asyncio.wait([counting], timeout=_LOOK_FOR_EDITS))[0]:
            if call.opened is not before:
                call.stop.ask()
                await asyncio.wait([counting])
                return {"ok": False, "error": "the text was edited", "edited": True}
    except asyncio.CancelledError:
        call.stop.ask()
        raise
    return counting.result()


def _count_figures(call: Call) -> Work:
    options = call.read()
    is_made = is_object(call.uri) or call.uri.lower().endswith(DUMP_SUFFIX)
    text, path = None if is_made else call.text, call.path
    if text is None and path is None:
        raise BadArgument("an object or a dump has to be a file")
    platform = call.platform if options.get("platform") or not is_made else None
    job = {"stats": {"platform": platform, "lives": options.get("lives")}}
    return lambda: run_in_subprocess(text, path, job, call.stop)


@command("visa.runAll", "vISA: running tests", trusted=True)
def on_run_all(call: Call) -> Work:
    """Run launch files one after another in one process: ``uris``, and the options of ``visa.run`` for all of them.

    With ``partialResultToken`` each answer is sent as progress when it is ready; otherwise all are in ``runs``.
    ``timeout`` is a number of seconds for each. Cancelling the request ends the current run and starts no other.
    """
    uris, seconds, partial, options = _batch(call.arguments)
    runs: list[Result] = []
    call.finish = lambda answer: {**answer, "runs": runs} if answer["ok"] else answer

    def done(uri: str, answer: Result) -> None:
        _remember(call.ls, uri, answer)
        if partial is not None:
            send_partial(call.ls, partial, {**answer, "uri": uri})
        runs.append({"uri": uri, "ok": answer["ok"]} if partial is not None else {**answer, "uri": uri})

    jobs: dict[str, RunJob] = {}
    for uri in dict.fromkeys(uris):
        try:
            job: dict[str, Any] = options_of([{**options, "uri": uri}])
            _complete_launch_options(call.ls, job)
            jobs[uri] = (None, None, job, seconds)
        except BadArgument as error:
            done(uri, {"ok": False, "error": str(error)})
    loop, order = asyncio.get_running_loop(), list(jobs)

    def send(number: int, answer: Result) -> None:
        loop.call_soon_threadsafe(done, order[number], answer)

    return lambda: run_all_in_subprocess(list(jobs.values()), call.stop, send)


def _batch(arguments: list[Any]) -> tuple[list[str], float | None, str | int | None, dict[str, Any]]:
    """Return the arguments of ``visa.runAll``: launch files, seconds for each, the token for answers, the options of each run."""
    value = plain(arguments[0] if arguments else None)
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


def _remember(ls: VisaServer, uri: str, answer: Result) -> Result:
    """Store the results of a run, for the inline values of its text, and return them."""
    source = answer.get("source")
    opened = ls.documents.get(uri)
    if uri.endswith(LAUNCH):
        opened = ls.files.find_open(Path(source)) if source else None
    elif is_object(uri):
        opened = ls.documents.get(f"{SCHEME}:{uri.partition(':')[2]}.visaasm")
    if not answer.get("kernel") or opened is None:
        return answer
    try:
        arguments = info.arguments_beside(ls, opened, str(answer["kernel"]))
    except Exception:  # without the text, values are shown by name only
        logger.exception("the arguments of %s are not known", uri)
        arguments = {}
    ls.runs[opened.key] = (opened.analysis.document.text, _values_of(answer, arguments))
    ls.refresh("inline_value")
    return answer


def _values_of(answer: Result, arguments: dict[str, HeldArgument]) -> RunValues:
    """Return the results of a run for inline values."""
    variables: dict[str, str] = {}

    def keep(entry: Result, text: str) -> None:
        names = [name for name, argument in arguments.items() if argument.index == entry["arg"]]
        for name in (str(entry["name"]), str(entry["arg"]), *names):
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
