"""Effects of synchronisation: barriers, split and named barriers, fences.

Threads of a group run one at a time and memory is sequentially consistent, so a fence orders nothing here. Media threads
run row by row, each to its end, so that the threads that a ``wait`` depends on, to the left and above, have ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.program.message import FenceMessage
from visa_lsp.program.model import General
from visa_lsp.sim import messages
from visa_lsp.sim.group import GLOBAL, SHARED, Barrier, Wait
from visa_lsp.sim.operands import Op, Site, make_no_op

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.registers import Frame

_WAIT: Final = -2
# Roles of a thread at a named barrier; 0 is both.
_PRODUCER: Final = 1
_CONSUMER: Final = 2


def _await(thread: Thread, barrier: Barrier, generation: int, what: str) -> int:
    thread.machine.announce_wait(thread, barrier, generation)
    thread.pending = make_wait(barrier, generation, what)
    return _WAIT


def make_wait(barrier: Barrier, generation: int, what: str) -> Wait:
    """Return the wait of a thread for the end of a barrier's round."""
    return Wait(lambda: barrier.generation != generation, what, barrier.release)


def barrier(site: Site) -> Op:
    """Wait until every thread of the group has arrived."""
    del site

    def op(f: Frame) -> int | None:
        thread = f.thread
        assert thread is not None
        thread.machine.announce_barrier(thread)
        shared = thread.group.barrier
        before = shared.generation
        thread.machine.announce_arrival(thread, shared)
        shared.signal()
        if shared.generation != before:
            thread.machine.announce_wait(thread, shared, before)
            return None
        return _await(thread, shared, before, "the barrier")

    return op


def sbarrier_signal(site: Site) -> Op:
    """Signal a split barrier: this thread has arrived."""
    del site

    def op(f: Frame) -> None:
        thread = f.thread
        assert thread is not None
        thread.machine.announce_barrier(thread)
        split = thread.group.named.setdefault(-1, _new(thread, thread.group.threads))
        thread.group.signalled[thread.number, -1] = split.generation
        thread.machine.announce_arrival(thread, split)
        split.signal()

    return op


def sbarrier_wait(site: Site) -> Op:
    """Wait at a split barrier until all threads have arrived."""
    del site

    def op(f: Frame) -> int | None:
        thread = f.thread
        assert thread is not None
        split = thread.group.named.setdefault(-1, _new(thread, thread.group.threads))
        before = thread.group.signalled.get((thread.number, -1), split.generation)
        if split.generation != before:
            thread.machine.announce_wait(thread, split, before)
            return None
        return _await(thread, split, before, "the split barrier")

    return op


def _new(thread: Thread, expected: int) -> Barrier:
    return type(thread.group.barrier)(expected)


def nbarrier_signal(site: Site) -> Op:
    """Arrive at a named barrier, as producer, consumer or both."""
    number = site.scalar("id")
    # A plain signal counts the thread as producer and as consumer.
    producers, consumers = (site.scalar(n if site.has(n) else "count") for n in ("producers", "consumers"))
    role = site.scalar("type")

    def op(f: Frame) -> None:
        thread = f.thread
        assert thread is not None
        thread.machine.result.barriers += 1
        barrier_id = number(f) & 31
        named = thread.group.named.setdefault(barrier_id, _new(thread, consumers(f)))
        named.producers, named.expected = producers(f), consumers(f)
        thread.group.signalled[thread.number, barrier_id] = named.generation
        thread.machine.announce_arrival(thread, named)
        named.signal(produces=role(f) != _CONSUMER, consumes=role(f) != _PRODUCER)

    return op


def nbarrier_wait(site: Site) -> Op:
    """Wait until a named barrier's round is complete."""
    number, operand = site.scalar("id"), site.inst.get("id")
    # An id in a register may be wrong, so that a report names the variable.
    where = f" (its number is in {site.code.kernel.variable_name(operand.var)})" if isinstance(operand, General) else ""

    def op(f: Frame) -> int | None:
        thread = f.thread
        assert thread is not None
        barrier_id = number(f) & 31
        named = thread.group.named.setdefault(barrier_id, _new(thread, thread.group.threads))
        before = thread.group.signalled.get((thread.number, barrier_id), named.generation)
        if named.generation != before:
            thread.machine.announce_wait(thread, named, before)
            return None
        return _await(thread, named, before, f"named barrier {barrier_id}{where}")

    return op


def make_fence(site: Site) -> Op:
    """Return the op of a fence, which only notifies observers, because memory is always in order."""
    message = messages.value_of(site)
    memory = SHARED if isinstance(message, FenceMessage) and message.shared else GLOBAL

    def op(f: Frame) -> None:
        assert f.thread is not None
        f.thread.machine.announce_fence(f.thread, (memory,))

    return op


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "barrier": barrier,
    "sbarrier_signal": sbarrier_signal,
    "sbarrier_wait": sbarrier_wait,
    "nbarrier_signal": nbarrier_signal,
    "nbarrier_wait": nbarrier_wait,
    "wait": make_no_op,
}
