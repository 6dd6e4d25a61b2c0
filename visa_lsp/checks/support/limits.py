"""Limits of checking line by line: far above every real text, but finite for any input.

A text of a million mistakes would take ten minutes to check. Beyond these limits one finding says that there may be
more. The rule is here beside the others; the analysis applies the limits, which depend on the text alone.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.diagnostics import Diagnostic, Rule, Severity
from visa_lsp.text import Span

# In order: the lines of each body whose findings are reported; the bodies in one step; all bodies; the bodies that share
# their name with another one.
REPORTED_LINES: Final = 2_000
BODIES: Final = 250
MAX_BODIES: Final = 20_000
REPEATED: Final = 1_000

UNCHECKED: Final = Rule(
    code="V008",
    name="unchecked-lines",
    severity=Severity.WARNING,
    doc=f"""A text has so many findings that the lines after them were not checked.

visa-lsp reports the findings of at most {REPORTED_LINES:,} lines of a kernel, and checks at most {MAX_BODIES:,} kernels of a text.

Why: a text of nothing but mistakes would take minutes to check at every keystroke; its first findings show what is
wrong with it.

Example:

    a binary file with the extension of a text

Instead:

    fix the reported findings, and check again

Authority: none; the limit is visa-lsp's own.
""",
)


def report_unchecked(line: int, start: int) -> Diagnostic:
    """Return the finding that the text is not checked from a line on; ``start`` is the line's offset."""
    message = f"too many lines have findings; those from line {line + 1} on are not checked"
    return Diagnostic(UNCHECKED, Span(start, start), message)
