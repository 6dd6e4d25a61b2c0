"""The context of the cursor, for completion and signature help.

Reads the line up to the cursor only; it need not make sense yet. Knows no protocol.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.table import TABLE
from visa_lsp.sema.instructions import match_modifiers
from visa_lsp.syntax import tree
from visa_lsp.syntax.braces import strip_braces
from visa_lsp.syntax.comments import strip
from visa_lsp.syntax.parse import MAX_LINE, parse_line
from visa_lsp.text import Span

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.isa.model import Instruction, Slot


class Expected(Enum):
    """The kinds of text that may follow the cursor."""

    NOTHING = "nothing"
    STATEMENT = "statement"
    DIRECTIVE = "directive"
    PREDICATE = "predicate"
    MODIFIER = "modifier"
    EXEC = "execution mask and size"
    OPERAND = "operand"
    REGION = "region"
    TYPE = "type"
    DECL_PROPERTY = "property of a declaration"
    DECL_VALUE = "value of a property"
    ATTRIBUTE_NAME = "attribute"
    ATTRIBUTE_VALUE = "value of an attribute"
    INPUT = "input"


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a cursor.

    ``word`` is the span, in offsets of the text, of the unfinished word. ``row`` and ``operand`` (its number, from 0)
    are set inside instructions. ``name`` is the property or attribute before a value, or the variable before a region.
    """

    expected: Expected
    word: Span
    line: int
    prefix: str = ""
    name: str = ""
    row: Instruction | None = None
    rows: tuple[Instruction, ...] = ()
    operand: int = 0
    used: tuple[str, ...] = ()

    @property
    def slot(self) -> Slot | None:
        """The slot of the operand at the cursor."""
        if self.row is None or not self.row.slots:
            return None
        return self.row.slots[min(self.operand, len(self.row.slots) - 1)]


_WORD: Final = string.ascii_letters + string.digits + "_$@?"
_OPENED: Final = re.compile(r"^\s*(?:\{\s*)++")
_EXEC: Final = re.compile(r"^\s*\([^()]*\)(?:\s*\.\s*[A-Za-z0-9_-]+)*")
_HEAD: Final = re.compile(r"\s*(?:\([^()]*\)\s*)?[A-Za-z_][A-Za-z0-9_]*(?:\s*\.\s*[A-Za-z0-9_<>-]+)*")


def context_at(analysis: Analysis, offset: int) -> Context:
    """Return the context of an offset."""
    document = analysis.document
    line, column = document.position(offset)
    text = document.line_text(line)[:column]
    start = document.line_start(line)
    code, in_comment = strip(text, in_block=False)
    stem = text.rstrip(_WORD).removesuffix("%")
    prefix = text[len(stem) :]
    word = Span(start + column - len(prefix), start + column)
    if in_comment or len(code) < len(text.rstrip()) or (text.strip() and code.strip() == "") or len(text) > MAX_LINE:
        return Context(Expected.NOTHING, word, line, prefix)
    before = text[: len(text) - len(prefix)]
    before = _OPENED.sub(lambda match: " " * len(match.group()), before)
    found_braces = strip_braces(before.rstrip()) if "}" in before else None
    if found_braces is not None and found_braces[1].closes:
        return Context(Expected.NOTHING, word, line, prefix)
    stripped = before.strip()
    if stripped == "":
        return Context(Expected.STATEMENT, word, line, prefix)
    if stripped == ".":
        return Context(Expected.DIRECTIVE, Span(word.start - 1, word.end), line, "." + prefix)
    if stripped.startswith("."):
        return _directive(stripped, before, word, line, prefix)
    if re.fullmatch(r"\(\s*!?", stripped):
        return Context(Expected.PREDICATE, word, line, prefix)
    if re.fullmatch(r"\([^()]*\)", stripped) and before[-1:].isspace():
        return Context(Expected.STATEMENT, word, line, prefix)
    return _instruction(before, word, line, prefix)


def _directive(stripped: str, before: str, word: Span, line: int, prefix: str) -> Context:
    name = stripped.split(None, 1)[0]
    if name == ".decl":
        if re.search(r"attrs\s*=\s*\{[^}]*$", before):
            return Context(Expected.ATTRIBUTE_NAME, word, line, prefix, name=".decl")
        value = re.search(r"(?<![a-z_])([a-z_]+)\s*=\s*<?\s*$", before)
        if value:
            return Context(Expected.DECL_VALUE, word, line, prefix, name=value.group(1))
        if re.search(r"\.decl\s+\S+\s", before):
            used = tuple(re.findall(r"([a-z_]+)\s*=", before))
            return Context(Expected.DECL_PROPERTY, word, line, prefix, used=used)
        return Context(Expected.NOTHING, word, line, prefix)
    if name == ".kernel_attr":
        value = re.search(r"\.kernel_attr\s+(\w+)\s*=\s*\"?$", before)
        if value:
            return Context(Expected.ATTRIBUTE_VALUE, word, line, prefix, name=value.group(1))
        return Context(Expected.ATTRIBUTE_NAME, word, line, prefix, name=".kernel_attr")
    if name in (".input", ".parameter") or name.startswith(".implicit"):
        return Context(Expected.INPUT, word, line, prefix, used=tuple(re.findall(r"\S+", before))[1:])
    return Context(Expected.NOTHING, word, line, prefix)


def _instruction(before: str, word: Span, line: int, prefix: str) -> Context:
    node = parse_line(strip(before, in_block=False)[0])
    if not isinstance(node, tree.Instruction):
        return Context(Expected.NOTHING, word, line, prefix)
    words = [w.text for w in node.words]
    rows, taken = TABLE.lookup(words)
    # Modifiers narrow the forms; the number of operands is not known yet.
    row = min(rows, key=lambda r: len(match_modifiers(r, node.words[taken:])[1])) if rows else None
    used = tuple(words[taken:])
    head = _HEAD.match(before)
    tail = before[head.end() :] if head else ""
    count = _operands(_EXEC.sub("", tail, count=1))
    inside = Context(Expected.OPERAND, word, line, prefix, row=row, rows=rows, operand=count)
    if re.fullmatch(r"\s*\.\s*", tail) and head:
        return Context(Expected.MODIFIER, word, line, prefix, used=used, row=row, rows=rows)
    if node.exec is None and re.fullmatch(r"\s*\(\s*(?:\w+\s*,\s*)?", tail):
        return Context(Expected.EXEC, word, line, prefix, name=tail, row=row, rows=rows)
    if re.search(r":\s*$", before):
        return replace(inside, expected=Expected.TYPE)
    region = re.search(r"(?<!\w)(%?[A-Za-z_]\w*)\s*\([^()]*\)\s*<[^<>]*$", before)
    if region:
        return replace(inside, expected=Expected.REGION, name=region.group(1))
    if row is None or not before[-1:].isspace():
        opened = before.rstrip()[-1:] in ("(", ",", "&", "[", ")")
        return inside if opened and row else replace(inside, expected=Expected.NOTHING)
    return inside


def _operands(tail: str) -> int:
    """Return the number of complete operands; blanks in brackets and strings do not separate operands."""
    count, depth, inside, quoted = 0, 0, False, False
    for ch in tail:
        if ch == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif ch in "([<":
            depth += 1
        elif ch in ")]>":
            depth -= 1
        elif ch.isspace() and depth <= 0:
            count += inside
            inside = False
            continue
        inside = True
    return count
