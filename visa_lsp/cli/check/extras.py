"""What a check prints beside its report: a diff, statistics, the settings that hold, progress on a terminal."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Self

from visa_lsp.syntax.document import split_lines

if TYPE_CHECKING:
    from visa_lsp.cli.check.report import CheckReport, FileResult
    from visa_lsp.cli.settings import FolderSettings

_SLOW: Final = 0.5
_STEP: Final = 0.1
_NO_END: Final = "\n\\ No newline at end of file\n"


def difference(result: FileResult) -> str:
    """A unified diff of what the fixes changed in a file."""
    from difflib import unified_diff

    before, after = (_lines(text or "") for text in (result.before, result.after))
    lines = unified_diff(before, after, result.path, result.path)
    return "".join(line if line.endswith("\n") else line + _NO_END for line in lines)


def _lines(text: str) -> list[str]:
    lines = split_lines(text)
    return lines if lines[-1] else lines[:-1]


def statistics(report: CheckReport) -> str:
    """How often each code was found, the most frequent first."""
    findings = report.findings
    counts = Counter((f.code, f.name, f.severity.value) for f in findings)
    fixable = {f.code for f in findings if any(r.safe for r in f.remedies)}
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    width = len(str(rows[0][1])) if rows else 0
    return "".join(
        f"{count:>{width}} {code} {severity} {name}{' [--fix]' if code in fixable else ''}\n"
        for (code, name, severity), count in rows
    )


def settings_text(shown: tuple[FolderSettings, dict[str, Any]]) -> str:
    """Settings as TOML, each with where it comes from."""
    from json import dumps as quoted

    settings, values = shown
    lines = [f"# settings file: {settings.origin or 'none'}"]
    ignores = values.pop("per-file-ignores")
    for key, value in values.items():
        if value is None:
            lines.append(f"# {key} is not set")
        else:
            lines.append(f"{key} = {quoted(value)}" + ("  # from the file" if key in settings.given else ""))
    if ignores:
        lines += ["", "[per-file-ignores]", *(f"{quoted(g)} = {quoted(s)}" for g, s in ignores.items())]
    return "\n".join(lines) + "\n"


class Progress:
    """A counter on a terminal's stderr, shown when the work takes long, gone when it is done."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.shown = False
        self.next = time.monotonic() + _SLOW
        self.wanted = total > 1 and sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def show(self, done: int) -> None:
        """Tell how many files are done, if it is time to."""
        now = time.monotonic()
        if self.wanted and now >= self.next:
            self.next = now + _STEP
            self.shown = True
            sys.stderr.write(f"\rvisa-lsp: {done} of {self.total} files")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
