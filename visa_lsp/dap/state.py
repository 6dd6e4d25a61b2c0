"""The state that the requests of a debug session share: the run, references, breakpoints, and the client's conventions.

Knows no request; the session handles them. The only place that knows whether a client counts from 0 or from 1.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from urllib.parse import unquote, urlsplit

from visa_lsp.dap.request_arguments import RequestError, table, text, whole
from visa_lsp.dap.wire import MessageWriter
from visa_lsp.debug.breakpoints import Breakpoint
from visa_lsp.debug.cells import Cells, DebugError
from visa_lsp.debug.goals import key_of
from visa_lsp.debug.lane_expressions import read
from visa_lsp.debug.scopes import Row, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from visa_lsp.debug.breakpoints import Terms, ThreadKey, Watch
    from visa_lsp.debug.debugger import Debugger
    from visa_lsp.debug.places import BodyText
    from visa_lsp.debug.stepper import Thread
    from visa_lsp.debug.stops import Activation, RunStop

    Body = dict[str, Any]
    Held = tuple[Activation, str] | tuple[Activation, Row]  # a scope by its name, or a row
    Open = Callable[[Body, Callable[[str], None]], "Launched"]
    Maker = Callable[["DebugState", str | int, "Entry"], Breakpoint | Watch]

_PENDING: Final = "no program is launched yet"


class LaunchRefused(Exception):  # noqa: N818 - the user's mistake
    """A launch that failed; ``status`` is the exit status of ``visa-lsp run`` for it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Launched:
    """A run before its first instruction.

    ``notes`` are shown to the user; ``printed`` returns the kernel's output so far. Once the run is over, ``finish``
    returns the exit status of ``visa-lsp run`` and the lines of its report. ``wrong`` returns the argument and flat
    index of the first wrong element, with a sentence about it; None if there is none. ``explain`` returns the lines of
    ``visa-lsp why`` for elements that an activation sees.
    """

    debugger: Debugger
    notes: tuple[str, ...]
    focus: ThreadKey | None
    printed: Callable[[], str]
    finish: Callable[[], tuple[int, list[str]]]
    wrong: Callable[[], tuple[int | str, int, str] | None]
    explain: Callable[[Activation, Cells], list[str]]


class DebugState:
    """The state of a session. ``launched`` is None until something is launched; ``then`` is the next movement of the run."""

    def __init__(self, target: BinaryIO, makers: Mapping[str, Maker]) -> None:
        self.writer = MessageWriter(target)
        self.launched: Launched | None = None
        self.launch_arguments: Body = {}
        self.points = Points(makers)
        self.view = View()
        self.first_line = self.first_column = 1
        self.uris = False  # whether paths are URIs
        self.initialized = self.configured = self.started = False
        self.over = False  # the session ends
        self.running = False
        self.filters: dict[str, Terms | None] = {}  # the kinds of faults to stop at, each with an optional condition
        self.stop: RunStop | None = None
        self.then: Callable[[], RunStop] | None = None
        self.pausing = False

    @property
    def debugger(self) -> Debugger:
        """The run. Raises RequestError before a launch."""
        if self.launched is None:
            raise RequestError("no program is launched yet")
        return self.launched.debugger

    @property
    def runs_through(self) -> bool:
        """True if the client requested a run without stops (``noDebug``)."""
        return self.launch_arguments.get("noDebug") is True

    def open(self, arguments: Body) -> None:
        """Prepare the run of a launch request. On failure ends the session and raises RequestError."""
        raise NotImplementedError

    def poll(self) -> bool:
        """Handle requests that arrived while the kernel runs; return True to stop it, for a pause or another movement."""
        raise NotImplementedError

    def go(self, run: Callable[[], RunStop]) -> dict[str, Any] | None:
        """Run the kernel once the request is answered. Raises RequestError when it cannot run."""
        if not self.started:
            raise RequestError("nothing has been started yet")
        if self.stop is not None and self.stop.reason in ("end", "terminated"):
            raise RequestError("the run is over")
        self.then = run
        return {"allThreadsContinued": True}

    def pause(self) -> None:
        """Stop the run soon."""
        self.pausing = True

    def say(self, words: str, category: str = "console") -> None:
        """Print a line in the console."""
        self.writer.event("output", {"category": category, "output": f"{words}\n"})

    # ---- the client's conventions

    def source_of(self, body: BodyText) -> Body:
        """Return the source of a body: its file, or a reference to its listing."""
        if body.path:
            return {"name": os.path.basename(body.path), "path": self.path_out(body.path)}  # noqa: PTH119
        return {"name": f"{body.name} (listing)", "sourceReference": body.number + 1, "presentationHint": "normal"}

    def path_out(self, path: str) -> str:
        """Return a path for the client."""
        return Path(path).as_uri() if self.uris and os.path.isabs(path) else path  # noqa: PTH117

    def path_in(self, path: str) -> str:
        """Return a path from the client."""
        if self.uris or path.startswith("file://"):
            return unquote(urlsplit(path).path) if path.startswith("file:") else path
        return path

    def source_in(self, args: Body) -> tuple[str, int]:
        """Return path and listing number of a request's ``source``, one of them empty. Raises RequestError without either."""
        source = table(args, "source")
        number = whole(source, "sourceReference", 0)
        if number > 0:
            return "", number
        path = text(source, "path", "")
        if not path:
            raise RequestError("'source' has no path and no sourceReference")
        return self.path_in(path), 0

    def find_listing(self, number: int) -> BodyText:
        """Return the body of a listing's reference. Raises RequestError for an unknown one."""
        body = next((b for b in self.debugger.places.bodies.values() if b.number + 1 == number and not b.path), None)
        if body is None:
            raise RequestError(f"unknown source {number}")
        return body

    def line_out(self, line: int) -> int:
        """Return a line for the client."""
        return line + self.first_line

    def line_in(self, line: int) -> int:
        """Return a line from the client, counted from 0."""
        return line - self.first_line


class View:
    """The references of one stop."""

    def __init__(self) -> None:
        # By number: thread, place in the stack, and whether it is a frame of the source.
        self.frames: list[tuple[ThreadKey, int, bool]] = []
        self.references: list[Held] = []
        self.targets: dict[int, int] = {}  # of goto

    def clear(self) -> None:
        """Invalidate all references, because the run continues."""
        self.frames.clear()
        self.references.clear()
        self.targets.clear()

    def frame(self, thread: Thread, depth: int, *, source: bool = False) -> int:
        """Return the frame number of an activation; the frame of its source has another number."""
        key = (key_of(thread), depth, source)
        if key not in self.frames:
            self.frames.append(key)
        return self.frames.index(key) + 1

    def activation(self, session: DebugState, args: Body) -> Activation:
        """Return the activation of a request's ``frameId``, else the innermost of its ``threadId`` or of the thread that stopped.

        Raises RequestError for an unknown frame, or when no thread is left.
        """
        debugger = session.debugger
        number = whole(args, "frameId", 0)
        if number:
            if not 0 < number <= len(self.frames):
                raise RequestError(f"unknown frame {number}: references end when the run continues")
            key, depth, _ = self.frames[number - 1]
            thread = next((t for t in debugger.threads if key_of(t) == key), None)
            stack = [] if thread is None else debugger.stack(thread)
            if depth >= len(stack):
                raise RequestError(f"unknown frame {number}: references end when the run continues")
            return stack[depth]
        if whole(args, "threadId", 0):
            return debugger.stack(debugger.thread(whole(args, "threadId")))[0]
        stopped = None if session.stop is None else session.stop.thread
        live = debugger.threads
        if not live:
            raise RequestError("no thread is running any more")
        return debugger.stack(stopped if stopped in live and stopped is not None else live[0])[0]

    def hold(self, activation: Activation, what: str | Row) -> int:
        """Return a reference for a scope or row."""
        self.references.append((activation, what))  # type: ignore[arg-type]
        return len(self.references)

    def find(self, number: int) -> Held:
        """Return the scope or row of a reference. Raises RequestError for an unknown one."""
        if not 0 < number <= len(self.references):
            raise RequestError(f"unknown variables reference {number}: references end when the run continues")
        return self.references[number - 1]

    def expression(self, debugger: Debugger, number: int, name: str) -> str:
        """Return the expression of an entry of a scope or row. Raises RequestError if it has none."""
        activation, what = self.find(number)
        if isinstance(what, Row) and re.fullmatch(r"\[\d{1,9}\]", name):
            words = what.expression and f"{what.expression}{name}"
        else:
            title, rows = (
                (what.name, what.rows) if isinstance(what, Row) else (what, rows_of(debugger, activation, what))
            )
            row = next((row for row in rows if row.name == name), None)
            if row is None:
                raise RequestError(f"{title} has no '{name[:80]}'")
            words = row.expression
        if not words:
            raise RequestError(f"{name[:80]} cannot be written or watched")
        return words

    def cells(self, debugger: Debugger, activation: Activation, expression: str) -> Cells:
        """Return the elements that an expression names. Raises RequestError for one that is computed."""
        expression_read = read(expression)
        if expression_read.cells is None:
            raise RequestError(f"'{expression[:80]}' is computed: only values in registers or memory have a place")
        return expression_read.cells(debugger.cells(activation))


@dataclass(slots=True)
class Entry:
    """A breakpoint of a client's list."""

    number: int
    said: Body
    point: Breakpoint | Watch | None = None
    message: str = _PENDING


class Points:
    """All lists of the client: by the path or listing of lines, and by kind."""

    def __init__(self, makers: Mapping[str, Maker]) -> None:
        self._makers = makers
        self.lists: dict[tuple[str, str | int], list[Entry]] = {}
        self.data: dict[str, Any] = {}  # places of data ids
        self._next = 1

    def replace(self, session: DebugState, key: tuple[str, str | int], said: list[Body]) -> list[Body]:
        """Replace a list; return the protocol's breakpoints for it."""
        old = self.lists.pop(key, [])
        entries = []
        for item in said:
            kept = next((entry for entry in old if entry.said == item), None)
            if kept is not None:
                old.remove(kept)
                entries.append(kept)
            else:
                entries.append(Entry(self._next, item))
                self._next += 1
        if entries:
            self.lists[key] = entries
        self.rebuild(session, answered=key)
        return [self.encode_breakpoint(session, entry) for entry in entries]

    def rebuild(self, session: DebugState, answered: tuple[str, str | int] | None = None) -> None:
        """Rebuild the debugger's breakpoints from the lists, and send all changes except ``answered``, which are in the answer."""
        if session.launched is None or session.runs_through:
            return
        debugger = session.debugger
        debugger.breakpoints.clear()
        debugger.watches.clear()
        for key, entries in self.lists.items():
            for entry in entries:
                before = self.encode_breakpoint(session, entry)
                old = entry.point
                try:
                    entry.point, entry.message = self._makers[key[0]](session, key[1], entry), ""
                except (DebugError, RequestError) as error:
                    entry.point, entry.message = None, str(error)
                terms = None if entry.point is None else entry.point.terms
                if terms is not None and old is not None and old.terms is not None:
                    terms.count = old.terms.count
                now = self.encode_breakpoint(session, entry)
                if key != answered and now != before:
                    session.writer.event("breakpoint", {"reason": "changed", "breakpoint": now})
        debugger.apply()

    def encode_breakpoint(self, session: DebugState, entry: Entry) -> Body:
        """Return a breakpoint in the protocol's form."""
        point = entry.point
        body: Body = {"id": entry.number, "verified": point is not None and point.verified}
        message = entry.message if point is None else point.message
        if message:
            body["message"] = message
            body["reason"] = "pending" if message == _PENDING else "failed"
        if isinstance(point, Breakpoint) and point.places:
            where, pc = point.places[0]
            if where.path:  # VS Code does not match a source without a path, so return the request's own
                body["source"] = session.source_of(where)
            body["line"] = session.line_out(point.line if point.line >= 0 else where.place(pc).line)
            body["instructionReference"] = hex(session.debugger.places.address(where, pc))
        return body
