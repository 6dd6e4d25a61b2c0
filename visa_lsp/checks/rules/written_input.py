"""An instruction writes an input variable.

Why: inputs are the kernel's arguments; the specification makes them read-only, so tools may rely on their values.
Media compilers use them as variables all the same, so the rule skips kernels with `Target="cm"`. It also skips reserved
registers (`.implicit_PSEUDO_INPUT`), which are not arguments. In text 4.2 it is a hint: the compiler of 2026 sometimes
writes inputs.

Example:

    .input V38 offset=64 size=4
    mov (M1, 1) V38(0,0)<1> 0x0:ud

Instead:

    .input V38 offset=64 size=4
    mov (M1, 1) V40(0,0)<1> 0x0:ud

Authority: seed 000, inputs ("input variables are read-only"); the finalizer accepts the text silently; texts that the
compiler of 2026 prints of its own tests.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import HINT, WARNING, Body, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import int_attribute
from visa_lsp.isa.model import Dialect, Role
from visa_lsp.sema.model import SymbolKind

RULE = rule("V127", "written-input", WARNING, __doc__)
_CM = 0  # the stored value of `Target="cm"`


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    if int_attribute(body, "Target") == _CM:
        return
    for symbol in body.symbols:
        if symbol.input is None or symbol.kind is not SymbolKind.GENERAL or symbol.input_place is None:
            continue
        if symbol.input.reserved:  # compilers reserve such registers to write to them
            continue
        writes = [r.place for r in symbol.references if r.role in (Role.WRITE, Role.READ_WRITE)]
        for write in sorted({place.line: place for place in reversed(writes)}.values()):
            if ctx.first_use(RULE, body, symbol.name, write.line):
                message = f"`{symbol.name}` is an input; the specification makes inputs read-only (the finalizer does not check)"
                severity = HINT if ctx.dialect is Dialect.V42 else None
                yield ctx.report(RULE, write, message, severity=severity, related=[(symbol.input_place, "passed here")])


CHECK = Check(RULE, body=_body, attributes=("Target",))
