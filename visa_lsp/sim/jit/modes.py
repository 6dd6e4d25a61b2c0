"""The float modes that a body is compiled for: those of ``%cr0``, constant within one compiled form."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from visa_lsp.isa import types as ty
from visa_lsp.sim.values import Rounding

if TYPE_CHECKING:
    from visa_lsp.sim.registers import Frame


class Modes(NamedTuple):
    """How results round, and which types keep denormals."""

    rounding: Rounding = Rounding.EVEN
    keep_df: bool = False
    keep_f: bool = False
    keep_hf: bool = False

    @staticmethod
    def of(frame: Frame) -> Modes:
        """The modes of a frame."""
        return Modes(frame.rounding, frame.keep_df, frame.keep_f, frame.keep_hf)

    @staticmethod
    def of_word(control: int) -> Modes:
        """The modes of a value of ``%cr0``."""
        return Modes(Rounding(control >> 4 & 3), bool(control & 0x40), bool(control & 0x80), bool(control & 0x400))

    @property
    def to_nearest(self) -> bool:
        """Whether results round to nearest even."""
        return self.rounding is Rounding.EVEN

    def keeps(self, type_: ty.DataType) -> bool:
        """Whether denormals of a type stay."""
        return self.keep_df if type_ is ty.DF else self.keep_hf if type_ is ty.HF else self.keep_f
