"""What the commands that call other programs share: which program and platform are meant, and what it says as findings.

The option goes first, then the settings of the input's folder, then PATH. Knows no command.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from visa_lsp.app.check.report import findings_of
from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import STDIN
from visa_lsp.app.rules import known_rules
from visa_lsp.app.settings import Finder
from visa_lsp.diagnostics import Diagnostic
from visa_lsp.text import LineIndex, Span, lines_of
from visa_lsp.toolchain.process import ToolError
from visa_lsp.toolchain.tools import FINALIZER, find_tool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.app.check.report import ReportedFinding
    from visa_lsp.app.settings import FolderSettings
    from visa_lsp.toolchain.finalize import ToolFinding
    from visa_lsp.toolchain.tools import Tool


def settings_for(path: str) -> FolderSettings:
    """Return the settings of an input's folder; for standard input those of the folder that one is in."""
    finder = Finder(known_rules)
    return finder.of_folder(".") if path == STDIN else finder.of_file(path)


def tool_for(tool: Tool, option: str | None, settings: FolderSettings) -> str:
    """Return the path of a tool. Raises UserError, with how to get it, where there is none."""
    setting = settings.finalizer if tool is FINALIZER else settings.ocloc
    try:
        return find_tool(tool, option or setting)
    except ToolError as error:
        where = f"{settings.origin}: {setting!r}: " if setting and not option else ""
        raise UserError(f"{where}{error}") from None


def split_options(words: str | None, option: str) -> tuple[str, ...]:
    """Return the options for a tool out of one word of ours, as a shell splits it. Raises UserError for a quote that stays open."""
    try:
        return tuple(shlex.split(words or ""))
    except ValueError as error:
        raise UserError(f"{option} {words!r}: {str(error).lower()}") from None


def diagnostics_of(text: str, findings: Iterable[ToolFinding]) -> tuple[Diagnostic, ...]:
    """Return what a tool says, on the words of the lines that it is about."""
    index, lines = LineIndex(text), lines_of(text)
    out = []
    for finding in findings:
        line = min(finding.line, len(lines) - 1)
        words = lines[line]
        start = index.start(line) + len(words) - len(words.lstrip())
        out.append(Diagnostic(finding.rule, Span(start, start + len(words.strip())), finding.message))
    return tuple(out)


def reported(name: str, text: str, findings: Iterable[ToolFinding]) -> tuple[ReportedFinding, ...]:
    """Return the same, ready for every format of ``check``."""
    return findings_of(name, text, diagnostics_of(text, findings))


def is_file_name(path: str) -> bool:
    """Return whether an input has a folder in which other files of its program may lie."""
    return path != STDIN and Path(path).is_file()
