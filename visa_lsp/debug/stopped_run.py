"""The state of a stopped run: its threads, their places, stacks and cells.

Knows no stops and no movement. Invariant: nothing here changes the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.debug.cells import DebugError, FrameCells
from visa_lsp.debug.places import CodePlace, Places
from visa_lsp.debug.stepper import Stepper
from visa_lsp.debug.stops import Activation, Launch
from visa_lsp.debug.trapped_machine import TrappedMachine

if TYPE_CHECKING:
    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.registers import Frame


class StoppedRun:
    """A launch; a new one is before its first instruction."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.places = Places(launch.dispatch, launch.texts)
        self.machine = TrappedMachine(launch.dispatch, launch.observers())
        self.stepper = Stepper(self.machine)
        self._looked: dict[int, FrameCells] = {}  # cells by id of the frame; conditions read them repeatedly
        self._before: dict[int, bytes] = {}  # registers at the last stop, by id of the frame

    @property
    def time(self) -> int:
        """The number of instructions that all threads have executed."""
        return self.stepper.time

    @property
    def threads(self) -> list[Thread]:
        """The threads of the running group that have not ended."""
        return list(self.stepper.live)

    def number(self, thread: Thread) -> int:
        """Return a thread's number, unique in the launch, from 1."""
        dispatch = self.launch.dispatch
        x, y, z = thread.group.id
        gx, gy, _ = dispatch.groups
        return ((z * gy + y) * gx + x) * dispatch.threads_per_group + thread.number + 1

    def thread(self, number: int) -> Thread:
        """Return the thread of a number. Raises DebugError for a thread that is not running."""
        thread = next((thread for thread in self.stepper.live if self.number(thread) == number), None)
        if thread is None:
            raise DebugError(f"thread {number} is not running: it has ended, or its group has not begun")
        return thread

    def title(self, thread: Thread) -> str:
        """Return group, thread and work items in words."""
        group = ",".join(map(str, thread.group.id))
        items = thread.work_items(None)
        words = f"group {group} thread {thread.number}"
        if not items:
            return words
        first_id, last_id = (",".join(map(str, item.global_id)) for item in (items[0], items[-1]))
        return f"{words}: items {first_id} to {last_id}" if len(items) > 1 else f"{words}: item {first_id}"

    def place(self, thread: Thread) -> CodePlace:
        """Return the instruction that a thread executes next, or at which it waits."""
        body = self.places.of(thread.frame.code.kernel)
        pc = self.stepper.place(thread)
        return body.place(pc)

    def stack(self, thread: Thread) -> list[Activation]:
        """Return the call stack of a thread, innermost first: subroutines and functions, then the kernel."""
        activations: list[Activation] = []
        pc = self.stepper.place(thread)
        for frame in (thread.frame, *reversed(thread.frames)):
            body = self.places.of(frame.code.kernel)
            if frame is not thread.frame:
                pc = frame.pc - 1
            for back, *_, start in reversed(frame.calls):
                activations.append(
                    Activation(body.format_instruction(start).strip().rstrip(":"), body.place(pc), frame, thread)
                )
                pc = back - 1
            activations.append(Activation(body.name, body.place(pc), frame, thread))
        return activations

    def cells(self, activation: Activation) -> FrameCells:
        """Return the cells that an activation sees."""
        return self.cells_of(activation.thread, activation.frame)

    def cells_of(self, thread: Thread, frame: Frame) -> FrameCells:
        """Return the cells of a frame of a thread."""
        cells = self._looked.get(id(frame))
        if cells is None or cells.frame is not frame or cells.thread is not thread:
            cells = FrameCells(thread, frame, self.places.of(frame.code.kernel), self.launch.arguments)
            self._looked[id(frame)] = cells
        return cells

    def before(self, frame: Frame) -> bytes:
        """Return an activation's registers at the previous stop; empty for a new activation."""
        return self._before.get(id(frame), b"")

    def remember(self) -> None:
        """Store the registers, for ``before``."""
        self._before = {
            id(frame): frame.regs.tobytes() for thread in self.stepper.live for frame in (thread.frame, *thread.frames)
        }

    def depth(self, activation: Activation) -> int:
        """Return the number of calls inside of an activation."""
        frames = [activation.thread.frame, *reversed(activation.thread.frames)]
        return next((n for n, frame in enumerate(frames) if frame is activation.frame), 0)

    def activation(self, thread: Thread, depth: int) -> Activation:
        """Return the innermost activation of that depth. Raises DebugError if there is none."""
        activation = next((activation for activation in self.stack(thread) if self.depth(activation) == depth), None)
        if activation is None:
            raise DebugError("the activation has ended")
        return activation
