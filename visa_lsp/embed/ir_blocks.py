"""Finds inline assembly in LLVM IR and MLIR: the template, the constraints and the argument types of a call.

Both are read line by line without a grammar, because a call of assembly is always spelt the same. Does not check vISA.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from visa_lsp.embed.blocks import AsmBlock, Compiler, Operand, StringLiteral, of_visa
from visa_lsp.embed.languages import Host
from visa_lsp.embed.literals import StringPiece
from visa_lsp.embed.units import KnownType, UnitSource
from visa_lsp.text import Span

_STRING: Final = r'"(?:[^"\\]|\\[\s\S])*+"'
_CALL: Final = {
    Host.LLVM: re.compile(
        rf"\bcall(?:br)?\b(?P<result>[^\"\n;]*?)\basm\s+(?:(?:sideeffect|alignstack|inteldialect|unwind)\s+)*"
        rf"(?P<template>{_STRING})\s*,\s*(?P<constraints>{_STRING})"
    ),
    Host.MLIR: re.compile(
        rf"\bllvm\.inline_asm\b(?P<result>[^\"\n]*)(?P<template>{_STRING})\s*,\s*(?P<constraints>{_STRING})"
    ),
}
_COMMENT: Final = {Host.LLVM: ";", Host.MLIR: "//"}
_ESCAPE: Final = re.compile(r'\\(?:(?P<hex>[0-9A-Fa-f]{2})|(?P<one>[nt"\\]))')
_LETTERS: Final = {"n": "\n", "t": "\t"}
_CONSTRAINT: Final = re.compile(r"[=+&%*]*[\w.]*")
_TYPE: Final = re.compile(
    r"(?P<vector>(?:<|vector<)\s*(?P<count>\d{1,4})\s*x\s*(?P<element>\w+)\s*>)"
    r"|(?P<pointer>(?:!llvm\.)?ptr(?:\s*addrspace\((?P<space>\d+)\)|<(?P<inner>\d+)>)?|[\w%.]+(?:\s*addrspace\((?P<typed>\d+)\))?\s*\*)"
    r"|(?P<scalar>i\d+|f\d+|bf16|half|float|double|bfloat)\b"
)
_SCALARS: Final = {
    "i8": "b", "i16": "w", "i32": "d", "i64": "q", "half": "hf", "f16": "hf", "bfloat": "bf", "bf16": "bf",
    "float": "f", "f32": "f", "double": "df", "f64": "df",
}  # fmt: skip
_LOCAL: Final = "3"
_NUMBER: Final = re.compile(r"i\d+\s+(?P<value>-?\d{1,18})\s*")
_ARGUMENTS: Final = re.compile(r"\s*\(")
_MLIR_TYPES: Final = re.compile(r"[^:\n]*:\s*\((?P<given>[^()\n]*)\)\s*->\s*(?P<result>[^\n]*)")
_FOR_VECTORS: Final = re.compile(r"genx", re.IGNORECASE)
_MAX_CALL_CHARS: Final = 100_000


def sources_in(text: str, host: Host) -> Iterator[UnitSource]:
    """Yield a body for each call of a text, in text order."""
    compiler = Compiler.EITHER if _FOR_VECTORS.search(text) else Compiler.SCALAR
    for hit in _CALL[host].finditer(text):
        line = text.rfind("\n", 0, hit.start()) + 1
        if _COMMENT[host] in text[line : hit.start()]:
            continue
        span = Span(*hit.span("template"))
        inside = Span(*hit.span("constraints"))
        pieces = tuple(_pieces(text, span))
        words = text[inside.start + 1 : inside.end - 1].split(",")
        kept = [word.strip() for word in words if not word.strip().startswith(("~", "!"))]
        if not all(_CONSTRAINT.fullmatch(word) for word in kept):
            continue
        operands = tuple(
            Operand(number, "", word, "", inside, word.startswith(("=", "+")))
            for number, word in enumerate(kept)
            if word
        )
        literal = StringLiteral(span, raw=True)
        block = AsmBlock(Span(span.start, inside.end), pieces, operands, "$", literals=(literal,), compiler=compiler)
        if compiler is Compiler.SCALAR and block.has_whole_operands:
            block = AsmBlock(block.span, pieces, operands, "$", literals=(literal,), compiler=Compiler.EITHER)
        if of_visa([block], opencl=False):
            yield UnitSource("asm", 0, (block,), (tuple(_list_types(text, host, hit, operands)),))


def _pieces(text: str, span: Span) -> Iterator[StringPiece]:
    """Yield the pieces of a string with its quotes; an escape is two digits, in MLIR a letter too."""
    start, end = span.start + 1, span.end - 1
    for escape in _ESCAPE.finditer(text, start, end):
        if start < escape.start():
            yield StringPiece(text[start : escape.start()], Span(start, escape.start()))
        value = chr(int(escape["hex"], 16)) if escape["hex"] else _LETTERS.get(escape["one"], escape["one"])
        yield StringPiece(value, Span(*escape.span()), exact=False)
        start = escape.end()
    if start < end:
        yield StringPiece(text[start:end], Span(start, end))


def _list_types(text: str, host: Host, hit: re.Match[str], operands: tuple[Operand, ...]) -> Iterator[KnownType]:
    """Return the type of each operand of a call; empty if the numbers of types and constraints differ."""
    if host is Host.MLIR:
        types = _MLIR_TYPES.match(text, hit.end())
        given = _split(types["given"]) if types is not None else []
        result = types["result"] if types is not None else ""
    else:
        given, result = _arguments(text, hit.end()), hit["result"]
    results = list(_TYPE.finditer(result))
    written = [o for o in operands if o.written]
    fits = len(results) == len(written) and len(given) == len(operands) - len(written)
    for operand in operands:
        if not fits:
            yield KnownType()
        elif operand.written:
            yield _of_type(results[operand.number])
        else:
            words = given[operand.number - len(written)]
            number = _NUMBER.fullmatch(words) if operand.is_immediate else None
            type_match = _TYPE.match(words)
            yield (
                KnownType(value=int(number["value"]))
                if number is not None
                else (KnownType() if type_match is None or operand.is_immediate else _of_type(type_match))
            )


def _of_type(match: re.Match[str]) -> KnownType:
    if match["pointer"]:
        space = match["space"] or match["inner"] or match["typed"]
        return KnownType("ud" if space == _LOCAL else "uq", 1)
    visa = _SCALARS.get(match["element"] or match["scalar"], "")
    return KnownType(visa, int(match["count"] or 1)) if visa else KnownType()


def _arguments(text: str, offset: int) -> list[str]:
    """Return the arguments after the constraints of a call."""
    opened = _ARGUMENTS.match(text, offset)
    if opened is None:
        return []
    depth = 1
    for place in range(opened.end(), min(len(text), opened.end() + _MAX_CALL_CHARS)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return _split(text[opened.end() : place])
    return []


def _split(words: str) -> list[str]:
    """Return the comma-separated parts of a list."""
    parts, depth, start = [], 0, 0
    for index, sign in enumerate(words):
        depth += (sign in "(<{[") - (sign in ")>}]")
        if sign == "," and depth == 0:
            parts.append(words[start:index].strip())
            start = index + 1
    return [*parts, words[start:].strip()] if words.strip() else []
