"""The client's lists of breakpoints of all kinds, and the debugger's breakpoints made from them.

The debugger's breakpoints are rebuilt from the lists whenever a list or the program changes.
Invariant: a breakpoint keeps its number and its hits as long as its list has an equal one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.dap.convert import find_listing, line_in, line_out, source_in, source_of
from visa_lsp.dap.data_breakpoints import subject
from visa_lsp.dap.request_arguments import RequestError, tables, text, texts, whole
from visa_lsp.debug.breakpoints import Breakpoint, Terms, Wish
from visa_lsp.debug.cells import DebugError
from visa_lsp.debug.stops import FILTERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.dap.session import DebugSession
    from visa_lsp.debug.breakpoints import Watch

    Body = dict[str, Any]

_PENDING: Final = "no program is launched yet"


@dataclass(slots=True)
class _Entry:
    """A breakpoint of a client's list."""

    number: int
    said: Body
    point: Breakpoint | Watch | None = None
    message: str = _PENDING


class Points:
    """All lists of the client: by the path or listing of lines, and by kind."""

    def __init__(self) -> None:
        self.lists: dict[tuple[str, str | int], list[_Entry]] = {}
        self.data: dict[str, Any] = {}  # places of data ids
        self._next = 1

    def replace(self, session: DebugSession, key: tuple[str, str | int], said: list[Body]) -> list[Body]:
        """Replace a list; return the protocol's breakpoints for it."""
        old = self.lists.pop(key, [])
        entries = []
        for item in said:
            kept = next((entry for entry in old if entry.said == item), None)
            if kept is not None:
                old.remove(kept)
                entries.append(kept)
            else:
                entries.append(_Entry(self._next, item))
                self._next += 1
        if entries:
            self.lists[key] = entries
        self.rebuild(session, told=key)
        return [self.encode_breakpoint(session, entry) for entry in entries]

    def rebuild(self, session: DebugSession, told: tuple[str, str | int] | None = None) -> None:
        """Rebuild the debugger's breakpoints from the lists, and send all changes except ``told``, which are in the answer."""
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
                    entry.point, entry.message = _MAKERS[key[0]](session, key[1], entry), ""
                except (DebugError, RequestError) as error:
                    entry.point, entry.message = None, str(error)
                terms = None if entry.point is None else entry.point.terms
                if terms is not None and old is not None and old.terms is not None:
                    terms.count = old.terms.count
                now = self.encode_breakpoint(session, entry)
                if key != told and now != before:
                    session.writer.event("breakpoint", {"reason": "changed", "breakpoint": now})
        debugger.apply()

    def encode_breakpoint(self, session: DebugSession, entry: _Entry) -> Body:
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
                body["source"] = source_of(session, where)
            body["line"] = line_out(session, point.line if point.line >= 0 else where.place(pc).line)
            body["instructionReference"] = hex(session.debugger.places.address(where, pc))
        return body


def _wish(said: Body) -> Wish:
    return Wish(text(said, "condition", ""), text(said, "hitCondition", ""), text(said, "logMessage", ""))


def _line(session: DebugSession, key: str | int, entry: _Entry) -> Breakpoint:
    debugger = session.debugger
    line = line_in(session, whole(entry.said, "line"))
    if isinstance(key, int):
        line, places = debugger.places.at_listing(find_listing(session, key).name, line)
    else:
        line, places = debugger.places.at_line(key, line)
    return debugger.add("breakpoint", places, _wish(entry.said), line, entry.number)


def _function(session: DebugSession, key: str | int, entry: _Entry) -> Breakpoint:
    del key
    debugger, name = session.debugger, text(entry.said, "name")
    places = debugger.places.start_of(name)
    point = debugger.add("function", places, _wish(entry.said), number=entry.number)
    if not places:
        point.message = f"unknown function '{name[:80]}'; known functions: {', '.join(debugger.places.names()[:20])}"
    return point


def _instruction(session: DebugSession, key: str | int, entry: _Entry) -> Breakpoint:
    del key
    debugger = session.debugger
    found = debugger.places.at_address(address(entry.said, "instructionReference") + whole(entry.said, "offset", 0))
    if found is None or not 0 <= found[1] < len(found[0].line_of):
        raise RequestError("no instruction at this address")
    return debugger.add("instruction", [found], _wish(entry.said), number=entry.number)


def _watch(session: DebugSession, key: str | int, entry: _Entry) -> Watch:
    del key
    found = subject(session, text(entry.said, "dataId"))
    access = text(entry.said, "accessType", "write")
    return session.debugger.watch(found.cells, found.around, access, _wish(entry.said), found.size, entry.number)


def address(args: Body, name: str) -> int:
    """Return an instruction's address. Raises RequestError for a malformed one."""
    word = text(args, name)
    try:
        return int(word, 0)
    except ValueError:
        raise RequestError(f"'{word[:80]}' is not an address") from None


_MAKERS: Final[dict[str, Callable[[DebugSession, str | int, _Entry], Breakpoint | Watch]]] = {
    "line": _line,
    "function": _function,
    "instruction": _instruction,
    "data": _watch,
}


# ---- requests


def set_breakpoints(session: DebugSession, args: Body) -> Body:
    """Set breakpoints on the lines of a text, of a source that texts name, or of a listing."""
    path, number = source_in(session, args)
    said = tables(args, "breakpoints")
    if not said and isinstance(args.get("lines"), list):
        said = [{"line": line} for line in args["lines"]]
    for item in said:
        whole(item, "line")
    return {"breakpoints": session.points.replace(session, ("line", number or path), said)}


def set_function_breakpoints(session: DebugSession, args: Body) -> Body:
    """Set breakpoints on kernels, functions and subroutines by name."""
    return {"breakpoints": session.points.replace(session, ("function", ""), tables(args, "breakpoints"))}


def set_instruction_breakpoints(session: DebugSession, args: Body) -> Body:
    """Set breakpoints on instructions by address."""
    return {"breakpoints": session.points.replace(session, ("instruction", ""), tables(args, "breakpoints"))}


def set_data_breakpoints(session: DebugSession, args: Body) -> Body:
    """Set data breakpoints."""
    return {"breakpoints": session.points.replace(session, ("data", ""), tables(args, "breakpoints"))}


def set_exception_breakpoints(session: DebugSession, args: Body) -> Body:
    """Set the kinds of faults that stop the run, each with an optional condition."""
    wanted = dict.fromkeys(texts(args, "filters"), "")
    for option in tables(args, "filterOptions"):
        wanted[text(option, "filterId")] = text(option, "condition", "")
    shown = []
    session.points.lists.pop(("exception", ""), None)
    filters: dict[str, Terms | None] = {}
    for name, condition in wanted.items():
        if name not in FILTERS:
            shown.append(
                {"verified": False, "message": f"'{name[:80]}' is not a filter; known filters: {', '.join(FILTERS)}"}
            )
            continue
        try:
            filters[name] = Terms(Wish(condition)) if condition else None
            shown.append({"verified": True})
        except DebugError as error:
            shown.append({"verified": False, "message": str(error)})
    session.filters = filters
    put_filters(session)
    return {"breakpoints": shown}


def put_filters(session: DebugSession) -> None:
    """Give the debugger the client's kinds of faults."""
    if session.launched is not None and not session.runs_through:
        session.debugger.filters = set(session.filters)
        session.debugger.conditions = {name: terms for name, terms in session.filters.items() if terms is not None}


def breakpoint_locations(session: DebugSession, args: Body) -> Body:
    """Return the lines of a range that have instructions."""
    path, number = source_in(session, args)
    first = line_in(session, whole(args, "line"))
    last = line_in(session, whole(args, "endLine", whole(args, "line")))
    places = session.debugger.places
    if number:
        body = find_listing(session, number)
        lines = [line for line in range(len(body.line_of)) if body.is_instruction(line)]
    else:
        lines = places.lines(path)
    return {"breakpoints": [{"line": line_out(session, line)} for line in lines if first <= line <= last]}


HANDLERS: Final = {
    "setBreakpoints": set_breakpoints, "setFunctionBreakpoints": set_function_breakpoints,
    "setInstructionBreakpoints": set_instruction_breakpoints, "setDataBreakpoints": set_data_breakpoints,
    "setExceptionBreakpoints": set_exception_breakpoints, "breakpointLocations": breakpoint_locations,
}  # fmt: skip
