"""Limits of the labels and strings that the instructions of a body may name.

An assembler gives a missing label or string a new number, so that no text can express an object that names one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from visa_lsp.isa.model import LABEL_KINDS, STRING_KINDS, Instruction

if TYPE_CHECKING:
    from visa_lsp.program.model import Inst


class Absent(NamedTuple):
    """A label or string that an instruction names and the body lacks, and the field with the name."""

    message: str
    field: str


class BodyLimits:
    """The numbers of labels and strings of a body."""

    def __init__(self, labels: int, strings: int) -> None:
        self._labels = labels
        self._strings = strings
        self._places: dict[Instruction, tuple[tuple[int, bool], ...]] = {}

    def absent(self, inst: Inst) -> Absent | None:
        """Return the first label or string of an instruction that the body lacks."""
        places = self._places.get(inst.row)
        if places is None:
            places = self._places[inst.row] = _places(inst.row)
        for index, is_label in places:
            value = inst.values[index]
            limit, what = (self._labels, "label") if is_label else (self._strings, "string")
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, int) and number >= limit:
                    message = f"there is no {what} {number}; there are {limit}"
                    return Absent(message, inst.row.fields[index].name)
        return None


def _places(row: Instruction) -> tuple[tuple[int, bool], ...]:
    """Return the fields of a row that name labels (true) or strings (false)."""
    kinds = enumerate(field.kind for field in row.fields)
    return tuple((index, kind in LABEL_KINDS) for index, kind in kinds if kind in LABEL_KINDS or kind in STRING_KINDS)
