"""Groups of threads that hand numbers round through shared local memory, between barriers of each kind of row.

In every round a thread writes its number, waits, reads its neighbour's, waits again. Threads change after a few
instructions, so that a barrier which does not hold shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from tests.sim.generator.bench import ONE, Bench
from visa_lsp.isa.operands import Region
from visa_lsp.isa.types import UD
from visa_lsp.program.model import General, Immediate, Input, RawOperand
from visa_lsp.sim.dispatch import Dispatch
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.memory import Buffer, Memory

if TYPE_CHECKING:
    from visa_lsp.isa.model import Instruction

ROUNDS = 3
# Rows by the name of their effect, in the order in which a thread meets them.
KINDS = {
    "barrier": ("barrier",),
    "sbarrier_signal": ("sbarrier_signal", "sbarrier_wait"),
    "nbarrier_signal": ("nbarrier_signal", "nbarrier_wait"),
}
EFFECTS = frozenset(name for names in KINDS.values() for name in names)


class Ring(Bench):
    """The kernel of one kind of barrier. Inputs: own slot, neighbour's slot, number, each in a register of its own."""

    def __init__(self, rows: tuple[Instruction, ...], threads: int, barrier: int, *, roles: bool = False) -> None:
        platform = next(p for p in ("TGLLP", "PVCXT", "BMG") if all(p in r.platforms for r in rows))
        super().__init__(rows[0].mnemonic, platform=platform, emask=0xFFFF)
        self.rows, self.threads, self.number, self.roles = rows, threads, barrier, roles
        self.own, self.other, self.value, self.sum, self.got = (self.var("ud", 16, b"") for _ in range(5))
        slm = 0
        for step in range(ROUNDS):
            self._message("scatter_scaled", self.own, "src", self.value, slm)
            self.meet(2 * step)
            self._message("gather_scaled", self.other, "dst", self.got, slm)
            self._add(self.sum, self.sum, self._whole(self.got))
            self.meet(2 * step + 1)
            self._add(self.value, self.value, Immediate(UD, 100))
        out = self.surface(0)
        self._message("scatter_scaled", self.own, "src", self.sum, out)
        self.emit("ret", exec=ONE)

    def _whole(self, var: int, *, dst: bool = False) -> General:
        return General(var, 0, 0, Region(None, None, 1) if dst else Region(0, 1, 0))

    def _add(self, dst: int, first: int, second) -> None:
        self.emit("add", exec=ONE, dst=self._whole(dst, dst=True), src0=self._whole(first), src1=second)

    def _message(self, name: str, offset: int, field: str, data: int, surface: int) -> None:
        self.emit(
            name,
            exec=ONE,
            n=2,
            surface=surface,
            goff=Immediate(UD, 0),
            off=RawOperand(offset, 0),
            **{field: RawOperand(data, 0)},
        )

    def meet(self, step: int) -> None:
        """Everyone waits for everyone, in the way of the rows; barrier numbers take turns."""
        settled = {
            "id": Immediate(UD, (self.number + step % 2) % 32), "count": Immediate(UD, self.threads), "type": Immediate(UD, 0),
            "producers": Immediate(UD, self.threads), "consumers": Immediate(UD, self.threads),
        }  # fmt: skip
        for row in self.rows:
            self.emit(row, **{s.name: settled[s.name] for s in row.slots})
        self.count += 1

    def differences(self) -> list[str]:
        """Threads whose sum is not what the neighbours' numbers make."""
        size = self.grf
        inputs = tuple(Input(0, v, (1 + i) * size, 4) for i, v in enumerate((self.own, self.other, self.value)))
        kernel = replace(self.builder.kernel(), inputs=inputs)
        threads = self.threads

        def payload(_group, number):
            data = bytearray(4 * size)
            for i, value in enumerate((4 * number, 4 * ((number + 1) % threads), 7 * number + 1)):
                data[(1 + i) * size : (1 + i) * size + 4] = int(value).to_bytes(4, "little")
            return bytes(data)

        memory = Memory()
        out = memory.add(Buffer("out", bytearray(4 * threads)))
        order = Dispatch(
            kernel=kernel, functions={}, platform=self.builder.platform, groups=(2, 1, 1), threads_per_group=threads, simd=16,
            lanes=lambda _n: 0xFFFF, payload=payload, surfaces={0: out}, memory=memory, slm_bytes=4 * threads,
        )  # fmt: skip
        result = Machine(order, quantum=3).run()
        wanted = [sum(7 * ((n + 1) % threads) + 1 + 100 * step for step in range(ROUNDS)) for n in range(threads)]
        wrong = [f"{self.name}, {threads} threads: a fault: {fault}" for fault in result.faults]
        if out.data.view("<u4").tolist() != wanted:
            wrong.append(f"{self.name}, {threads} threads: {out.data.view('<u4').tolist()}, the model says {wanted}")
        return wrong


def partners(row: Instruction, rows: list[Instruction]) -> tuple[Instruction, ...]:
    """Return the rows of a barrier that a row belongs to: itself, and what comes before or after it."""
    name = row.meaning.name
    chain = next(names for names in KINDS.values() if name in names)
    return tuple(row if name == step else next(r for r in rows if r.meaning.name == step) for step in chain)


def rings(row: Instruction, rows: list[Instruction]) -> list[Ring]:
    """Kernels for a row: groups of several sizes, several barrier numbers."""
    return [Ring(partners(row, rows), threads, number) for threads, number in ((1, 0), (2, 5), (3, 31), (7, 12))]


__all__ = ["EFFECTS", "Ring", "rings"]
