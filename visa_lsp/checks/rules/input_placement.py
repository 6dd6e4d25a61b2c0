"""An input lies at an offset where its variable cannot begin.

A variable smaller than a register may not cross into the next one; a larger one begins at a register; the offset is a
multiple of the element size, of 4 for samplers and surfaces.

Why: the variable stays where the payload places it, and regions address whole elements within a register.

Example:

    .decl V40 v_type=G type=d num_elts=1
    .input V40 offset=94 size=4

Instead:

    .decl V40 v_type=G type=d num_elts=1
    .input V40 offset=96 size=4

Authority: seed 000, inputs. The finalizer rejects a small input that crosses a register. It silently accepts the other
two, so they are warnings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, WARNING, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.sema.model import Place, Symbol, SymbolKind
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.diagnostics import Severity

RULE = rule("V125", "input-placement", ERROR, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in body.symbols:
        if symbol.input is None or symbol.input_place is None:
            continue
        judged = _judge(ctx, symbol, symbol.input.offset, symbol.input.size)
        if judged is not None:
            statement = ctx.document.statement(symbol.input_place.line)
            offset = statement.offset if isinstance(statement, tree.InputDecl) else None
            place = Place(symbol.input_place.line, offset.span) if offset is not None else symbol.input_place
            yield ctx.report(RULE, place, judged[0], severity=judged[1])


def _judge(ctx: CheckContext, symbol: Symbol, offset: int, size: int) -> tuple[str, Severity] | None:
    small, name = min(ctx.grf_sizes), symbol.name
    if symbol.kind is not SymbolKind.GENERAL:
        if offset % 4:
            return (
                f"{symbol.kind.value} `{name}` is passed at offset {offset}, which is not a multiple of 4 (the finalizer does not check)",
                WARNING,
            )
        return None
    if size and all(size < grf and offset // grf != (offset + size - 1) // grf for grf in ctx.grf_sizes):
        edge = (offset // small + 1) * small
        return f"input `{name}` is smaller than a register but crosses into the next one at byte {edge}", ERROR
    element = symbol.type.size if symbol.type else 1
    if offset % element:
        return (
            f"input offset {offset} is not a multiple of {element}, the element size of `{name}` (the finalizer does not check)",
            WARNING,
        )
    if all(size > grf and offset % grf for grf in ctx.grf_sizes):
        return (
            f"`{name}` is larger than a register, so its input offset must be a multiple of {small}, not {offset} (the finalizer does not check)",
            WARNING,
        )
    return None


CHECK = Check(RULE, body=_body)
