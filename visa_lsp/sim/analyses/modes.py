"""The float modes of each instruction of a body, as set by ``%cr0`` and known before the run.

Knows nothing of compiled code. Invariant: the modes in a plan hold on every path to the instruction, because lanes
neither branch nor join between two changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Lane, effect_of
from visa_lsp.isa.model import FlowClass
from visa_lsp.program.model import General, Immediate, Inst
from visa_lsp.sim.operands import CR0, Site
from visa_lsp.sim.values import Rounding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.registers import Frame

_STRAIGHT: Final = (FlowClass.NEXT, FlowClass.NOTE, FlowClass.LABEL, FlowClass.SUBROUTINE)
_CONTROL_WORDS: Final = {"or": int.__or__, "xor": int.__xor__, "and": int.__and__}


class Modes(NamedTuple):
    """The rounding of results, and the types that keep denormals."""

    rounding: Rounding = Rounding.EVEN
    keep_df: bool = False
    keep_f: bool = False
    keep_hf: bool = False

    @staticmethod
    def of(frame: Frame) -> Modes:
        """Return the modes of a frame."""
        return Modes(frame.rounding, frame.keep_df, frame.keep_f, frame.keep_hf)

    @staticmethod
    def of_control(control: int) -> Modes:
        """Return the modes of a value of ``%cr0``."""
        return Modes(Rounding(control >> 4 & 3), bool(control & 0x40), bool(control & 0x80), bool(control & 0x400))

    @property
    def to_nearest(self) -> bool:
        """True if results round to nearest even."""
        return self.rounding is Rounding.EVEN

    def keeps(self, type_: ty.DataType) -> bool:
        """Return whether denormals of a type stay."""
        return self.keep_df if type_ is ty.DF else self.keep_hf if type_ is ty.HF else self.keep_f


NEW_THREAD: Final = Modes()


class ModePlan(NamedTuple):
    """The modes of each instruction, and after the last; ``controls`` has the value of ``%cr0`` after each change."""

    modes: Sequence[Modes]
    controls: Mapping[int, int]

    @staticmethod
    def of_kernel(code: Code) -> ModePlan | None:
        """Return the plan of a kernel at the start of a new thread; None if a change of ``%cr0`` may give several values.

        All branches and joins have the modes of the first of them.
        """
        if not code.kernel.is_kernel:
            return None
        instructions = code.kernel.instructions
        flows = [inst.get("label") for inst in instructions if inst.row.flow not in _STRAIGHT]
        targets = {code.labels.get(label) for label in flows if isinstance(label, int)}
        control, controls, modes = 0, dict[int, int](), []
        steady: Modes | None = None
        for pc, inst in enumerate(instructions):
            now = Modes.of_control(control)
            modes.append(now)
            if pc in targets or inst.row.flow not in _STRAIGHT:
                if steady is not None and steady != now:
                    return None
                steady = now
            if changes_modes(code, inst):
                changed = _compute_control(code, inst, pc, control, is_first=steady is None)
                if changed is None:
                    return None
                control = controls[pc] = changed
        modes.append(Modes.of_control(control))
        return ModePlan(modes, controls)

    @staticmethod
    def constant(code: Code, modes: Modes) -> ModePlan:
        """Return the plan of a body with the same modes everywhere; a change of modes leaves compiled code."""
        return ModePlan([modes] * (len(code.kernel.instructions) + 1), {})


def branches(inst: Inst) -> bool:
    """Return whether an instruction moves lanes in compiled code."""
    return effect_of(inst.row.meaning) in {"goto", "jmp", "ret", "fret"}


def changes_modes(code: Code, inst: Inst) -> bool:
    """Return whether an instruction writes ``%cr0``."""
    dst = inst.get("dst")
    return isinstance(dst, General) and code.layout.root(dst.var) == CR0


def _compute_control(code: Code, inst: Inst, pc: int, control: int, *, is_first: bool) -> int | None:
    """Return the value of ``%cr0`` after an instruction that combines it with a number; None if unknown."""
    dst, own, number, meaning = inst.get("dst"), inst.get("src0"), inst.get("src1"), inst.row.meaning
    word = _CONTROL_WORDS.get(meaning.expr.word) if isinstance(meaning, Lane) else None
    if word is None or not (isinstance(dst, General) and isinstance(own, General) and isinstance(number, Immediate)):
        return None
    site = Site(code, inst, pc)
    scalar = site.lanes == 1 and inst.get("pred") is None and (is_first or site.control.no_mask)
    whole = code.layout.offset(dst.var) == code.layout.offset(CR0) and number.type.size == 4
    plain = own.var == dst.var and (own.row, own.col, dst.row, dst.col) == (0, 0, 0, 0)
    return word(control, number.bits & 0xFFFFFFFF) if scalar and whole and plain else None
