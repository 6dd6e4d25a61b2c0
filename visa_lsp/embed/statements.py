"""Findings about asm statements themselves: constraints that the compiler rejects, and assembly of other processors.

Does not read vISA. Invariant: each finding lies at a string of the host.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Diagnostic
from visa_lsp.embed.blocks import AsmBlock, Compiler, Operand
from visa_lsp.embed.languages import Host
from visa_lsp.embed.rules import BAD_CONSTRAINT, OTHER_ASSEMBLY, SUB_GROUP_SIZE
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.embed.host_text import HostText
    from visa_lsp.embed.units import KnownType

_OUTPUTS: Final = frozenset({"=rw", "+rw"})
_INPUTS: Final = frozenset({"rw", "rw.u", "i", "P"})
_OF_VECTORS: Final = frozenset({"r", "rw", "a", "cr", "i", "n", "F"})
REQUIRED_SIZE: Final = re.compile(r"\b\w*reqd_sub_group_size\s*\(\s*(\w{1,60})\s*\)")
_SIZES: Final = (8, 16, 32)
_STRING: Final = re.compile(r'(?<!\w)(?:u8|[uUL])?"[^"\n]*"')
_SCALAR_WORDS: Final = (
    "the compiler of OpenCL and SYCL does not take the constraint `{}`: that of 2026 refuses the kernel, that of 2022 "
    "drops the statement without a word or fails; {}"
)
_VECTOR_WORDS: Final = "the vector compiler does not take the constraint `{}`: it takes `r`, `rw`, `a`, `cr`, `i`, `n`, `F` and the number of an output"
_LISTS: Final = {
    True: "an output is `=rw` or `+rw`",
    False: "an input is `rw`, `rw.u`, `i`, `P` or the number of an output",
}


def statement_findings(host: HostText) -> Iterator[Diagnostic]:
    """Return the findings about the statements of a host, independent of their templates."""
    for number, unit in enumerate(host.units):
        by = host.base_of(number) - unit.base
        yield from _judge_size(host, number)
        for block, facts in zip(unit.source.blocks, unit.source.facts, strict=True):
            if block.is_ptx and host.host is Host.PYTHON:
                words = "this is PTX: an Intel GPU takes vISA here, with constraints such as `=rw,rw`"
                yield Diagnostic(OTHER_ASSEMBLY, block.span.shift(by), words)
                continue
            for operand in block.operands:
                words = _wrong(block, operand, facts[operand.number])
                if words:
                    yield Diagnostic(BAD_CONSTRAINT, _place(host, operand, operand.span.shift(by)), words)


def _judge_size(host: HostText, number: int) -> Iterator[Diagnostic]:
    """Yield a finding for the last sub-group size that is required before a body, if the platform does not have it."""
    unit, zone = host.units[number], host.placed[number].zone
    required = [*REQUIRED_SIZE.finditer(host.document.slice(Span(zone.start, host.base_of(number))))][-1:]
    if not required or any(block.is_of_vectors for block in unit.source.blocks):
        return
    word = required[0][1]
    size = int(word) if word.isdecimal() else unit.source.width
    sizes = host.platform.sub_group_sizes if host.platform is not None else _SIZES
    if size and size not in sizes:
        has = f"{host.platform.name} has" if host.platform is not None else "platforms have"
        words = (
            f"the kernel requires a sub-group size of {size}; {has} {', '.join(map(str, sizes[:-1]))} and {sizes[-1]}"
        )
        yield Diagnostic(SUB_GROUP_SIZE, Span(*required[0].span()).shift(zone.start), words)


def _place(host: HostText, operand: Operand, span: Span) -> Span:
    """Return the place of an operand's constraint."""
    text = host.document.slice(span)
    if host.host in (Host.PYTHON, Host.LLVM, Host.MLIR):
        words = text.split(",")
        if operand.number < len(words):
            start = sum(len(word) + 1 for word in words[: operand.number])
            offset = text.find(operand.constraint or "", start)
            if offset >= 0:
                return Span(offset, offset + len(operand.constraint or "")).shift(span.start)
        return span
    string = _STRING.search(text)
    return Span(*string.span()).shift(span.start) if string is not None else span


def _wrong(block: AsmBlock, operand: Operand, facts: KnownType) -> str:
    """Return the reason why a constraint is wrong; empty if it is right."""
    constraint = operand.constraint
    if not constraint:
        return ""
    of_vectors = operand.kind in _OF_VECTORS or operand.kind.isdigit()
    if block.compiler is Compiler.VECTOR:
        return "" if of_vectors else _VECTOR_WORDS.format(_shorten(constraint))
    scalar = constraint in _OUTPUTS if operand.written else constraint in _INPUTS or constraint.isdigit()
    if not scalar and not (of_vectors and block.compiler is Compiler.EITHER):
        return _SCALAR_WORDS.format(_shorten(constraint), _LISTS[operand.written])
    if facts.varies:
        return f"the constraint `{constraint}` takes a number that is known when the kernel is compiled, but `{_shorten(operand.expression)}` is known only when it runs"
    return ""


def _shorten(words: str) -> str:
    """Return words of a host in one line of at most 60 characters, because a damaged host may have a constraint of many lines."""
    return f"{' '.join(words.split()):.60}"
