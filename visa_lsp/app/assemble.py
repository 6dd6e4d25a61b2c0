"""A text to the bytes of an object: the one way that ``asm``, ``run`` and the server's command share.

Findings of severity error leave no object, as in the real assembler; what only an object cannot hold is found by the
encoder and reported at its line like any other finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.analysis.verdict_store import stores
from visa_lsp.app.check.kept_verdicts import KnownClean
from visa_lsp.app.errors import printable
from visa_lsp.checks.support.context import dialect_of
from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.diagnostics import Diagnostic, Severity, has_errors
from visa_lsp.isa.model import Dialect
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.text_form import Subject, module_lines
from visa_lsp.sema.lower import program_of
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.program.model import Module


class Assembled(Struct, frozen=True):
    """The outcome: ``data`` is None exactly when a diagnostic is an error."""

    analysis: Analysis
    module: Module | None
    data: bytes | None
    diagnostics: tuple[Diagnostic, ...]


class CheckedProgram(Struct, frozen=True):
    """A text checked and lowered: ``module`` is None exactly when a diagnostic is an error."""

    analysis: Analysis
    module: Module | None
    diagnostics: tuple[Diagnostic, ...]


def program_of_text(text: str, platform: str | None = None) -> CheckedProgram:
    """Check and lower a text. Without a platform the register size is what the text says or shows, else TGLLP's."""
    analysis = Analysis.of(text, platform)
    clean = KnownClean(text, platform) if stores and not analysis.document.marked else None
    diagnostics = () if clean is not None and clean.is_known else _shown(analysis)
    if clean is not None and not diagnostics:
        clean.note()
    if has_errors(diagnostics):
        return CheckedProgram(analysis, None, diagnostics)
    module = program_of(analysis.document, platform_named(platform or ""))
    if module is None:
        # Binding found a problem that no rule calls an error: say so at its place instead of failing in silence.
        diagnostics += tuple(
            _without_object(analysis.document.span(p.place.line, p.place.span), f"no object: {p.kind}")
            for p in analysis.bound.problems
        )
    return CheckedProgram(analysis, module, diagnostics)


def assemble_text(text: str, platform: str | None = None) -> Assembled:
    """Check, lower and encode a text; of platforms as ``program_of_text``."""
    program = program_of_text(text, platform)
    analysis, module, diagnostics = program.analysis, program.module, program.diagnostics
    if module is None:
        return Assembled(analysis, None, None, diagnostics)
    try:
        data = encode(module)
    except CodecError as error:
        finding = _without_object(_line(analysis, error.line), str(error.args[0] if error.args else error))
        return Assembled(analysis, module, None, (*diagnostics, finding))
    if dialect_of(analysis.bound) is Dialect.V42:
        diagnostics += tuple(_refused_older(analysis, module, platform))
    return Assembled(analysis, module, data, diagnostics)


def _line(analysis: Analysis, number: int) -> Span:
    """Return the span of a line without its indent."""
    line = max(number, 0)
    text = analysis.document.line_text(line)
    indent = len(text) - len(text.lstrip())
    return analysis.document.span(line, Span(indent, indent + (len(text.strip()) or 1)))


def _refused_older(analysis: Analysis, module: Module, platform: str | None) -> Iterator[Diagnostic]:
    """Warnings about lines of a text 4.2 whose form in text 4.1, as ``dis`` prints it, has errors."""
    body, written = -1, []
    for line in module_lines(module, platform_named(platform or ""), comments=False):
        body += line.subject is Subject.BODY
        written.append((body, line))
    older = Analysis.of("\n".join([line.text for _, line in written]) + "\n", platform)
    for finding in older.diagnostics:
        if finding.severity is not Severity.ERROR:
            continue
        at, line = written[older.document.position(finding.span.start)[0]]
        is_code = line.subject is Subject.CODE
        source = module.bodies[at].instructions[line.number].line if is_code else analysis.bound.version_line
        message = f"the object's text, which is 4.1, is refused here ({finding.code}): {finding.message}; `dis` prints `{line.text.strip()}`"
        yield replace(_without_object(_line(analysis, source), message), severity_override=Severity.WARNING)


def _without_object(place: Span, message: str) -> Diagnostic:
    """The finding that a text has no object."""
    from visa_lsp.app.rules import NO_OBJECT_FORM

    return Diagnostic(NO_OBJECT_FORM, place, message)


def _shown(analysis: Analysis) -> tuple[Diagnostic, ...]:
    """What comments in the text do not silence; a silenced error stays, for it leaves no object all the same."""
    from visa_lsp.ide.suppressions import visible  # with all rules: of a text that is known to be clean nobody asks

    shown = visible(analysis)
    kept = set(map(id, shown))
    silenced = [
        replace(d, message=f"{d.message} (a comment suppresses this, but no object can be made)")
        for d in analysis.diagnostics
        if d.severity is Severity.ERROR and id(d) not in kept
    ]
    return tuple(sorted((*shown, *silenced), key=lambda d: (d.span, d.code))) if silenced else shown


def problem_lines(name: str, result: Assembled | CheckedProgram) -> Iterator[str]:
    """Yield errors and warnings, a line each, as ``check --format concise`` writes them."""
    for finding in result.diagnostics:
        if finding.severity in (Severity.ERROR, Severity.WARNING):
            line, column = result.analysis.document.position(finding.span.start)
            text = f"{name}:{line + 1}:{column + 1}: {finding.severity.value} {finding.code} {finding.name}: {finding.message}"
            yield printable(text)
