"""The instruction table: all rows collected and indexed.

Two rows with one key, and two rows of one opcode that an object cannot distinguish, are refused. The table is the only
module state of the product. ``InstructionTable`` is a value: tests create their own with additional rows.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Final

from msgspec.structs import force_setattr

# isort: off
# A new family is one line here; the table has them in this order.
from visa_lsp.isa.rows import (  # noqa: F401 - found by the function below
    mov,
    arith,
    math,
    logic,
    compare,
    address,
    flow,
    simd_flow,
    sync,
    data_port,
    svm,
    sampler,
    media,
    lsc,
    matrix,
    misc,
)
# isort: on

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.isa.model import FlowClass, Instruction, Mark


# Other modules are skipped, because pytest adds its own to modules that it rewrites.
FAMILIES: Final = {
    name: module
    for name, module in globals().items()
    if isinstance(module, ModuleType) and module.__package__ == "visa_lsp.isa.rows"
}


class InstructionTable:
    """Rows by mnemonic and by opcode. Immutable after construction."""

    def __init__(self, rows: Iterable[Instruction]) -> None:
        self.rows: tuple[Instruction, ...] = tuple(rows)
        by_mnemonic: dict[str, list[Instruction]] = defaultdict(list)
        by_opcode: dict[int, list[Instruction]] = defaultdict(list)
        keys = set()
        records: dict[tuple[object, ...], Instruction] = {}
        has_constants: dict[int, bool] = {}
        for row in self.rows:
            key = row.key
            if key in keys:
                raise ValueError(f"two rows are {key}")
            keys.add(key)
            # Set in place, because a copy of each row would take longer than creating the row.
            force_setattr(row, "index", {f.name: i for i, f in enumerate(row.fields)})
            by_mnemonic[row.mnemonic].append(row)
            if row.opcode is not None:
                by_opcode[row.opcode].append(row)
                earlier = records.setdefault(key[1:], row)
                if bool(key[2]) != has_constants.setdefault(row.opcode, bool(key[2])):
                    earlier = by_opcode[row.opcode][0]
                # Several words for the same record are allowed: ``FILE`` and ``.file``.
                if earlier.fields != row.fields or earlier.meaning != row.meaning:
                    raise ValueError(
                        f"`{earlier.mnemonic}` and `{row.mnemonic}` have the opcode 0x{row.opcode:02x}, and no constant field tells them apart"
                    )
        self.by_mnemonic: dict[str, tuple[Instruction, ...]] = {k: tuple(v) for k, v in by_mnemonic.items()}
        self.by_opcode: dict[int, tuple[Instruction, ...]] = {k: tuple(v) for k, v in by_opcode.items()}

    @cached_property
    def mnemonics(self) -> frozenset[str]:
        """Every mnemonic, dots included (``nbarrier.signal``)."""
        return frozenset(self.by_mnemonic)

    @cached_property
    def by_flow(self) -> dict[FlowClass, Instruction]:
        """The row for each effect on control flow; the first of several."""
        return {row.flow: row for row in reversed(self.rows)}

    @cached_property
    def foreign(self) -> dict[str, tuple[Instruction, str]]:
        """Words of other languages: the row with the same meaning, and the text to write if a mnemonic is not enough."""
        return {word: (row, how) for row in self.rows for word, how in row.foreign.items()}

    def marks(self, mark: Mark) -> tuple[str, ...]:
        """Return the mnemonics of the source marks of a kind."""
        return tuple(row.mnemonic for row in self.rows if row.marks_source is mark)

    def siblings(self, row: Instruction) -> tuple[Instruction, ...]:
        """Return all rows with the mnemonic of a row, including itself."""
        return self.by_mnemonic[row.mnemonic]

    def lookup(self, words: Sequence[str]) -> tuple[tuple[Instruction, ...], int]:
        """Return the rows whose mnemonic begins a dotted name, and the number of words in that mnemonic.

        ``["add3", "o"]`` gives the row ``add3.o`` and 2; an unknown name gives ``((), 0)``.
        """
        for taken in (2, 1):
            if len(words) >= taken:
                rows = self.by_mnemonic.get(".".join(words[:taken]))
                if rows:
                    return rows, taken
        return (), 0

    def with_rows(self, *rows: Instruction) -> InstructionTable:
        """Return a table with additional rows."""
        return InstructionTable((*self.rows, *rows))


def load() -> InstructionTable:
    """Return the table of the product: the rows of all families."""
    return InstructionTable(row for family in FAMILIES.values() for row in family.ROWS)


TABLE: Final = load()
