"""Two inputs lie on the same bytes of the payload.

Why: the payload is loaded once; both variables would start with the same value and one argument would be lost.
Reserved registers (`.implicit_PSEUDO_INPUT`) may share bytes with each other. Where they share bytes with an argument, or with the
header in r0, a write to one destroys the other; the finalizer does not check, so that is a warning.

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

from visa_lsp.checks.rule import ERROR, WARNING, Body, Check, CheckContext, Diagnostic, Scope, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import Symbol

RULE = rule("V123", "overlapping-inputs", ERROR, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    inputs = [s for s in body.symbols if s.input is not None and s.input_place is not None]
    header = min(ctx.grf_sizes)
    placed: list[tuple[int, int, Symbol]] = []
    for symbol in inputs:
        assert symbol.input is not None
        assert symbol.input_place is not None
        begin, end = symbol.input.offset, symbol.input.offset + symbol.input.size
        if symbol.input.reserved and begin < header and end > 0:
            message = f"reserved register `{symbol.name}` lies on bytes {begin} to {end - 1} of the payload, but bytes 0 to {header - 1} are the header in r0"
            yield ctx.report(RULE, symbol.input_place, message, severity=WARNING)
        for other_begin, other_end, other in placed:
            assert other.input is not None
            reserved = symbol.input.reserved + other.input.reserved
            if begin < other_end and other_begin < end and other.input_place is not None and reserved < 2:
                what = "reserved register" if symbol.input.reserved else "input"
                message = (
                    f"{what} `{symbol.name}` (bytes {begin} to {end - 1} of the payload) overlaps"
                    f" `{other.name}` (bytes {other_begin} to {other_end - 1})"
                )
                related = [(other.input_place, f"`{other.name}` is passed here")]
                severity = WARNING if reserved else ERROR
                yield ctx.report(RULE, symbol.input_place, message, severity=severity, related=related)
                break
        placed.append((begin, end, symbol))


CHECK = Check(RULE, body=_body, scope=Scope.OUTLINE)
