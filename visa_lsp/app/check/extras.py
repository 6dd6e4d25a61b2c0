"""Output of ``check`` besides its report: a diff, statistics, and the settings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from visa_lsp.app.check.report import CheckReport, FileResult
    from visa_lsp.app.settings import FolderSettings

_NO_END: Final = "\n\\ No newline at end of file\n"


def difference(result: FileResult) -> str:
    """Return a unified diff of what the fixes changed in a file."""
    from difflib import unified_diff

    before, after = (_lines(text or "") for text in (result.before, result.after))
    lines = unified_diff(before, after, result.path, result.path)
    return "".join(line if line.endswith("\n") else line + _NO_END for line in lines)


def _lines(text: str) -> list[str]:
    from visa_lsp.syntax.document import split_lines  # most runs show no diff

    lines = split_lines(text)
    return lines if lines[-1] else lines[:-1]


def statistics(report: CheckReport) -> str:
    """Return the number of findings of each code, the most frequent first."""
    findings = report.findings
    counts = Counter((f.code, f.name, f.severity.value) for f in findings)
    fixable = {f.code for f in findings if any(r.safe for r in f.remedies)}
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    width = len(str(rows[0][1])) if rows else 0
    return "".join(
        f"{count:>{width}} {code} {severity} {name}{' [--fix]' if code in fixable else ''}\n"
        for (code, name, severity), count in rows
    )


def cache_hits_text(hits: int, asked: int) -> str:
    """Return the number of texts whose findings came from the cache."""
    return f"{hits:,} of {asked:,} files read from the cache\n"


def settings_text(shown: tuple[FolderSettings, dict[str, Any]]) -> str:
    """Return the settings as TOML, each with its source."""
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
