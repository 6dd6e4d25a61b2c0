"""Effects that move lanes: goto, jmp, calls and returns, structured control flow of the seed dialect, labels.

Inactive lanes wait at a place; control continues at the lowest place that has lanes (seed 001 "Branch
Instructions"). A subroutine call keeps the caller's masks and waiting lanes in a frame of ``Frame.calls``; a function
call makes a new register frame, with the predefined variables copied in and back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from visa_lsp.isa.model import FlowClass
from visa_lsp.isa.table import TABLE
from visa_lsp.program.model import Combine, Kernel, Predicate, Value
from visa_lsp.sim.faults import FaultKind, KernelFault
from visa_lsp.sim.operands import Enable, Op, Site, make_no_op, predicate_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.registers import Frame

_END: Final = -1
_SWITCH: Final = -3
MAX_DEPTH: Final = 2048


def _select_jumping_lanes(site: Site) -> Enable:
    """Return the active lanes that an instruction moves. Execution size 1 moves all of them or none (page GOTO)."""
    pred = site.inst.get("pred")
    offset, lanes, full = site.control.mask_offset, site.lanes, site.full
    if lanes == 1:
        if not isinstance(pred, Predicate):
            return lambda f: f.emask
        bit = predicate_bits(pred, offset, 1)
        return lambda f: f.emask if bit(f) else 0
    if not isinstance(pred, Predicate):
        return lambda f: f.emask & full << offset
    bits = predicate_bits(pred, offset, full)
    return lambda f: f.emask & bits(f) << offset


def _target(site: Site, label: Value) -> int:
    place = site.code.labels.get(label) if isinstance(label, int) else None
    if place is None:
        raise site.fault(f"label {label} is not defined")
    return place


def _park(f: Frame, lanes: int, place: int) -> None:
    if lanes:
        f.waiting[place] = f.waiting.get(place, 0) | lanes


def resume(f: Frame) -> int:
    """Return the next place after the last active lane has left: that of waiting lanes, or the end of the body."""
    place = f.next_waiting()
    return _leave(f) if place is None else place


def goto(site: Site) -> Op:
    """Branch with some lanes; the others continue, or wait after a backward branch."""
    taken, here, target = _select_jumping_lanes(site), site.pc, _target(site, site.inst.get("label"))

    def forward(f: Frame) -> int | None:
        lanes = taken(f)
        if not lanes:
            return None
        _park(f, lanes, target)
        f.emask &= ~lanes
        if f.emask:
            return None
        return f.next_waiting()

    def backward(f: Frame) -> int | None:
        lanes = taken(f)
        if not lanes:
            return None
        _park(f, f.emask & ~lanes, here + 1)
        f.emask = lanes
        return target

    return backward if target <= here else forward


def jmp(site: Site) -> Op:
    """Branch uniformly: all active lanes or none."""
    pred = site.inst.get("pred")
    target, offset = _target(site, site.inst.get("label")), site.control.mask_offset
    if not isinstance(pred, Predicate):
        return lambda _f: target
    # A plain predicate is that of the first lane; any and all combine the lanes of the instruction.
    bit = predicate_bits(pred, offset, 1 if pred.combine is Combine.NONE else site.full)
    return lambda f: target if bit(f) else None


def switchjmp(site: Site) -> Op:
    """Branch uniformly to one of several labels."""
    labels = site.inst.get("labels")
    targets = [_target(site, label) for label in labels] if isinstance(labels, tuple) else []
    index = site.scalar("index")

    def op(f: Frame) -> int | None:
        number = index(f)
        if not 0 <= number < len(targets):
            raise KernelFault(FaultKind.OPERAND, f"switchjmp: index {number}, but there are {len(targets)} labels")
        return targets[number]

    return op


def call(site: Site) -> Op:
    """Call a subroutine with the active lanes whose predicate holds."""
    taken, target, back = _select_jumping_lanes(site), _target(site, site.inst.get("label")), site.pc + 1

    def op(f: Frame) -> int | None:
        lanes = taken(f)
        if not lanes:
            return None
        if any(open_call[4] == target for open_call in f.calls):  # seed 001 "Subroutine and Function Calls"
            raise KernelFault(FaultKind.CALL, "a subroutine calls itself; only functions may be recursive")
        f.calls.append((back, f.emask, f.call_mask, f.waiting, target))
        f.emask = f.call_mask = lanes
        f.waiting = {}
        return target

    return op


def _leave(f: Frame) -> int:
    """Return to the caller of the subroutine or function, or end the thread, because the call mask is empty."""
    if f.calls:
        back, f.emask, f.call_mask, f.waiting, _ = f.calls.pop()
        return back
    thread = f.thread
    if thread is None or not thread.frames:
        return _END
    caller = thread.frames.pop()
    end = f.code.layout.predefined_end
    caller.regs[:end] = f.regs[:end]
    if caller.rounding is not f.rounding or caller.plain is not f.plain:
        caller.set_modes(caller.word(caller.code.layout.offset(14)))
    thread.frame = caller
    thread.machine.release(f)
    caller.thread = thread
    return _SWITCH


def ret(site: Site) -> Op:
    """Leave the subroutine, the function or the kernel with some lanes."""
    taken = _select_jumping_lanes(site)

    def op(f: Frame) -> int | None:
        lanes = taken(f)
        if not lanes:
            return None
        f.emask &= ~lanes
        f.call_mask &= ~lanes
        if f.emask:
            return None
        return resume(f)

    return op


def _enter(f: Frame, body: Kernel, lanes: int, back: int) -> int:
    """Start a function for ``lanes``, in a new frame."""
    thread = f.thread
    assert thread is not None
    if len(thread.frames) >= MAX_DEPTH:
        raise KernelFault(FaultKind.CALL, f"more than {MAX_DEPTH} nested function calls; the recursion may never end")
    frame = thread.machine.acquire(body)
    end = f.code.layout.predefined_end
    frame.regs[:end] = f.regs[:end]
    frame.set_modes(frame.word(frame.code.layout.offset(14)))
    frame.emask = frame.call_mask = lanes
    frame.thread = thread
    f.pc = back
    thread.frames.append(f)
    thread.frame = frame
    return _SWITCH


def fcall(site: Site) -> Op:
    """Call a function by name."""
    taken, back = _select_jumping_lanes(site), site.pc + 1
    name = site.code.kernel.string(site.integer("name"))

    def op(f: Frame) -> int | None:
        lanes = taken(f)
        if not lanes:
            return None
        assert f.thread is not None
        body = f.thread.machine.dispatch.functions.get(name)
        if body is None:
            raise KernelFault(FaultKind.CALL, f"fcall: the program has no function {name}")
        return _enter(f, body, lanes, back)

    return op


def ifcall(site: Site) -> Op:
    """Call the function at an address from ``faddr``."""
    taken, back, address = _select_jumping_lanes(site), site.pc + 1, site.scalar("callee")

    def op(f: Frame) -> int | None:
        lanes = taken(f)
        if not lanes:
            return None
        assert f.thread is not None
        target = address(f)
        bodies = f.thread.machine.function_addresses
        body = bodies.get(target) or next((b for a, b in bodies.items() if a & 0xFFFFFFFF == target), None)
        if body is None:
            raise KernelFault(FaultKind.CALL, f"ifcall: there is no function at {target:#x}", address=target)
        return _enter(f, body, lanes, back)

    return op


def faddr(site: Site) -> Op:
    """Store the address of a function or of a symbol of the program."""
    name = site.code.kernel.string(site.integer("name"))
    dst = site.inst.get("dst")
    size = site.operand_type(dst).size
    store = site.write(dst, 1)

    def op(f: Frame) -> None:
        assert f.thread is not None
        address = f.thread.machine.symbol_address(name)
        if address is None:
            raise KernelFault(FaultKind.CALL, f"faddr: the program has no symbol {name}")
        data = (address & (1 << 8 * size) - 1).to_bytes(size, "little")
        store(f, 1, np.frombuffer(data, np.dtype(f"<u{size}")))

    return op


# ---- structured control flow of the seed dialect: the partners are found by nesting


def _need(site: Site, place: int | None, flow: FlowClass) -> int:
    if place is None:
        raise site.fault(f"there is no matching {TABLE.by_flow[flow].mnemonic}")
    return place


def if_(site: Site) -> Op:
    """Let lanes whose predicate fails wait at the else branch or at the end."""
    end = _need(site, site.code.structure.end.get(site.pc), FlowClass.ENDIF)
    other = site.code.structure.other.get(site.pc)
    place = end if other is None else other + 1
    taken = _select_jumping_lanes(site)

    def op(f: Frame) -> int | None:
        lanes = taken(f)
        _park(f, f.emask & ~lanes, place)
        f.emask = lanes
        return None if lanes else f.next_waiting()

    return op


def else_(site: Site) -> Op:
    """Let the lanes of the first branch wait at the end, and resume the others after this place."""
    end = _need(site, site.code.structure.end.get(site.pc), FlowClass.ENDIF)

    def op(f: Frame) -> int | None:
        _park(f, f.emask, end)
        f.emask = 0
        return f.next_waiting()

    return op


def while_(site: Site) -> Op:
    """Repeat the loop with the lanes whose predicate holds."""
    start = _need(site, site.code.structure.start.get(site.pc), FlowClass.DO) + 1
    taken, here = _select_jumping_lanes(site), site.pc

    def op(f: Frame) -> int | None:
        lanes = taken(f)
        _park(f, f.emask & ~lanes, here + 1)
        f.emask = lanes
        return start if lanes else f.next_waiting()

    return op


def _exit(site: Site, *, past: bool) -> Op:
    loop = _need(site, site.code.structure.end.get(site.pc), FlowClass.WHILE)
    place, taken = loop + past, _select_jumping_lanes(site)

    def op(f: Frame) -> int | None:
        lanes = taken(f)
        _park(f, lanes, place)
        f.emask &= ~lanes
        return None if f.emask else f.next_waiting()

    return op


def break_(site: Site) -> Op:
    """Leave the innermost loop with some lanes."""
    return _exit(site, past=True)


def cont(site: Site) -> Op:
    """Move some lanes to the loop's end test."""
    return _exit(site, past=False)


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "goto": goto,
    "jmp": jmp,
    "switchjmp": switchjmp,
    "call": call,
    "ret": ret,
    "fcall": fcall,
    "ifcall": ifcall,
    "fret": ret,
    "faddr": faddr,
    "label": make_no_op,
    "nop": make_no_op,
    "do": make_no_op,
    "endif": make_no_op,
    "if": if_,
    "else": else_,
    "while": while_,
    "break": break_,
    "cont": cont,
}
