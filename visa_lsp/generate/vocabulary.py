"""The words from the tables that the TextMate and the Vim grammar colour by their shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.ide.features.hover import DIRECTIVES
from visa_lsp.isa.types import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.isa.table import InstructionTable

_CONTROL: Final = ("flow", "simd_flow", "sync")
# The words before `=` in a declaration: those with a word as value, and those with any value.
WORDED: Final = ("v_type", "align")
VALUED: Final = ("num_elts", "alias", "attrs", "v_name")
OF_INPUTS: Final = ("offset", "size")


def longest_first(words: Iterable[str]) -> list[str]:
    """Return the words in an order in which longer words precede their prefixes."""
    return sorted(set(words), key=lambda word: (-len(word), word))


def mnemonics(table: InstructionTable, *, control: bool) -> list[str]:
    """Return the mnemonics of control flow and waiting, or all others."""
    rows = (row for row in table.rows if not row.opens_label)
    return longest_first(row.mnemonic for row in rows if (row.family in _CONTROL) == control)


def types() -> list[str]:
    """Return the data types."""
    return longest_first(type_.name for type_ in TYPES)


def directives() -> list[str]:
    """Return the directives, without their dot."""
    return longest_first(name[1:] for name in DIRECTIVES)
