"""A variable has more elements than its class allows, or a count that its class does not support.

A general variable has 1 to 4096 elements and at most 4096 bytes; a predicate 1, 2, 4, 8, 16 or 32; an address variable
1 to 16, a sampler or surface variable at most 128.

Why: the hardware has 16 address registers and flag registers of 32 bits; a general variable too large for the register
file cannot be allocated, and a count above 65535 is silently cut to 16 bits.

Example:

    .decl P1 v_type=P num_elts=3

Instead:

    .decl P1 v_type=P num_elts=4

Authority: seed 000, variables, addresses and predicates. The finalizer rejects wrong predicate, address and state counts and
a general variable of 0 elements; it silently accepts more than 4096 elements or bytes, so that is a warning. Text 4.2 may have
as many elements as 256 registers have bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, WARNING, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa.model import Dialect
from visa_lsp.isa.platforms import address_registers
from visa_lsp.isa.predefined import SURFACES
from visa_lsp.sema.model import Place, Symbol, SymbolKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.diagnostics import Severity

RULE = rule("V114", "element-count", ERROR, __doc__)
_MAX_GENERAL_ELEMENTS = 8192
_MAX_STATE_ELEMENTS = 128
_LEGAL_PREDICATES = (1, 2, 4, 8, 16, 32)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in ctx.find_declarations(body):
        if symbol.decl is None or symbol.decl.num_elts is None or symbol.place is None or symbol.unsized:
            continue
        most = 256 * max(ctx.grf_sizes) if ctx.dialect is Dialect.V42 else _MAX_GENERAL_ELEMENTS
        judged = _judge(symbol, address_registers(ctx.platform), most)
        if judged is not None:
            message, severity = judged
            place = Place(symbol.place.line, symbol.decl.num_elts.span)
            yield ctx.report(RULE, place, message, severity=severity)


def _judge(symbol: Symbol, registers: int, most: int) -> tuple[str, Severity] | None:
    count, name = symbol.num_elements, symbol.name
    if symbol.kind is SymbolKind.PREDICATE and count not in _LEGAL_PREDICATES:
        return f"predicate `{name}` has {count} elements; it can have 1, 2, 4, 8, 16 or 32", ERROR
    if symbol.kind is SymbolKind.ADDRESS and count > registers:
        return f"address variable `{name}` has {count} elements; there are {registers} address registers", ERROR
    # The field has 16 bits, so the rule checks the stored value.
    if symbol.kind is SymbolKind.GENERAL and not 0 < count & 0xFFFF <= most:
        return f"`{name}` has {count} elements; it can have 1 to {most}", ERROR
    if symbol.kind is SymbolKind.GENERAL and symbol.byte_size > 4096:
        text = f"`{name}` has {symbol.byte_size} bytes; the specification allows 4096 (the finalizer does not check)"
        return text, WARNING
    if symbol.kind in (SymbolKind.SAMPLER, SymbolKind.SURFACE) and count > _MAX_STATE_ELEMENTS:
        # The finalizer does not check the first surfaces.
        early = symbol.kind is SymbolKind.SURFACE and symbol.id < 2 * len(SURFACES)
        tail = " (the finalizer does not check)" if early else ""
        message = f"`{name}` has {count} elements; it can have {_MAX_STATE_ELEMENTS} at most{tail}"
        return message, WARNING if early else ERROR
    return None


CHECK = Check(RULE, body=_body)
