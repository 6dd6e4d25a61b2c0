"""Inlay hints: facts from elsewhere in the text, beside a line.

The declared type of operands, the value of a packed or hexadecimal immediate, the number of branches to a label, the source
line of a `.loc`, the argument in an input. Computed from the index, line by line, without binding. Knows no protocol.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index.plain_numbers import float_of_bits, int_of_bits, unpack_values
from visa_lsp.ide.index.text_index import BodyChunks, Index, index_of
from visa_lsp.isa.model import Mark, Shape
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import type_named
from visa_lsp.sema.predefined_symbols import make_predefined_symbols
from visa_lsp.syntax.chunk_facts import INPUT, class_letter
from visa_lsp.syntax.tree import SUBROUTINE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from visa_lsp.analysis.analysis import Analysis


class HintKind(Enum):
    """Content of a hint; the value is the name of its setting."""

    TYPE = "types"
    IMMEDIATE = "immediates"
    LABEL = "labels"
    LINE = "lines"
    ARGUMENT = "arguments"


@dataclass(frozen=True, slots=True)
class InlayText:
    """A text beside ``column`` of ``line``; ``tooltip`` has the details."""

    line: int
    column: int
    text: str
    kind: HintKind
    tooltip: str = ""


# Bounds the answer for a whole long text.
MAX_HINTS: Final = 5000
_AHEAD: Final = 128
# A name among the operands: not after the dot of a modifier or of `V1.0`, nor after the colon of a type.
_OPERAND: Final = re.compile(r"(?<![A-Za-z0-9_$@?%.:])(%?[A-Za-z_$@?][A-Za-z0-9_$@?]*)(?![A-Za-z0-9_$@?])")
# Words at the position of a name: a source modifier, an address model, an indirect operand, a string.
_NO_NAME: Final = re.compile(
    r"\(\s*-?\s*(?:abs|not)\s*\)"
    r"|(?<![A-Za-z0-9_$@?%])(?:flat|bti|bss|ss|surf|arg|r)(?=\s*[\[(])"
    r'|"[^"]*"?'
)
_EXEC: Final = re.compile(r"\s*\([^()]*\)")
_IMMEDIATE: Final = re.compile(r"(?<![A-Za-z0-9_.])(-?0[xX][0-9a-fA-F]+):([a-z]+)(?![A-Za-z0-9_])")
_SHAPE: Final = re.compile(r"(?<![A-Za-z_])type\s*=\s*([A-Za-z0-9]+)")
_COUNT: Final = re.compile(r"num_elts\s*=\s*([0-9]+)")
_HEAD: Final = re.compile(r"\s*(?:\([^()]*\)\s*)?([A-Za-z_.][A-Za-z0-9_.]*)")
_DECL: Final = re.compile(r"\s*\.decl\s+(%?[A-Za-z_$@?][A-Za-z0-9_$@?-]*)")
_FILE_MARKS: Final = TABLE.marks(Mark.FILE)
_FILE: Final = re.compile(rf'\s*(?:{"|".join(map(re.escape, _FILE_MARKS))})\s+"([^"]*)"', re.IGNORECASE)
_LOC: Final = re.compile(rf"\s*(?:{'|'.join(map(re.escape, TABLE.marks(Mark.LINE)))})\s+([0-9]+)\s*$", re.IGNORECASE)


def _nothing_told(_kernel: str) -> Mapping[str, str]:
    return {}


def inlay_hints(
    analysis: Analysis,
    first_line: int,
    last_line: int,
    kinds: Collection[HintKind] = tuple(HintKind),
    arguments: Callable[[str], Mapping[str, str]] = _nothing_told,
) -> tuple[InlayText, ...]:
    """Return the hints of lines ``first_line`` to ``last_line``, at most ``MAX_HINTS`` of them.

    ``arguments`` returns the contents of a kernel's inputs by variable; it is called only for chunks with declarations.
    """
    if not kinds:
        return ()
    hints: list[InlayText] = []
    document = analysis.document
    index = index_of(document)
    declared: dict[tuple[int, str], str] = {}
    file = None
    end = min(last_line, document.line_count - 1)
    for line in range(max(first_line, 0), end + 1):
        if HintKind.TYPE in kinds and (line - max(first_line, 0)) % _AHEAD == 0:
            _look_up_types(index, range(line, min(line + _AHEAD, end + 1)), declared)
        code = document.code(line)
        if not code or code.isspace():
            continue
        group = index.group_at(line)
        stripped = code.lstrip()
        if stripped.startswith("."):
            if HintKind.ARGUMENT in kinds and (named := INPUT.match(code) or _DECL.match(code)):
                content = arguments(group.name).get(named.group(1), "") if group.opener >= 0 else ""
                if content:
                    hints.append(InlayText(line, len(code.rstrip()), content, HintKind.ARGUMENT))
                continue
            loc = _LOC.match(code)
            if loc is None or HintKind.LINE not in kinds:
                continue
        if HintKind.LINE in kinds and (loc := _LOC.match(code)) is not None:
            if file is None:
                file = _file_before(index, line)
            name = file.rpartition("/")[2].rpartition("\\")[2]
            hints.append(
                InlayText(
                    line, len(code.rstrip()), f"{name}:{loc.group(1)}" if name else "source line", HintKind.LINE, file
                )
            )
            continue
        if (named := _FILE.match(code)) is not None:
            file = named.group(1)
            continue
        if code[0] not in " \t" and stripped.rstrip().endswith(":"):
            if HintKind.LABEL in kinds:
                hints.extend(_label(index, group, line, stripped.rstrip()[:-1].rstrip()))
            continue
        if HintKind.TYPE in kinds:
            hints.extend(_types(group, line, code, declared))
        if HintKind.IMMEDIATE in kinds:
            hints.extend(_immediates(line, code))
        if len(hints) >= MAX_HINTS:
            break
    return tuple(sorted(hints[:MAX_HINTS], key=lambda h: (h.line, h.column)))


def _types(group: BodyChunks, line: int, code: str, declared: dict[tuple[int, str], str]) -> Iterator[InlayText]:
    head = _HEAD.match(code)
    if head is None or head.group(1).split(".")[0] not in _FIRST_WORDS:
        return
    names = _names(code, head.end())
    if head.group(1).split(".")[0] in _TARGET_FIRST:
        next(names, None)
    for match in names:
        text = declared.get((group.first_chunk, match.group(1)), "")
        if text:
            short, _, whole = text.partition("|")
            yield InlayText(line, match.end(1), f":{short}", HintKind.TYPE, whole)


def _names(code: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Yield the possible variable names among the operands that begin at a column."""
    size = _EXEC.match(code, start)
    rest = _NO_NAME.sub(lambda match: " " * len(match.group()), code) if _NO_NAME.search(code, start) else code
    return _OPERAND.finditer(rest, size.end() if size is not None else start)


def _look_up_types(index: Index, lines: range, declared: dict[tuple[int, str], str]) -> None:
    """Return the types of all names of some lines in one lookup."""
    names: dict[int, set[str]] = {}
    groups = {}
    for line in lines:
        group = index.group_at(line)
        groups[group.first_chunk] = group
        names.setdefault(group.first_chunk, set()).update(m.group(1) for m in _names(index.document.code(line)))
    for first_chunk, group in groups.items():
        unknown = {name for name in names[first_chunk] if (first_chunk, name) not in declared}
        declared.update({(first_chunk, name): _PREDEFINED.get(name, "") for name in unknown})
        for _, name, rest in index.declarations(group, unknown):
            declared[first_chunk, name] = _type_text(rest)


def _type_text(rest: str) -> str:
    """Return text and tooltip of a type: ``f|16 × f``."""
    shape, count = _SHAPE.search(rest), _COUNT.search(rest)
    if class_letter(rest) != "G" or shape is None:
        return ""
    return f"{shape.group(1)}|{count.group(1) if count else 1} × {shape.group(1)}"


def _immediates(line: int, code: str) -> Iterator[InlayText]:
    for match in _IMMEDIATE.finditer(code):
        text = decode_number(match.group(1), match.group(2))
        if text:
            yield InlayText(line, match.end(), f"= {text}", HintKind.IMMEDIATE, match.group())


def decode_number(number: str, suffix: str) -> str:
    """Return the value of a hexadecimal immediate in its type; empty if that is obvious."""
    type_ = type_named(suffix)
    if type_ is None:
        return ""
    bits = int(number, 16) & 0xFFFFFFFFFFFFFFFF
    packed = unpack_values(bits, type_)
    if packed:
        return ", ".join(f"{v:g}" for v in packed)
    value = float_of_bits(bits, type_)
    if value is not None:
        return f"{value:.9g}"
    if type_.bits > 64 or type_.name == "bool":
        return ""
    plain = int_of_bits(bits, type_)
    return "" if 0 <= plain < 10 else str(plain)


def _label(index: Index, group: BodyChunks, line: int, name: str) -> Iterator[InlayText]:
    uses = [n for n in index.mentions([group], [name]) if n != line and not _is_definition(index, n, name)]
    text = "no branch" if not uses else f"{len(uses)} branch{'es' if len(uses) > 1 else ''}"
    lines = ", ".join(str(n + 1) for n in uses[:20])
    yield InlayText(
        line, len(name) + 1, text, HintKind.LABEL, f"from line{'s' if len(uses) > 1 else ''} {lines}" if uses else ""
    )


def _is_definition(index: Index, line: int, name: str) -> bool:
    """Return whether a line names a label without branching to it, because it opens the subroutine or is a comment."""
    code = index.document.code(line)
    return code.lstrip().startswith(SUBROUTINE) or name not in code


def _file_before(index: Index, line: int) -> str:
    """Return the source file in effect at a line."""
    document = index.document
    for number in range(document.chunk_at(line), -1, -1):
        text = index.parts[number].chunk.text
        if not any(word in text for word in _FILE_MARKS):
            continue
        base = document.line_of(number)
        for offset in range(min(line - base, index.parts[number].chunk.count) - 1, -1, -1):
            match = _FILE.match(document.line_text(base + offset))
            if match is not None:
                return match.group(1)
    return ""


_FIRST_WORDS: Final = frozenset(mnemonic.split(".")[0] for mnemonic in TABLE.by_mnemonic)
# The first operand of these is a label or a function, even if a variable has the same name.
_TARGET_FIRST: Final = frozenset(
    row.mnemonic.split(".")[0]
    for row in TABLE.rows
    if row.slots and row.slots[0].shape in (Shape.NAME, Shape.IDENTIFIER, Shape.LABEL)
)
# The same text for predefined variables; `%null` has no value.
_PREDEFINED: Final = {
    name: f"{symbol.type.name}|{symbol.num_elements} × {symbol.type.name}"
    for name, symbol in make_predefined_symbols(32).items()
    if symbol.type is not None and symbol.name != "%null"
}
