"""Goals of a moving run: the places where a step forward or back ends.

A goal is tested between two instructions. Knows places and depths, no breakpoints. Invariant: only a goal's own thread
executes one instruction at a time; the other threads run at full speed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.program.traits import Trait

if TYPE_CHECKING:
    from visa_lsp.debug.breakpoints import ThreadKey
    from visa_lsp.debug.places import CodePlace, Places
    from visa_lsp.debug.stepper import Stepper
    from visa_lsp.sim.interp import Thread

CHUNK: Final = 10_000  # instructions between two checks for a pause


def key_of(thread: Thread) -> ThreadKey:
    """Return group and number of a thread, which are the same after a replay."""
    return thread.group.id, thread.number


def depth_of(thread: Thread) -> int:
    """Return the call depth of a thread, functions and subroutines."""
    return len(thread.frames) + sum(len(frame.calls) for frame in (thread.frame, *thread.frames))


class Goal:
    """The base goal: run until something else stops the run."""

    reason = "step"
    breaks = True  # on the way back: whether breakpoints, watches and faults count
    hands_over = False  # on the way back: whether an instruction of another thread suffices if the thread has none

    def __init__(self, thread: Thread | None = None, alone: Thread | None = None) -> None:
        """Create a goal of ``thread`` (None for a goal without thread); ``alone`` is the only thread that runs meanwhile."""
        self.key = None if thread is None else key_of(thread)
        self.alone = alone
        self.depth = 0 if thread is None else depth_of(thread)

    @staticmethod
    def at(key: ThreadKey, body: str, pc: int) -> Goal:
        """Return whether a thread is at an instruction."""
        goal = AtInstruction(body, pc)
        goal.key = key
        return goal

    def own(self, stepper: Stepper) -> Thread | None:
        """Return the goal's own thread if it executes the next instruction."""
        thread = stepper.current
        return thread if thread is not None and self.key is not None and key_of(thread) == self.key else None

    def most(self, stepper: Stepper) -> int:
        """Return the number of instructions that may run before the goal is tested again."""
        return 1 if self.own(stepper) is not None or self.has_ended(stepper) else CHUNK

    def has_ended(self, stepper: Stepper) -> bool:
        """Return whether the thread has ended and cannot reach the goal."""
        return self.key is not None and all(key_of(thread) != self.key for thread in stepper.live)

    def meets(self, stepper: Stepper) -> bool:
        """Return whether the thread is at a place of the goal."""
        thread = self.own(stepper)
        return thread is not None and self.fits(thread)

    def fits(self, thread: Thread) -> bool:
        """Return whether the goal's own thread is at a place of the goal."""
        del thread
        return False

    def is_reached(self, stepper: Stepper) -> bool:
        """Return whether the run stops here."""
        if self.has_ended(stepper):
            return stepper.current is not None and stands(stepper.current)
        return self.meets(stepper)

    def thread_at(self, stepper: Stepper) -> Thread | None:
        """Return the thread that the stop reports."""
        return self.own(stepper) or stepper.current


def stands(thread: Thread) -> bool:
    """Return whether a thread is before an executed instruction, not before a label or mark or at the end."""
    frame = thread.frame
    instructions = frame.code.kernel.instructions
    if frame.pc >= len(instructions):
        return False
    row = instructions[frame.pc].row
    return not row.opens_label and not row.marks_source


class Entry(Goal):
    """A goal: the first instruction of a thread, or of the run."""

    reason = "entry"

    def __init__(self, key: ThreadKey | None) -> None:
        super().__init__()
        self.key = key

    def fits(self, thread: Thread) -> bool:
        """Return whether the thread is before any executed instruction."""
        return stands(thread)

    def own(self, stepper: Stepper) -> Thread | None:
        """Return the chosen thread, or any thread if none is chosen."""
        thread = stepper.current
        return thread if thread is not None and self.key in (None, key_of(thread)) else None

    def has_ended(self, stepper: Stepper) -> bool:
        """Return False, because the group of the thread may not have begun."""
        del stepper
        return False


class StepGoal(Goal):
    """A goal: the next instruction of a thread; ``over`` skips calls, ``out`` leaves the current function or subroutine."""

    hands_over = True

    def __init__(
        self, thread: Thread, alone: Thread | None = None, *, over: bool = False, out: bool = False, breaks: bool = True
    ) -> None:
        super().__init__(thread, alone)
        self.over = over
        self.out = out
        self.breaks = breaks

    def fits(self, thread: Thread) -> bool:
        """Return whether the call depth fits the goal."""
        depth = depth_of(thread)
        if self.out:
            return depth < self.depth and stands(thread)
        return (not self.over or depth <= self.depth) and stands(thread)


class SourceStepGoal(StepGoal):
    """A goal: another line of the source of a text, or the next instruction if there is no source."""

    def __init__(
        self, thread: Thread, places: Places, here: CodePlace, alone: Thread | None = None, *, over: bool
    ) -> None:
        super().__init__(thread, alone, over=over)
        self.places = places
        self.here = here

    def fits(self, thread: Thread) -> bool:
        """Return whether the thread is at the first instruction of another line."""
        if not super().fits(thread):
            return False
        place = self.places.of(thread.frame.code.kernel).place(thread.frame.pc)
        if self.here.source is None:
            return True
        return place.source is not None and (place.source != self.here.source or depth_of(thread) != self.depth)


class ToBarrier(Goal):
    """A goal: a barrier of a thread."""

    reason = "barrier"

    def fits(self, thread: Thread) -> bool:
        """Return whether the thread is at a barrier of any kind."""
        return stands(thread) and thread.frame.code.kernel.instructions[thread.frame.pc].row.has(Trait.BARRIER)


class AtInstruction(Goal):
    """A goal: an instruction of a thread."""

    def __init__(self, body: str, pc: int) -> None:
        super().__init__()
        self.body = body
        self.pc = pc

    def fits(self, thread: Thread) -> bool:
        """Return whether the thread is at that instruction, in any activation."""
        return thread.frame.pc == self.pc and thread.frame.code.kernel.name == self.body
