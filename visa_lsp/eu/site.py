"""Machine code for the interpreter of ``sim``: its register file as a frame, its instructions as sites.

``sim`` compiles an instruction at a ``Site``, which reads and writes operands of a body. Here operands are places in the
register file of a thread, so that lane words, moves, messages and samplers are those of texts.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from visa_lsp.eu.model import PATCHED, Direct, Indirect, Layout, MachineInst, Payload, Register
from visa_lsp.eu.nan_bits import with_one_nan
from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import SCALAR_REGION
from visa_lsp.program import regions
from visa_lsp.program.model import General, Immediate, Predicate, RawOperand
from visa_lsp.sim.faults import FaultKind, KernelFault
from visa_lsp.sim.interp import Code
from visa_lsp.sim.operands import Site, lane_mask
from visa_lsp.sim.registers import Frame
from visa_lsp.sim.values import DTYPE, immediate, unpack_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.eu.model import MachineCode
    from visa_lsp.program.message import Message, SampleMessage
    from visa_lsp.sim.operands import Enable, Fetch, Op, Store

Array = np.ndarray[Any, np.dtype[Any]]

SURFACE_CELLS: Final = 6
_SAMPLERS: Final = 16
_PLACEHOLDER: Final = 0x6E10CA2E  # that the finalizer writes where the loader is to write an address
_TYPED: Final = 1  # a raw operand's variable is 1 + the code of its type; 0 is the null register


class Unmodelled(KernelFault):
    """An instruction or message that is not modelled; ``what`` names it for the report."""

    def __init__(self, what: str) -> None:
        super().__init__(FaultKind.UNMODELLED, what)
        self.what = what


class MachineFrame(Frame):
    """The registers of a thread. ``preds`` are views of the flag registers; ``wide`` holds the 64-bit accumulators.

    ``precise`` has the results of math macros that are more precise than a register, by byte of the register file.
    """

    __slots__ = ("precise", "scalar_places", "wide")

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.lie_in(self.regs)

    def reset(self) -> None:
        """Set the initial state, with all registers zero."""
        self.wide: Array = np.zeros(64, np.int64)
        self.precise: dict[tuple[int, int], Any] = {}
        super().reset()
        self.samplers[:] = range(_SAMPLERS)  # the number of a sampler is that of its cell

    def lie_in(self, regs: Array) -> None:
        """Replace the bytes of the register file by others; the flags move along."""
        super().lie_in(regs)
        self.preds = _Flags(regs, cast("MachineLayout", self.code.layout).starts["f"])


class _Flags(list[int]):
    """The flag registers as predicates: number n begins with the 16-bit flag register n."""

    def __init__(self, regs: Array, start: int) -> None:
        super().__init__([0] * 8)
        self._halves = regs[start : start + 32].view("<u2")

    def __getitem__(self, number: Any) -> Any:
        return int(self._halves[number]) | int(self._halves[number + 1]) << 16

    def __setitem__(self, number: Any, bits: Any) -> None:
        if isinstance(number, slice):
            return
        self._halves[number] = bits & 0xFFFF
        self._halves[number + 1] = bits >> 16 & 0xFFFF


class MachineLayout:
    """The register file in the form in which frames expect it; a variable's number is its first byte."""

    def __init__(self, grf_bytes: int) -> None:
        self.layout = Layout(grf_bytes)
        self.starts = self.layout.starts
        self.grf_bytes, self.size = grf_bytes, self.layout.size
        self.kernel = SimpleNamespace(addresses=(), predicates=(), surfaces=(), samplers=())
        self.surface_cells, self.sampler_cells = SURFACE_CELLS, _SAMPLERS
        self.surface_base, self.sampler_base, self.address_base = [*range(SURFACE_CELLS)], [*range(_SAMPLERS)], [0]

    def offset(self, variable: int) -> int:
        """Return the first byte of a variable: its number."""
        return variable

    def need(self, end: int) -> None:
        """Refuse bytes after the end of the register file. Raises KernelFault."""
        if end > self.size:
            raise KernelFault(FaultKind.OPERAND, "an operand lies behind the last register")


class MachineProgram(Code):
    """Machine code compiled to ops. ``op_of`` compiles one instruction; it is the table's.

    ``has_one_nan``: operations return one and the same NaN.
    """

    has_one_nan = False

    def __init__(self, code: MachineCode, op_of: Callable[[MachineSite], Op]) -> None:
        self.machine_code = code
        self.layout = cast("Any", MachineLayout(code.grf_bytes))
        self.op_of = op_of
        instructions = code.instructions
        self.kernel = cast(
            "Any", SimpleNamespace(name=code.name, instructions=instructions, inputs=(), variable_type=type_of_variable)
        )
        self.notes = {}
        self.touches = {}
        self._views = {}
        self.counts = [0] * (len(instructions) + 1)
        self.frames = []
        self.grew = lambda _bytes: None
        self.joins = _joins(code)
        self._compiled = {len(instructions): _leaves_code}
        self._alone = {len(instructions): _leaves_code}
        self.ops = self.lazily(self.op)
        self.by_pc = {inst.pc: inst.index for inst in instructions}

    def op_for(self, inst: Any, pc: int) -> Op:
        """Return the op of an instruction; one that is not modelled raises when it is executed."""
        raised: KernelFault
        try:
            return self.op_of(MachineSite(self, inst, pc))
        except KernelFault as fault:
            raised = fault
        except (ValueError, TypeError, KeyError, IndexError) as error:  # a form of operands that no finalizer writes
            raised = Unmodelled(f"{inst.name}: {error}")

        def op(_f: Frame) -> int | None:
            raise raised

        return op

    def lane(self, pc: int, number: int) -> int | None:
        """Return the thread's lane for lane ``number`` of an instruction."""
        inst: MachineInst = self.machine_code.instructions[pc]
        return None if inst.no_mask and inst.lanes == 1 else inst.offset + number


def _leaves_code(_f: Frame) -> int | None:
    raise KernelFault(FaultKind.CALL, "the machine code ends without end of thread")


def _joins(code: MachineCode) -> set[int]:
    """Return the places where lanes may wait: targets of branches, and the places after them."""
    joins = set[int]()
    for inst in code.instructions:
        if inst.targets or inst.op in ("ret", "calla"):
            joins.update((*inst.landings, inst.index + 1))
    return joins


def typed_variable(type_: ty.DataType) -> int:
    """Return the variable of raw operands whose elements have a type."""
    return _TYPED + type_.code


def type_of_variable(variable: int) -> ty.DataType | None:
    """Return the element type of a raw operand's variable."""
    return ty.TYPE_BY_CODE.get(variable - _TYPED)


class _Fields:
    """The fields of an instruction by the names that ``sim`` uses."""

    def __init__(self, inst: MachineInst) -> None:
        self.inst = inst
        self.more: dict[str, Any] = {"dst": inst.dst}
        self.more |= {f"src{n}": source for n, source in enumerate(inst.sources)}
        if inst.guard is not None and inst.guard.combine == "":
            self.more["pred"] = Predicate(inst.flag, inst.guard.inverse)
        self.row = SimpleNamespace(mnemonic=inst.name, index=self.more, slots=(), fields=())
        self.values = ()

    def get(self, name: str, default: Any = None) -> Any:
        return self.more.get(name, default)


class MachineSite(Site):
    """The context of one machine instruction while it is compiled."""

    def __init__(self, program: MachineProgram, inst: MachineInst, pc: int) -> None:
        self.code = program
        self.program = program
        self.machine = inst
        self.inst = cast("Any", _Fields(inst))
        self.pc = pc
        self.grf = program.layout.grf_bytes
        self.starts = cast("MachineLayout", program.layout).starts
        self.set_control(ty.ExecControl(inst.lanes, inst.offset, no_mask=inst.no_mask))
        self.value: Message | SampleMessage | None = None

    def give(self, **fields: Any) -> MachineSite:
        """Add fields by the names that ``sim`` uses; returns the site."""
        cast("_Fields", self.inst).more.update(fields)
        return self

    def message(self) -> Message:
        """Return the value of the message that the descriptor gave."""
        assert self.value is not None
        return cast("Message", self.value)

    def sample_message(self) -> SampleMessage:
        """Return the value of the message to the sampler."""
        return cast("SampleMessage", self.value)

    # ---- lanes

    def enable(self, *, predicate: bool = True) -> Enable:
        """Return the channel enable bits of the instruction."""
        inst, full, mask_offset = self.machine, self.full, self.control.mask_offset
        bits = self.guard_bits() if predicate and inst.guard is not None else None
        if bits is None:
            if self.control.no_mask:
                return lambda _f: full
            return lambda f: f.emask >> mask_offset & full
        if self.control.no_mask:
            return bits
        return lambda f: f.emask >> mask_offset & bits(f)

    def guard_bits(self) -> Enable:
        """Return the predicate of the instruction's lanes, combined over groups of lanes and inverted as written."""
        guard, mask_offset, full, flag = self.machine.guard, self.control.mask_offset, self.full, self.machine.flag
        assert guard is not None
        flip = full if guard.inverse else 0
        if not guard.combine:
            return lambda f: (f.preds[flag] >> mask_offset & full) ^ flip
        kind, width = guard.combine[:3], int("".join(c for c in guard.combine if c.isdigit()) or 0)
        if kind not in ("any", "all") or (not width and len(guard.combine) > 3):
            raise Unmodelled(f"predicate control {guard.combine}")
        width = width or self.lanes
        starts = sorted({(mask_offset + lane) // width * width for lane in range(self.lanes)})
        group = (1 << width) - 1

        def bits(f: Frame) -> int:
            flags, combined = f.preds[flag], 0
            for start in starts:
                own = flags >> start & group
                if own == group or (own and kind == "any"):
                    combined |= group << start
            return (combined >> mask_offset & full) ^ flip

        return bits

    # ---- operands

    def operand_type(self, operand: Any) -> ty.DataType:
        """Return the element type of an operand."""
        if isinstance(operand, Immediate):
            return unpack_type(operand.type)
        if isinstance(operand, Direct | Indirect):
            return operand.type
        return ty.UD

    def origin(self, operand: Any) -> int:
        """Return the first byte of an operand."""
        return operand.var if isinstance(operand, General) else int(operand.start)

    def read(self, operand: Any, lanes: int | None = None, dtype: np.dtype[Any] | None = None) -> Fetch:
        """Return a function for the lanes of a source. Raises Unmodelled for registers that are not modelled."""
        lanes = self.lanes if lanes is None else lanes
        kind = dtype or DTYPE[self.operand_type(operand)]
        if isinstance(operand, Immediate):
            return self._read_immediate(operand, lanes, dtype)
        if isinstance(operand, Indirect):
            return self._fetch_indirect(operand, lanes, kind)
        if not isinstance(operand, Direct) or operand.macro not in (None, -1):
            raise Unmodelled(f"source of {self.machine.name}")
        if operand.start < 0:
            zero = np.zeros(1, kind)
            return lambda _f: zero
        if operand.register.kind not in _PLAIN:
            return self._read_special(operand, kind)
        elements = regions.source_elements(operand.region, lanes)
        view, flat = self.program.view_of(operand.start, elements, kind)
        return (lambda f: f.views[view]) if flat else lambda f: f.views[view].reshape(-1)

    def _read_special(self, operand: Direct, kind: np.dtype[Any]) -> Fetch:
        if operand.register.kind == "ce":
            return lambda f: np.array([f.emask], np.uint32).view(kind)[:1]
        if operand.register.kind == "tm":
            return lambda f: np.array([f.thread.clock() if f.thread else 0], np.uint64).view(kind)[:1]
        raise Unmodelled(f"register {operand.register.kind}")

    def _read_immediate(self, operand: Immediate, lanes: int, dtype: np.dtype[Any] | None) -> Fetch:
        symbol = self.machine.symbol
        if symbol is not None:
            kind, size = dtype or DTYPE[self.operand_type(operand)], operand.type.size

            def address(f: Frame) -> Array:
                assert f.thread is not None
                value = _address_of(f, symbol.name) + symbol.addend
                value = value >> 32 if symbol.part == "high" else value
                return np.array([value & (1 << 8 * size) - 1], f"<u{size}").view(kind)[:1]

            return address
        if operand.bits == _PLACEHOLDER:
            raise Unmodelled("the address of a symbol, which only a zebin tells")
        dst = self.machine.dst
        step = dst.word_step if operand.type in (ty.V, ty.UV) and isinstance(dst, Direct) else 1
        constant = immediate(operand, lanes * step)[::step]
        if dtype is not None and dtype != constant.dtype:
            constant = constant.view(dtype) if dtype.itemsize == constant.itemsize else constant.astype(dtype)
        return lambda _f: constant

    def indirect(self, operand: Any, lanes: int) -> Callable[[Frame], Array]:
        """Return a function for the first bytes of the elements of an indirect operand."""
        region, size = operand.region, operand.type.size
        cell = self.starts["a"] + 2 * operand.address
        several = region.width is not None and region.vert_stride is None
        count = max(1, lanes // region.width) if several and region.width else 1
        view = self.program.view(cell, np.dtype("<u2"), (count,), (2,))
        if region.width is None:
            elements = regions.destination_elements(region.horz_stride or 0, lanes)
        else:
            elements = regions.source_elements(region, lanes)
        offsets = np.array(elements) * size + operand.offset
        repeat = np.arange(count).repeat(region.width or 1)[:lanes] if several else np.zeros(lanes, int)
        return lambda f: f.views[view].astype(np.int64)[repeat] + offsets

    def _fetch_indirect(self, operand: Indirect, lanes: int, kind: np.dtype[Any]) -> Fetch:
        places, steps, most = self.indirect(operand, lanes), np.arange(operand.type.size), self.starts["acc"]

        def fetch(f: Frame) -> Array:
            starts = places(f)
            if starts.min() < 0 or starts.max() >= most:
                raise KernelFault(
                    FaultKind.OUT_OF_BOUNDS, f"an indirect operand reads byte {int(starts.max())} of the registers"
                )
            return np.ascontiguousarray(f.regs[starts[:, None] + steps]).view(kind).reshape(-1)

        return fetch

    def scalar_of(self, operand: Any) -> Callable[[Frame], int]:
        """Return the first element of an operand, as an integer; 0 if there is none."""
        if isinstance(operand, int):
            return lambda _f: operand
        if operand is None:
            return lambda _f: 0
        if isinstance(operand, Register):
            operand = Direct(operand, ty.UD, SCALAR_REGION, self.starts[operand.kind] + 4 * operand.element)
        if isinstance(operand, RawOperand | General):
            place = operand.offset if isinstance(operand, RawOperand) else operand.var
            return lambda f: f.word(place)
        fetch = self.read(operand, 1)
        return lambda f: int(fetch(f)[0])

    def write(self, operand: Any, lanes: int | None = None) -> Store:
        """Return a function that stores the lanes of a mask. Raises Unmodelled for registers that are not modelled."""
        store = self._write(operand, self.lanes if lanes is None else lanes)
        return with_one_nan(self, operand, self.machine.op, store) if self.program.has_one_nan else store

    def _write(self, operand: Any, lanes: int) -> Store:
        if isinstance(operand, Indirect):
            return self._store_indirect(operand, lanes)
        if not isinstance(operand, Direct) or operand.macro not in (None, -1):
            raise Unmodelled(f"destination of {self.machine.name}")
        if operand.start < 0:
            return lambda _f, _mask, _value: None
        if operand.register.kind not in _PLAIN:
            raise Unmodelled(f"register {operand.register.kind}")
        kind = DTYPE[operand.type]
        elements = regions.destination_elements(operand.region.horz_stride or 1, lanes)
        view, _ = self.program.view_of(operand.start, elements, kind, spread=True)
        full = (1 << lanes) - 1

        def store(f: Frame, mask: int, value: Array) -> None:
            target = f.views[view]
            if value.base is not None and value.strides != target.strides:
                value = value.copy()  # because NumPy may overwrite lanes of the same registers before it has read them
            if mask == full:
                target[...] = value
            elif mask:
                np.copyto(target, value, casting="unsafe", where=lane_mask(mask, lanes))

        if operand.register.kind != "cr":
            return store
        control = self.starts["cr"]

        def store_control(f: Frame, mask: int, value: Array) -> None:
            store(f, mask, value)
            modes = f.word(control)
            if modes & ~_MODES:
                raise Unmodelled(f"cr0 with bits {modes & ~_MODES:#x}")
            f.set_modes(modes)

        return store_control

    def _store_indirect(self, operand: Indirect, lanes: int) -> Store:
        places, kind, steps = self.indirect(operand, lanes), DTYPE[operand.type], np.arange(operand.type.size)
        most = self.starts["acc"]

        def store(f: Frame, mask: int, value: Array) -> None:
            chosen = np.flatnonzero(lane_mask(mask, lanes))
            starts = places(f)[chosen]
            if starts.size and (starts.min() < 0 or starts.max() >= most):
                raise KernelFault(
                    FaultKind.OUT_OF_BOUNDS, f"an indirect operand writes byte {int(starts.max())} of the registers"
                )
            rows = np.ascontiguousarray(np.broadcast_to(value.astype(kind), (lanes,))[chosen])
            f.regs[starts[:, None] + steps] = rows.view(np.uint8).reshape(-1, steps.size)

        return store

    # ---- payloads

    def raw_view(self, operand: RawOperand, kind: str, rows: int, columns: int, row_bytes: int) -> int | None:
        """Return a view of elements in registers; None for the null register."""
        if operand.var == 0:
            return None
        dtype = np.dtype(kind)
        return self.program.view(operand.offset, dtype, (rows, columns), (row_bytes, dtype.itemsize))

    def unread_rows(
        self, operand: RawOperand, rows: int, columns: int, row_bytes: int
    ) -> Callable[[Frame], Array | None]:
        """Return a function without unread rows: every loaded element counts."""
        del operand, rows, columns, row_bytes
        return lambda _f: None

    def raw(self, name: str) -> RawOperand:
        """Return a raw operand of the message; the null register if there is none."""
        value = self.inst.get(name)
        return value if isinstance(value, RawOperand) else RawOperand(0, 0)


def payload(operand: Any, after: int = 0, type_: ty.DataType = ty.UD) -> RawOperand:
    """Return the registers of a message as a raw operand, ``after`` bytes further."""
    if not isinstance(operand, Payload) or operand.start < 0:
        return RawOperand(0, 0)
    return RawOperand(typed_variable(type_), operand.start + after)


def _address_of(f: Frame, name: str) -> int:
    assert f.thread is not None
    if name.startswith(PATCHED):
        return 0
    address = f.thread.machine.symbol_address(name)
    if address is None:
        raise Unmodelled(f"symbol {name}")
    return address


# Of cr0: rounding, what keeps denormals, and the bit that compilers of 2026 set beside them.
_MODES: Final = 0x4000_04F0
_PLAIN: Final = frozenset({"r", "acc", "f", "a", "cr", "sr", "msg", "s"})
