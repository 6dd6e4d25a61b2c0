"""Common parts of untyped and typed messages of the load/store controller: surface and atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.isa import lsc_codes as codes
from visa_lsp.program.model import General, Immediate, Value
from visa_lsp.sim import messages
from visa_lsp.sim.registers import SCRATCH_HANDLE, SCRATCH_SURFACE, SLM_SURFACE, STATELESS_SURFACE, Frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.memory import Space
    from visa_lsp.sim.operands import Site


SCRATCH_HEADER: Final = (7, 20)  # r0.5 locates the state of the thread's scratch space, in units of 16 bytes


def atomic_update(site: Site, size: int) -> messages.Update:
    """Return the update that an LSC atomic applies to a word of ``size`` bytes.

    Raises KernelFault if the operation is not modelled for that size.
    """
    known = {**messages.integer_updates(size), **messages.float_updates(size)}
    if size == 2:
        known |= messages.bfloat_updates()
    found = known.get(site.inst.row.update)
    if found is None:
        raise site.fault("this atomic operation is not modelled")
    return found


def open_surface(site: Site) -> tuple[messages.Open, Callable[[Frame], int]]:
    """Return the memory of an LSC message, and a base to add to its addresses."""
    if site.integer("sfid") == codes.SFID_SLM:
        return open_fixed_surface(SLM_SURFACE), lambda _f: 0
    return open_model(site, site.integer("addrtype", codes.ADDRTYPE_FLAT), site.inst.get("surface"))


def open_model(site: Site, kind: int, operand: Value) -> tuple[messages.Open, Callable[[Frame], int]]:
    """Return the memory of an address model with its surface, and a base to add to addresses."""
    if kind in (codes.ADDRTYPE_FLAT, codes.ADDRTYPE_ARG):
        return messages.flat, site.scalar_of(operand) if isinstance(operand, General) else lambda _f: 0
    if isinstance(operand, Immediate) and kind == codes.ADDRTYPE_BTI:
        return open_fixed_surface(operand.bits & 0xFFFFFFFF), lambda _f: 0
    value = site.scalar_of(operand)
    header = site.code.layout.offset(SCRATCH_HEADER[0]) + SCRATCH_HEADER[1]

    def find(f: Frame) -> tuple[Space | None, int]:
        assert f.thread is not None
        number = value(f) & 0xFFFFFFFF
        if number == SCRATCH_HANDLE or (kind == codes.ADDRTYPE_SS and number == f.word(header) >> 4):
            number = SCRATCH_SURFACE
        return f.thread.machine.space(f, number), number

    return find, lambda _f: 0


def open_fixed_surface(value: int) -> messages.Open:
    """Open the surface of a number."""

    def find(f: Frame) -> tuple[Space | None, int]:
        assert f.thread is not None
        if value == STATELESS_SURFACE:
            return messages.flat(f)
        return f.thread.machine.space(f, value), value

    return find


def sign_extend_dword(value: int) -> int:
    """Return the low 32 bits as a signed number."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value
