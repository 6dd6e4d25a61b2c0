"""An alias lies at an offset that is not a multiple of its element size.

Why: elements would straddle; register regions cannot address them.

Example:

    .decl V40 v_type=G type=d num_elts=8
    .decl V41 v_type=G type=d num_elts=2 alias=<V40, 2>

Instead:

    .decl V40 v_type=G type=d num_elts=8
    .decl V41 v_type=G type=d num_elts=2 alias=<V40, 4>

Authority: seed 000, `alias_offset` ("error if the offset is not aligned to the type"); the finalizer accepts it silently. It does
reject an alias whose base is less aligned than the alias's type, and that is an error here; finalizers
of text 4.2 accept it, and align the base.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, INFORMATION, WARNING, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa.model import Dialect
from visa_lsp.isa.operands import align_bytes
from visa_lsp.sema.model import Place, SymbolKind

RULE = rule("V116", "misaligned-alias", WARNING, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in ctx.find_declarations(body):
        if symbol.alias is None or symbol.decl is None or symbol.decl.alias is None or symbol.place is None:
            continue
        base, _ = symbol.base()
        if base.kind is not SymbolKind.GENERAL or symbol.type is None or base.type is None or base.predefined:
            continue
        step, size = symbol.alias[1], symbol.type.size
        place = Place(symbol.place.line, symbol.decl.alias.span)
        related = [(base.place, f"`{base.name}` is declared here")] if base.place else []
        aligned = max(align_bytes(base.align, min(ctx.grf_sizes)), base.type.size)
        if aligned < size:
            message = f"`{symbol.name}` has elements of {size} bytes, but `{base.name}` is aligned to {aligned} only; declare it with `align={_WORD[size]}`"
            yield ctx.report(
                RULE, place, message, related=related, severity=INFORMATION if ctx.dialect is Dialect.V42 else ERROR
            )
        elif step % size:
            message = f"alias offset {step} is not a multiple of {size}, the size of type `{symbol.type.name}` (the finalizer does not check)"
            yield ctx.report(RULE, place, message, related=related)


_WORD = {2: "word", 4: "dword", 8: "qword"}
CHECK = Check(RULE, body=_body)
