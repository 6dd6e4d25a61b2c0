"""The answers of the tools, as types from which the output schemas are made.

``first``, ``total`` and ``cursor`` are those of ``pages``.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class PagedAnswer(TypedDict):
    """Fields of every answer: the number of the first item here, the number of all items, and the cursor of the next page."""

    first: NotRequired[int]
    total: NotRequired[int]
    cursor: NotRequired[str]


class FindingEdit(TypedDict):
    """Replace a range by a text; lines and columns from 1, the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    new_text: str


class FindingFix(TypedDict):
    """A fix of a finding."""

    title: str
    safe: bool
    edits: list[FindingEdit]


class CheckFinding(TypedDict):
    """A finding; its id does not change while its code and the words of its line are the same."""

    id: str
    path: NotRequired[str]
    line: int
    column: int
    end_column: int
    severity: str
    code: str
    name: str
    message: str
    excerpt: str
    fixes: NotRequired[list[FindingFix]]


class CheckAnswer(PagedAnswer):
    """The findings, errors first."""

    ok: bool
    errors: int
    warnings: int
    others: int
    fixed: NotRequired[int]
    files: NotRequired[int]
    unreadable: NotRequired[list[str]]
    findings: list[CheckFinding]


class TextAnswer(PagedAnswer):
    """A text in pages."""

    text: str


class WrittenTextAnswer(TextAnswer):
    """A text in pages, and the files that it was written to."""

    written: NotRequired[list[str]]


class FoundInstruction(TypedDict):
    """A row of the table of instructions."""

    id: str
    syntax: str
    summary: str
    family: str


class SearchAnswer(PagedAnswer):
    """Instructions, the best first."""

    instructions: list[FoundInstruction]


class ReadAnswer(TextAnswer):
    """Pseudo-code; each line begins with the lines of the vISA text and a bar."""

    kernels: list[str]


class AssembleAnswer(PagedAnswer):
    """The object of a text, or the findings that prevent it."""

    ok: bool
    bytes: NotRequired[int]
    sha256: NotRequired[str]
    kernels: NotRequired[list[str]]
    written: NotRequired[str]
    findings: list[CheckFinding]


class RunFault(TypedDict):
    """A fault or note of a run; ``other`` is the other party, such as that of a race."""

    id: str
    kind: str
    severity: str
    message: str
    kernel: str
    group: list[int]
    thread: int
    lane: NotRequired[int]
    line: NotRequired[int]
    excerpt: NotRequired[str]
    work_items: NotRequired[str]
    other: NotRequired[str]
    other_excerpt: NotRequired[str]
    other_work_items: NotRequired[str]
    source: NotRequired[str]


class RunBuffer(TypedDict):
    """A buffer after the run, with its first values."""

    arg: int | str
    name: NotRequired[str]
    dtype: str
    shape: list[int]
    changed: bool
    head: list[Any]


class FailedExpectation(TypedDict):
    """An expectation that does not hold."""

    arg: int | str
    message: str


class RunAnswer(PagedAnswer):
    """The report of a launch; a page lists either its faults or its values."""

    ok: bool
    verdict: str
    kernel: str
    platform: str
    engine: str
    groups: int
    threads: int
    instructions: int
    expectations: NotRequired[int]
    failed: NotRequired[list[FailedExpectation]]
    buffers: NotRequired[list[RunBuffer]]
    printed: NotRequired[str]
    notes: NotRequired[list[str]]
    assumed: NotRequired[list[str]]
    faults: NotRequired[list[RunFault]]
    values: NotRequired[list[Any]]


class WhyCause(TypedDict):
    """An instruction that contributed to the value, or an input or memory without a recorded write."""

    id: int
    kind: str
    text: str
    values: dict[str, Any]
    causes: list[int]
    distance: int
    times: int
    path: str | None
    line: int | None
    lane: int | None
    thread: int | None
    group: list[int] | None
    lanes: NotRequired[list[int]]
    reads: NotRequired[dict[str, Any]]
    races: NotRequired[list[int]]
    differs: NotRequired[bool]
    first_difference: NotRequired[bool]
    reference: NotRequired[dict[str, Any]]


class WhyAnswer(PagedAnswer):
    """The value or fault, and its causes, the most informative first; ``more`` counts the omitted ones."""

    value: str
    now: Any
    expected: NotRequired[Any]
    against: NotRequired[str]
    more: NotRequired[int]
    notes: NotRequired[list[str]]
    nodes: list[WhyCause]


class DifferentKernel(TypedDict):
    """A kernel that differs, with figures of both sides."""

    name: str
    changes: int
    figures: NotRequired[dict[str, str]]


class ProgramChange(TypedDict):
    """A difference; lines of both sides from 1, first and last."""

    id: str
    kernel: str
    kind: str
    a: list[int]
    b: list[int]
    what: str
    listing: NotRequired[list[str]]


class DiffAnswer(PagedAnswer):
    """Differences apart from names, order of declarations and comments."""

    same: bool
    kernels: int
    different: list[DifferentKernel]
    unreadable: NotRequired[list[str]]
    changes: list[ProgramChange]


class RegisterPeak(TypedDict):
    """The largest number of units in use, and the line of it."""

    max: int
    line: int | None


class KernelStats(TypedDict):
    """The figures of a kernel; ``pressure`` counts rows of ``grf_bytes``."""

    name: str
    path: NotRequired[str]
    instructions: int
    sends: int
    blocks: int
    loops: int
    variables: int
    grf_bytes: int
    pressure: RegisterPeak
    flags: RegisterPeak
    by_family: dict[str, int]


class LiveAtPeak(TypedDict):
    """A variable that is live at the peak of the pressure, with its rows and the lines of its live range."""

    name: str
    takes: float
    first: int | None
    last: int | None


class StatsAnswer(PagedAnswer):
    """Figures of the kernels, or of one kernel with its live variables."""

    kernels: list[KernelStats]
    live: NotRequired[list[LiveAtPeak]]
    dumps: NotRequired[list[dict[str, Any]]]


class GenKernel(TypedDict):
    """A kernel in machine code."""

    name: str
    figures: str


class GenAnswer(TextAnswer):
    """Each line of the text with its number and register pressure, its machine code below it."""

    platform: str
    kernels: list[GenKernel]
    findings: NotRequired[list[str]]
