"""The plan of one instruction for the checker of undefined values, computed once from its row and operands.

Records how values move (lane to lane, byte by byte, in groups of four lanes, as a whole), and whether operands are
addresses or data. Invariant: a plan depends on the program only, never on a run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.flow.bit_accesses import accesses_of, is_same_for_any_value
from visa_lsp.flow.steps import AccessPurpose, Space, number_of, space_of
from visa_lsp.isa.lane import Effect, Lane, Unmodelled
from visa_lsp.isa.lsc_codes import REPLACING
from visa_lsp.isa.message_forms import BlockForm, FenceForm, TexelForm, data_fields
from visa_lsp.isa.model import FlowClass, PredicateUse, Trait
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program.message import is_message, update_of
from visa_lsp.program.model import Address, General, Immediate, Indirect, Inst, Predicate, PredicateOperand, State
from visa_lsp.sim.operands import Enable, Site, Touch, predicate_bits
from visa_lsp.sim.values import immediate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


class InstructionKind(Enum):
    """The kind of an instruction with respect to undefined values."""

    VALUE = "computes"
    BRANCH = "branches"
    MESSAGE = "talks to memory"
    RECORDED = "is recorded"
    BARRIER = "meets other threads"


class Travel(Enum):
    """The part of the result that is undefined if a source is."""

    LANE = "its lane"
    BYTE = "its byte of its lane"
    FOUR = "its group of four lanes"
    WHOLE = "the whole result"


_GOES_ON: Final = frozenset({
    FlowClass.NEXT, FlowClass.NOTE, FlowClass.LABEL, FlowClass.SUBROUTINE, FlowClass.DO, FlowClass.ENDIF,
})  # fmt: skip
_NAMED_BARRIERS: Final = frozenset({"nbarrier_signal", "nbarrier_wait"})
_ARITHMETIC: Final = frozenset({"arith", "math"})
_BYTEWISE: Final = frozenset({"and", "or", "xor", "not"})


@dataclass(slots=True)
class RegisterOperand:
    """A register operand that is read or written.

    ``places`` has a row of byte offsets per cell; None if known only at run time.
    """

    touch: Touch
    places: Array | None
    address: bool = False  # part of the address of a message
    inverted: bool = False  # read with the modifier (~)


@dataclass(slots=True)
class DefinednessPlan:
    """The plan of an instruction for the checker."""

    kind: InstructionKind
    travel: Travel
    lanes: int
    full: int
    mask_offset: int
    no_mask: bool
    selects: bool
    steady: bool  # whether one check suffices while no value becomes undefined
    pred: Predicate | None = None
    chosen: Enable | None = None
    sources: list[RegisterOperand] = field(default_factory=list)
    targets: list[RegisterOperand] = field(default_factory=list)
    clean: Array | None = None  # all bytes that are read
    preds_read: list[int] = field(default_factory=list)
    preds_written: list[int] = field(default_factory=list)
    addresses_read: list[tuple[int, int, bool]] = field(default_factory=list)  # start, count, whether it is an address
    address_written: tuple[int, int] | None = None
    cells_read: list[tuple[bool, int]] = field(default_factory=list)  # (is a sampler, cell) of states used by a message
    state_read: tuple[bool, int] | None = None
    state_written: tuple[bool, int] | None = None
    logic: str = ""  # whether it is an and or or of predicates
    decisive: int | None = None  # the value of bits that determine the result alone: zeros of an and, ones of an or
    constant: Array | None = None  # the bytes of a lane of the other source, if that is an immediate
    together: bool = False  # one message stores all rows of the data
    computes: bool = False  # whether it is arithmetic of floats, of which none is a part of padding
    replaces: bool = False  # whether it is an atomic that stores independently of the old value

    @property
    def matters(self) -> bool:
        """True if the instruction accesses anything that could be undefined."""
        return bool(
            self.sources or self.targets or self.preds_read or self.preds_written or self.addresses_read
            or self.address_written or self.cells_read or self.state_written or self.state_read or self.pred
        )  # fmt: skip


def find_undefined_bits(masks: Sequence[Any], values: Sequence[Any], decisive: int | None) -> Any:
    """Return the undefined bits of a bitwise result, from those of its sources.

    A defined 0 alone determines an ``and``, a defined 1 an ``or``. ``values`` has those of the sources, and an immediate
    behind them.
    """
    if decisive is None or len(values) < 2:
        return reduce(or_, masks)
    left, right = (value ^ decisive for value in values[:2])
    undefined = masks[0] & right
    return undefined if len(masks) == 1 else undefined | masks[1] & left | masks[0] & masks[1]


def plan_of(code: Code, pc: int) -> DefinednessPlan:
    """Return the plan of an instruction."""
    inst = code.kernel.instructions[pc]
    site = Site(code, inst, pc)
    touches = [touch for touch in code.touches.get(pc, []) if not touch.filled]
    kind = kind_of(inst)
    if kind is InstructionKind.MESSAGE and touches and touches[0].lanes != site.lanes:
        site.lanes, site.full = (
            touches[0].lanes,
            (1 << touches[0].lanes) - 1,
        )  # plain gather has its lanes in an operand
    pred = inst.get("pred")
    plan = DefinednessPlan(kind, Travel.LANE, site.lanes, site.full, site.control.mask_offset, site.control.no_mask,
                inst.row.predicate_use is PredicateUse.CHOOSES, kind is InstructionKind.VALUE)  # fmt: skip
    if isinstance(pred, Predicate) and pred.var:
        plan.pred, plan.chosen = pred, predicate_bits(pred, plan.mask_offset, plan.full)
    result = inst.get("dst")
    plan.computes = (
        inst.row.family in _ARITHMETIC and isinstance(result, General) and site.operand_type(result).is_float
    )
    _operands(plan, inst, site)
    is_same = is_same_for_any_value(inst)
    for touch in touches:
        source = RegisterOperand(touch, touch.places.clip(0, code.layout.size - 1) if touch.indirect is None else None)
        if touch.write:
            plan.targets.append(source)
        elif not is_same:
            source.address = kind in (InstructionKind.BRANCH, InstructionKind.BARRIER) or (
                kind is InstructionKind.MESSAGE and _is_address(inst, touch.field)
            )
            source.inverted = getattr(inst.get(touch.field), "modifier", None) is OperandModifier.NOT
            plan.sources.append(source)
        plan.steady &= touch.indirect is None
    _travel(plan, inst, site)
    if plan.steady and plan.sources:
        plan.clean = np.unique(np.concatenate([s.places.reshape(-1) for s in plan.sources if s.places is not None]))
    plan.steady &= not (plan.preds_read or plan.addresses_read or plan.address_written or plan.state_read is not None)
    return plan


def kind_of(inst: Inst) -> InstructionKind:
    """Return the role of an instruction."""
    meaning = inst.row.meaning
    if isinstance(meaning, Unmodelled):
        return InstructionKind.RECORDED
    if is_message(meaning) and not isinstance(meaning, FenceForm):
        return InstructionKind.MESSAGE
    if isinstance(meaning, Effect) and meaning.name in _NAMED_BARRIERS:
        return InstructionKind.BARRIER
    return InstructionKind.VALUE if inst.row.flow in _GOES_ON else InstructionKind.BRANCH


def _is_address(inst: Inst, name: str) -> bool:
    """Return whether an operand of a message is no data."""
    return name not in data_fields(inst.row.meaning)


def _operands(plan: DefinednessPlan, inst: Inst, site: Site) -> None:
    """Add the predicates, address variables and states among the operands to a plan."""
    layout = site.code.layout
    for access in accesses_of(inst, site.code.storage):
        number = number_of(access.variable)
        match space_of(access.variable):
            case Space.PREDICATE:
                if access.purpose is not AccessPurpose.GUARD and access.field != "pred":
                    (plan.preds_written if access.writes else plan.preds_read).append(number)
                elif access.writes:
                    plan.preds_written.append(number)
                    plan.pred = plan.chosen = None
            case Space.ADDRESS:
                start, count = layout.address_base[number] + access.first, access.possible.bit_count()
                if access.writes:
                    plan.address_written = (start, count)
                else:
                    plan.addresses_read.append((start, count, access.purpose is AccessPurpose.ADDRESSES))
            case Space.SAMPLER | Space.SURFACE as space:
                sampler = space is Space.SAMPLER
                if access.purpose is AccessPurpose.HANDLE:
                    bases = layout.sampler_base if sampler else layout.surface_base
                    if number < len(bases):
                        plan.cells_read.append((sampler, bases[number]))
                    continue
                cell = (sampler, site.state_cell(State(sampler, number, access.first)))
                if access.writes:
                    plan.state_written = cell
                else:
                    plan.state_read = cell
            case Space.GENERAL:
                pass  # because the simulator has recorded the exact bytes


def _travel(plan: DefinednessPlan, inst: Inst, site: Site) -> None:
    row, meaning = inst.row, inst.row.meaning
    word = meaning.expr.word if isinstance(meaning, Lane) else ""
    plan.logic = word if word in ("and", "or") else ""
    plan.together = isinstance(meaning, TexelForm) or (isinstance(meaning, BlockForm) and bool(meaning.corner))
    plan.replaces = update_of(inst) == REPLACING
    modelled = isinstance(meaning, Effect)
    if modelled and row.has(Trait.FOURS):
        plan.travel = Travel.FOUR
    elif modelled and row.has(Trait.MATRIX):
        plan.travel = Travel.WHOLE
    elif (
        plan.kind is InstructionKind.VALUE
        and (row.has(Trait.COPIES) or word in _BYTEWISE)
        and _same_width(plan, inst, site)
    ):
        plan.travel = Travel.BYTE
        plan.constant, plan.decisive = _constant(inst, site), {"and": 0, "or": 255}.get(word)


def _same_width(plan: DefinednessPlan, inst: Inst, site: Site) -> bool:
    dst = inst.get("dst")
    sources = [inst.get(n) for n in ("src0", "src1") if site.has(n)]
    if not isinstance(dst, General | Indirect) or any(
        isinstance(s, PredicateOperand | Address | State) for s in sources
    ):
        return False
    into = site.operand_type(dst)
    kinds = [site.operand_type(s) for s in sources if not isinstance(s, Immediate)]
    if any(k.is_float != into.is_float for k in kinds):
        return False
    narrower = inst.row.has(Trait.COPIES) and not into.is_float  # because integers keep their low bytes
    return all(k.size == into.size or (narrower and k.size > into.size) for k in kinds) and all(
        t.touch.size == into.size for t in plan.targets
    )


def _constant(inst: Inst, site: Site) -> Array | None:
    """Return the bytes of an immediate among the sources, as wide as the destination."""
    constant = next((inst.get(n) for n in ("src0", "src1") if isinstance(inst.get(n), Immediate)), None)
    if not isinstance(constant, Immediate) or not site.operand_type(constant).is_int:
        return None
    size = site.operand_type(inst.get("dst")).size
    bits = int(immediate(constant, 1).astype(np.int64)[0])
    return np.frombuffer((bits & (1 << 8 * size) - 1).to_bytes(size, "little"), np.uint8)


def places_of(source: RegisterOperand, frame: Frame) -> Array:
    """Return the bytes of an operand's cells, a row for each."""
    if source.places is not None:
        return source.places
    assert source.touch.indirect is not None
    return np.asarray(source.touch.indirect(frame)[:, None] + np.arange(source.touch.size))


def limits_of(frame: Frame, source: RegisterOperand) -> tuple[int, int]:
    """Return the bytes of the register file that belong to an operand's variable."""
    layout, var = frame.code.layout, source.touch.var
    if var < 0:
        return 0, frame.regs.size
    low = layout.offset(var)
    # A message fills whole registers, and no other variable uses the last register of a variable.
    size = layout.byte_size(var)
    return low, low + (-(-size // layout.grf_bytes) * layout.grf_bytes if source.touch.raw else size)


def by_lane(cells: Array, lanes: int) -> Array:
    """Return the worst origin per lane of an operand's cells; cells that do not belong to lanes count for all."""
    worst = cells.max(axis=1)
    if worst.size % lanes == 0:
        return np.asarray(worst.reshape(-1, lanes).max(axis=0))
    return np.full(lanes, worst.max(initial=0), np.uint16)
