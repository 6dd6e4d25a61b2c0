"""A text to the bytes of an object: the one way that ``asm``, ``run`` and the server's command share.

Findings of severity error leave no object, as in the real assembler; what only an object cannot hold is found by the
encoder and reported at its line like any other finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.diagnostics import Diagnostic, Rule, Severity, has_errors
from visa_lsp.ide.analysis import Analysis
from visa_lsp.sema.lower import lower
from visa_lsp.text import Span

if TYPE_CHECKING:
    from visa_lsp.program.model import Module

NO_OBJECT_FORM: Final = Rule(
    "V290",
    "no-object-form",
    Severity.ERROR,
    """A form that an object cannot hold.

    What: the line is right as text, but the object format (version 4.1) has no place for it: an instruction without an
    opcode, a third cache control, an address model of text 4.2.
    Why: the object format ended with text 4.1; newer compilers write text only.
    Instead: use the 4.1 form of the instruction, or run the text without assembling it to a file.
    """,
)


@dataclass(frozen=True, slots=True)
class Assembled:
    """The outcome: ``data`` is None exactly when a diagnostic is an error."""

    analysis: Analysis
    module: Module | None
    data: bytes | None
    diagnostics: tuple[Diagnostic, ...]


def assemble_text(text: str, platform: str | None = None) -> Assembled:
    """Check, lower and encode a text. Without a platform TGLLP's register size is taken."""
    analysis = Analysis.of(text, platform)
    diagnostics = analysis.diagnostics
    if has_errors(diagnostics):
        return Assembled(analysis, None, None, diagnostics)
    module = lower(analysis.bound)
    if module is None:
        # Binding found a problem that no rule calls an error: say so at its place instead of failing in silence.
        problems = tuple(
            Diagnostic(NO_OBJECT_FORM, analysis.document.span(p.place.line, p.place.span), f"no object: {p.kind}")
            for p in analysis.bound.problems
        )
        return Assembled(analysis, None, None, diagnostics + problems)
    try:
        return Assembled(analysis, module, encode(module), diagnostics)
    except CodecError as error:
        line = max(error.line, 0)
        width = len(analysis.document.line_text(line).strip()) or 1
        indent = len(analysis.document.line_text(line)) - len(analysis.document.line_text(line).lstrip())
        span = Span(indent, indent + width)
        finding = Diagnostic(
            NO_OBJECT_FORM, analysis.document.span(line, span), str(error.args[0] if error.args else error)
        )
        return Assembled(analysis, module, None, (*diagnostics, finding))
