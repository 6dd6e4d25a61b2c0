"""Checks, assembles and disassembles, like the commands of these names, on values.

Loads no NumPy. Invariant: findings and bytes equal those of the command line without settings files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.api.findings import FindingList, ObjectError, TextError, TextFinding, text_findings
from visa_lsp.api.inputs import find_platform, material
from visa_lsp.app.assemble import assemble_text
from visa_lsp.app.check.report import findings_of
from visa_lsp.app.check.runner import check_file
from visa_lsp.app.check.suppress import Selection
from visa_lsp.app.check.verdict import Task
from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import SourceText, decode
from visa_lsp.diagnostics import Severity

if TYPE_CHECKING:
    from visa_lsp.api.inputs import Source


def check(path_or_text: Source, platform: str | None = None) -> FindingList[TextFinding]:
    """Return all findings about a text or a launch file in text order, as ``visa-lsp check`` does.

    A ``str`` with a line break is a text, any other names a file. Raises OSError if that cannot be read, and ValueError for
    other inputs (an object, OpenCL C) and for an unknown platform.
    """
    platform = find_platform(platform)
    source = _source(path_or_text)
    result = check_file(Task(source.name, source.name, platform, Selection(), source=source))
    if result.error:
        raise ValueError(result.error)
    return text_findings(result.findings)


def assemble(path_or_text: Source, platform: str | None = None) -> bytes:
    """Return the object of a text.

    Raises TextError with the findings if the text has errors; otherwise as ``check`` does.
    """
    platform = find_platform(platform)
    source = _source(path_or_text)
    assembled = assemble_text(source.text, platform)
    if assembled.data is not None:
        return assembled.data
    findings = text_findings(findings_of(source.name, source.text, assembled.diagnostics))
    errors = [str(finding) for finding in findings if finding.severity == Severity.ERROR.value]
    raise TextError("\n".join(errors) or f"{source.name}: this text cannot be assembled", findings)


def disassemble(data: Source, platform: str | None = None) -> str:
    """Return the text of an object or of a zebin, as ``visa-lsp dis`` prints it.

    A ``str`` or a path-like object names a file. Raises ObjectError if the bytes are neither, OSError if the file
    cannot be read, and ValueError for an unknown platform.
    """
    from visa_lsp.app.zebins import zebin_of, zebin_text
    from visa_lsp.codec.decode import decode as decoded
    from visa_lsp.codec.errors import CodecError
    from visa_lsp.isa.platforms import platform_named
    from visa_lsp.program.text_form import module_text
    from visa_lsp.zeinfo.zebin import is_elf

    where = platform_named(find_platform(platform) or "")
    given = material(data)
    try:
        if is_elf(given.data):
            zebin = zebin_of(given.name, given.data)
            return zebin_text(given.name, zebin, where, comments=True, summary=False)
        return module_text(decoded(given.data), where)
    except (CodecError, UserError) as error:
        raise ObjectError(f"cannot read the vISA object: {error}") from None


def _source(given: Source) -> SourceText:
    given_material = material(given)
    try:
        return decode(given_material.name, given_material.data)
    except UserError as error:
        raise ValueError(str(error)) from None
