"""Two inputs lie on the same bytes of the payload.

Why: the payload is loaded once; both variables would start with the same value and one argument would be lost.

Example:

    .input V38 offset=64 size=4
    .input V40 offset=64 size=4

Instead:

    .input V38 offset=64 size=4
    .input V40 offset=68 size=4

Authority: seed 000, inputs ("error if two inputs have overlapping offsets"); the finalizer rejects the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.rule import ERROR, Body, Check, CheckContext, Diagnostic, Scope, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import Symbol

RULE = rule("V123", "overlapping-inputs", ERROR, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    # Pseudo inputs are the compiler's notes about the payload; the finalizer does not judge them either.
    inputs = [
        s
        for s in body.symbols
        if s.input is not None and s.input_place is not None and "PSEUDO" not in ctx.document.code(s.input_place.line)
    ]
    placed: list[tuple[int, int, Symbol]] = []
    for symbol in inputs:
        assert symbol.input is not None
        assert symbol.input_place is not None
        begin, end = symbol.input.offset, symbol.input.offset + symbol.input.size
        for other_begin, other_end, other in placed:
            if begin < other_end and other_begin < end and other.input_place is not None:
                message = (
                    f"input `{symbol.name}` lies on bytes {begin} to {end - 1} of the payload,"
                    f" `{other.name}` on {other_begin} to {other_end - 1}: they overlap"
                )
                related = [(other.input_place, f"`{other.name}` is passed here")]
                yield ctx.report(RULE, symbol.input_place, message, related=related)
                break
        placed.append((begin, end, symbol))


CHECK = Check(RULE, body=_body, scope=Scope.OUTLINE)
