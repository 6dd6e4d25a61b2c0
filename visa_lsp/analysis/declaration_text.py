"""What declarations and inputs say behind their names, found without reading the line by the grammar."""

from __future__ import annotations

import re
from typing import Final

from visa_lsp.syntax.tree import SUBROUTINE

ALIAS: Final = re.compile(r"alias\s*=?\s*[<(]\s*(%?[A-Za-z_][A-Za-z0-9_]*)")
# An input directive, with the variable and what stands behind it.
INPUT: Final = re.compile(r"\s*\.(?:input|parameter|implicit[A-Za-z0-9_$@?-]*)\s+(%?[A-Za-z_][A-Za-z0-9_]*)\s*(.*)")
# A directive that begins a subroutine, with its name.
FUNCTION: Final = re.compile(rf'\s*{re.escape(SUBROUTINE)}(?![A-Za-z0-9_])\s*"?([^"\s]*)')
_CLASS: Final = re.compile(r"v_type\s*=\s*([A-Z])")


def alias_in(rest: str) -> re.Match[str] | None:
    """Where a declaration says what it is an alias of; group 1 is the base's name."""
    return ALIAS.search(rest) if "alias" in rest else None


def base_of(rest: str) -> str | None:
    """What a declaration is an alias of."""
    match = alias_in(rest)
    return match.group(1) if match else None


def class_letter(rest: str) -> str:
    """The letter of the class that is declared."""
    match = _CLASS.search(rest)
    return match.group(1) if match else "G"
