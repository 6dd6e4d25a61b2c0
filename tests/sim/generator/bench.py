"""A kernel that grows instruction by instruction, run by the simulator and by the model, and compared byte by byte.

Both start from the same registers, predicates and memory. Instructions run in order, without branches. What differs is
told with the instruction that wrote it last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from tests.sim.generator.pairwise import SEED
from tests.support.builders import Builder, dispatch
from tests.support.model import registry
from tests.support.model.numbers import SIZES, decode, inputs, same
from tests.support.model.state import State, Surface, describe
from visa_lsp.isa.operands import Region
from visa_lsp.isa.types import TYPE_BY_NAME, ExecControl
from visa_lsp.program.model import (
    Address,
    AddressOf,
    General,
    Immediate,
    Inst,
    Predicate,
    PredicateOperand,
    RawOperand,
)
from visa_lsp.program.model import (
    State as StateOperand,
)
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.memory import Buffer, Image, Memory

if TYPE_CHECKING:
    from visa_lsp.sim.observers.hooks import Observer

INTERPRETER = Machine
ELEMENTS = 160
CONTROL = 14
FIRST_ADDRESS = 0x1_0000_0000
HEADER = (0, 0, 0, 0, 0, 0xABC0, 0, 0)  # r0 of the one thread
ONE = ExecControl(1, 0, no_mask=True)


class Bench:
    """A kernel, the data that it starts from, and the two runs."""

    def __init__(self, name: str, *, platform: str = "TGLLP", emask: int = 0xFFFF_FFFF) -> None:
        self.name, self.emask = name, emask
        self.builder = Builder(name, platform=platform)
        self.grf = self.builder.grf
        self.rng = np.random.default_rng(SEED)
        self.initial: dict[int, bytes] = {}
        self.predicates: dict[int, int] = {}
        self.buffers: list[tuple[str, bytes, dict | None]] = []
        self.samplers: dict[int, object] = {}
        self.slm = b""
        self._sources: dict[tuple, int] = {}
        self.notes: dict[int, str] = {}  # which instruction a buffer belongs to
        self.count = 0
        self.observers: tuple[Observer, ...] = ()

    # ---- declarations

    def var(self, kind: str, count: int, data: bytes | None = None) -> int:
        """Return a general variable with given bytes, or with arbitrary ones."""
        number = self.builder.var(TYPE_BY_NAME[kind], count)
        size = count * TYPE_BY_NAME[kind].size
        data = self.rng.bytes(size) if data is None else data
        assert len(data) <= size
        self.initial[number] = data.ljust(size, b"\0")
        return number

    def source(self, key: object, kind: str) -> int:
        """Return the shared source variable of a type; ``key`` tells several apart."""
        at = (key, kind)
        if at not in self._sources:
            self._sources[at] = self.var(kind, ELEMENTS, inputs(kind, ELEMENTS, SEED + len(self._sources)))
        return self._sources[at]

    def words(self, kind: str, numbers) -> int:
        """Return a variable that holds given integers."""
        size = SIZES[kind]
        data = b"".join((int(n) & (1 << 8 * size) - 1).to_bytes(size, "little") for n in numbers)
        return self.var(kind, max(1, len(data) // size), data)

    def predicate(self, bits: int) -> int:
        """Return a predicate variable with given bits."""
        number = self.builder.pred()
        self.predicates[number] = bits
        return number

    def buffer(self, data: bytes, *, image: dict | None = None) -> int:
        """Return a surface with these bytes; its binding table index."""
        self.buffers.append((f"buffer {len(self.buffers)}", bytes(data), image))
        return len(self.buffers) - 1

    def surface(self, index: int) -> int:
        """Return a surface variable that stands for a binding table index."""
        number = self.builder.surface()
        self.emit("movs", dst=StateOperand(False, number, 0), src0=Immediate(TYPE_BY_NAME["ud"], index), exec=ONE)
        return number

    def sampler(self, value: int) -> int:
        """Return a sampler variable that stands for a number."""
        number = self.builder.sampler()
        self.emit("movs", dst=StateOperand(True, number, 0), src0=Immediate(TYPE_BY_NAME["ud"], value), exec=ONE)
        return number

    def address_of_buffer(self, index: int) -> int:
        """Where a buffer will lie in the flat address space: pages with a gap between, in the order of their making."""
        at = FIRST_ADDRESS
        for _, data, _ in self.buffers[:index]:
            at = -(-(at + len(data)) // 4096) * 4096 + 4096
        return at

    # ---- instructions

    def emit(self, row, **fields) -> Inst:
        """Append an instruction of a row (or of the first row of a mnemonic). Fields without a value are 0 or null."""
        from visa_lsp.isa.table import TABLE

        if isinstance(row, str):
            row = TABLE.by_mnemonic[row][0]
        values = []
        for item in row.fields:
            given = fields.pop(item.name, None)
            if given is None and item.name == "pred":
                values.append(None)
            elif given is None:
                values.append(RawOperand(0, 0) if item.kind.value == "r" else item.default)
            else:
                values.append(given)
            if item.const is not None:
                old = given if isinstance(given, int) else 0
                values[-1] = item.const if item.const_mask == -1 else item.const | old & ~item.const_mask
        assert not fields, (row.mnemonic, fields)
        inst = Inst(row, tuple(values), len(self.builder.instructions))
        self.builder.instructions.append(inst)
        return inst

    def mode(self, control: int) -> None:
        """Write the control register."""
        self.emit(
            "mov",
            exec=ONE,
            dst=General(CONTROL, 0, 0, Region(None, None, 1)),
            src0=Immediate(TYPE_BY_NAME["ud"], control),
        )

    def point(self, address: int, element: int, var: int, offset: int) -> None:
        """Let an address element hold a byte of a variable."""
        self.emit("addr_add", exec=ONE, dst=Address(address, element, 1), src0=AddressOf(var, 0, 0),
                  src1=Immediate(TYPE_BY_NAME["uw"], offset & 0xFFFF))  # fmt: skip

    # ---- the two runs

    def kernel(self):
        """Return the finished body."""
        return self.builder.kernel()

    def by_model(self) -> State:
        """Return the state after the model has executed every instruction."""
        state = State(self.kernel(), self.grf, self.emask)
        for var, data in self.initial.items():
            state.regs[var][: len(data)] = data
        for var, bits in self.predicates.items():
            state.preds[var] = bits
        for index, (_, data, image) in enumerate(self.buffers):
            surface = Surface(bytearray(data), self.address_of_buffer(index), image)
            state.surfaces[index] = surface
            state.flat.append(surface)
        state.header = list(HEADER)
        state.samplers, state.slm = self.samplers, bytearray(self.slm)
        for inst in self.builder.instructions:
            registry.execute(state, inst)
        return state

    def by_simulator(self):
        """Return the thread after the interpreter has executed every instruction, and the dispatch with its buffers."""
        order = dispatch(self.builder, lanes=self.emask, slm=len(self.slm))
        memory, surfaces = Memory(), {}
        for index, (name, data, image) in enumerate(self.buffers):
            shape = {n: v for n, v in (image or {}).items() if n != "bytes"}
            made = Image(name, bytearray(data), **shape) if image else Buffer(name, bytearray(data))
            surfaces[index] = memory.add(made)
        from visa_lsp.sim.memory import Sampler

        samplers = {number: Sampler(**words) for number, words in self.samplers.items()}
        head = np.array(HEADER, "<u4").tobytes().ljust(self.grf, b"\0")
        order = replace(order, payload=lambda _g, _n: head, memory=memory, surfaces=surfaces, samplers=samplers)
        # Compiled code tells observers nothing.
        machine = Machine(order, self.observers if Machine is INTERPRETER else ())
        group, threads = machine.start((0, 0, 0))
        thread, frame = threads[0], threads[0].frame
        group.slm.data[:] = np.frombuffer(self.slm, np.uint8)
        for var, data in self.initial.items():
            at = frame.code.layout.offset(var)
            frame.regs[at : at + len(data)] = np.frombuffer(data, np.uint8)
        for var, bits in self.predicates.items():
            frame.preds[var] = bits
        with np.errstate(all="ignore"):
            for _ in thread.run(1_000_000):
                pass
        return thread, frame, surfaces, group

    def differences(self) -> list[str]:
        """Return the differences of the two runs, in words."""
        state = self.by_model()
        thread, frame, surfaces, group = self.by_simulator()
        out = []
        for var, model in state.regs.items():
            declared = self.builder.variables[var - 32]
            at = frame.code.layout.offset(var)
            got = frame.regs[at : at + declared.byte_size].tobytes()
            if got != bytes(model[: len(got)]):
                out.extend(self._variable(state, var, got, bytes(model)))
        for var in range(1, len(state.preds)):
            if frame.preds[var] != state.preds[var]:
                by = next((describe(i) for i in reversed(self.builder.instructions) if _names(i, var)), "nothing")
                out.append(f"{by}: predicate {var} is {frame.preds[var]:#x}, the model says {state.preds[var]:#x}")
        spaces = [(s.name, s.data, state.surfaces[i].data) for i, s in surfaces.items()]
        scratch = thread.scratch.data if thread.scratch else np.zeros(len(state.scratch), np.uint8)
        for name, got, model in [*spaces, ("slm", group.slm.data, state.slm), ("scratch", scratch, state.scratch)]:
            out.extend(self._space(state, name, got.tobytes(), model))
        return out

    def _space(self, state: State, name: str, got: bytes, model: bytearray) -> list[str]:
        if got == bytes(model):
            return []
        for (owner, at), kind in state.floats.items():
            size = SIZES[kind]
            if owner == id(model) and same(got[at : at + size], bytes(model[at : at + size]), kind):
                got = got[:at] + bytes(model[at : at + size]) + got[at + size :]
        wrong = next((i for i, (a, b) in enumerate(zip(got, model, strict=True)) if a != b), None)
        if wrong is None:
            return []
        number = int(name.rsplit(maxsplit=1)[-1]) if name.startswith("buffer") else -1
        about = f" ({self.notes[number]})" if number in self.notes else ""
        return [f"{self.name}: byte {wrong} of {name} is {got[wrong]:#x}, the model says {model[wrong]:#x}{about}"]

    def _variable(self, state: State, var: int, got: bytes, model: bytes) -> list[str]:
        expected = state.expected.get(var)
        if expected is None:
            return [f"variable {var} was written, the model leaves it alone"]
        kind = expected.kind
        size = SIZES.get(kind, 1)
        for at in range(0, len(got) // size * size, size):
            a, b = got[at : at + size], model[at : at + size]
            if a == b or any(at + i in expected.undefined for i in range(size) if a[i] != b[i]):
                continue
            if kind == "e5m2" and all(x & 0x7F > 0x7C for x in (*a, *b)):
                continue
            if kind != "e5m2" and expected.agrees(a, b):
                continue
            shown = [x.hex() if kind == "e5m2" else f"{decode(x, kind)} ({x.hex()})" for x in (a, b)]
            return [
                f"{describe(expected.by)}: {kind} element {at // size} of variable {var} is {shown[0]}, the model says {shown[1]}"
            ]
        return []


def _names(inst: Inst, predicate: int) -> bool:
    return any(isinstance(v, PredicateOperand | Predicate) and v.var == predicate for v in inst.values)
