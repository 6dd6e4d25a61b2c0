"""Breakpoints on instructions, and watches on registers and memory.

Both become tests that the machine runs only at the instructions or messages in question. Knows no history:
a search of the past runs the tests with ``counting`` off. Invariant: a test changes nothing but its own count.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.debug.cells import Cells, DebugError, FrameCells
from visa_lsp.debug.lane_expressions import Expression, read, truth
from visa_lsp.program.model import Address, Predicate, PredicateOperand
from visa_lsp.sim.memory import Buffer, Memory
from visa_lsp.sim.operands import Site, Touch

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.debug.places import BodyText
    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.observers.hooks import MemoryAccess
    from visa_lsp.sim.registers import Frame

    ThreadKey = tuple[tuple[int, int, int], int]  # group and number

_HITS: Final = re.compile(r"\s*(==|>=|<=|>|<|=|%)?\s*(\d{1,18})\s*\Z")
_COMPARE: Final[dict[str, Callable[[int, int], bool]]] = {
    "": operator.eq, "=": operator.eq, "==": operator.eq, ">=": operator.ge, "<=": operator.le, ">": operator.gt,
    "<": operator.lt, "%": lambda count, n: n > 0 and count % n == 0,
}  # fmt: skip
MAX_WATCHED_BYTES: Final = 1 << 16  # bytes of registers in one watch
_LOGGED: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Wish:
    """The conditions and messages of a breakpoint as typed by the user; empty if missing."""

    condition: str = ""
    hits: str = ""
    log: str = ""


class Terms:
    """The parsed form of a ``Wish``: decides whether reaching the place counts as a hit."""

    def __init__(self, wish: Wish) -> None:
        """Parse the texts of a wish. Raises DebugError for one that is malformed."""
        self.condition: Expression | None = read(wish.condition) if wish.condition.strip() else None
        self.log = wish.log
        self._parts = [read(part) for part in _LOGGED.findall(wish.log)]
        self._hits: Callable[[int], bool] | None = None
        self.count = 0
        if wish.hits.strip():
            match = _HITS.match(wish.hits)
            if match is None:
                raise DebugError(f"'{wish.hits}' is not a hit count; expected 3, >= 3, or % 3 for every third hit")
            compare, number = _COMPARE[match[1] or ""], int(match[2])
            self._hits = lambda count: compare(count, number)

    def check(self, frame_cells: FrameCells) -> None:
        """Raise DebugError where a condition or log message cannot be computed in a body."""
        for expression in (*([self.condition] if self.condition else []), *self._parts):
            truth_or_text(expression, frame_cells)

    def hold(self, frame_cells: FrameCells, *, counting: bool) -> bool:
        """Return whether the place counts this time."""
        if self.condition is not None and not self.condition.holds(frame_cells):
            return False
        if not counting:
            return True
        self.count += 1
        return self._hits is None or self._hits(self.count)

    def message(self, frame_cells: FrameCells, show: Callable[[Any, str], str]) -> str:
        """Return the log message with its expressions filled in."""
        parts = iter(self._parts)

        def fill(_found: re.Match[str]) -> str:
            part = next(parts)
            try:
                return show(part.get(frame_cells), part.style)
            except DebugError as error:
                return f"({error})"

        return _LOGGED.sub(fill, self.log)


def truth_or_text(expression: Expression, frame_cells: FrameCells) -> None:
    """Evaluate an expression to find its mistakes."""
    value = expression.get(frame_cells)
    if not isinstance(value, list | tuple):
        truth(value)


@dataclass(slots=True, eq=False)
class Breakpoint:
    """A breakpoint on instructions. ``line`` is its current line (from 0), or -1; ``message`` says why it is not verified."""

    id: int
    reason: str
    places: list[tuple[BodyText, int]] = field(default_factory=list)
    line: int = -1
    terms: Terms | None = None
    message: str = ""

    @property
    def verified(self) -> bool:
        """True if the run can stop there."""
        return bool(self.places) and self.terms is not None


ACCESSES: Final = ("read", "write", "readWrite", "change")


@dataclass(slots=True, eq=False)
class Watch:
    """A watch on ``size`` bytes at ``start`` of an owner: a buffer, ``slm``, or the registers of ``bodies`` in one thread.

    ``access`` is one of ``ACCESSES``; ``change`` stops the run after a writer that changes the bytes.
    ``content`` returns the watched bytes of an activation, to see whether they have changed; ``depth`` is the number of
    activations around the only one whose registers are watched, None for all.
    """

    id: int
    title: str
    access: str
    owner: Any
    start: int
    size: int
    content: Callable[[Frame], bytes]
    bodies: tuple[str, ...] = ()
    thread: ThreadKey | None = None
    depth: int | None = None
    terms: Terms | None = None
    message: str = ""

    @property
    def verified(self) -> bool:
        """True if the debugger accepted the watch."""
        return self.terms is not None

    @property
    def reads(self) -> bool:
        """True if a read triggers the watch."""
        return self.access in ("read", "readWrite")

    @property
    def writes(self) -> bool:
        """True if a write triggers the watch."""
        return self.access != "read"

    # ---- memory

    def is_touched(self, access: MemoryAccess) -> bool:
        """Return whether a message accesses the watched bytes in the watched way."""
        counts = (self.reads and access.kind != "write") or (self.writes and access.kind != "read")
        if not counts or access.space is None or (self.thread is not None and key_of(access) != self.thread):
            return False
        owner: Buffer = access.thread.group.slm if self.owner == "slm" else self.owner
        if isinstance(access.space, Memory):
            if not owner.address:
                return False
            start = owner.address + self.start
        else:
            start = _address(owner) - _address(access.space) + self.start
        return bool(((access.at < start + self.size) & (access.at + access.size > start)).any())

    # ---- registers

    def candidates(self, code: Code) -> dict[int, Callable[[Frame], bool]]:
        """Return the instructions of a body that may touch the watched registers, each with its test."""
        tests: dict[int, Callable[[Frame], bool]] = {}
        for pc, inst in enumerate(code.kernel.instructions):
            if self.owner == "grf":
                code.op(pc)  # because the registers of the operand are known at compile time
                touches = [t for t in code.touches.get(pc, []) if (self.writes if t.write else self.reads)]
                touches = [t for t in touches if t.indirect is not None or self._meets(t.places)]
                if touches:
                    tests[pc] = self._test(touches, Site(code, inst, pc))
            elif any(
                isinstance(value, (Predicate, PredicateOperand) if self.owner == "preds" else Address)
                and value.var == self.start
                for value in inst.values
            ):
                tests[pc] = self._in_thread
        return tests

    def _meets(self, places: np.ndarray[Any, np.dtype[Any]]) -> bool:
        return bool(((places >= self.start) & (places < self.start + self.size)).any())

    def _in_thread(self, f: Frame) -> bool:
        thread = f.thread
        if thread is None or (self.depth is not None and len(thread.frames) != self.depth):
            return False
        return self.thread is None or (thread.group.id, thread.number) == self.thread

    def _test(self, touches: list[Touch], site: Site) -> Callable[[Frame], bool]:
        enable = site.enable()

        def test(f: Frame) -> bool:
            if not self._in_thread(f):
                return False
            active = enable(f)
            for touch in touches:
                if touch.indirect is not None:
                    rows = touch.indirect(f)[:, None] + np.arange(touch.size)
                else:
                    rows = touch.places
                if len(rows) == touch.lanes > 1:
                    rows = rows[[lane for lane in range(touch.lanes) if active >> lane & 1]]
                elif not active:
                    continue
                if self._meets(rows):
                    return True
            return False

        return test


def key_of(access: MemoryAccess) -> ThreadKey:
    """Return the thread of a message."""
    return access.thread.group.id, access.thread.number


def _address(buffer: Buffer) -> int:
    """Return the range of a buffer's bytes in this process: buffers can be views of each other."""
    address: int = buffer.data.__array_interface__["data"][0]
    return address


def watch_range(cells: Cells, size: int = 0) -> tuple[Any, int, int]:
    """Return the owner, start and size of the bytes to watch: the elements, or ``size`` bytes from the first on.

    Raises DebugError for elements that cannot be watched.
    """
    if cells.where is None:
        raise DebugError(f"{cells.name} is computed, so nothing writes it")
    owner, start = cells.where
    if owner in ("preds", "addr"):
        return owner, start, cells.data.size
    room = owner.data.size - start if isinstance(owner, Buffer) else MAX_WATCHED_BYTES
    if size > room:
        raise DebugError(f"only {room} bytes follow {cells.name}, not {size}")
    return owner, start, size or cells.data.nbytes
