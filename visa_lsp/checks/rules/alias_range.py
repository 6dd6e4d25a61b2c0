"""An alias begins or ends outside of the variable that it is laid over, or is laid over nothing.

Why: an alias has no storage of its own; the bytes outside its base belong to another variable. An alias of `%null` has an
offset into nothing.

Example:

    .decl V40 v_type=G type=d num_elts=8
    .decl V41 v_type=G type=d num_elts=8 alias=<V40, 64>

Instead:

    .decl V40 v_type=G type=d num_elts=8
    .decl V41 v_type=G type=d num_elts=4 alias=<V40, 16>

Authority: seed 000, `alias_index` and `alias_offset`. The finalizer rejects an offset past the base and an offset into
`%null`. It silently accepts an alias that only ends past its base, so that is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.sema.model import Place, SymbolKind

RULE = rule("V115", "alias-range", ERROR, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in ctx.find_declarations(body):
        if symbol.alias is None or symbol.decl is None or symbol.decl.alias is None or symbol.place is None:
            continue
        step = symbol.alias[1]
        base, offset = symbol.base()
        place = Place(symbol.place.line, symbol.decl.alias.span)
        related = [(base.place, f"`{base.name}` is declared here")] if base.place else []
        if base.kind is not SymbolKind.GENERAL:
            continue
        if base.name == "%null":
            if step:
                message = f"`{symbol.name}` is an alias of `%null`, which has no bytes; its offset must be 0"
                yield ctx.report(RULE, place, message)
        elif base.predefined and (ctx.platform is None or 0 <= offset < base.byte_size):
            continue
        elif not 0 <= offset < base.byte_size:
            # The finalizer does not check the size of predefined variables.
            tail, severity = (" (the finalizer does not check)", WARNING) if base.predefined else ("", ERROR)
            message = f"alias begins at byte {offset} of `{base.name}`, which has {base.byte_size} bytes{tail}"
            yield ctx.report(RULE, place, message, related=related, severity=severity)
        elif offset + symbol.byte_size > base.byte_size and not symbol.unsized:
            end = offset + symbol.byte_size
            message = f"alias ends at byte {end} of `{base.name}`, which has {base.byte_size} bytes (the finalizer does not check)"
            yield ctx.report(RULE, place, message, related=related, severity=WARNING)


CHECK = Check(RULE, body=_body)
