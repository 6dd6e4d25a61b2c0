"""Finds asm statements and marked strings in OpenCL C, C and C++.

Tree-sitter separates code, comments and strings. The inside of an asm statement is read token by token, so that a
mistake, a line splice or a conditional has only a local effect. Does not check vISA. Invariant: every token is read a
fixed number of times, whatever the text is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec.structs import replace

from visa_lsp.embed.blocks import MARK, AsmBlock, Operand, StringLiteral
from visa_lsp.embed.literals import C_RAW, C_STRING, HOLE, StringPiece, c_pieces
from visa_lsp.embed.nested_sources import NestedText
from visa_lsp.embed.surroundings import KEYWORD, Surroundings
from visa_lsp.text import Span

_TOKEN: Final = re.compile(
    rf"(?P<blank>(?:\s|\\\r?\n)+|//(?:[^\\\n]|\\\r?\n|\\.)*|/\*[\s\S]*?(?:\*/|\Z))|(?P<raw>{C_RAW})|(?P<string>{C_STRING})"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<other>'(?:[^'\\\n]|\\.)*'?|\d[\w.]*|[\s\S])"
)
_DIRECTIVE: Final = re.compile(r"#[ \t]*(?P<word>\w*)(?P<rest>(?:[^\\\n]|\\\r?\n|\\.)*)")
_QUALIFIERS: Final = frozenset(
    {"volatile", "__volatile__", "__volatile", "inline", "__inline", "__inline__", "goto", "const"}
)
_FORMAT: Final = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?(?:h|hh|l|ll|z|j|t)?[dusixXo](?!\w)")


class HostToken(NamedTuple):
    """A token: its kind (``raw``, ``string``, ``word``, ``other``) and its place."""

    kind: str
    start: int
    end: int


def blocks_in(around: Surroundings, but: Container[int] = ()) -> list[AsmBlock]:
    """Return every asm statement and every marked string of a text, in text order, of vISA or other assembly.

    The functions ``but``, given by number, are skipped.
    """
    found: list[AsmBlock] = []
    behind = 0
    for keyword, number in around.keywords:
        if keyword.start < behind or number in but:
            continue
        function = around.functions[number] if number >= 0 else None
        end = function.body.end if function is not None and function.is_macro else len(around.text)
        block, behind = _statement(around, keyword.start, keyword.end, end, number)
        if block is not None:
            found.append(block)
    starts = [block.span.start for block in found]
    for marked in _find_marked_strings(around, tuple(found), but):
        at = bisect_right(starts, marked.span.start) - 1
        if at >= 0 and marked.span.start < found[at].span.end:
            # A mark before an asm statement declares its kind of assembly.
            found[at] = replace(found[at], asked=True)
        else:
            found.append(marked)
    return sorted(found, key=lambda b: b.span)


def strings_in(around: Surroundings) -> Iterator[NestedText]:
    """Yield the strings of a text that contain a keyword of inline assembly; adjacent strings are joined."""
    for span in around.strings:
        tokens = [t for t in _tokens(around.text, span.start, span.end, directives=True) if t.kind in ("raw", "string")]
        yield NestedText([p for t in tokens for p in c_pieces(around.text, Span(t.start, t.end))], span)


def _tokens(text: str, start: int, end: int, *, directives: bool) -> Iterator[HostToken]:
    """Yield the tokens of a part of the text; of a conditional, only those of its first possible branch."""
    at = start
    branches: list[tuple[bool, bool]] = []  # for each open conditional: was a branch taken, is the current one read
    fresh = False  # whether only blanks precede this token in its line
    while at < end:
        hit = _TOKEN.match(text, at, end)
        if hit is None:
            return
        kind = hit.lastgroup or "other"
        if directives and fresh and text[at] == "#":
            directive = _DIRECTIVE.match(text, at, end)
            assert directive is not None
            _branch(branches, directive["word"], is_false=directive["rest"].strip() == "0")
            at = directive.end()
            continue
        if kind == "blank":
            fresh = "\n" in hit[0]
        else:
            fresh = False
            if all(read for _, read in branches):
                yield HostToken("raw" if kind == "delimiter" else kind, hit.start(), hit.end())
        at = hit.end()


def _branch(branches: list[tuple[bool, bool]], word: str, *, is_false: bool) -> None:
    """Update the open conditionals by a directive: only the first possible branch of a conditional is read."""
    if word.startswith("if"):
        read = word != "if" or not is_false
        branches.append((read, read))
    elif word.startswith("el") and branches:
        taken = branches[-1][0]
        read = not taken and not is_false
        branches[-1] = taken or read, read
    elif word == "endif" and branches:
        branches.pop()


def _statement(around: Surroundings, start: int, at: int, end: int, number: int) -> tuple[AsmBlock | None, int]:
    """Return the asm statement whose keyword ends at an offset, or None, and the offset where the search continues."""
    text = around.text
    is_macro = number >= 0 and around.functions[number].is_macro
    sections: list[list[HostToken]] = [[]]
    depth = 0
    for token in _tokens(text, at, end, directives=not is_macro):
        sign = text[token.start : token.end]
        if depth == 0:
            if token.kind == "word" and sign in _QUALIFIERS:
                continue
            if sign != "(":
                return None, token.start
            depth = 1
            continue
        if sign in ("(", "["):
            depth += 1
        elif sign in (")", "]"):
            depth -= 1
            if depth == 0:
                return _block(around, Span(start, token.end), sections, number), token.end
        elif sign == ";" or (token.kind == "word" and KEYWORD.fullmatch(sign)):
            # An unfinished statement is read as far as it goes.
            return _block(around, Span(start, token.start), sections, number), token.start
        if depth == 1 and sign == ":":
            sections.append([])
        else:
            sections[-1].append(token)
    return (_block(around, Span(start, end), sections, number), end) if depth else (None, at)


def _block(around: Surroundings, span: Span, sections: list[list[HostToken]], number: int) -> AsmBlock | None:
    pieces = tuple(_template(around, sections[0]))
    if not pieces:
        return None
    operands: list[Operand] = []
    for section, written in zip(sections[1:3], (True, False), strict=False):
        for tokens in _split(around.text, section):
            operand = _operand(around.text, tokens, len(operands), written=written)
            if operand is not None:
                operands.append(operand)
    labels = [around.text[t.start : t.end] for t in sections[4]] if len(sections) > 4 else []
    signs = "%" if len(sections) > 1 else ""
    named = tuple(name for name in labels if name != ",")
    literals = tuple(_literals(around.text, sections[0]))
    return AsmBlock(span, pieces, tuple(operands), signs, number, labels=named, literals=literals)


def _literals(text: str, tokens: Iterable[HostToken]) -> Iterator[StringLiteral]:
    for token in tokens:
        if token.kind in ("raw", "string"):
            raw = text[token.start : text.index('"', token.start)].endswith("R")
            yield StringLiteral(Span(token.start, token.end), raw)


def _template(around: Surroundings, tokens: Iterable[HostToken]) -> Iterator[StringPiece]:
    """Yield the pieces of adjacent strings; the name of a macro that consists of strings counts as a string."""
    text = around.text
    hashed = False
    for token in tokens:
        written = text[token.start : token.end]
        if token.kind in ("raw", "string"):
            yield from c_pieces(text, Span(token.start, token.end))
        elif written == "#":
            hashed = True
            continue
        elif token.kind == "word" and not hashed and (value := _macro_text(around, written)) is not None:
            yield StringPiece(value, Span(token.start, token.end), exact=False)
        else:
            yield StringPiece(HOLE, Span(token.start, token.end), exact=False)
        hashed = False


def _macro_text(around: Surroundings, name: str) -> str | None:
    """Return the text of a macro without parameters that consists of strings; macros in it are not expanded."""
    text = around.names.macros.get(name)
    if text is None:
        return None
    tokens = list(_tokens(text, 0, len(text), directives=False))
    if not tokens or any(t.kind not in ("raw", "string") for t in tokens) or len(tokens) > 64:
        return None
    return "".join(p.text for t in tokens for p in c_pieces(text, Span(t.start, t.end)))


def _split(text: str, tokens: Sequence[HostToken]) -> Iterator[list[HostToken]]:
    """Yield the comma-separated parts of a list."""
    depth = 0
    part: list[HostToken] = []
    for token in tokens:
        sign = text[token.start : token.end]
        depth += (sign in ("(", "[", "{")) - (sign in (")", "]", "}"))
        if sign == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(token)
    if part:
        yield part


def _operand(text: str, tokens: list[HostToken], number: int, *, written: bool) -> Operand | None:
    """Return the operand ``[name] "constraint" (expression)``; missing parts are empty."""
    words = [text[t.start : t.end] for t in tokens]
    if not words:
        return None
    name, at = "", 0
    if words[0] == "[" and len(words) > 2 and words[2] == "]":
        name, at = words[1], 3
    constraint: str | None = None
    if at < len(tokens) and tokens[at].kind in ("raw", "string"):
        constraint = ""
        while at < len(tokens) and tokens[at].kind in ("raw", "string"):
            constraint += "".join(p.text for p in c_pieces(text, Span(tokens[at].start, tokens[at].end)))
            at += 1
        if at < len(words) and words[at] != "(":
            constraint = None  # because a macro continues the constraint
            at = next((i for i in range(at, len(words)) if words[i] == "("), len(words))
    else:
        at = next((i for i in range(at, len(words)) if words[i] == "("), len(words))
    inside = tokens[at + 1 : -1] if at < len(words) and words[at] == "(" and words[-1] == ")" else tokens[at:]
    expression = text[inside[0].start : inside[-1].end] if inside else ""
    return Operand(number, name, constraint, expression, Span(tokens[0].start, tokens[-1].end), written)


def _find_marked_strings(around: Surroundings, known: Sequence[AsmBlock], but: Container[int]) -> Iterator[AsmBlock]:
    """Yield the strings that are marked by the comment before them."""
    text = around.text
    taken = iter(sorted(b.span for b in known))
    inside = next(taken, None)
    marks = [c for c in around.comments if MARK.search(text, c.start, c.end)]
    for comment, following in pairwise([*marks, Span(len(text), len(text))]):
        while inside is not None and inside.end <= comment.start:
            inside = next(taken, None)
        if inside is not None and inside.start <= comment.start:
            continue
        strings: list[HostToken] = []
        number = around.function_at(comment.start)
        if number in but:
            continue
        for token in _tokens(text, comment.end, following.start, directives=True):
            if token.kind in ("raw", "string"):
                strings.append(token)
            elif strings or text[token.start] in ";}":
                break
        if strings:
            pieces = tuple(
                p for t in strings for piece in c_pieces(text, Span(t.start, t.end)) for p in _split_format(piece)
            )
            span, literals = Span(strings[0].start, strings[-1].end), tuple(_literals(text, strings))
            yield AsmBlock(span, pieces, (), "%$", number, asked=True, literals=literals)


def _split_format(piece: StringPiece) -> Iterator[StringPiece]:
    """Split a piece of a format string; the parts that a program fills in are unknown."""
    if not piece.exact:
        yield piece
        return
    at = 0
    for form in _FORMAT.finditer(piece.text):
        if at < form.start():
            yield StringPiece(piece.text[at : form.start()], Span(at, form.start()).shift(piece.host.start))
        yield StringPiece(HOLE, Span(form.start(), form.end()).shift(piece.host.start), exact=False)
        at = form.end()
    if at < len(piece.text):
        yield StringPiece(piece.text[at:], Span(at, len(piece.text)).shift(piece.host.start))
