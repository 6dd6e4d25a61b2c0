"""How much of a text is looked at line by line: enough for every text that is written, and an end for every other.

A text of a million lines of a million kinds, or of nothing but mistakes, would be judged for ten minutes at every
keystroke. Beyond these limits one finding says that there may be more. The rule is here, beside the others; what keeps the
limits is the analysis.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.diagnostics import Diagnostic, Rule, Severity
from visa_lsp.text import Span

# Kinds of lines that one look at a text judges; a text of 200,000 lines that a compiler wrote has some thousands of them.
CLASSES: Final = 40_000
# Lines that may have a finding and are bound and checked one by one, in each body; bodies in one go, and in all;
# bodies whose name another one has.
SUSPECTS: Final = 2_000
BODIES: Final = 250
MOST_BODIES: Final = 20_000
REPEATED: Final = 1_000

UNCHECKED: Final = Rule(
    code="V008",
    name="unchecked-lines",
    severity=Severity.WARNING,
    doc=f"""A text has so many findings, or lines of so many kinds, that the lines after them were not checked.

visa-lsp checks at most {SUSPECTS:,} lines of a kernel that may have a finding one by one, including lines of more than {CLASSES:,} kinds, and
at most {MOST_BODIES:,} kernels of a text.

Why: a text of nothing but mistakes would take minutes to check at every keystroke; its first findings show what is
wrong with it.

Example:

    a binary file with the extension of a text

Instead:

    fix the reported findings, and check again

Authority: none; the limit is visa-lsp's own.
""",
)


def unchecked(line: int, start: int) -> Diagnostic:
    """Return the finding that says that the text is not looked at from a line on; ``start`` is the line's offset."""
    message = f"too many lines may have findings; those from line {line + 1} on are not checked"
    return Diagnostic(UNCHECKED, Span(start, start), message)
