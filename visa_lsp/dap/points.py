"""The client's lists of breakpoints of all kinds, and the debugger's breakpoints made from them.

The debugger's breakpoints are rebuilt from the lists whenever a list or the program changes.
Invariant: a breakpoint keeps its number and its hits as long as its list has an equal one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from visa_lsp.dap.data_breakpoints import subject
from visa_lsp.dap.request_arguments import RequestError, tables, text, texts, whole
from visa_lsp.debug.breakpoints import Breakpoint, Terms, Wish
from visa_lsp.debug.cells import DebugError
from visa_lsp.debug.stops import FILTERS

if TYPE_CHECKING:
    from visa_lsp.dap.state import DebugState, Entry, Maker
    from visa_lsp.debug.breakpoints import Watch

    Body = dict[str, Any]


def _wish(said: Body) -> Wish:
    return Wish(text(said, "condition", ""), text(said, "hitCondition", ""), text(said, "logMessage", ""))


def _line(session: DebugState, key: str | int, entry: Entry) -> Breakpoint:
    debugger = session.debugger
    line = session.line_in(whole(entry.said, "line"))
    if isinstance(key, int):
        line, places = debugger.places.at_listing(session.find_listing(key).name, line)
    else:
        line, places = debugger.places.at_line(key, line)
    return debugger.add("breakpoint", places, _wish(entry.said), line, entry.number)


def _function(session: DebugState, key: str | int, entry: Entry) -> Breakpoint:
    del key
    debugger, name = session.debugger, text(entry.said, "name")
    places = debugger.places.start_of(name)
    point = debugger.add("function", places, _wish(entry.said), number=entry.number)
    if not places:
        point.message = f"unknown function '{name[:80]}'; known functions: {', '.join(debugger.places.names()[:20])}"
    return point


def _instruction(session: DebugState, key: str | int, entry: Entry) -> Breakpoint:
    del key
    debugger = session.debugger
    place = debugger.places.at_address(address(entry.said, "instructionReference") + whole(entry.said, "offset", 0))
    if place is None or not 0 <= place[1] < len(place[0].line_of):
        raise RequestError("no instruction at this address")
    return debugger.add("instruction", [place], _wish(entry.said), number=entry.number)


def _watch(session: DebugState, key: str | int, entry: Entry) -> Watch:
    del key
    place = subject(session, text(entry.said, "dataId"))
    access = text(entry.said, "accessType", "write")
    return session.debugger.watch(place.cells, place.around, access, _wish(entry.said), place.size, entry.number)


def address(args: Body, name: str) -> int:
    """Return an instruction's address. Raises RequestError for a malformed one."""
    word = text(args, name)
    try:
        return int(word, 0)
    except ValueError:
        raise RequestError(f"'{word[:80]}' is not an address") from None


MAKERS: Final[dict[str, Maker]] = {
    "line": _line,
    "function": _function,
    "instruction": _instruction,
    "data": _watch,
}


# ---- requests


def set_breakpoints(session: DebugState, args: Body) -> Body:
    """Set breakpoints on the lines of a text, of a source that texts name, or of a listing."""
    path, number = session.source_in(args)
    said = tables(args, "breakpoints")
    if not said and isinstance(args.get("lines"), list):
        said = [{"line": line} for line in args["lines"]]
    for item in said:
        whole(item, "line")
    return {"breakpoints": session.points.replace(session, ("line", number or path), said)}


def set_function_breakpoints(session: DebugState, args: Body) -> Body:
    """Set breakpoints on kernels, functions and subroutines by name."""
    return {"breakpoints": session.points.replace(session, ("function", ""), tables(args, "breakpoints"))}


def set_instruction_breakpoints(session: DebugState, args: Body) -> Body:
    """Set breakpoints on instructions by address."""
    return {"breakpoints": session.points.replace(session, ("instruction", ""), tables(args, "breakpoints"))}


def set_data_breakpoints(session: DebugState, args: Body) -> Body:
    """Set data breakpoints."""
    return {"breakpoints": session.points.replace(session, ("data", ""), tables(args, "breakpoints"))}


def set_exception_breakpoints(session: DebugState, args: Body) -> Body:
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


def put_filters(session: DebugState) -> None:
    """Give the debugger the client's kinds of faults."""
    if session.launched is not None and not session.runs_through:
        session.debugger.filters = set(session.filters)
        session.debugger.conditions = {name: terms for name, terms in session.filters.items() if terms is not None}


def breakpoint_locations(session: DebugState, args: Body) -> Body:
    """Return the lines of a range that have instructions."""
    path, number = session.source_in(args)
    first_line = session.line_in(whole(args, "line"))
    last = session.line_in(whole(args, "endLine", whole(args, "line")))
    places = session.debugger.places
    if number:
        body = session.find_listing(number)
        lines = [line for line in range(len(body.line_of)) if body.is_instruction(line)]
    else:
        lines = places.lines(path)
    return {"breakpoints": [{"line": session.line_out(line)} for line in lines if first_line <= line <= last]}


HANDLERS: Final = {
    "setBreakpoints": set_breakpoints,
    "setFunctionBreakpoints": set_function_breakpoints,
    "setInstructionBreakpoints": set_instruction_breakpoints,
    "setDataBreakpoints": set_data_breakpoints,
    "setExceptionBreakpoints": set_exception_breakpoints,
    "breakpointLocations": breakpoint_locations,
}
