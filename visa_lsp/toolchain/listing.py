"""Parses Gen assembly listings (``.asm``) of any release: header, registers, instructions, footer.

A missing figure is None, never 0. Knows Gen only as numbered lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from visa_lsp.text import lines_of

# A remark about bank conflicts may follow the number of the instruction.
_NUMBER: Final = re.compile(r"\$(\d{1,9})(?:\s+R?\{.*)?\s*$")
_MAX_LINE_CHARS: Final = 10_000  # a line of Gen has some 200 characters
_LABEL: Final = re.compile(r"([^\s/(][^\s]*):\s*(?://.*)?$")
# In the listing of the calling kernel, labels of a function have the index of the function.
_OF_FUNCTION: Final = re.compile(r"L_f(\d{1,6})_|.*_f(\d{1,6})_\d+_$")
_DECLARE: Final = re.compile(r"//\.declare (\S+) \(\d{1,9}\)\s")
_SIZE: Final = re.compile(r" size=(\d{1,9}) ")
_HEADER: Final = re.compile(
    r"//\.(kernel|platform|thread_config|instCount|RA type|spill size|private memory size|GRF count)[ \t]+(.*?)\s*$"
)
_FOOTER: Final = re.compile(r"//\.BankConflicts:\s*(\d+)\s*$")
_GRF_TOTAL: Final = re.compile(r"numGRF=(\d+)")
# Predicate, opcode, execution size and first channel of an instruction.
_CODE: Final = re.compile(r"\s*(?:(\([^)]*\))\s*)?([a-z][\w.]*)(?:\s*\((\d{1,2})\|M(\d{1,2})\))?")
_DPAS: Final = ("dpas", "dpasw", "bdpas")
# Newer releases print messages by their meaning, such as `load.ugm`, and the descriptor in the remark.
_MESSAGE: Final = "desc:0x"
# `scratch space spill: V5 from offset[0x32]`; with other spill methods `spill to offset[0*64] of V5` or `spill to
# FP[0*32] of ?`.
_SPILLED: Final = re.compile(r"\b(spill|fill)(?:: (\w+)?| (?:to|from) \w+\[(?:[^\]]*\] of (\w+))?)")


@dataclass(frozen=True, slots=True)
class Issue:
    """The finalizer's schedule of a line: block, issue cycle in the block, cycles taken, and cycles of waiting before it.

    All are None or 0 for a line that was inserted after scheduling. ``waits_for`` is the index of the line that it waits for.
    """

    block: int | None = None
    cycle: int | None = None
    busy: int = 0
    stall: int = 0
    waits_for: int | None = None


@dataclass(frozen=True, slots=True)
class GenLine:
    """A line of Gen: ``number`` is its ``$N``, None for labels and lines without one.

    ``function`` is the index of its function in the text, None in the body itself; ``issue`` its schedule, if it is known.
    """

    text: str
    number: int | None
    is_label: bool = False
    function: int | None = None
    issue: Issue | None = None


@dataclass(frozen=True, slots=True)
class GenListing:
    """The contents of one listing. Missing figures are None; ``spill_bytes`` is 0 without spills.

    ``registers`` are the locations of variables: register and subregister in elements of the variable's type, or the text
    of the listing for a spilled one. ``sizes`` are their bytes.
    """

    kernel: str
    platform: str
    lines: tuple[GenLine, ...]
    instructions: int
    registers: dict[str, str]
    sizes: dict[str, int]
    spill_bytes: int = 0
    private_bytes: int = 0
    bank_conflicts: int | None = None
    grf_used: int | None = None
    grf_total: int | None = None
    allocation: str = ""


def read_listing(text: str) -> GenListing:
    """Parse a listing; never fails: other texts give an empty one."""
    head: dict[str, str] = {}
    registers: dict[str, str] = {}
    sizes: dict[str, int] = {}
    conflicts: int | None = None
    for line in lines_of(text):
        if not line.startswith("//."):
            continue
        if match := _DECLARE.match(line):
            # The last bracket is the location; it is missing for an unused variable.
            opens = line.rfind("(")
            size = _SIZE.search(line)
            place = line[opens + 1 :].partition(")")[0].strip()
            if opens > match.end() and place and size is not None:
                registers[match[1]] = place
                sizes[match[1]] = int(size[1])
        elif match := _HEADER.match(line):
            head.setdefault(match[1], match[2])
        elif match := _FOOTER.match(line):
            conflicts = int(match[1])
    lines = tuple(_gen_lines(text))
    total = _GRF_TOTAL.search(head.get("thread_config", ""))
    return GenListing(
        head.get("kernel", ""),
        head.get("platform", ""),
        lines,
        _whole(head.get("instCount")) or sum(not line.is_label for line in lines),
        registers,
        sizes,
        _whole(head.get("spill size")) or 0,
        _whole(head.get("private memory size")) or 0,
        conflicts,
        _whole(head.get("GRF count")),
        int(total[1]) if total else None,
        head.get("RA type", ""),
    )


@dataclass(frozen=True, slots=True)
class CodeCounts:
    """The number of instructions of a listing by kind, and the SIMD width, which is that of its widest instructions."""

    simd: int
    dpas: int
    sends: int
    syncs: int
    spills: int
    fills: int


def count_code(lines: Iterable[GenLine]) -> CodeCounts:
    """Count the messages, including spills, and the other kinds of instructions."""
    simd = 1
    kinds: Counter[str] = Counter()
    for line in lines:
        code = None if line.is_label else _CODE.match(line.text)
        if code is None:
            continue
        opcode = opcode_of(line.text)
        kinds["dpas" if opcode in _DPAS else opcode] += 1
        if (spilled := spilled_in(line)) is not None:
            kinds[spilled[0]] += 1
        # Instructions without mask serve the whole thread, whatever its width.
        if code[3] and not (code[1] or "").startswith("(W"):
            simd = max(simd, int(code[3]) + int(code[4]))
    return CodeCounts(simd, kinds["dpas"], kinds["send"], kinds["sync"], kinds["spill"], kinds["fill"])


def spilled_in(line: GenLine) -> tuple[str, str] | None:
    """Return ``spill`` or ``fill`` and the variable, empty if it has no name, of a line that moves it to or from scratch memory."""
    remark = _SPILLED.search(line.text.partition("//")[2])
    return (remark[1], remark[2] or remark[3] or "") if remark is not None else None


def opcode_of(text: str) -> str:
    """Return the opcode of a line of code without its dotted parts; that of every message is ``send``."""
    code = _CODE.match(text)
    opcode = code[2].partition(".")[0] if code else ""
    return "send" if opcode.startswith("send") or _MESSAGE in text.partition("//")[2] else opcode


def _gen_lines(text: str) -> Iterator[GenLine]:
    function: int | None = None
    for line in lines_of(text):
        if not line.strip() or line.lstrip().startswith("//"):
            continue
        if label := _LABEL.match(line):
            if match := _OF_FUNCTION.match(label[1]):
                function = int(match[1] or match[2])
            yield GenLine(line.rstrip(), None, is_label=True, function=function)
            continue
        # A `$2` before the remark is a scoreboard token.
        number = _NUMBER.search(line[:_MAX_LINE_CHARS].partition("//")[2])
        yield GenLine(line.rstrip(), int(number[1]) if number else None, function=function)


def _whole(words: str | None) -> int | None:
    match = re.match(r"\d{1,15}", words or "")
    return int(match[0]) if match else None
