"""Effects of synchronisation: barriers, split and named barriers, fences.

Threads of a group run one at a time and memory is sequentially consistent, so a fence orders nothing here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.sim.effects.flow import nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.machine import Barrier
    from visa_lsp.sim.operands import Op, Site
    from visa_lsp.sim.registers import Frame

_WAIT: Final = -2


def _await(thread: Thread, barrier: Barrier, generation: int, what: str) -> int:
    from visa_lsp.sim.interp import Wait  # noqa: PLC0415 - the interpreter imports the effects

    thread.pending = Wait(lambda: barrier.generation != generation, what, barrier.release)
    return _WAIT


def barrier(site: Site) -> Op:
    """Wait until every thread of the group has come here."""
    del site

    def op(f: Frame) -> int | None:
        thread = f.thread
        assert thread is not None
        thread.machine.at_barrier(thread)
        shared = thread.group.barrier
        before = shared.generation
        shared.signal()
        return None if shared.generation != before else _await(thread, shared, before, "the barrier")

    return op


def sbarrier_signal(site: Site) -> Op:
    """The first half of a split barrier: say that this thread has come."""
    del site

    def op(f: Frame) -> None:
        thread = f.thread
        assert thread is not None
        thread.machine.at_barrier(thread)
        split = thread.group.named.setdefault(-1, _new(thread, thread.machine.dispatch.threads_per_group))
        thread.group.signalled[thread.number, -1] = split.generation
        split.signal()

    return op


def sbarrier_wait(site: Site) -> Op:
    """The second half: wait for all the others."""
    del site

    def op(f: Frame) -> int | None:
        thread = f.thread
        assert thread is not None
        split = thread.group.named.setdefault(-1, _new(thread, thread.machine.dispatch.threads_per_group))
        before = thread.group.signalled.get((thread.number, -1), split.generation)
        return None if split.generation != before else _await(thread, split, before, "the split barrier")

    return op


def _new(thread: Thread, expected: int) -> Barrier:
    return type(thread.group.barrier)(expected)


def nbarrier_signal(site: Site) -> Op:
    """Arrive at a named barrier, as producer, consumer or both."""
    number = site.scalar("id")
    expected = site.scalar("count")
    if site.has("producers"):
        producers, consumers = site.scalar("producers"), site.scalar("consumers")
        # A thread that is both counts once: the larger count is the number of arrivals.
        expected = lambda f: max(producers(f), consumers(f))  # noqa: E731

    def op(f: Frame) -> None:
        thread = f.thread
        assert thread is not None
        thread.machine.result.barriers += 1
        at = number(f) & 31
        named = thread.group.named.setdefault(at, _new(thread, expected(f)))
        named.expected = expected(f)
        thread.group.signalled[thread.number, at] = named.generation
        named.signal()

    return op


def nbarrier_wait(site: Site) -> Op:
    """Wait until a named barrier's round is complete."""
    number = site.scalar("id")

    def op(f: Frame) -> int | None:
        thread = f.thread
        assert thread is not None
        at = number(f) & 31
        named = thread.group.named.setdefault(at, _new(thread, thread.machine.dispatch.threads_per_group))
        before = thread.group.signalled.get((thread.number, at), named.generation)
        return None if named.generation != before else _await(thread, named, before, f"named barrier {at}")

    return op


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "barrier": barrier,
    "sbarrier_signal": sbarrier_signal,
    "sbarrier_wait": sbarrier_wait,
    "nbarrier_signal": nbarrier_signal,
    "nbarrier_wait": nbarrier_wait,
    "fence": nothing,
}
