"""The first registers of threads of machine code, from those of a text's launch.

Up to Xe-LP hardware fills r0, the local ids and the arguments, as the inputs of texts have them. Later it fills r0 and the
inline arguments; the code loads the rest from the memory that r0.0 names, arguments first, then the ids of each thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from visa_lsp.eu.machine_run import ThreadStart
from visa_lsp.eu.model import BASE_STEP, LAST_XE_LP, barrier_byte
from visa_lsp.program.payload_layout import up
from visa_lsp.sim.launch.layout import LaunchLayout
from visa_lsp.sim.machine import SCRATCH_BYTES
from visa_lsp.sim.memory import Buffer

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sim.launch.prepare import PreparedLaunch

BASE: Final = 0x9A5B_36C0  # of the payload in memory, below all buffers; code that computes with it keeps all bits
_OTHER_BITS: Final = (0x3F, 0xFF)  # that are no part of the address in r0.0 and, in byte 9, of the numbers in r0.2
_ARGUMENT_BYTES: Final = 32  # arguments in memory take a multiple of
_SLACK: Final = 4096  # because blocks are loaded whole
_SCRATCH: Final = 0x0100_0000  # of the scratch space of the first thread, which r0.5 names


def thread_starts(
    prepared: PreparedLaunch, info: KernelInfo | None, platform: Platform, *, has_inline_data: bool = True
) -> Callable[[tuple[int, int, int], int], ThreadStart]:
    """Return a function for the first registers of a thread. Adds the memory of payloads to that of the launch."""
    dispatch, grf = prepared.dispatch, platform.grf_bytes

    most = max(dispatch.threads_per_group, 1)
    scratch = Buffer("the scratch space of the threads", np.zeros(most * SCRATCH_BYTES, np.uint8), _SCRATCH)
    scratch.private = True
    dispatch.memory.add(scratch)

    def registers(group: tuple[int, int, int], number: int) -> ThreadStart:
        shape = dispatch.shape(group)
        data = bytearray(shape.payload(group, number))
        data[9], data[11] = _OTHER_BITS[1], barrier_byte(platform, shape.threads)
        scratch_word = _SCRATCH + number * SCRATCH_BYTES
        if platform.generation <= LAST_XE_LP:
            scratch_word |= platform.thread_number.slot(number) & BASE_STEP - 1  # the text's %hw_id
        data[20:24] = scratch_word.to_bytes(4, "little")
        return ThreadStart(bytes(data))

    if platform.generation <= LAST_XE_LP:
        return registers
    sample = dispatch.payload((0, 0, 0), 0)
    ids, inline, cross_start = 0, 0, grf
    if info is not None:
        layout = LaunchLayout.of(info, prepared.geometry, platform)
        ids, inline, cross_start = (
            layout.payload.cross_start - grf,
            layout.payload.inline_bytes,
            layout.payload.cross_start,
        )
    if has_inline_data and info is not None:
        end = max((a.offset + a.size for a in info.payload), default=0)
    else:
        inline, end = 0, max((i.offset + i.size for i in dispatch.kernel.inputs), default=len(sample)) - cross_start
    inline_row = up(inline, grf) if inline else 0
    loaded = max(0, up(max(0, end), _ARGUMENT_BYTES) - inline)
    memory = Buffer("the payload of the threads", np.zeros(loaded + most * ids + _SLACK, np.uint8), BASE)
    memory.private = True
    dispatch.memory.add(memory)

    def from_memory(group: tuple[int, int, int], number: int) -> ThreadStart:
        data = registers(group, number).registers
        rest = np.frombuffer(data[cross_start + inline_row :], np.uint8)[:loaded]
        memory.data[: rest.size] = rest
        ids_start = loaded + number * ids
        memory.data[ids_start : ids_start + ids] = np.frombuffer(data[grf : grf + ids], np.uint8)
        start = bytearray(data[:grf])
        start[:4] = (BASE | _OTHER_BITS[0]).to_bytes(4, "little")
        start[8] = number & 0xFF
        return ThreadStart(bytes(start) + data[cross_start : cross_start + inline_row])

    return from_memory
