"""Formatting in the layout of the compiler's dumps.

Labels and directives begin in column 0, instructions after four blanks; words are one blank apart, a trailing ``//``
comment begins in column 82 or after longer code.
Only blanks between words change, never inside strings and comments, and none disappears completely, so that the meaning
of a line cannot change. The inside of lines with block comments, malformed lines and comment lines stays.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.diagnostics import Edit
from visa_lsp.syntax import tree
from visa_lsp.syntax.comments import strip
from visa_lsp.syntax.parse import parse_line
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.analysis.analysis import Analysis

_INDENT: Final = "    "
_COMMENT_COLUMN: Final = 81
_BLANKS: Final = re.compile(r"[ \t]+")
# Fast path: matches most lines of a dump, which are formatted already. Others are compared word by word.
_CODE: Final = r"(?:\([!A-Za-z0-9_.]+\) )?[a-z][a-z0-9_.]*(?: \(M[0-9](?:_NM)?, [0-9]+\))?(?: [^\s\"/{}]+)*"
_IN_SHAPE: Final = re.compile(
    rf"    {_CODE}|(?=.{{81}}///)    {_CODE} +///[^\s/](?:.*\S)?|(?=.{{81}}/// )    {_CODE} +/// .*\S"
    r"|\.(?:decl|input)(?: [^\s\"/]+)+|///? .*\S|"
)


class LineLayout(NamedTuple):
    """Layout facts of a line's statement; ``execution`` is the column range of ``(M1, 16)``.

    The inside of ``kept`` lines does not change: those with errors or without a known mnemonic.
    """

    instruction: bool
    kept: bool
    execution: tuple[int, int] | None = None


class Run(NamedTuple):
    """Adjacent changed lines: ``first_line`` to ``last_line`` of the chunk; ``end`` is the old length of the last."""

    first_line: int
    last_line: int
    end: int
    text: str


def format_text(analysis: Analysis, first_line: int = 0, last_line: int | None = None) -> tuple[Edit, ...]:
    """Return the edits that format lines ``first_line`` to ``last_line``, one for each line that changes."""
    document = analysis.document
    end = document.line_count - 1 if last_line is None else min(last_line, document.line_count - 1)
    edits: list[Edit] = []
    for number in range(document.chunk_at(max(0, first_line)), document.chunk_at(max(0, end)) + 1):
        base = document.line_of(number)
        start = document.line_start(base)
        lines = document.chunks[number].text.split("\n")
        for line, new in _changes(analysis, number, range(max(0, first_line - base), end + 1 - base)):
            begin = start + sum(map(len, lines[:line])) + line
            edits.append(Edit(Span(begin, begin + len(lines[line].rstrip("\r"))), new))
    return tuple(edits)


def format_runs(analysis: Analysis, chunk_number: int) -> list[Run]:
    """Return the runs that change in a chunk; line ends inside of a run are kept."""
    chunk = analysis.document.chunks[chunk_number]
    lines = chunk.text.split("\n")
    starts = None if chunk.source is chunk.text else [0, *accumulate(len(line) + 1 for line in lines)]
    runs: list[Run] = []
    for line, new in _changes(analysis, chunk_number, range(chunk.count)):
        end = len(lines[line].rstrip("\r"))
        before = runs[-1] if runs else None
        if before is not None and before.last_line == line - 1:
            between = lines[line - 1][before.end :] + "\n"
            if starts is not None:
                between = chunk.source[starts[line - 1] + before.end : starts[line]]
            runs[-1] = Run(before.first_line, line, end, before.text + between + new)
        else:
            runs.append(Run(line, line, end, new))
    return runs


def _changes(analysis: Analysis, chunk_number: int, chosen: range) -> Iterator[tuple[int, str]]:
    """Return (line in the chunk, new text) of the lines that change."""
    document = analysis.document
    chunk = document.chunks[chunk_number]
    lines = chunk.text.split("\n")[: chunk.count]
    odd = [
        i
        for i in range(max(0, chosen.start), min(chosen.stop, len(lines)))
        if not _IN_SHAPE.fullmatch(lines[i].rstrip("\r"))
    ]
    if not odd:
        return
    codes = document.codes_at([document.line_of(chunk_number) + i for i in odd]).values()
    for i, code in zip(odd, codes, strict=True):
        old = lines[i].rstrip("\r")
        new = _shape_line(old, _layout(parse_line(code)))
        if new != old:
            yield i, new


def _layout(statement: tree.Statement | None) -> LineLayout | None:
    if statement is None:
        return None
    kept = bool(statement.errors) or isinstance(statement, tree.Unknown)
    if isinstance(statement, tree.Label) and not statement.column0:
        kept = True
    if not isinstance(statement, tree.Instruction):
        return LineLayout(instruction=False, kept=kept)
    execution = None
    if statement.exec is not None and statement.exec.mask is not None:
        execution = (statement.exec.span.start, statement.exec.span.end)
    return LineLayout(instruction=True, kept=kept, execution=execution)


def format_line(text: str, statement: tree.Statement | None) -> str:
    """Return one line formatted."""
    return _shape_line(text, _layout(statement))


def tidy_line(text: str, statement: tree.Statement | None) -> str:
    """Return one line with its words one blank apart; indentation and comment column are kept.

    For lines in host languages, whose layout is not ours.
    """
    layout = _layout(statement)
    if layout is None or layout.kept or "/*" in text or "*/" in text:
        return text.rstrip(" \t")
    code, comment = _split(text)
    words = code.lstrip()
    between = text[len(code) : len(text.rstrip()) - len(comment)] if comment else ""
    return (
        code[: len(code) - len(words)] + _fold_blanks(_exec_comma(code, layout.execution).strip()) + between + comment
    )


def _shape_line(text: str, layout: LineLayout | None) -> str:
    if layout is None:
        return text.rstrip() if not text.strip() or text.lstrip().startswith("//") else text
    if layout.kept or "/*" in text or "*/" in text:
        return text
    code, comment = _split(text)
    indent = _INDENT if layout.instruction else ""
    shaped = indent + _fold_blanks(_exec_comma(code, layout.execution).strip())
    if not comment:
        return shaped
    if layout.instruction:
        return shaped.ljust(_COMMENT_COLUMN) + (" " if len(shaped) >= _COMMENT_COLUMN else "") + comment
    return f"{shaped} {comment}"


def _split(text: str) -> tuple[str, str]:
    """Split a line without block comments into code and comment."""
    if '"' not in text:
        offset = text.find("//")
        return (text.rstrip(), "") if offset < 0 else (text[:offset].rstrip(), text[offset:].strip())
    code, _ = strip(text, in_block=False)
    end = len(code.rstrip())
    rest = text[end:].strip()
    return text[:end], rest


def _exec_comma(code: str, execution: tuple[int, int] | None) -> str:
    """Put a blank after the comma of ``(M1,16)``."""
    if execution is None:
        return code
    start, end = execution
    head, comma, tail = code[start:end].partition(",")
    return code[:start] + head + comma + " " + tail.lstrip() + code[end:] if comma else code


def _fold_blanks(code: str) -> str:
    """Return a line with each run of blanks reduced to one, except in strings."""
    if '"' not in code:
        return _BLANKS.sub(" ", code) if "  " in code or "\t" in code else code
    out: list[str] = []
    quoted = False
    previous = ""
    for ch in code:
        if ch == '"' and previous != "\\":
            quoted = not quoted
        if ch in " \t" and not quoted:
            if out and out[-1] != " ":
                out.append(" ")
        else:
            out.append(ch)
        previous = ch
    return "".join(out)


def format_on_type(analysis: Analysis, line: int, typed: str) -> tuple[Edit, ...]:
    """Return the edits after a character was typed in ``line``: format the finished line, indent the new one.

    A newline finishes the line above; a colon after a name makes it a label, which begins in column 0.
    """
    document = analysis.document
    if typed == "\n":
        edits = [*format_text(analysis, line - 1, line - 1)] if line > 0 else []
        text = document.line_text(line)
        above = document.statement(line - 1) if line > 0 else None
        if not text.strip() and isinstance(above, (tree.Instruction, tree.Label)) and text != _INDENT:
            start = document.line_start(line)
            edits.append(Edit(Span(start, start + len(text)), _INDENT))
        return tuple(edits)
    statement = document.statement(line)
    if isinstance(statement, tree.Label) and not statement.column0:
        start = document.line_start(line)
        return (Edit(Span(start, start + statement.span.start), ""),)
    if isinstance(statement, (tree.Scope, tree.Label)):
        return format_text(analysis, line, line)
    return ()
