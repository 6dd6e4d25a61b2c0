"""Finds asm statements, marked strings and templates of calls in OpenCL C, C and C++.

Tree-sitter separates code, comments and strings. The inside of an asm statement is read token by token, so that a
mistake, a line splice or a conditional has only a local effect. Does not check vISA. Invariant: every token is read a
fixed number of times, whatever the text is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.embed.blocks import MARK, AsmBlock, Operand, StringLiteral
from visa_lsp.embed.c_calls import Assignments, find_template, is_string, names_assembly, operands_of
from visa_lsp.embed.c_tokens import QUALIFIERS, HostToken, tokens_in
from visa_lsp.embed.literals import HOLE, StringPiece, c_pieces
from visa_lsp.embed.macros import KEYWORD, Macro, expand_macros
from visa_lsp.embed.nested_sources import NestedText
from visa_lsp.text import Span

if TYPE_CHECKING:
    from visa_lsp.embed.surroundings import Surroundings

_FORMAT: Final = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?(?:h|hh|l|ll|z|j|t)?[dusixXo](?!\w)")
# A field of std::format and its like; `attrs={Output}` is vISA.
_PLACEHOLDER: Final = re.compile(r"(?<!attrs=)\{(?:\d*|[A-Za-z_]\w*)(?::[^{}\n]*)?\}")
_TEMPLATE: Final = re.compile(rf"{_FORMAT.pattern}|\{{\{{|\}}\}}|{_PLACEHOLDER.pattern}")
# The declaration before a mark that is within it.
_DECLARED: Final = re.compile(r"(\w+)\s*(?:\[\s*\])?\s*=\s*(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)\Z")
_MAX_MARK_CHARS: Final = 300


def blocks_in(around: Surroundings, but: Container[int] = ()) -> list[AsmBlock]:
    """Return every asm statement, marked string and template of a call, in text order, of vISA or other assembly.

    The functions ``but``, given by number, are skipped.
    """
    all_blocks: list[AsmBlock] = []
    search_start = 0
    for keyword, number in around.keywords:
        if keyword.start < search_start or number in but:
            continue
        blocks, search_start = _read_keyword(around, keyword, number)
        all_blocks += blocks
    starts = [block.span.start for block in all_blocks]
    for marked in _find_marked_strings(around, tuple(all_blocks), but):
        index = bisect_right(starts, marked.span.start) - 1
        if index >= 0 and marked.span.start < all_blocks[index].span.end:
            # A mark before an asm statement declares its kind of assembly.
            all_blocks[index] = replace(all_blocks[index], asked=True)
        else:
            all_blocks.append(marked)
    taken = {literal.span.start for block in all_blocks for literal in block.literals}
    for called in _find_called_strings(around, but):
        if called.span.start not in taken:
            taken.add(called.span.start)
            all_blocks.append(called)
    return sorted(all_blocks, key=lambda b: b.span)


def strings_in(around: Surroundings) -> Iterator[NestedText]:
    """Yield the strings of a text that contain a keyword of inline assembly; adjacent strings are joined."""
    for span in around.strings:
        tokens = [
            t for t in tokens_in(around.text, span.start, span.end, directives=True) if t.kind in ("raw", "string")
        ]
        yield NestedText([p for t in tokens for p in c_pieces(around.text, Span(t.start, t.end))], span)


def _read_keyword(around: Surroundings, keyword: Span, number: int) -> tuple[list[AsmBlock], int]:
    """Return the asm statements that a keyword or the call of a macro begins, and the offset where the search continues."""
    text, macros = around.text, around.names.macros
    function = around.functions[number] if number >= 0 else None
    is_definition = function is not None and function.is_macro
    end = function.body.end if function is not None and is_definition else len(text)
    word = text[keyword.start : keyword.end]
    if not KEYWORD.fullmatch(word):
        tokens = [] if is_definition else _call_tokens(text, keyword, end)
        return _expand_call(around, tokens, number), tokens[-1].end if tokens else keyword.end
    name = ""
    if function is not None and is_definition:
        name = function.name
        own = macros.get(name)
        macros = {key: macro for key, macro in macros.items() if own is None or key not in own.names}
    block, search_start = _statement(text, keyword.start, keyword.end, end, macros, directives=not is_definition)
    stop = block.span.end if block is not None else _end_of_statement(text, keyword.end, end)
    tokens = list(tokens_in(text, keyword.start, stop, directives=not is_definition))
    if any(t.kind == "word" and macros.get(text[t.start : t.end]) is not None for t in tokens):
        span = Span(keyword.start, stop)
        expansion = expand_macros(text, tokens, macros, span)
        expanded = (
            _statement(expansion.text.text, 0, len(word), len(expansion.text.text), directives=False)[0]
            if expansion
            else None
        )
        if expansion is not None and expanded is not None:
            literals = block.literals if block is not None else ()
            block = replace(
                expansion.text.in_host(expanded), span=span, literals=literals, reach=Span(0, 0), macros=expansion.names
            )
            search_start = max(search_start, stop)
    return [replace(block, function=number, macro=name)] if block is not None else [], search_start


def _end_of_statement(text: str, offset: int, end: int) -> int:
    """Return the offset of the semicolon after an offset, or of the end of the block around it."""
    tokens = tokens_in(text, offset, end, directives=True)
    return next((token.start for token in tokens if text[token.start] in ";{}"), end)


def _call_tokens(text: str, name: Span, end: int) -> list[HostToken]:
    """Return the tokens of the call of a macro: its name, and its arguments if there are any."""
    tokens = [HostToken("word", name.start, name.end)]
    depth = 0
    for token in tokens_in(text, name.end, end, directives=True):
        sign = text[token.start : token.end]
        if depth == 0 and sign != "(":
            return tokens[:1]
        tokens.append(token)
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return tokens
    return tokens[:1]


def _expand_call(around: Surroundings, tokens: list[HostToken], number: int) -> list[AsmBlock]:
    """Return the asm statements that the call of a macro makes."""
    if not tokens:
        return []
    expansion = expand_macros(around.text, tokens, around.names.macros, Span(tokens[0].start, tokens[-1].end))
    if expansion is None:
        return []
    blocks: list[AsmBlock] = []
    text, search_start = expansion.text.text, 0
    for token in tokens_in(text, 0, len(text), directives=False):
        if token.start >= search_start and token.kind == "word" and KEYWORD.fullmatch(text, token.start, token.end):
            block, search_start = _statement(text, token.start, token.end, len(text), directives=False)
            if block is not None:
                blocks.append(replace(expansion.text.in_host(block), function=number, macros=expansion.names))
    return blocks


def _statement(
    text: str, start: int, offset: int, end: int, macros: Mapping[str, Macro | None] | None = None, *, directives: bool
) -> tuple[AsmBlock | None, int]:
    """Return the asm statement whose keyword ends at an offset, or None, and the offset where the search continues.

    A semicolon ends an unfinished statement, except in the arguments of ``macros``, which may be vISA without quotes.
    """
    sections: list[list[HostToken]] = [[]]
    depth = call = 0
    last = ""
    for token in tokens_in(text, offset, end, directives=directives):
        sign = text[token.start : token.end]
        if depth == 0:
            if token.kind == "word" and sign in QUALIFIERS:
                continue
            if sign != "(":
                return None, token.start
            depth = 1
            continue
        if sign in ("(", "["):
            depth += 1
            call = call or (depth if macros and macros.get(last) is not None else 0)
        elif sign in (")", "]"):
            depth -= 1
            call = call if depth >= call else 0
            if depth == 0:
                return _block(text, Span(start, token.end), sections), token.end
        elif (sign == ";" and not call) or (token.kind == "word" and KEYWORD.fullmatch(sign)):
            # An unfinished statement is read as far as it goes.
            return _block(text, Span(start, token.start), sections), token.start
        if depth == 1 and sign == ":":
            sections.append([])
        else:
            sections[-1].append(token)
        last = sign
    return (_block(text, Span(start, end), sections), end) if depth else (None, offset)


def _block(text: str, span: Span, sections: list[list[HostToken]]) -> AsmBlock | None:
    pieces = tuple(_template(text, sections[0]))
    if not pieces:
        return None
    operands: list[Operand] = []
    for section, written in zip(sections[1:3], (True, False), strict=False):
        for tokens in _split(text, section):
            operand = _operand(text, tokens, len(operands), written=written)
            if operand is not None:
                operands.append(operand)
    labels = [text[t.start : t.end] for t in sections[4]] if len(sections) > 4 else []
    signs = "%" if len(sections) > 1 else ""
    named = tuple(name for name in labels if name != ",")
    literals = tuple(_literals(text, sections[0]))
    return AsmBlock(span, pieces, tuple(operands), signs, labels=named, literals=literals)


def _literals(text: str, tokens: Iterable[HostToken]) -> Iterator[StringLiteral]:
    for token in tokens:
        if token.kind in ("raw", "string"):
            raw = text[token.start : text.index('"', token.start)].endswith("R")
            yield StringLiteral(Span(token.start, token.end), raw)


def _template(text: str, tokens: Iterable[HostToken]) -> Iterator[StringPiece]:
    """Yield the pieces of adjacent strings; anything else is unknown."""
    for token in tokens:
        if token.kind in ("raw", "string"):
            yield from c_pieces(text, Span(token.start, token.end))
        elif text[token.start] != "#":
            yield StringPiece(HOLE, Span(token.start, token.end), exact=False)


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
    name, index = "", 0
    if words[0] == "[" and len(words) > 2 and words[2] == "]":
        name, index = words[1], 3
    constraint: str | None = None
    if index < len(tokens) and tokens[index].kind in ("raw", "string"):
        constraint = ""
        while index < len(tokens) and tokens[index].kind in ("raw", "string"):
            constraint += "".join(p.text for p in c_pieces(text, Span(tokens[index].start, tokens[index].end)))
            index += 1
        if index < len(words) and words[index] != "(":
            constraint = None  # because a macro continues the constraint
            index = next((i for i in range(index, len(words)) if words[i] == "("), len(words))
    else:
        index = next((i for i in range(index, len(words)) if words[i] == "("), len(words))
    inside = (
        tokens[index + 1 : -1] if index < len(words) and words[index] == "(" and words[-1] == ")" else tokens[index:]
    )
    expression = text[inside[0].start : inside[-1].end] if inside else ""
    return Operand(number, name, constraint, expression, Span(tokens[0].start, tokens[-1].end), written)


def _find_marked_strings(around: Surroundings, blocks: Sequence[AsmBlock], but: Container[int]) -> Iterator[AsmBlock]:
    """Yield the strings that are marked by the comment before them."""
    text = around.text
    taken = iter(sorted(b.span for b in blocks))
    inside = next(taken, None)
    marks = [c for c in around.comments if MARK.search(text, c.start, c.end)]
    for comment, following in pairwise([*marks, Span(len(text), len(text))]):
        while inside is not None and inside.end <= comment.start:
            inside = next(taken, None)
        if inside is not None and inside.start <= comment.start:
            continue
        number = around.function_at(comment.start)
        if number in but:
            continue
        parts = list(_read_marked_parts(text, comment.end, following.start))
        strings = [token for token in parts if token.kind in ("raw", "string")]
        if strings:
            pieces = [p for t in parts for p in _template(text, [t])]
            is_template = any(piece.exact and _PLACEHOLDER.search(piece.text) for piece in pieces)
            filled = tuple(p for piece in pieces for p in _split_format(piece, _TEMPLATE if is_template else _FORMAT))
            span, literals = Span(strings[0].start, strings[-1].end), tuple(_literals(text, strings))
            yield AsmBlock(span, filled, (), "%$", number, asked=True, literals=literals)


def _find_called_strings(around: Surroundings, but: Container[int]) -> Iterator[AsmBlock]:
    """Yield the templates that calls get together with their constraints."""
    text = around.text
    assignments: Assignments | None = None
    names: set[tuple[str, int]] = set()
    for constraints, number in around.constraints:
        operands = operands_of(text, constraints)
        template = find_template(constraints) if operands and number not in but else None
        if template is None:
            continue
        start, end = template.start_byte, template.end_byte
        if is_string(template):
            tokens = list(tokens_in(text, start, end, directives=True))
        else:
            name = text[start:end]
            if (name, number) in names:
                continue
            names.add((name, number))
            assignments = assignments or Assignments(text, around.function_at)
            function = around.functions[number].span if number >= 0 else None
            places = assignments.find(name, function, start)
            if not places or text.endswith(("+=", "<<", "append"), places[0].start, places[0].end):
                continue
            tokens = list(_read_marked_parts(text, places[0].start, start))
            if not tokens or places[-1].start > tokens[-1].end:
                continue
        strings = [token for token in tokens if token.kind in ("raw", "string")]
        if strings:
            pieces = tuple(p for token in tokens for p in _template(text, [token]))
            span, literals = Span(strings[0].start, strings[-1].end), tuple(_literals(text, strings))
            inside = around.function_at(span.start)
            reach = Span(span.start, constraints.end_byte)
            block = AsmBlock(span, pieces, operands, "$", inside, literals=literals, reach=reach)
            if block.executes or names_assembly(text, constraints):
                yield block


def _read_marked_parts(text: str, start: int, end: int) -> Iterator[HostToken]:
    """Yield the strings of a marked statement, and the tokens between them whose values are unknown.

    If the statement declares a variable, the strings that the next statements assign or append to it are yielded too;
    the declaration may begin before the mark.
    """
    declared = _DECLARED.search(text, max(0, start - _MAX_MARK_CHARS), start)
    name = declared[1] if declared is not None else ""
    is_first = True
    for statement in _statements(text, start, end):
        signs = [text[token.start : token.end] for token in statement]
        is_next = len(signs) > 1 and signs[0] == name and (signs[1] in ("=", "+", "<") or signs[1:3] == [".", "append"])
        if not is_first and not is_next:
            return
        if is_first:
            assigned = signs.index("=") if "=" in signs else len(signs)
            words = [text[t.start : t.end] for t in statement[:assigned] if t.kind == "word"]
            name, is_first = words[-1] if words and words != signs else name, False
        yield from _read_joined_strings(text, statement)


def _statements(text: str, start: int, end: int) -> Iterator[list[HostToken]]:
    """Yield the tokens of each statement, until one is in other braces."""
    statement: list[HostToken] = []
    for token in tokens_in(text, start, end, directives=True):
        if text[token.start] == ";":
            yield statement
            statement = []
        elif text[token.start] == "}":
            break
        else:
            statement.append(token)
    yield statement


def _read_joined_strings(text: str, statement: Sequence[HostToken]) -> Iterator[HostToken]:
    """Yield the strings of an expression that are adjacent or joined by ``+`` and ``<<``, and the first token of each other part."""
    depth = string_end = 0
    is_begun = is_part = False
    for token in statement:
        sign = text[token.start : token.end]
        depth += (sign in "([") - (sign in ")]")
        if token.kind in ("raw", "string"):
            yield token
            is_begun, is_part, string_end = True, False, token.end
        elif not is_begun:
            continue
        elif depth < 0 or sign in (",", "?", ":"):
            return
        elif sign in ("+", "<"):
            is_part = True
        elif sign == ".":
            string_end = 0  # a method of the string
        elif is_part or (token.kind == "word" and token.start > string_end > 0):
            yield token
            is_part, string_end = False, 0


def _split_format(piece: StringPiece, pattern: re.Pattern[str]) -> Iterator[StringPiece]:
    """Split a piece of a format string; the parts that a program fills in are unknown, and doubled braces are single ones."""
    if not piece.exact:
        yield piece
        return
    start = 0
    for form in pattern.finditer(piece.text):
        if start < form.start():
            yield StringPiece(piece.text[start : form.start()], Span(start, form.start()).shift(piece.host.start))
        value = form[0][0] if form[0] in ("{{", "}}") else HOLE
        yield StringPiece(value, Span(form.start(), form.end()).shift(piece.host.start), exact=False)
        start = form.end()
    if start < len(piece.text):
        yield StringPiece(piece.text[start:], Span(start, len(piece.text)).shift(piece.host.start))
