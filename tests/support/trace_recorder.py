"""A plain run kept instruction by instruction, and what the debugger shows held against it.

What a line of ``run --trace`` says is found again by the names that a user of the debugger would request. Where a variable
lies is taken from the machine that ran, not from the debugger.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.debug.cells import FrameCells, text_of
from visa_lsp.debug.goals import key_of
from visa_lsp.debug.lane_expressions import read as _read
from visa_lsp.debug.scopes import Row, rows_of
from visa_lsp.program.model import Address, General, Indirect, PredicateOperand
from visa_lsp.sim.observers.hooks import Observer
from visa_lsp.sim.observers.trace import Tracer
from visa_lsp.sim.operands import Site, Touch
from visa_lsp.sim.values import DTYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.debug.breakpoints import ThreadKey
    from visa_lsp.debug.debugger import Debugger
    from visa_lsp.debug.stops import Activation
    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.registers import Frame

read = functools.lru_cache(1 << 14)(_read)
_CUT = ", ...]"


@dataclass(frozen=True, slots=True)
class Done:
    """An instruction of a plain run: its thread, its place, the registers after it, and its line of the trace."""

    key: ThreadKey
    depth: int
    body: str
    pc: int
    left: bytes
    line: str

    @property
    def mask(self) -> int:
        """The lanes that were active."""
        return int(self.line.partition(": ")[0].rpartition(" ")[2], 16)

    @property
    def text(self) -> str:
        """The instruction."""
        return self.line.partition(": ")[2].partition("  // ")[0]

    @property
    def told(self) -> list[str]:
        """The values of the line, one for each operand that it shows."""
        _, found, values = self.line.rpartition("  // ")
        return [part.partition(" = ")[2] for part in values.split("; ")] if found else []


class Recorder(Observer):
    """Keeps the first ``most`` instructions of a plain run."""

    wants_instructions = True

    def __init__(self, most: int) -> None:
        self.most = most
        self.done: list[Done] = []
        self._tracer: Tracer | None = None
        self._line = ""

    def _take_line(self, line: str) -> None:
        self._line = line

    def before_instruction(self, thread: Thread, pc: int) -> None:
        """Keep how deep a thread is before an instruction."""
        if self._tracer is None:
            dispatch = thread.machine.dispatch
            everybody = [(group, n) for group in thread.machine.group_ids() for n in range(dispatch.threads_per_group)]
            self._tracer = Tracer(everybody, self._take_line, limit=self.most + 1)
        self._depth = len(thread.frames)
        self._tracer.before_instruction(thread, pc)

    def after_instruction(self, thread: Thread, frame: Frame, pc: int) -> None:
        """Keep what an instruction has left."""
        if self._tracer is None or len(self.done) >= self.most:
            return
        self._line = ""
        self._tracer.after_instruction(thread, frame, pc)
        if self._line:  # labels and marks have none
            body = frame.code.kernel.name
            self.done.append(Done(key_of(thread), self._depth, body, pc, registers(frame), self._line))


def registers(frame: Frame) -> bytes:
    """Return the digest of a thread's registers."""
    held = hashlib.blake2b(frame.regs.tobytes(), digest_size=16)
    held.update(frame.addr.tobytes())
    held.update(marshal.dumps((list(frame.preds), list(frame.surfaces)), 2))
    return held.digest()


def compare_done(cells: FrameCells, done: Done) -> int:
    """Assert that the debugger shows the traced values behind an instruction; return the number of operands."""
    told = done.told
    if not told:
        return 0
    inst = cells.code.kernel.instructions[done.pc]
    dst = inst.get("dst")
    if isinstance(dst, PredicateOperand):
        lanes = read(cells.names.predicate[dst.var]).get(cells).tolist()
        assert lanes == [int(told[0], 16) >> lane & 1 for lane in range(len(lanes))], done.line
        return 1
    if isinstance(dst, Address):
        assert str(read(f"{cells.names.address[dst.var]}[{dst.offset}]").get(cells)) == told[0], done.line
        return 1
    touches = [t for t in cells.code.touches.get(done.pc, []) if t.indirect is None]
    shown = [t for t in touches if t.write] or touches
    found = sum(_operand(cells, done, touch, part) for touch, part in zip(shown, told, strict=True))
    if isinstance(dst, General) and dst.var in cells.names.types and len(told) == 1:
        _region(cells, done, cells.names.general[dst.var], told[0])
    return found


def _operand(cells: FrameCells, done: Done, touch: Touch, told: str) -> bool:
    """Return an operand by the bytes of its variable; False for one that leaves it."""
    name = cells.names.general.get(touch.var)
    if name is None:
        return False
    held = read(f"{name}:ub").get(cells)
    places = touch.places - cells.code.layout.offset(touch.var)
    if places.min() < 0 or places.max() >= held.size:
        return False
    raw = np.ascontiguousarray(held[places])
    operand = cells.code.kernel.instructions[done.pc].get(touch.field) if touch.field else None
    if not touch.raw and isinstance(operand, General | Indirect):
        site = Site(cells.code, cells.code.kernel.instructions[done.pc], done.pc)
        texts = _numbers(raw.reshape(-1).view(DTYPE[site.operand_type(operand)]))
    else:
        size = next(s for s in (8, 4, 2, 1) if raw.shape[1] % s == 0)
        texts = [f"{word:#x}" for word in raw.view(f"<u{size}").reshape(-1).tolist()]
    words = told.removesuffix(", ...").split(", ")
    assert texts[: len(words)] == words, done.line
    return True


def _region(cells: FrameCells, done: Done, name: str, told: str) -> None:
    """Compare the traced values of a destination with the region that its line writes, if it writes a plain one."""
    written = re.search(rf"{re.escape(name)}\(\d+,\d+\)<\d+>", done.line)
    if written is not None:
        words = told.removesuffix(", ...").split(", ")
        texts = _numbers(read(written[0]).get(cells)[: len(words)])
        assert texts == words[: len(texts)], done.line


def _numbers(values: np.ndarray[Any, np.dtype[Any]]) -> list[str]:
    return [f"{v:.9g}" if isinstance(v, float) else str(v) for v in values.tolist()]


def assert_scopes(debugger: Debugger, at: Activation, before: bytes) -> int:
    """Assert that scopes show what expressions give, and what has changed since the registers were ``before``.

    Gives the number of rows. ``before`` is empty where the activation was not there.
    """
    cells, held, count = debugger.cells(at), at.frame.regs.tobytes(), 0
    layout = at.frame.code.layout
    for scope in ("Variables", "Predicates", "Addresses"):
        for row in _every(rows_of(debugger, at, scope)):
            found = read(row.expression).get(cells)
            text = text_of(found[0] if found.size == 1 and scope != "Predicates" else found)
            cut = row.value.endswith(_CUT) and text.startswith(row.value.removesuffix(_CUT))
            assert row.value == text or cut, (scope, row.name)
            count += 1
            if scope == "Variables":
                number = cells.body.ids[row.name][1]
                start = layout.offset(number)
                end = start + layout.byte_size(number)
                assert row.changed is (before != b"" and before[start:end] != held[start:end]), row.name
    return count


def _every(rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        yield row
        yield from _every(row.rows)
