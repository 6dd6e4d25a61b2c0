"""Cases of rows on address and state variables: addr_add, movs, and mov to an address.

An address is compared by what an indirect operand finds behind it: numbers of the register file are nobody's business.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.sim.generator.bench import ONE
from tests.sim.generator.lane_cases import EMASKS, LaneBench, platforms_of, vector_slots
from tests.sim.generator.pairwise import cases
from visa_lsp.isa.model import Instruction, Role
from visa_lsp.isa.operands import AO, IM, ST, A, G, I, Region
from visa_lsp.isa.types import TYPE_BY_NAME, ExecControl
from visa_lsp.program.model import Address, AddressOf, General, Immediate, Indirect
from visa_lsp.program.model import State as StateOperand

EFFECTS = {"addr_add", "movs"}
UB = TYPE_BY_NAME["ub"]
LANES = 16


def _dimensions(row: Instruction) -> dict[str, list]:
    first, *rest = vector_slots(row, Role.READ)
    forms = {A: "address", AO: "address of", G: "general"}
    found = {
        "emask": list(EMASKS), "grf": platforms_of(row), "size": [s for s in row.exec_sizes if s <= LANES], "offset": list(range(8)),
        "no_mask": [False, True], "base": [w for c, w in forms.items() if first.classes & c and (c is not G or rest)],
    }  # fmt: skip
    if rest:
        offsets = {G: "general", I: "indirect", IM: "immediate"}
        found["step"] = [w for c, w in offsets.items() if rest[0].classes & c]
    return found


def _read(bench: LaneBench, address: int) -> None:
    """Look behind all elements of an address variable."""
    out = bench.var("ub", LANES)
    bench.emit("mov", exec=ExecControl(LANES, 0, no_mask=True), dst=General(out, 0, 0, Region(None, None, 1)),
               src0=Indirect(address, 0, 0, UB, Region(None, 1, 0)))  # fmt: skip


def _address(bench: LaneBench) -> int:
    """Return an address variable whose elements all point into a source."""
    number = bench.builder.address(LANES)
    base = bench.source("a", "ub")
    bench.emit("addr_add", exec=ExecControl(LANES, 0, no_mask=True), dst=Address(number, 0, LANES), src0=AddressOf(base, 0, 4),
               src1=General(bench.source("steps", "steps"), 0, 0, Region(1, 1, 0)))  # fmt: skip
    return number


class AddressBench(LaneBench):
    """A bench with a variable of small offsets."""

    def source(self, key: object, kind: str) -> int:
        """Also the type ``steps``: words that stay inside every source."""
        if kind == "steps":
            at = (key, kind)
            if at not in self._sources:
                self._sources[at] = self.words("uw", [(i * 7) % 50 for i in range(64)])
            return self._sources[at]
        return super().source(key, kind)


def _add(bench: AddressBench, row: Instruction, case: dict) -> None:
    control, size = bench.control(case), case["size"]
    dst = _address(bench)
    if case["base"] == "address":
        src0: object = Address(_address(bench), 1, max(1, size // 2))
    elif case["base"] == "general":
        src0 = General(bench.source("b", "ub"), 1, 3, Region(0, 1, 0))
    else:
        src0 = AddressOf(bench.source("b", "ub"), 1, 5)
    fields = {"dst": Address(dst, 0, size), "src0": src0, "exec": control}
    if "step" in case:
        steps = bench.source("steps", "steps")
        if case["step"] == "immediate":
            fields["src1"] = Immediate(TYPE_BY_NAME["uw"], int(bench.rng.choice([0, 9, 0xFFFE])))
        elif case["step"] == "general":
            fields["src1"] = General(steps, 0, 2, Region(2, 2, 1) if size > 1 else Region(0, 1, 0))
        else:
            pointer = bench.builder.address(1)
            bench.point(pointer, 0, steps, 6)
            fields["src1"] = Indirect(pointer, 0, 2, TYPE_BY_NAME["uw"], Region(1, 1, 0))
    bench.emit(row, **fields)
    _read(bench, dst)
    bench.count += 1


def address_benches(row: Instruction) -> Iterator[AddressBench]:
    """Kernels for a row that writes addresses."""
    groups: dict[tuple, AddressBench] = {}
    for case in cases(_dimensions(row)):
        key = (case["emask"], case["grf"])
        bench = groups.setdefault(key, AddressBench(row.mnemonic, platform=case["grf"], emask=case["emask"]))
        _add(bench, row, case)
    yield from groups.values()


def state_benches(row: Instruction) -> Iterator[AddressBench]:
    """Kernels for a row that moves handles: into state variables, between them, and back into numbers."""
    assert all(s.classes & ST for s in row.slots)
    bench = AddressBench(row.mnemonic, platform=platforms_of(row)[0])
    kinds = [t.name for t in row.slots[0].types if t.name in ("ud", "d", "uw", "ub", "w", "b")]
    for sampler in (False, True):
        for kind in sorted(kinds):
            first = bench.builder.sampler() if sampler else bench.builder.surface()
            second = bench.builder.sampler() if sampler else bench.builder.surface()
            value = int(bench.rng.integers(1, 100))
            register = General(bench.words(kind, [5, value]), 0, 1, Region(0, 1, 0))
            given = Immediate(TYPE_BY_NAME["ud"], value) if kind == "ud" else register
            bench.emit(row, exec=ONE, dst=StateOperand(sampler, first, 0), src0=given)
            bench.emit(row, exec=ONE, dst=StateOperand(sampler, second, 0), src0=StateOperand(sampler, first, 0))
            out = bench.var(kind, 4)
            bench.emit(
                row, exec=ONE, dst=General(out, 0, 1, Region(None, None, 1)), src0=StateOperand(sampler, second, 0)
            )
            bench.count += 3
    predefined, out = StateOperand(False, 4, 0), bench.var("ud", 2)
    bench.emit(row, exec=ONE, dst=predefined, src0=Immediate(TYPE_BY_NAME["ud"], 77))
    bench.emit(row, exec=ONE, dst=General(out, 0, 0, Region(None, None, 1)), src0=predefined)
    bench.count += 2
    yield bench


def benches(row: Instruction) -> Iterator[AddressBench]:
    """All kernels of a row."""
    if row.slots[0].classes & ST:
        yield from state_benches(row)
    else:
        yield from address_benches(row)
