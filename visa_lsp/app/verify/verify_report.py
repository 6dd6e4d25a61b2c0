"""The result of `verify` as values, as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import printable
from visa_lsp.app.exits import EXIT_FINDINGS, EXIT_OK, EXIT_UNDECIDED, EXIT_USAGE
from visa_lsp.app.launch.printing import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_HAZARDS: Final = 20  # printed of one kernel


class Answer(Enum):
    """The answer about one kernel."""

    EQUAL = "equal"
    DIFFERENT = "different"
    HAZARD = "hazard"
    UNMODELLED = "unmodelled"


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first store that differs. ``line`` is that of the text, from 0, or -1; a value is None where a side stores nothing.

    ``place`` names the memory, ``launch`` is the text of a launch file that shows it.
    """

    line: int
    text: str
    gen: str
    visa_value: Any
    gen_value: Any
    lane: int | None
    thread: int
    group: tuple[int, int, int]
    place: str
    launch: str = ""


@dataclass(frozen=True, slots=True)
class HazardReport:
    """An instruction that uses a register too early: its text, what it needs, and its line of the text, from 0, or -1."""

    gen: str
    needs: str
    line: int = -1


@dataclass(frozen=True, slots=True)
class KernelVerdict:
    """The answer about one kernel. ``unneeded`` are waits without which no hazard exists, if they were asked for.

    In ``stuck`` launches threads wait at a barrier that cannot complete; these end there.
    """

    path: str
    kernel: str
    platform: str
    answer: Answer
    launches: int = 0
    threads: int = 0
    first: FirstDifference | None = None
    hazards: tuple[HazardReport, ...] = ()
    unmodelled: tuple[tuple[str, int], ...] = ()
    unneeded: tuple[HazardReport, ...] | None = None
    hazards_only: bool = False
    stuck: int = 0


@dataclass(frozen=True, slots=True)
class InputProblem:
    """An input that cannot be verified, in one sentence."""

    path: str
    message: str


Row = KernelVerdict | InputProblem


def exit_status(rows: Sequence[Row]) -> int:
    """Return the exit status: usage before differences before what is not modelled."""
    if any(isinstance(row, InputProblem) for row in rows):
        return EXIT_USAGE
    answers = {row.answer for row in rows if isinstance(row, KernelVerdict)}
    if answers & {Answer.DIFFERENT, Answer.HAZARD}:
        return EXIT_FINDINGS
    return EXIT_UNDECIDED if Answer.UNMODELLED in answers else EXIT_OK


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the report as JSON values."""
    return [_json_of(row) for row in rows]


def _json_of(row: Row) -> dict[str, Any]:
    if isinstance(row, InputProblem):
        return {"path": printable(row.path), "error": printable(row.message)}
    values: dict[str, Any] = {
        "path": printable(row.path), "kernel": printable(row.kernel), "answer": row.answer.value, "launches": row.launches,
        "threads": row.threads, "stuck": row.stuck,
    }  # fmt: skip
    if row.first is not None:
        difference = row.first
        values["first"] = {
            "line": difference.line + 1 if difference.line >= 0 else None, "gen": printable(difference.gen), "visa_value": difference.visa_value,
            "gen_value": difference.gen_value, "lane": difference.lane, "thread": difference.thread, "group": list(difference.group),
            "place": printable(difference.place), "launch": printable(difference.launch),
        }  # fmt: skip
    values["hazards"] = [{"gen": printable(h.gen), "needs": h.needs} for h in row.hazards]
    values["unmodelled"] = [{"what": what, "count": count} for what, count in row.unmodelled]
    if row.unneeded is not None:
        values["slack"] = [{"gen": printable(h.gen), "wait": h.needs} for h in row.unneeded]
    return values


def text_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the report as lines of text."""
    for row in rows:
        if isinstance(row, KernelVerdict):
            yield from _lines_of(row)
    verdicts = [row for row in rows if isinstance(row, KernelVerdict)]
    if len(verdicts) > 1:
        counts = {answer: sum(row.answer is answer for row in verdicts) for answer in Answer}
        words = ", ".join(f"{count} {answer.value}" for answer, count in counts.items() if count)
        yield f"{len(verdicts)} kernels: {words}"


def _lines_of(row: KernelVerdict) -> Iterator[str]:
    start = f"{row.path}: {row.kernel} on {row.platform}: "
    runs = f"{counted(row.launches, 'launch', 'launches')}, {counted(row.threads, 'thread')}"
    match row.answer:
        case Answer.EQUAL if row.hazards_only:
            yield f"{start}no hazard at {runs}"
        case Answer.EQUAL:
            yield f"{start}equal at {runs}{_stuck_words(row)}"
        case Answer.HAZARD:
            yield f"{start}{counted(len(row.hazards), 'hazard')} at {runs}"
        case Answer.UNMODELLED:
            yield f"{start}not judged: {'; '.join(f'{what} ({count})' for what, count in row.unmodelled)}"
        case Answer.DIFFERENT:
            yield f"{start}different"
    if row.first is not None:
        yield from _difference_lines(row.first)
    for hazard in row.hazards[:_MAX_HAZARDS]:
        place = f"line {hazard.line + 1}: " if hazard.line >= 0 else ""
        yield f"  hazard: {place}{hazard.gen}"
        yield f"    needs {hazard.needs}"
    if len(row.hazards) > _MAX_HAZARDS:
        yield f"  and {len(row.hazards) - _MAX_HAZARDS} more hazards"
    for wait in row.unneeded or ():
        place = f"line {wait.line + 1}: " if wait.line >= 0 else ""
        yield f"  unneeded wait: {place}{wait.needs}: {wait.gen}"
    if row.unneeded is not None:
        yield f"  {counted(len(row.unneeded), 'wait')} without which no hazard exists"


def _stuck_words(row: KernelVerdict) -> str:
    """Return words about launches that end at a barrier; empty if there is none."""
    where = "it ends" if row.launches == 1 else f"{row.stuck} of them end"
    return f"; {where} at a barrier that cannot complete" if row.stuck else ""


def _difference_lines(difference: FirstDifference) -> Iterator[str]:
    x, y, z = difference.group
    lane = "" if difference.lane is None else f", lane {difference.lane}"
    yield f"  first difference: {difference.place}, group ({x}, {y}, {z}), thread {difference.thread}{lane}"
    line = f"line {difference.line + 1}: " if difference.line >= 0 else ""
    yield f"    vISA {_value(difference.visa_value)}  {line}{difference.text.strip()}".rstrip()
    yield f"    Gen  {_value(difference.gen_value)}  {difference.gen.strip()}".rstrip()
    if difference.launch:
        yield "    a launch file that shows it:"
        yield from (f"      {line}" for line in difference.launch.rstrip().splitlines())


def _value(value: Any) -> str:
    return "stores nothing" if value is None else f"stores {value}"
