"""The line that the program has on standard error for a mistake of its user."""

from __future__ import annotations

import sys

from visa_lsp.app.errors import complaint


def complain(message: str) -> None:
    """One line on stderr, under the program's name."""
    print(complaint(message), file=sys.stderr)
