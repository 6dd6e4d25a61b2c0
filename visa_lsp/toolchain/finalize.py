"""Runs the finalizer on a text and assigns its Gen instructions to lines of the text.

A complete listing means success, because the exit status can be 1 with complete listings. Knows texts as lines without
comments. Invariant: every Gen instruction of a listing belongs to exactly one line of the text.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event
from typing import TYPE_CHECKING, Final

from visa_lsp.children import temporary_folder
from visa_lsp.safe_io import MIB, read_file
from visa_lsp.text import encode_text
from visa_lsp.toolchain.complaints import Complaint, complaints_in, misuse, platforms_in, warnings_in
from visa_lsp.toolchain.listing import GenLine, GenListing, read_listing
from visa_lsp.toolchain.pressure import ToldPressure, read_pressure
from visa_lsp.toolchain.process import Ran, ToolError, run_program
from visa_lsp.toolchain.rules import FINALIZER_ERROR, FINALIZER_FAILURE, FINALIZER_REMARK, FINALIZER_WARNING
from visa_lsp.toolchain.schedule import ScheduleRow, read_schedule, with_issues
from visa_lsp.toolchain.text_bodies import GuardedCopy, TextBody, bodies_of, code_name, listing_name, make_guarded_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from visa_lsp.diagnostics import Rule

SECONDS: Final = 30.0  # a thousand instructions take 0.1 s
_MAX_LISTING_BYTES: Final = 64 * MIB  # a thousand instructions take some 150 KB
_MAX_ERROR_BYTES: Final = 4 * MIB
_TEXT: Final = "text.visaasm"
_LISTING: Final = "text.asm"
_ERRORS: Final = "*.errors.txt"
_SCHEDULE: Final = re.compile(r"\.bb(\d{1,9})\.schedule$")
_MAX_ERROR_FILES: Final = 100
_MAX_WORDS_CHARS: Final = 200
_NOISE: Final = re.compile(r"\s*(?:.* -platform \S+ -output|\[vISA Finalizer Messages\]|Kernel .* : \d+ registers)")


@dataclass(frozen=True, slots=True)
class FinalizerCall:
    """A call of the finalizer: its path, its name of the platform, further options, the time limit, and the stop check."""

    tool: str
    platform: str
    options: tuple[str, ...] = ()
    seconds: float = SECONDS
    stop: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class ToolFinding:
    """A message of a tool about a line of a text, from 0."""

    rule: Rule
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class GenUnderLine:
    """The Gen lines of one line of the text (from 0), in the order of the listing; ``pressure`` is None if unknown."""

    line: int
    gen: tuple[GenLine, ...]
    pressure: int | None = None

    @property
    def instructions(self) -> tuple[GenLine, ...]:
        """The Gen lines except labels."""
        return tuple(line for line in self.gen if not line.is_label)


@dataclass(frozen=True, slots=True)
class FinalizedKernel:
    """The machine code of a body. ``lines`` are the lines of the text with Gen code, in order.

    ``code`` are the bytes of the machine code, if they were requested; ``schedule`` are the rows of the finalizer's schedule; empty if it was not requested.
    """

    body: TextBody
    listing: GenListing
    lines: tuple[GenUnderLine, ...]
    max_pressure: int | None = None
    schedule: tuple[ScheduleRow, ...] = ()
    code: bytes = b""

    def place_lines(self) -> Iterator[tuple[GenLine, int]]:
        """Yield every line of the listing in order, with its line of the text."""
        places = {id(gen): under.line for under in self.lines for gen in under.gen}
        return ((gen, places[id(gen)]) for gen in self.listing.lines)


@dataclass(frozen=True, slots=True)
class Finalized:
    """The result for a text: the finished kernels and the messages of the finalizer."""

    kernels: tuple[FinalizedKernel, ...]
    findings: tuple[ToolFinding, ...] = ()
    bodies: tuple[TextBody, ...] = field(default=())


def finalize(
    codes: Sequence[str],
    call: FinalizerCall,
    *,
    with_pressure: bool = True,
    with_schedule: bool = False,
    with_code: bool = False,
) -> Finalized:
    """Finalize a text, given as its lines without comments.

    Raises ToolError if the finalizer cannot start, or does not know the platform or an option.
    """
    bodies = bodies_of(codes)
    if not bodies:
        return Finalized((), (ToolFinding(FINALIZER_FAILURE, 0, "no kernel found for the finalizer"),))
    copy = make_guarded_copy(codes, bodies)
    # Pressure and schedule need separate runs, which run in parallel and are stopped if there is no machine code.
    needless = Event()
    aside = replace(call, stop=lambda: needless.is_set() or (call.stop is not None and call.stop()))
    end = time.monotonic() + call.seconds
    with ThreadPoolExecutor(1 + with_schedule) as pool:
        copies = [make_guarded_copy(codes, bodies, number) for number in range(len(bodies))]
        asked = [pool.submit(_pressure, body_copy, aside, end) for body_copy in copies if with_pressure]
        scheduled = [pool.submit(_schedule, body_copy, aside, end) for body_copy in copies if with_schedule]
        try:
            with temporary_folder() as folder:
                ran = _run(copy, call, folder, call.seconds, "-printregusage", *(["-binary"] if with_code else []))
                binaries = {n: _read_bytes(folder / code_name(n)) for n in range(len(bodies)) if with_code}
                texts = {number: _read(folder / listing_name(number)) for number in range(len(bodies))}
                if len(bodies) == 1:
                    # A release without the attribute names the file after the text.
                    texts[0] = texts[0] or _read(folder / _LISTING)
                written = sorted(folder.glob(_ERRORS))[:_MAX_ERROR_FILES]
                errors = "\n".join(_read(path, _MAX_ERROR_BYTES) for path in written)
            rows = [job.result() if any(texts.values()) else () for job in scheduled]
            kernels = tuple(
                replace(
                    _group_by_lines(
                        bodies, number, read_listing(text), asked[number].result() if asked else ToldPressure(), rows
                    ),
                    code=binaries.get(number, b""),
                )
                for number, text in texts.items()
                if text
            )
        finally:
            needless.set()
    problem = misuse(ran.said)
    if problem:
        raise ToolError(problem)
    done = {number for number, text in texts.items() if text}
    findings = _findings(codes, copy, bodies, done, ran, errors)
    if with_schedule:
        words = "the finalizer writes no schedule of '{}'"
        findings += tuple(
            ToolFinding(FINALIZER_REMARK, kernel.body.line, words.format(kernel.body.name))
            for kernel in kernels
            if not kernel.schedule
        )
    return Finalized(kernels, findings, bodies)


def platforms_of(call: FinalizerCall) -> tuple[str, ...]:
    """Return the platforms of the finalizer, by its names; empty if it does not list them."""
    with temporary_folder() as folder:
        return platforms_in(run_program([call.tool, "--help"], folder, call.seconds, stop=call.stop).said)


def of_listing(codes: Sequence[str], listing: str) -> Finalized:
    """Return the machine code of a text with one kernel, from the listing of its compiler."""
    bodies = bodies_of(codes)
    return Finalized((_group_by_lines(bodies, 0, read_listing(listing), ToldPressure()),) if bodies else (), (), bodies)


def _run(copy: GuardedCopy, call: FinalizerCall, folder: Path, seconds: float, *more: str) -> Ran:
    (folder / _TEXT).write_bytes(encode_text(copy.text))
    command = [call.tool, _TEXT, "-platform", call.platform, "-output", *more, *call.options]
    return run_program(command, folder, seconds, stop=call.stop)


def _read(path: Path, most: int = _MAX_LISTING_BYTES) -> str:
    """Return the contents of an output file of the finalizer; empty if it does not exist."""
    return _read_bytes(path, most).decode("utf-8", "replace")


def _read_bytes(path: Path, most: int = _MAX_LISTING_BYTES) -> bytes:
    try:
        return read_file(path, most, own=True)
    except OSError:
        return b""


def _pressure(copy: GuardedCopy, call: FinalizerCall, end: float) -> ToldPressure:
    """Return the pressure of the single body of a copy.

    This needs a separate run, because the finalizer prints it only with graph colouring, which assigns other registers.
    """
    left = end - time.monotonic()
    if left <= 0 or (call.stop is not None and call.stop()):
        return ToldPressure()
    with temporary_folder() as folder:
        ran = _run(copy, call, folder, left, "-dumpRPE", "-nolocalra")
    return ToldPressure() if ran.failure else read_pressure(ran.said)


def _schedule(copy: GuardedCopy, call: FinalizerCall, end: float) -> tuple[ScheduleRow, ...]:
    """Return the schedule of the single body of a copy; empty without one, as from a release that does not know the option.

    This needs a separate run, because the finalizer names the files of all bodies alike.
    """
    left = end - time.monotonic()
    if left <= 0 or (call.stop is not None and call.stop()):
        return ()
    with temporary_folder() as folder:
        _run(copy, call, folder, left, "-printregusage", "-dumpSchedule", "-dumpDagDot")
        blocks = {int(match[1]): path for path in folder.iterdir() if (match := _SCHEDULE.search(path.name))}
        return read_schedule(
            {block: (_read(path), _read(path.with_suffix(".dag.dot"))) for block, path in blocks.items()}
        )


def _group_by_lines(
    bodies: Sequence[TextBody],
    number: int,
    listing: GenListing,
    pressure: ToldPressure,
    schedules: Sequence[tuple[ScheduleRow, ...]] = (),
) -> FinalizedKernel:
    """Return a listing grouped by the lines of the text; ``schedules`` are those of the bodies."""
    own = bodies[number]
    functions = [body for body in bodies if not body.is_kernel]
    schedule: tuple[ScheduleRow, ...] = ()
    if schedules:
        # The listing of a kernel ends with the functions that it calls.
        called = {
            functions[function]
            for function in {gen.function for gen in listing.lines}
            if function is not None and function < len(functions)
        }
        parts = [
            schedules[number],
            *(rows for body, rows in zip(bodies, schedules, strict=True) if body in called - {own}),
        ]
        lines, schedule = with_issues(listing.lines, parts)
        listing = replace(listing, lines=tuple(lines))
    under: dict[int, list[GenLine]] = {}
    unplaced: list[GenLine] = []
    line: int | None = None
    for gen in listing.lines:
        body = functions[gen.function] if gen.function is not None and gen.function < len(functions) else own
        if gen.number is not None:
            line = body.line_of(gen.number)
            under.setdefault(line, []).extend((*unplaced, gen))
            unplaced.clear()
        elif line is None or gen.is_label:
            # A label belongs to the next instruction.
            unplaced.append(gen)
        else:
            under[line] += [*unplaced, gen]
            unplaced.clear()
    if unplaced:
        under.setdefault(own.line if line is None else line, []).extend(unplaced)
    by_line: dict[int, int] = {}
    for index, registers in pressure.by_number.items():
        if index < len(own.counted):
            by_line[own.counted[index]] = registers
    under_lines = tuple(
        GenUnderLine(line, tuple(under.get(line, ())), by_line.get(line)) for line in sorted({*under, *by_line})
    )
    return FinalizedKernel(own, listing, under_lines, pressure.peak, schedule)


def _findings(
    codes: Sequence[str], copy: GuardedCopy, bodies: Sequence[TextBody], done: set[int], ran: Ran, errors: str
) -> tuple[ToolFinding, ...]:
    # Functions have no listing because their code is in the listings of the calling kernels.
    missing = [body for index, body in enumerate(bodies) if index not in done and (body.is_kernel or not done)]
    rule = FINALIZER_ERROR if missing else FINALIZER_WARNING
    findings = [ToolFinding(rule, _place(c, codes, copy, bodies), c.message) for c in complaints_in(ran.said, errors)]
    if missing and (ran.failure or not findings):
        words = f"the finalizer {ran.failure}" if ran.failure else _last_words(ran)
        findings += [
            ToolFinding(FINALIZER_FAILURE, body.line, f"{words}: no machine code of '{body.name}'") for body in missing
        ]
    elif ran.failure:
        findings.append(
            ToolFinding(
                FINALIZER_WARNING, bodies[0].line, f"the finalizer {ran.failure} after it wrote the machine code"
            )
        )
    findings += [ToolFinding(FINALIZER_REMARK, bodies[0].line, c.message) for c in warnings_in(ran.said)]
    return tuple(sorted(findings, key=lambda finding: finding.line))


def _last_words(ran: Ran) -> str:
    """Return a message for a finalizer that ends without machine code and without a known error."""
    lines = [line.strip() for line in ran.said.splitlines() if line.strip() and not _NOISE.match(line)]
    said = f": {lines[-1][:_MAX_WORDS_CHARS]}" if lines else ""
    return f"the finalizer ended with status {ran.status}{said}"


def _place(complaint: Complaint, codes: Sequence[str], copy: GuardedCopy, bodies: Sequence[TextBody]) -> int:
    """Return the line of the text for an error about its copy."""
    if complaint.line is not None:
        return copy.lines[min(complaint.line, len(copy.lines) - 1)]
    return place_of(complaint, codes, bodies)


def place_of(complaint: Complaint, codes: Sequence[str], bodies: Sequence[TextBody]) -> int:
    """Return the line for an error of a text with at least one body."""
    if complaint.line is not None:
        return min(complaint.line, len(codes) - 1)
    body = next((b for b in bodies if b.name == complaint.body), bodies[0])
    if complaint.number is not None:
        return body.line_of(complaint.number)
    return next((line for line in range(body.line, body.end) if complaint.means(codes[line])), body.line)
