"""Runs a program of ``flow_cases`` in the simulator, and every lane of it alone in the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from tests.support.builders import dispatch
from tests.support.model.scalar_threads import Lane
from visa_lsp.sim.machine import Machine

if TYPE_CHECKING:
    from tests.sim.generator.flow_cases import Program


def differences(kernel: Program, functions: list[Program], emask: int) -> list[str]:
    """Lanes whose way is not the one that they would take alone."""
    emask &= (1 << kernel.width) - 1
    bodies = {f.name: f.builder.kernel() for f in functions}
    order = dispatch(kernel.builder, lanes=emask, functions=list(bodies.values()))
    machine = Machine(replace(order, step_budget=400_000))
    _, threads = machine.start((0, 0, 0))
    thread, frame = threads[0], threads[0].frame
    for var, data in kernel.initial.items():
        at = frame.code.layout.offset(var)
        frame.regs[at : at + len(data)] = np.frombuffer(data, np.uint8)
    for _ in thread.run(400_000):
        pass
    at = frame.code.layout.offset(kernel.way)
    got = frame.regs[at : at + 4 * kernel.width].view("<u4")
    out = []
    start = np.frombuffer(kernel.initial[kernel.way], "<u4")
    for lane in range(kernel.width):
        wanted = int(start[lane])
        if emask >> lane & 1:
            state = Lane(kernel.builder.kernel(), bodies, kernel.grf, lane, kernel.initial).run()
            wanted = int.from_bytes(state.regs[kernel.way][4 * lane : 4 * lane + 4], "little")
        if int(got[lane]) != wanted:
            out.append(f"lane {lane} of {kernel.width}: {got[lane]:#x}, alone it is {wanted:#x}")
    return out
