"""Assembles a text: to a program, and to the bytes of an object. Shared by all commands, the server and the Python API.

As in the real assembler, a finding of severity error leaves no program, even if a comment suppresses it. The encoder reports
what an object cannot represent as a finding at its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.errors import printable
from visa_lsp.app.inputs import decode_object, other_text
from visa_lsp.checks.support.context import dialect_of
from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.diagnostics import Diagnostic, Severity, has_errors
from visa_lsp.isa.model import Dialect
from visa_lsp.isa.platforms import Platform, platform_named
from visa_lsp.program.text_form import Subject, module_lines, module_text
from visa_lsp.sema.lower import resolve_bound
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from visa_lsp.program.model import Module


class CheckedProgram(Struct, frozen=True):
    """A text checked and lowered: ``module`` is None exactly when a diagnostic is an error."""

    analysis: Analysis
    module: Module | None
    diagnostics: tuple[Diagnostic, ...]


class Assembled(CheckedProgram, frozen=True):
    """A text assembled: ``data`` is None exactly when a diagnostic is an error."""

    data: bytes | None = None


def problems_of(analysis: Analysis) -> tuple[Diagnostic, ...]:
    """Return the findings about a text that its comments do not suppress, and the suppressed errors marked as such."""
    from visa_lsp.ide.suppressions import visible  # loads all rules

    shown = visible(analysis)
    kept = set(map(id, shown))
    silenced = [
        replace(d, message=f"{d.message} (suppressed by a comment, but the text cannot be assembled)")
        for d in analysis.diagnostics
        if d.severity is Severity.ERROR and id(d) not in kept
    ]
    return tuple(sorted((*shown, *silenced), key=lambda d: (d.span, d.code))) if silenced else shown


def lower_text(analysis: Analysis, platform: Platform | None) -> CheckedProgram:
    """Lower a text for a platform, whatever its findings. Without a platform the text decides the register size."""
    module = resolve_bound(analysis.document, analysis.bound, platform).module
    if module is not None:
        return CheckedProgram(analysis, module, ())
    # A problem without a finding of a rule is reported by its kind, because the failure must not be silent.
    diagnostics = problems_of(analysis)
    if not has_errors(diagnostics):
        diagnostics += tuple(
            _without_object(analysis.document.span(p.place.line, p.place.span), f"no object: {p.kind}")
            for p in analysis.bound.problems
        )
    return CheckedProgram(analysis, None, diagnostics)


def program_of_text(text: str, platform: str | None = None) -> CheckedProgram:
    """Check and lower a text; the register size is chosen as in ``lower_text``."""
    analysis = Analysis.of(text, platform)
    diagnostics = problems_of(analysis)
    if has_errors(diagnostics):
        return CheckedProgram(analysis, None, diagnostics)
    program = lower_text(analysis, platform_named(platform or ""))
    return program if program.module is None else CheckedProgram(analysis, program.module, diagnostics)


def module_of_object(data: bytes, name: str, platform: str | None) -> Module:
    """Return the program of an object, with the lines of its text where the text can be read back.

    Raises UserError if the bytes are not an object that can be read.
    """
    module = decode_object(name, data)
    chosen = platform_named(platform) if platform else None
    return lower_text(Analysis.of(module_text(module, chosen), platform), chosen).module or module


def assemble_text(text: str, platform: str | None = None) -> Assembled:
    """Check, lower and encode a text; the platform is chosen as in ``program_of_text``."""
    program = program_of_text(text, platform)
    analysis, module, diagnostics = program.analysis, program.module, program.diagnostics
    if module is None:
        return Assembled(analysis, None, diagnostics)
    try:
        data = encode(module)
    except CodecError as error:
        message = str(error) if error.line < 0 else f"an object (version 4.1) cannot hold this line: {error.message}"
        finding = _without_object(_line(analysis, error.line), message)
        return Assembled(analysis, module, (*diagnostics, finding))
    if dialect_of(analysis.bound) is Dialect.V42:
        diagnostics += tuple(_warn_of_older(analysis, module, platform))
    return Assembled(analysis, module, diagnostics, data)


def _line(analysis: Analysis, number: int) -> Span:
    """Return the span of a line without its indent."""
    line = max(number, 0)
    text = analysis.document.line_text(line)
    indent = len(text) - len(text.lstrip())
    return analysis.document.span(line, Span(indent, indent + (len(text.strip()) or 1)))


def _warn_of_older(analysis: Analysis, module: Module, platform: str | None) -> Iterator[Diagnostic]:
    """Yield warnings about lines of a text 4.2 whose form in text 4.1, as ``dis`` prints it, has errors."""
    body, written = -1, []
    for line in module_lines(module, platform_named(platform or ""), comments=False):
        body += line.subject is Subject.BODY
        written.append((body, line))
    older = Analysis.of("\n".join([line.text for _, line in written]) + "\n", platform)
    for finding in older.diagnostics:
        if finding.severity is not Severity.ERROR:
            continue
        body_index, line = written[older.document.position(finding.span.start)[0]]
        is_code = line.subject is Subject.CODE
        source = module.bodies[body_index].instructions[line.number].line if is_code else analysis.bound.version_line
        message = f"the text of the object (version 4.1) has an error here ({finding.code}): {finding.message}; `dis` prints `{line.text.strip()}`"
        yield replace(_without_object(_line(analysis, source), message), severity_override=Severity.WARNING)


def _without_object(place: Span, message: str) -> Diagnostic:
    """Return the finding that a text has no object."""
    from visa_lsp.app.rule_registry import NO_OBJECT_FORM

    return Diagnostic(NO_OBJECT_FORM, place, message)


def problem_lines(
    name: str,
    result: CheckedProgram,
    severities: Collection[Severity] = (Severity.ERROR, Severity.WARNING),
) -> Iterator[str]:
    """Yield the lines of ``finding_lines``, but one line for a text that is not vISA at all."""
    if result.module is None and (other := other_text(result.analysis.document.text)):
        yield printable(f"{name}: {other}")
    else:
        yield from finding_lines(name, result, severities)


def finding_lines(
    name: str,
    result: CheckedProgram,
    severities: Collection[Severity] = (Severity.ERROR, Severity.WARNING),
) -> Iterator[str]:
    """Yield the findings of these severities as lines of the format ``concise``."""
    for finding in result.diagnostics:
        if finding.severity in severities:
            line, column = result.analysis.document.position(finding.span.start)
            text = f"{name}:{line + 1}:{column + 1}: {finding.severity.value} {finding.code} {finding.name}: {finding.message}"
            yield printable(text)
