"""Helpers of commands that call external tools: choose the tool and the platform, and convert its messages to findings.

The option takes precedence, then the settings of the input's folder, then PATH.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import STDIN
from visa_lsp.app.settings import Finder, FolderSettings
from visa_lsp.diagnostics import Diagnostic, Rule
from visa_lsp.text import LineIndex, Span, lines_of
from visa_lsp.toolchain.find_tools import FINALIZER, OCLOC, Tool, find_tool
from visa_lsp.toolchain.process import Ran, ToolError, run_program

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from visa_lsp.app.check.report import ReportedFinding
    from visa_lsp.toolchain.finalize import ToolFinding


class MissingToolError(UserError):
    """An external program that is not there."""


def settings_for(path: str) -> FolderSettings:
    """Return the settings of an input's folder; for standard input those of the current folder."""
    finder = Finder(_list_rules)
    return finder.of_folder(".") if path == STDIN else finder.of_file(path)


def _list_rules() -> tuple[Rule, ...]:
    from visa_lsp.app.rule_registry import list_rules  # 30 ms, only for settings with codes

    return list_rules()


def tool_for(tool: Tool, option: str | None, settings: FolderSettings) -> str:
    """Return the path of a tool. Raises MissingToolError with installation advice if it is missing."""
    setting = settings.finalizer if tool is FINALIZER else settings.ocloc
    try:
        return find_tool(tool, option or setting)
    except ToolError as error:
        where = f"{settings.origin}: {setting!r}: " if setting and not option else ""
        raise MissingToolError(f"{where}{error}") from None


def find_ocloc(option: str | None) -> str:
    """Return the path of the compiler of OpenCL C for the current folder. Raises MissingToolError with installation advice."""
    return tool_for(OCLOC, option, settings_for(STDIN))


def run_tool(command: Sequence[str], folder: Path, seconds: float, environment: Mapping[str, str]) -> Ran:
    """Run a program with its children in a folder, as ``run_program`` does. Raises UserError if it cannot start."""
    try:
        return run_program(command, folder, seconds, environment=environment)
    except ToolError as error:
        raise UserError(str(error)) from None


def split_options(words: str | None, option: str) -> tuple[str, ...]:
    """Split the options for a tool as a shell does. Raises UserError for an unclosed quote."""
    try:
        return tuple(shlex.split(words or ""))
    except ValueError as error:
        raise UserError(f"{option} {words!r}: {str(error).lower()}") from None


def diagnostics_of(text: str, findings: Iterable[ToolFinding]) -> tuple[Diagnostic, ...]:
    """Return the findings of a tool as diagnostics on the words of their lines."""
    index, lines = LineIndex(text), lines_of(text)
    out = []
    for finding in findings:
        line = min(finding.line, len(lines) - 1)
        words = lines[line]
        start = index.start(line) + len(words) - len(words.lstrip())
        out.append(Diagnostic(finding.rule, Span(start, start + len(words.strip())), finding.message))
    return tuple(out)


def convert_findings(name: str, text: str, findings: Iterable[ToolFinding]) -> tuple[ReportedFinding, ...]:
    """Return the findings of a tool for the formats of ``check``."""
    from visa_lsp.app.check.report import findings_of  # 15 ms, only for tools that print findings

    return findings_of(name, text, diagnostics_of(text, findings))


def is_file_name(path: str) -> bool:
    """Return whether an input is a file, whose folder may have other files of its program."""
    return path != STDIN and Path(path).is_file()
