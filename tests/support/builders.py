"""Build small programs by hand: kernels of ``Inst`` values, and a dispatch around them.

Knows the program model and the table, no text and no bytes. A builder's registers are all of one size unless said.
"""

from __future__ import annotations

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import OperandModifier, Region
from visa_lsp.isa.platforms import platform_named
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import (
    General,
    Immediate,
    Inst,
    Kernel,
    LabelEntry,
    Predicate,
    RawOperand,
    StateVariable,
    Variable,
)
from visa_lsp.sim.dispatch import Dispatch
from visa_lsp.sim.machine import run
from visa_lsp.sim.memory import Buffer, Memory

IEEE = 0x4C0  # %cr0: keep all denormals, round to nearest even


def mask(text: str) -> ExecControl:
    """``"M5,16"`` or ``"M1_NM,1"``."""
    name, size = text.split(",")
    number = name.removesuffix("_NM")
    return ExecControl(int(size), 4 * (int(number[1:]) - 1), no_mask=name.endswith("_NM"))


def imm(value, type_=ty.D) -> Immediate:
    """Return an immediate; floats by value, integers by their bits."""
    if isinstance(value, float):
        data = np.array([value], {ty.F: "<f4", ty.DF: "<f8", ty.HF: "<f2"}[type_])
        return Immediate(type_, int.from_bytes(data.tobytes(), "little"))
    return Immediate(type_, value & (0xFFFFFFFFFFFFFFFF if type_.size == 8 else 0xFFFFFFFF))


class Builder:
    """A kernel that grows. Variables are named by what ``var`` returned."""

    def __init__(self, name="k", *, platform="TGLLP", is_kernel=True):
        self.platform = platform_named(platform)
        self.grf = self.platform.grf_bytes
        self.strings = [name]
        self.is_kernel = is_kernel
        self.variables: list[Variable] = []
        self.addresses: list[StateVariable] = []
        self.predicates: list[StateVariable] = []
        self.surfaces: list[StateVariable] = []
        self.samplers: list[StateVariable] = []
        self.labels: dict[str, int] = {}
        self.instructions: list[Inst] = []

    def var(self, type_=ty.D, count=16, alias=0, alias_offset=0) -> int:
        """Declare a general variable."""
        self.variables.append(Variable(0, type_, 5, count, alias, alias_offset))
        return 31 + len(self.variables)

    def address(self, count=16) -> int:
        """Declare an address variable."""
        self.addresses.append(StateVariable(0, count))
        return len(self.addresses) - 1

    def pred(self) -> int:
        """Declare a predicate."""
        self.predicates.append(StateVariable(0, 32))
        return len(self.predicates)

    def surface(self) -> int:
        """Declare a surface."""
        self.surfaces.append(StateVariable(0, 1))
        return 5 + len(self.surfaces)

    def sampler(self) -> int:
        """Declare a sampler."""
        self.samplers.append(StateVariable(0, 1))
        return len(self.samplers) - 1

    def string(self, text: str) -> int:
        """Return a pool entry."""
        self.strings.append(text)
        return len(self.strings) - 1

    def type_of(self, var: int):
        return self.variables[var - 32].type

    def label(self, name: str) -> int:
        """Return the number of a label, by name."""
        return self.labels.setdefault(name, len(self.labels))

    def src(self, var, region=(1, 1, 0), row=0, col=0, mod="") -> General:
        modifier = {"": "NONE", "-": "NEG", "abs": "ABS", "-abs": "NEGABS", "~": "NOT"}[mod]
        return General(var, row, col, Region(*region), OperandModifier[modifier])

    def scalar(self, var, row=0, col=0) -> General:
        return self.src(var, (0, 1, 0), row, col)

    def dst(self, var, stride=1, row=0, col=0, *, sat=False) -> General:
        modifier = OperandModifier.SAT if sat else OperandModifier.NONE
        return General(var, row, col, Region(None, None, stride), modifier)

    def op(self, mnemonic, exec_="M1,16", *, pred=None, **fields) -> int:
        """Append an instruction of the first row that has these fields; returns its place."""
        rows = TABLE.by_mnemonic[mnemonic]
        row = next(r for r in rows if all(r.has_field(n) for n in fields))
        values = []
        for item in row.fields:
            if item.name in fields:
                values.append(fields[item.name])
            elif item.const is not None:
                values.append(item.const)
            elif item.name == "exec":
                values.append(mask(exec_))
            elif item.name == "pred":
                values.append(pred)
            else:
                values.append(RawOperand(0, 0) if item.kind.value == "r" else 0)
        self.instructions.append(Inst(row, tuple(values), len(self.instructions)))
        return len(self.instructions) - 1

    def at(self, name: str, mnemonic="label") -> None:
        """Define a label here."""
        self.op(mnemonic, label=self.label(name))

    def ret(self) -> None:
        self.op("ret", "M1,1")

    def kernel(self) -> Kernel:
        """Return the finished body."""
        return Kernel(
            is_kernel=self.is_kernel,
            strings=tuple(self.strings),
            variables=tuple(self.variables),
            addresses=tuple(self.addresses),
            predicates=tuple(self.predicates),
            labels=tuple(LabelEntry(0, 0) for _ in self.labels),
            samplers=tuple(self.samplers),
            surfaces=tuple(self.surfaces),
            instructions=tuple(self.instructions),
        )


def pred(var, *, inverse=False) -> Predicate:
    """Return a predicate control."""
    return Predicate(var, inverse)


def dispatch(builder, *, buffers=(), lanes=0xFFFF, threads=1, groups=(1, 1, 1), slm=0, functions=(), budget=1_000_000):
    """Return a dispatch of a built kernel; buffer i has binding table index i."""
    memory = Memory()
    surfaces = {}
    for i, data in enumerate(buffers):
        surfaces[i] = memory.add(Buffer(f"buffer {i}", data))
    grf = builder.grf
    return Dispatch(
        kernel=builder.kernel(),
        functions={f.name: f for f in functions},
        platform=builder.platform,
        groups=groups,
        threads_per_group=threads,
        simd=16,
        lanes=lambda _n: lanes,
        payload=lambda group, _n: (
            np.array([0, group[0], 0, 0, 0, 0, group[1], group[2]], "<u4").tobytes().ljust(grf, b"\0")
        ),
        surfaces=surfaces,
        memory=memory,
        slm_bytes=slm,
        step_budget=budget,
    )


def final(builder, initial=None, **more):
    """Run one thread and give its registers: a function from variable to array, with the frame and the machine.

    ``initial`` maps variables to their initial arrays.
    """
    from visa_lsp.sim.machine import Machine

    machine = Machine(dispatch(builder, **more))
    _, threads = machine.start((0, 0, 0))
    frame = threads[0].frame
    layout = frame.code.layout
    for var, data in (initial or {}).items():
        raw = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
        frame.regs[layout.offset(var) : layout.offset(var) + raw.size] = raw
    with np.errstate(all="ignore"):
        for _ in threads[0].run(10_000):
            pass
    from visa_lsp.sim.values import DTYPE

    def read(var):
        declared = builder.variables[var - 32]
        at = layout.offset(var)
        return frame.regs[at : at + declared.byte_size].copy().view(DTYPE[declared.type])

    read.frame, read.machine = frame, machine
    return read


__all__ = ["Builder", "dispatch", "final", "imm", "mask", "pred", "run"]
