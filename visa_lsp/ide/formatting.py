"""Formatting in the layout of the compiler's dumps.

Labels and directives stand in column 0, instructions behind four blanks, one blank between words, a trailing ``//``
comment in column 82 or behind the code where that is longer.
Only blanks change, never inside strings and comments, and never to none where there were some: the meaning of a line
cannot change. Lines with block comments, broken lines and lines of comment alone keep their inside.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Edit
from visa_lsp.syntax import tree
from visa_lsp.syntax.comments import strip
from visa_lsp.text import Span

if TYPE_CHECKING:
    from visa_lsp.ide.analysis import Analysis

_INDENT: Final = "    "
_COMMENT_COLUMN: Final = 81
# Lines that are in shape for certain: most lines of a dump. What does not match is looked at word by word.
_CODE: Final = r"(?:\([!A-Za-z0-9_.]+\) )?[a-z][a-z0-9_.]*(?: \(M[0-9](?:_NM)?, [0-9]+\))?(?: [^\s\"/{}]+)*"
_IN_SHAPE: Final = re.compile(
    rf"    {_CODE}|(?=.{{81}}///)    {_CODE} +///[^\s/](?:.*\S)?|(?=.{{81}}/// )    {_CODE} +/// .*\S"
    r"|\.(?:decl|input)(?: [^\s\"/]+)+|///? .*\S|"
)


def format_text(analysis: Analysis, first: int = 0, last: int | None = None) -> tuple[Edit, ...]:
    """The edits that bring lines ``first`` to ``last`` into shape, one for each line that changes."""
    document = analysis.document
    end = document.line_count - 1 if last is None else min(last, document.line_count - 1)
    edits: list[Edit] = []
    for at in range(document.chunk_at(max(0, first)), document.chunk_at(max(0, end)) + 1):
        edits.extend(format_chunk(analysis, at, max(0, first), end))
    return tuple(edits)


def format_chunk(analysis: Analysis, at: int, first: int, last: int) -> list[Edit]:
    """The edits for those lines of a chunk that are among ``first`` to ``last``."""
    document = analysis.document
    base = document.line_of(at)
    start = document.line_start(base)
    edits = []
    for line, whole in enumerate(document.chunks[at].text.split("\n")[: document.chunks[at].count], base):
        old = whole.rstrip("\r")
        if first <= line <= last and not _IN_SHAPE.fullmatch(old):
            new = format_line(old, document.statement(line))
            if new != old:
                edits.append(Edit(Span(start, start + len(old)), new))
        start += len(whole) + 1
    return edits


def format_line(text: str, statement: tree.Statement | None) -> str:
    """One line in shape."""
    if statement is None:
        return text.rstrip() if not text.strip() or text.lstrip().startswith("//") else text
    if "/*" in text or "*/" in text or statement.errors or isinstance(statement, tree.Unknown):
        return text
    code, comment = _split(text)
    if isinstance(statement, tree.Label) and not statement.column0:
        return text
    indent = _INDENT if isinstance(statement, tree.Instruction) else ""
    shaped = indent + _folded(_exec_comma(code, statement)).strip()
    if not comment:
        return shaped
    if isinstance(statement, tree.Instruction):
        return shaped.ljust(_COMMENT_COLUMN) + (" " if len(shaped) >= _COMMENT_COLUMN else "") + comment
    return f"{shaped} {comment}"


def _split(text: str) -> tuple[str, str]:
    """Code and comment of a line without block comments."""
    code, _ = strip(text, in_block=False)
    end = len(code.rstrip())
    rest = text[end:].strip()
    return text[:end], rest


def _exec_comma(code: str, statement: tree.Statement) -> str:
    """``(M1,16)`` gets the blank behind its comma that everyone writes."""
    if not isinstance(statement, tree.Instruction) or statement.exec is None or statement.exec.mask is None:
        return code
    span = statement.exec.span
    inside = code[span.start : span.end]
    head, comma, tail = inside.partition(",")
    return code[: span.start] + head + comma + " " + tail.lstrip() + code[span.end :] if comma else code


def _folded(code: str) -> str:
    """Runs of blanks made one, except in strings."""
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
    """The edits when a character was typed in ``line``: the finished line in shape, the new one indented.

    A newline finishes the line above; a colon behind a name makes it a label, which stands in column 0.
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
