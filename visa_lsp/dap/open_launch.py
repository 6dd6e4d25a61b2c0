"""A prepared run from the arguments of a debugger's launch request.

A program is prepared as by ``run``: from the same files, with the same error messages. Prints nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_USAGE
from visa_lsp.app.launch import ready_run, runner
from visa_lsp.app.launch.printing import Outcome, text_lines
from visa_lsp.app.launch.report import name_of
from visa_lsp.app.launch.unit import job_at, open_job
from visa_lsp.app.why.report import text_lines as why_lines
from visa_lsp.app.why.stopped_run import explain_standing
from visa_lsp.dap.state import Launched, LaunchRefused
from visa_lsp.debug.cells import Cells, LaunchArgument
from visa_lsp.debug.debugger import Debugger
from visa_lsp.debug.stops import Activation, Launch

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.app.launch.ready_run import ReadyRun
    from visa_lsp.debug.breakpoints import ThreadKey

_LANE: Final = re.compile(r"\[(\d{1,2})\]\Z")
_MAX_SHOWN: Final = 8  # elements of a value
_THREE: Final = r"\(?\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?(?:,\s*(\d{1,9})\s*)?\)?"
_THREAD: Final = re.compile(rf"\s*group\s*{_THREE}\s*,?\s*thread\s+(\d{{1,9}})\s*\Z")
_ITEM: Final = re.compile(rf"\s*item\s*{_THREE}\s*\Z")


def open_launch(arguments: dict[str, Any], say: Callable[[str], None]) -> Launched:
    """Prepare the run of ``program``, a text, an object or a launch file.

    ``launch``: a launch file; ``platform``, ``checks``, ``kernel``: as the options of ``run``; ``thread``: the only thread
    that breakpoints stop, ``group x,y,z thread n`` or a work item, ``item x,y,z``. Raises LaunchRefused with the message and
    status of ``run``.
    """
    try:
        ready, assumed, name = _ready(arguments)
        focus = _focus(_text(arguments, "thread"), ready)
    except (runner.LaunchError, UserError, FileNotFoundError) as error:
        raise LaunchRefused(str(error), EXIT_USAGE) from None
    except runner.TextProblems as problems:
        raise LaunchRefused(str(problems), EXIT_FINDINGS) from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise LaunchRefused(f"{arguments.get('program')}: cannot be read: {words}", EXIT_USAGE) from None
    checks = ready.options.checks
    values = {entry.arg: entry for entry in ready.values}
    order = sorted({*ready.prepared.arrays, *values}, key=lambda key: (isinstance(key, str), key))
    arguments_ = {
        key: _argument(ready, key)
        if key in ready.prepared.arrays
        else LaunchArgument(
            _title(ready, key), str(ready.prepared.names.get(key, "")) or _name_of(key), values[key].array.copy()
        )
        for key in order
    }
    debugger = Debugger(
        Launch(
            ready.dispatch(ready_run.INTERPRETED_STEPS),
            ready.texts,
            arguments_,
            lambda: ready_run.observers_named(checks),
        ),
        say,
    )
    notes = [*assumed, *ready.notes]
    if _text(arguments, "engine") not in ("", "auto", "interp"):
        notes.append("the debugger always interprets, whatever the engine; the kernel computes the same")

    def finish() -> tuple[int, list[str]]:
        report = ready.report(debugger.finish(), "interp").with_assumed(tuple(assumed))
        outcome = Outcome(
            name, report, tuple(None for _ in report.buffers), status=EXIT_OK if report.ok else EXIT_FINDINGS
        )
        return outcome.status, [line for text in text_lines(outcome) for line in text.splitlines()]

    def explain(activation: Activation, cells: Cells) -> list[str]:
        lane = _LANE.search(cells.name)
        lanes = [int(lane[1])] if lane else range(cells.data.size)
        shown = ", ".join(str(value) for value in cells.values().tolist()[:_MAX_SHOWN])
        report = explain_standing(
            ready,
            debugger.replay_for,
            activation.frame,
            cells.where,
            cells.data.nbytes,
            lanes,
            f"{cells.name} = {shown}",
        )
        return list(why_lines(report))

    return Launched(debugger, tuple(notes), focus, lambda: ready.printed, finish, lambda: _first_wrong(ready), explain)


def _first_wrong(ready: ReadyRun) -> tuple[int | str, int, str] | None:
    """Return the argument, flat index and a sentence about the first element that is not as expected."""
    for expectation in ready.expectations():
        wrong = expectation.mismatch
        if wrong is not None and wrong.first and expectation.arg in ready.prepared.arrays:
            return expectation.arg, wrong.first[0], f"{_title(ready, expectation.arg)}: {wrong.message}"
    return None


def _text(arguments: dict[str, Any], name: str) -> str:
    value = arguments.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise runner.LaunchError(f"'{name}' must be a text")
    return value


def _ready(arguments: dict[str, Any]) -> tuple[ReadyRun, tuple[str, ...], str]:
    """Return the prepared run, the assumptions, and the program's name in the report."""
    program = _text(arguments, "program")
    if not program:
        raise runner.LaunchError("'program' is missing: expected a text, an object or a launch file")
    options = runner.RunOptions(
        platform=_text(arguments, "platform") or None, engine="interp", checks=_text(arguments, "checks") or "all"
    )
    ready_run.refuse_unknown_checks(options.checks)
    opened = open_job(job_at(program, _text(arguments, "launch") or None, options), kernel=_text(arguments, "kernel"))
    with opened.errors_named():
        return opened.ready(), opened.proposed.proposal.assumed if opened.proposed is not None else (), program


def _argument(ready: ReadyRun, key: int | str) -> LaunchArgument:
    return LaunchArgument(
        _title(ready, key), ready.prepared.names.get(key, "") or _name_of(key), ready.prepared.arrays[key]
    )


def _title(ready: ReadyRun, key: int | str) -> str:
    return name_of(key, ready.prepared.names.get(key, ""))


def _name_of(key: int | str) -> str:
    return key if isinstance(key, str) else ""


def _focus(words: str, ready: ReadyRun) -> ThreadKey | None:
    """Return the thread that the user chose. Raises LaunchError for one outside of the dispatch."""
    if not words:
        return None
    dispatch, geometry = ready.prepared.dispatch, ready.prepared.geometry
    if match := _THREAD.match(words):
        x, y, z, number = (int(n or 0) for n in match.groups())
        group = (x, y, z)
        if any(coordinate >= count for coordinate, count in zip(group, dispatch.groups, strict=True)):
            last = ",".join(str(count - 1) for count in dispatch.groups)
            raise runner.LaunchError(f"no {words.strip()}: the last group is {last}")
        if number >= dispatch.shape(group).threads:
            raise runner.LaunchError(
                f"no {words.strip()}: the last thread of the group is {dispatch.shape(group).threads - 1}"
            )
        return group, number
    if match := _ITEM.match(words):
        x, y, z = (int(n or 0) for n in match.groups())
        item = (x, y, z)
        position = [i - o for i, o in zip(item, geometry.global_offset, strict=True)]
        group = tuple(a // size for a, size in zip(position, geometry.local_size, strict=True))  # type: ignore[assignment]
        if all(0 <= a < count for a, count in zip(group, dispatch.groups, strict=True)):
            for number in range(dispatch.shape(group).threads):
                for lane in range(dispatch.simd):
                    ids = dispatch.item(group, number, lane)
                    if ids is not None and ids[0] == item:
                        return group, number
        raise runner.LaunchError(f"no work item {','.join(map(str, item))}")
    raise runner.LaunchError(f"'{words[:80]}' is not a thread; expected group 0,0,0 thread 3, or item 5,0,0")
