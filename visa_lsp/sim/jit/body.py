"""Compiles one body to a function: the stretches of instructions, the waiting and joining of lanes, and the entries.

The function takes registers, addresses, block and launch (``state``), continues at the place in the block, and returns
the reason of its stop. Control continues as in ``sim.effects.control_flow``: always at the lowest place with lanes. A
stretch of instructions that are executed together counts its steps once.
"""

from __future__ import annotations

from contextlib import nullcontext
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from llvmlite import ir

from visa_lsp.isa.lane import Effect, Lane, effect_of
from visa_lsp.isa.message_forms import BlockForm, ElementForm, FenceForm, MemoryUse, TexelForm
from visa_lsp.isa.model import Trait
from visa_lsp.program.message import ElementMessage, Message, TexelMessage, understood_message_of
from visa_lsp.program.model import Combine, General, Indirect, Inst, Predicate, State
from visa_lsp.sim.analyses.called_functions import called_name
from visa_lsp.sim.analyses.modes import ModePlan, branches, changes_modes
from visa_lsp.sim.analyses.register_promotion import Held, find_held
from visa_lsp.sim.effects import EFFECTS
from visa_lsp.sim.faults import KernelFault
from visa_lsp.sim.jit import check_instrumentation, native, state
from visa_lsp.sim.jit.code_cache import MAX_HELD_INSTRUCTIONS, PLAIN, Bindings, ObjectStore, RunMode, Stopwatch
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.followed_registers import begin_following, follow_instruction
from visa_lsp.sim.jit.images import SAMPLES, emit_block, emit_texels
from visa_lsp.sim.jit.lanes import emit_lane
from visa_lsp.sim.jit.messages import emit_elements, emit_fence, may_leave
from visa_lsp.sim.jit.moves import MOVES
from visa_lsp.sim.jit.state import StateLayout
from visa_lsp.sim.jit.writer import I1, I8, I32, I64, PTR, Node, integer
from visa_lsp.sim.observers.definedness_plan import InstructionKind, kind_of
from visa_lsp.sim.operands import CR0, Site, make_no_op
from visa_lsp.sim.registers import SCRATCH_SURFACE, SLM_SURFACE, STATELESS_SURFACE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.analyses.definedness_proof import Definedness
    from visa_lsp.sim.interp import Code

# Effects that move lanes or make the thread wait: compiled code is left for them.
# After an effect of the first set, the thread may continue anywhere.
_MOVING: Final = frozenset(["switchjmp", "call", "if", "else", "while", "break", "cont"])
_LEAVING: Final = _MOVING | {"fcall", "ifcall", "barrier", "sbarrier_wait", "nbarrier_wait"}
_EFFECTS: Final = MOVES | SAMPLES
_BY_FORM: Final[dict[type, Callable[[Emitter, Site], None]]] = {
    ElementForm: emit_elements,
    TexelForm: emit_texels,
    BlockForm: emit_block,
    FenceForm: emit_fence,
}
BEGIN: Final = "begin"  # the function of a module that gives a new thread the id of its group
_SCRATCH_CELL: Final = 5
_FIRST_CELLS: Final = {0: SLM_SURFACE, 1: STATELESS_SURFACE, _SCRATCH_CELL: SCRATCH_SURFACE}


class BodyPlan:
    """The plan of one body: stretches and entries. ``emit`` writes its function."""

    def __init__(
        self, code: Code, modes: ModePlan, bindings: Bindings, mode: RunMode = PLAIN,
        definedness: Definedness | None = None, program: Sequence[Kernel] = (),
    ) -> None:  # fmt: skip
        """Plan a body; ``program`` has the kernel and the functions that share marks with it."""
        for pc in range(len(code.kernel.instructions)):
            code.op(pc)  # which records the registers that the instruction touches
        self.code = code
        self.mode = mode
        self.modes = modes
        self.bindings = bindings
        self.layout = StateLayout(code)
        self.instructions = code.kernel.instructions
        self.leaving = {pc for pc, inst in enumerate(self.instructions) if self._leaves(pc, inst)}
        effects = {pc: effect_of(self.instructions[pc].row.meaning) for pc in self.leaving}
        self.barriers = {pc for pc, effect in effects.items() if effect == "barrier"}
        names = {pc: called_name(code.kernel, self.instructions[pc]) for pc in effects}
        # The calls of functions of the launch, with the numbers of these.
        self.calls = {pc: bindings.functions.index(name) for pc, name in names.items() if name in bindings.functions}
        # The instructions for which the function is left to the interpreter, which counts them.
        self.exits = self.leaving - self.barriers - self.calls.keys()
        self.reaches_shared = True  # whether an instruction may access shared memory of a group
        # The names of spaces that messages access, and how; complete once the function is written.
        self.uses = set[tuple[str, int]]()
        self.called_out: set[int] = set()  # instructions that compiled code leaves to the interpreter by a call
        ahead = {pc: code.labels.get(_label(inst), -1) for pc, inst in enumerate(self.instructions) if _jumps(inst)}
        count, resumptions = len(self.instructions), {pc + 1 for pc in self.leaving}
        self.entries = {0, *resumptions, *(target for pc, target in ahead.items() if 0 <= target <= pc)}
        if not _MOVING.isdisjoint(effects.values()):
            self.entries |= {*self.layout.joins, *code.labels.values()}
        branch = {pc + 1 for pc, inst in enumerate(self.instructions) if branches(inst)}
        starts = {*self.entries, *self.layout.joins, *branch, *ahead.values(), count}
        self.starts = sorted(pc for pc in starts if 0 <= pc <= count)
        self.ends = dict(zip(self.starts, [*self.starts[1:], count + 1], strict=True))
        small = self.never_leaves and count <= MAX_HELD_INSTRUCTIONS
        self.held = find_held(code, self.starts, self.ends, to_the_end=mode.to_the_end) if small else Held()
        self.messages = sum(type(inst.row.meaning) in _BY_FORM for inst in self.instructions)
        # Marks need them; without checkers there are none.
        kernels = (program or (code.kernel,)) if mode.watched else ()
        messages = [understood_message_of(inst) for kernel in kernels for inst in kernel.instructions]
        self.has_atomics = any(
            isinstance(message, ElementMessage | TexelMessage) and message.use is MemoryUse.ATOMIC
            for message in messages
        )
        # The bytes of shared memory that have a mark of their own, with checkers.
        self.shared_unit = 1 if any(map(_stores_part, messages)) else check_instrumentation.DWORD
        self.written_surfaces = self._find_written_surfaces()
        self.definedness = definedness
        # Whether the function runs threads one after another.
        self.runs_threads = bool(
            self.held.pieces and code.kernel.is_kernel and not (self.leaving or mode.watched or code.kernel.addresses)
        )

    def _find_written_surfaces(self) -> frozenset[int]:
        """Return the surface variables that instructions may change."""
        cells = set[int]()
        for pc, inst in enumerate(self.instructions):
            if inst.row.has(Trait.MOVES_STATE):
                site, dst = Site(self.code, inst, pc), inst.get("dst")
                if isinstance(dst, State):
                    cells.update(self.layout.state_cells(site, dst, site.lanes))
        return frozenset(cells)

    @cached_property
    def reaches_scratch(self) -> bool:
        """True if an instruction may touch the scratch space of its thread."""
        named = (inst.get("surface") for inst in self.instructions)
        return any(name == _SCRATCH_CELL or isinstance(name, General) for name in named)

    @property
    def given_surfaces(self) -> frozenset[int]:
        """The surface variables that the launch sets and no instruction changes."""
        places, inputs = self.code.layout.surface_base, self.code.kernel.inputs
        return frozenset(places[item.id] for item in inputs if item.kind & 7 > 1) - self.written_surfaces

    def _leaves(self, pc: int, inst: Inst) -> bool:
        meaning = inst.row.meaning
        if not isinstance(meaning, Lane | Effect) or (isinstance(meaning, Effect) and meaning.name in _LEAVING):
            return True  # because a recorded message may end the thread
        if _jumps(inst) and _label(inst) not in self.code.labels:
            return True
        return changes_modes(self.code, inst) and pc not in self.modes.controls

    def emit(self, module: ir.Module, name: str) -> ir.Function:
        """Write the function into a module."""
        writer = _BodyWriter(self, module, name)
        writer.write()
        self.reaches_shared = writer.e.reaches_shared or not self.is_alone
        return writer.e.function

    @property
    def is_fully_compiled(self) -> bool:
        """True if no checked access falls back to the interpreter; valid once the function is written."""
        return not any(_is_checked(self.instructions[pc]) for pc in self.called_out)

    @property
    def is_alone(self) -> bool:
        """True if no instruction that falls back to the interpreter touches shared memory; valid once the function is written."""
        return all(isinstance(self.instructions[pc].row.meaning, Lane) for pc in self.called_out)

    @property
    def never_leaves(self) -> bool:
        """True if only barriers and calls of functions leave the function."""
        return not self.exits


class CompiledBody:
    """A body for certain modes: its function, and the number of executions of each stretch."""

    def __init__(self, plan: BodyPlan, compiling: Stopwatch, store: ObjectStore | None = None) -> None:
        self.body, self.code, self.compiling, self._store = plan, plan.code, compiling, store
        self.module = ir.Module("body")
        self.has_groups = False  # whether the module has the scheduler of whole groups
        size = plan.code.layout.size
        self.function = plan.emit(self.module, "body")
        plan.code.grow_frames(size)
        self.counts = np.zeros(len(plan.instructions) + 1, np.int64)  # by stretch

    def twin(self, code: Code) -> Self:
        """Return the same functions for another machine's form of the same kernel, with separate counts."""
        size = code.layout.size
        code.layout.need(self.code.layout.size)
        code.grow_frames(size)
        other = copy(self)
        other.code = code
        other.counts = np.zeros_like(self.counts)
        return other

    @cached_property
    def native(self) -> native.Native:
        """The compiled functions; afterwards nothing can be added to the module."""
        begin = self.module.globals.get(BEGIN)
        if begin is not None and begin.is_declaration:  # without a function that starts new threads
            ir.IRBuilder(begin.append_basic_block()).ret_void()
        with self.compiling:
            return native.Native(self.module, self._store)

    @cached_property
    def call(self) -> Any:
        """The function of the body."""
        return self.native.function("body")

    @cached_property
    def call_groups(self) -> Any:
        """The function that runs whole groups."""
        return self.native.function("groups", native.GROUPS)

    def flush_counts(self) -> None:
        """Add the counts of stretches to the counts of instructions."""
        counts = self.code.counts
        for start in np.flatnonzero(self.counts).tolist():
            for pc in self.stretch(start):
                counts[pc] += int(self.counts[start])
        self.counts[:] = 0

    def stretch(self, pc: int) -> range:
        """Return the instructions in the stretch of an instruction."""
        body, count = self.body, len(self.code.counts)
        start = max(s for s in body.starts if s <= pc)
        end = min(body.ends[start], count - 1) if start < count - 1 else count
        return range(start, end - (end - 1 in body.exits))


def _stores_part(message: Message | None) -> bool:
    """Return whether a message stores less than a dword in shared memory."""
    return (
        isinstance(message, ElementMessage)
        and message.use is MemoryUse.WRITE
        and message.size < check_instrumentation.DWORD
        and message.memory.is_shared
    )


def _is_checked(inst: Inst) -> bool:
    meaning = inst.row.meaning
    if isinstance(meaning, Lane):
        return meaning.expr.word in ("div", "mod")
    return kind_of(inst) is not InstructionKind.VALUE


class _BodyWriter:
    def __init__(self, body: BodyPlan, module: ir.Module, name: str) -> None:
        self.body = body
        self.code = body.code
        self.e = Emitter(module, name, body)
        self._fixed = {cell: value for cell, value in _FIRST_CELLS.items() if cell not in body.written_surfaces}
        self.blocks = dict(zip(body.starts, self.e.blocks(*(f"at{pc}" for pc in body.starts)), strict=True))
        joins = [pc for pc in body.layout.joins if pc in self.blocks]
        self.places = dict(zip(joins, self.e.blocks(*(f"join{pc}" for pc in joins)), strict=True))
        self.dispatch, self.leave = self.e.blocks("next", "leave")

    def write(self) -> None:
        e = self.e
        if e.fresh is not None:
            (self.new_thread,) = e.blocks("new_thread")
            e.leave_if(e.fresh, self.new_thread)
        e.load_all()
        pc = e.word(e.block, state.PC)
        (wrong,) = e.blocks("nowhere")
        choice = e.builder.switch(pc, wrong)
        for entry in sorted(self.body.entries):
            if entry in self.blocks:
                choice.add_case(ir.Constant(I64, entry), self._enter(entry))
        e.builder.position_at_end(wrong)
        e.builder.ret(ir.Constant(I32, state.EXIT))
        for place, block in self.places.items():
            e.builder.position_at_end(block)
            self._join(place)
            e.builder.branch(self.blocks[place])
        for start in self.body.starts:
            e.builder.position_at_end(self.blocks[start])
            self._stretch(start, self.body.ends[start])
        self._dispatch()
        e.fail()
        e.builder.position_at_end(self.leave)
        if e.fresh is not None:
            with e.builder.if_then(e.fresh):
                self._run_threads()
        self._leave(state.LEAVE, len(self.body.instructions), e.word(e.block, state.PC))

    def _run_threads(self) -> None:
        """Run new threads one after another: those of a group, then those of later groups.

        The cells of the launch have the first thread and, after an exit, the running one.
        """
        e, b, following = self.e, self.e.builder, self.e.builder.block
        with b.goto_entry_block():
            ids = [e.variable(e.word(e.launch, place)) for place in state.GROUP_IDS]
        b.position_at_end(self.new_thread)
        thread = e.get(e.thread, I64)

        offset = b.mul(thread, e.constant(e.launch, state.STRIDE))
        blocks = [
            b.gep(e.table(base), [offset], source_etype=I8) for base in (state.ACTIVATIONS, state.ACTIVATIONS_FIRST)
        ]
        registers, initial = (e.address(block, e.layout.size) for block in blocks)
        begin = ir.Function(e.module, ir.FunctionType(ir.VoidType(), (PTR, PTR, I64, I64, I64)), BEGIN)
        begin.linkage = "internal"
        b.call(begin, [registers, initial, *(e.get(cell, I64) for cell in ids)])
        e.begin_thread(registers, *blocks)
        e.take_held(e.held.live_pieces(0), initial)
        b.branch(self._to(0))

        b.position_at_end(following)
        e.add_to(e.total, e.get(e.steps, I64))
        much = b.icmp_signed(">", e.get(e.total, I64), e.constant(e.launch, state.BUDGET))
        with b.if_then(much, likely=False):
            self._leave(state.OVER, len(self.body.instructions), e.word(e.block, state.PC))
        e.add_to(e.thread, 1)
        has_threads = b.icmp_signed("<", e.get(e.thread, I64), e.constant(e.launch, state.THREADS))
        e.leave_if(has_threads, self.new_thread)
        e.set(e.thread, ir.Constant(I64, 0))
        e.add_to(e.group, 1)
        carry = ir.Constant(I1, 1)
        for cell, count in zip(ids, (state.GROUPS_X, state.GROUPS_Y), strict=False):
            value = b.add(e.get(cell, I64), b.zext(carry, I64))
            carry = b.icmp_unsigned("==", value, e.constant(e.launch, count))
            e.set(cell, b.select(carry, ir.Constant(I64, 0), value))
        e.add_to(ids[2], b.zext(carry, I64))
        e.leave_if(b.icmp_signed("<", e.get(e.group, I64), e.constant(e.launch, state.END)), self.new_thread)
        e.spill_sums()
        b.ret(ir.Constant(I32, state.LEAVE))

    def _enter(self, pc: int) -> ir.Block:
        """Return the block that loads the held registers and begins at an instruction."""
        e = self.e
        pieces, begins = e.held.live_pieces(pc), pc == 0 and e.definedness is not None and e.definedness.followed.any()
        if not pieces and not begins:
            return self._to(pc)
        (entered,) = e.blocks(f"enter{pc}")
        e.builder.position_at_end(entered)
        if begins:
            begin_following(e)
        e.take_held(pieces)
        e.builder.branch(self._to(pc))
        return entered

    def _leave(self, status: int, pc: int, place: Node | int | None = None) -> None:
        """Leave before the instruction at ``pc`` and store the live registers; the thread may be at another ``place``."""
        self.e.give_held(self.e.held.live_pieces(pc))
        self.e.leave(status, pc if place is None else place)

    def _to(self, pc: int) -> ir.Block:
        """Return the block that continues at an instruction, after the lanes that wait there have joined."""
        return self.places.get(pc) or self.blocks[pc]

    def _join(self, pc: int) -> None:
        e = self.e
        number = e.layout.slots[pc]
        e.set(e.emask, e.builder.or_(e.get(e.emask), e.get(e.waits[number])))
        e.set(e.waits[number], ir.Constant(I32, 0))
        word = e.waiting[number // 64]
        e.set(word, e.builder.and_(e.get(word, I64), ir.Constant(I64, ~(1 << number % 64))))

    def _dispatch(self) -> None:
        """Continue at the lowest place where lanes wait, because no lane is active; leave if there is none."""
        e = self.e
        e.builder.position_at_end(self.dispatch)
        for number, word in enumerate(e.waiting):
            value = e.get(word, I64)
            (empty,) = e.blocks("none")
            e.leave_if(e.builder.icmp_unsigned("==", value, ir.Constant(I64, 0)), empty)
            lowest = e.intrinsic("llvm.cttz.i64", I64, value, ir.Constant(ir.IntType(1), 1))
            choice = e.builder.switch(lowest, self.leave)
            for slot, pc in enumerate(e.layout.joins[64 * number : 64 * number + 64]):
                if pc in self.places:
                    choice.add_case(ir.Constant(I64, slot), self.places[pc])
            e.builder.position_at_end(empty)
        e.builder.branch(self.leave)

    def _stretch(self, start: int, end: int) -> None:
        """Write the instructions of a stretch."""
        e, count = self.e, len(self.body.instructions)
        last = min(end, count)
        e.known_surfaces = dict(self._fixed)
        if start == count:
            e.set(e.emask, ir.Constant(I32, 0))
            e.put_word(e.block, state.PC, ir.Constant(I64, count))
            e.count(start, 1)
            e.builder.branch(self.dispatch)
            return
        # The interpreter counts the instruction that is left to it.
        counted = last - start - (last - 1 in self.body.exits)
        if counted:
            e.count(start, counted)
        for pc in range(start, last):
            e.pc = pc
            if self.e.mode.watched and pc in self.code.notes:
                check_instrumentation.suspect_always(e)
            if pc in self.body.leaving:
                if self.e.mode.watched and pc in self.body.barriers:
                    lanes = e.builder.trunc(e.word(e.block, state.DISPATCHED), I32)
                    missing = e.builder.and_(lanes, e.builder.not_(e.get(e.emask)))
                    check_instrumentation.suspect(e, e.builder.icmp_unsigned("!=", missing, ir.Constant(I32, 0)))
                if pc in self.body.calls:
                    self._call(pc)
                self._leave(self._reason(pc), pc + 1, pc)
                return
            inst = self.body.instructions[pc]
            if branches(inst):
                follow_instruction(e, Site(self.code, inst, pc))
                {"goto": self._goto, "jmp": self._jump}.get(effect_of(inst.row.meaning), self._return)(inst, pc)
                return
            self._instruction(inst, pc)
        e.builder.branch(self._to(last))

    def _reason(self, pc: int) -> int:
        if pc in self.body.calls:
            return state.CALL
        return state.BARRIER if pc in self.body.barriers else state.EXIT

    def _call(self, pc: int) -> None:
        """Say which function a call enters, and with which lanes."""
        e, inst = self.e, self.body.instructions[pc]
        follow_instruction(e, Site(self.code, inst, pc))
        e.put_word(e.launch, state.CALLED, self.body.calls[pc])
        e.put_word(e.launch, state.CALLED_LANES, e.builder.zext(self._take_lanes(inst, pc), I64))

    def _instruction(self, inst: Inst, pc: int) -> None:
        e, control = self.e, self.body.modes.controls.get(pc)
        if control is not None:
            e.put_word(e.registers, self.code.layout.offset(CR0), ir.Constant(I32, control))
            return
        e.modes = self.body.modes.modes[pc]
        follow = follow_instruction(e, Site(self.code, inst, pc))
        block, blocks = e.builder.block, len(e.function.blocks)
        written = len(block.instructions)
        surfaces = dict(e.known_surfaces)
        site = Site(self.code, inst, pc)
        try:
            indirect = any(isinstance(value, Indirect) for value in inst.values)
            with may_leave(e) if indirect else nullcontext() as e.outside:
                _emit(e, site)
        except (Uncompiled, KernelFault):
            del e.function.blocks[blocks:]
            del block.instructions[written:]
            block.terminator = None
            e.known_surfaces = {} if inst.row.has(Trait.MOVES_STATE) else surfaces
            e.builder.position_at_end(block)
            self.body.called_out.add(pc)
            e.call_out(timed=True)
        follow()

    # ---- branches

    def _take_lanes(self, inst: Inst, pc: int) -> Node:
        """Return the active lanes that an instruction moves, of 32. Execution size 1 moves all of them or none."""
        e, site, pred = self.e, Site(self.code, inst, pc), inst.get("pred")
        offset, lanes, active = site.control.mask_offset, site.lanes, e.get(e.emask)
        if not isinstance(pred, Predicate):
            return active if lanes == 1 else e.builder.and_(active, ir.Constant(I32, site.full << offset & 0xFFFFFFFF))
        bits = e.predicate(pred, offset, lanes)
        if lanes == 1:
            return e.builder.select(bits, active, ir.Constant(I32, 0))
        return e.builder.and_(active, e.at_lane(bits, offset))

    def _park(self, lanes: Node, pc: int) -> None:
        e = self.e
        number = e.layout.slots[pc]
        e.set(e.waits[number], e.builder.or_(e.get(e.waits[number]), lanes))
        word = e.waiting[number // 64]
        any_lane = e.builder.icmp_unsigned("!=", lanes, ir.Constant(I32, 0))
        bit = e.builder.select(any_lane, ir.Constant(I64, 1 << number % 64), ir.Constant(I64, 0))
        e.set(word, e.builder.or_(e.get(word, I64), bit))

    def _goto(self, inst: Inst, pc: int) -> None:
        e = self.e
        target = self.code.labels[_label(inst)]
        lanes = self._take_lanes(inst, pc)
        on = self._to(pc + 1)
        e.leave_if(e.builder.icmp_unsigned("==", lanes, ir.Constant(I32, 0)), on)
        stay = e.builder.and_(e.get(e.emask), e.builder.not_(lanes))
        if target <= pc:
            self._park(stay, pc + 1)
            e.set(e.emask, lanes)
            self._back(target)
            return
        self._park(lanes, target)
        e.set(e.emask, stay)
        e.builder.cbranch(e.builder.icmp_unsigned("!=", stay, ir.Constant(I32, 0)), on, self.dispatch)

    def _back(self, target: int) -> None:
        """Jump backwards; a time slice may end here."""
        e = self.e
        late = e.builder.icmp_unsigned(">=", e.get(e.steps, I64), e.constant(e.launch, state.QUANTUM))
        with e.builder.if_then(late, likely=False):
            self._leave(state.SWITCH, target)
        e.builder.branch(self._to(target))

    def _jump(self, inst: Inst, pc: int) -> None:
        e, site = self.e, Site(self.code, inst, pc)
        target, pred = self.code.labels[_label(inst)], inst.get("pred")
        if isinstance(pred, Predicate):
            count = 1 if pred.combine is Combine.NONE else site.lanes
            bit = e.predicate(pred, site.control.mask_offset, count)
            if count > 1:
                bit = e.builder.icmp_unsigned("!=", bit, ir.Constant(integer(count), 0))
            e.leave_unless(bit, self._to(pc + 1))
        if target <= pc:
            self._back(target)
        else:
            e.builder.branch(self._to(target))

    def _return(self, inst: Inst, pc: int) -> None:
        e = self.e
        lanes = self._take_lanes(inst, pc)
        e.put_word(e.block, state.PC, ir.Constant(I64, pc))
        left = e.builder.not_(lanes)
        active = e.builder.and_(e.get(e.emask), left)
        e.set(e.emask, active)
        e.set(e.call_mask, e.builder.and_(e.get(e.call_mask), left))
        e.builder.cbranch(e.builder.icmp_unsigned("!=", active, ir.Constant(I32, 0)), self._to(pc + 1), self.dispatch)


def _emit(e: Emitter, site: Site) -> None:
    """Write an instruction. Raises Uncompiled where it, or what its operands are, has no compiled form."""
    meaning = site.inst.row.meaning
    if isinstance(meaning, Lane):
        emit_lane(e, site, meaning.expr)
    elif not isinstance(meaning, Effect) or EFFECTS.get(meaning.name) is not make_no_op:
        emit = _BY_FORM.get(type(meaning)) or _EFFECTS.get(effect_of(meaning))
        if emit is None:
            raise Uncompiled
        emit(e, site)


def _label(inst: Inst) -> int:
    label = inst.get("label")
    assert isinstance(label, int)
    return label


def _jumps(inst: Inst) -> bool:
    """Return whether compiled code jumps to a label at an instruction."""
    return branches(inst) and not inst.row.flow.returns
