"""Requests that inspect a stopped run: threads, stacks, scopes, variables, expressions, lanes, sources.

References are numbers, valid from a stop until the run continues. Invariant: inspecting changes nothing; only
``setVariable``, ``setExpression`` and an assignment in the console write.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.dap.raw import referrer
from visa_lsp.dap.request_arguments import RequestError, style_of, table, text, whole
from visa_lsp.debug.cells import text_of
from visa_lsp.debug.lane_expressions import number_of, read
from visa_lsp.debug.lane_table import lanes_table
from visa_lsp.debug.scopes import SCOPES, Row, elements, row_of, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.dap.state import DebugState
    from visa_lsp.debug.stops import Activation

    Body = dict[str, Any]

_ASSIGNMENT: Final = re.compile(r"([^=<>!]+)=(?!=)(.*)\Z", re.DOTALL)
_WHY: Final = re.compile(r"\s*why\s+(\S.*)\Z", re.DOTALL)
_WORD: Final = re.compile(r"[%\w$@?]*\Z")
_WORDS: Final = (
    "item",
    "local",
    "group",
    "thread",
    "lane",
    "emask",
    "any(",
    "all(",
    "sum(",
    "min(",
    "max(",
    "abs(",
    "count(",
    "slm",
)
_MAX_PAGE_ROWS: Final = 100_000


# ---- threads and stacks


def threads(session: DebugState, args: Body) -> Body:
    """Return the hardware threads of the running group that have not ended."""
    del args
    if session.launched is None:
        return {"threads": []}
    debugger = session.debugger
    return {"threads": [{"id": debugger.number(t), "name": debugger.title(t)} for t in debugger.threads]}


def stack_trace(session: DebugState, args: Body) -> Body:
    """Return a thread's stack, innermost first; the source that a text was compiled from has a separate frame."""
    debugger = session.debugger
    thread = debugger.thread(whole(args, "threadId"))
    frames = []
    for depth, activation in enumerate(debugger.stack(thread)):
        body = debugger.places.bodies[activation.place.body]
        number = session.view.frame(thread, depth)
        frame = {
            "id": number, "name": activation.name, "line": session.line_out(activation.place.line), "column": session.first_column,
            "source": session.source_of(body),
            "instructionPointerReference": hex(debugger.places.address(body, activation.place.pc)),
        }  # fmt: skip
        frames.append(frame)
        if activation.place.source is not None:
            path, line = activation.place.source
            name = path.replace("\\", "/").rpartition("/")[2]
            frames.append({
                **frame, "id": session.view.frame(thread, depth, source=True), "name": f"{activation.name} ({name})", "line": session.line_out(line),
                "source": {"name": name, "path": session.path_out(path)}, "presentationHint": "subtle",
            })  # fmt: skip
    start, levels = whole(args, "startFrame", 0, 0), whole(args, "levels", 0, 0)
    return {"stackFrames": frames[start : start + levels if levels else None], "totalFrames": len(frames)}


def scopes(session: DebugState, args: Body) -> Body:
    """Return the scopes of a frame."""
    whole(args, "frameId")
    activation = session.view.activation(session, args)
    hints = {"Variables": "locals", "Arguments": "arguments", "Predefined": "registers"}
    scopes_of_frame = []
    for name in SCOPES:
        scope: Body = {
            "name": name,
            "variablesReference": session.view.hold(activation, name),
            "expensive": name == "SLM",
        }
        if name in hints:
            scope["presentationHint"] = hints[name]
        scopes_of_frame.append(scope)
    return {"scopes": scopes_of_frame}


def variables(session: DebugState, args: Body) -> Body:
    """Return the entries of a scope or row that ``filter``, ``start`` and ``count`` select."""
    activation, what = session.view.find(whole(args, "variablesReference"))
    style = style_of(args)
    start, count = whole(args, "start", 0, 0), whole(args, "count", 0, 0)
    wanted = text(args, "filter", "")
    if isinstance(what, str):
        rows: Sequence[Row] = rows_of(session.debugger, activation, what, style) if wanted != "indexed" else []
        rows = rows[start : start + count if count else None]
    else:
        rows = what.rows if wanted != "indexed" else []
        if wanted == "named":
            rows = rows[start : start + count if count else None]
        else:
            most = min(count or _MAX_PAGE_ROWS, _MAX_PAGE_ROWS)
            rows = [*elements(what, start, most, style), *(rows if start == 0 else [])]
    refer = referrer(session.debugger, activation)
    return {"variables": [_variable(session, activation, row, refer) for row in rows]}


def _variable(
    session: DebugState, activation: Activation, row: Row, refer: Callable[[tuple[Any, int] | None], str]
) -> Body:
    body: Body = {"name": row.name, "value": row.value, "variablesReference": 0}
    if row.type:
        body["type"] = row.type
    if row.expression:
        body["evaluateName"] = row.expression
    if row.count or row.rows:
        body["variablesReference"] = session.view.hold(activation, row)
        if row.count:
            body["indexedVariables"] = row.count
        if row.rows:
            body["namedVariables"] = len(row.rows)
    if reference := refer(row.where):
        body["memoryReference"] = reference
    if row.changed:
        body["presentationHint"] = {"kind": "data", "attributes": ["changed"]}
    return body


# ---- expressions


def evaluate(session: DebugState, args: Body) -> Body:
    """Return the value of an expression; in the console also of an assignment, or the causes for ``why EXPRESSION``.

    Raises RequestError for a value that has no causes.
    """
    words = text(args, "expression")
    activation = session.view.activation(session, args)
    in_console = text(args, "context", "") == "repl"
    if in_console and (asked := _WHY.match(words)) and session.launched is not None:
        try:
            lines = session.launched.explain(activation, session.view.cells(session.debugger, activation, asked[1]))
        except UserError as error:
            raise RequestError(f"{asked[1][:80]}: {error}") from None
        return {"result": "\n".join(lines), "variablesReference": 0}
    assigned = _ASSIGNMENT.match(words) if in_console else None
    if assigned is not None:
        _assign(session, activation, read(assigned[1]).cells, assigned[1].strip(), assigned[2])
        words = assigned[1]
    return _evaluate_expression(session, activation, words, style_of(args))


def _evaluate_expression(session: DebugState, activation: Activation, words: str, style: str = "") -> Body:
    expression = read(words)
    around = session.debugger.cells(activation)
    style = expression.style or style
    if expression.cells is None:
        value = expression.get(around)
        return {"result": text_of(value, style), "type": _type_word(value), "variablesReference": 0}
    cells = expression.cells(around)
    row = row_of(words.strip(), cells, style)
    body: Body = {
        "result": text_of(cells.values(), style) if row.count else row.value,
        "type": row.type,
        "variablesReference": 0,
    }
    if row.count:
        body["variablesReference"] = session.view.hold(activation, row)
        body["indexedVariables"] = cells.data.size
    if reference := referrer(session.debugger, activation)(cells.where):
        body["memoryReference"] = reference
    return body


def _type_word(value: Any) -> str:
    if isinstance(value, list):
        return f"work items of {len(value)} lanes"
    if isinstance(value, tuple):
        return f"{len(value)} numbers"
    size = getattr(value, "size", 1)
    return f"{size} values" if size != 1 else "value"


def _assign(session: DebugState, activation: Activation, find: Any, name: str, words: str) -> None:
    """Write one value for each element. Raises RequestError for a wrong number of values, or a computed target."""
    if find is None:
        raise RequestError(f"'{name[:80]}' is computed and cannot be written")
    debugger = session.debugger
    around = debugger.cells(activation)
    cells = find(around)
    given = list(words.strip().removeprefix("[").removesuffix("]").split(",")) if "," in words else [words]
    values = [number_of(read(part).get(around), part) for part in given]
    if len(values) != cells.data.size:
        count = cells.data.size
        raise RequestError(
            f"{name} has {count} {'element' if count == 1 else 'elements'}, got {len(values)} values; {name}[0] names one of them"
        )
    for index, value in enumerate(values):
        debugger.store(activation, find(debugger.cells(activation)), index, value)


def set_variable(session: DebugState, args: Body) -> Body:
    """Write an entry of a scope or row. Raises RequestError for one that cannot be written."""
    number, name = whole(args, "variablesReference"), text(args, "name")
    activation, what = session.view.find(number)
    if what in ("Masks", "Surfaces"):
        raise RequestError(f"{what} cannot be written")
    words = session.view.expression(session.debugger, number, name)
    return _set(session, activation, words, args)


def set_expression(session: DebugState, args: Body) -> Body:
    """Write the elements that an expression names."""
    return _set(session, session.view.activation(session, args), text(args, "expression"), args)


def _set(session: DebugState, activation: Activation, words: str, args: Body) -> Body:
    _assign(session, activation, read(words).cells, words, text(args, "value"))
    evaluated = _evaluate_expression(session, activation, words, style_of(args))
    return {
        ("value" if key == "result" else key): value for key, value in evaluated.items() if key != "memoryReference"
    }


def completions(session: DebugState, args: Body) -> Body:
    """Return the names that begin with the word before the cursor."""
    line = text(args, "text")
    column = whole(args, "column") - session.first_column
    begun = _WORD.search(line[: max(0, column)])
    word = begun[0] if begun else ""
    activation = session.view.activation(session, args)
    around = session.debugger.cells(activation)
    arguments = [a.name or f"arg{key}" for key, a in around.arguments.items()]
    names = dict.fromkeys([*around.body.ids, *arguments, *_WORDS])
    matches = [name for name in names if name.lower().startswith(word.lower())]
    return {
        "targets": [
            {"label": name, "start": max(0, column) - len(word) + session.first_column * 0, "length": len(word)}
            for name in matches[:1000]
        ]
    }


# ---- the rest


def lanes(session: DebugState, args: Body) -> Body:
    """``visaLanes`` {frameId? | threadId?, expression?}: the variables of a stopped thread by lane, for a table.

    ``lanes``: the number of lanes; ``active``: a truth value for each; ``rows``: ``name``, ``type``, ``kind``
    (variable, predicate, address), ``values``, a text for each lane (fewer if a variable has fewer elements), and
    ``changed``, a truth value for each; ``at``: ``line`` and ``source``; ``region``: ``name`` and ``elements``
    (numbers) of the operand in ``expression``, if there is one; ``threads``: ``id``, ``name`` and ``line`` of all
    threads of the group.
    """
    debugger = session.debugger
    activation = session.view.activation(session, args)
    body = debugger.places.bodies[activation.place.body]
    table_body: Body = lanes_table(debugger, activation, style_of(args))
    table_body["at"] = {"line": session.line_out(activation.place.line), "source": session.source_of(body)}
    table_body["threads"] = [
        {"id": debugger.number(t), "name": debugger.title(t), "line": session.line_out(debugger.place(t).line)}
        for t in debugger.threads
    ]
    if words := text(args, "expression", ""):
        cells = session.view.cells(debugger, activation, words)
        name, indexes = words.strip().partition("(")[0].partition("[")[0], range(cells.data.size)
        elements_ = [int(n) for n in cells.note.split()] if cells.kind == "region" else list(indexes)
        table_body["region"] = {"name": name, "elements": elements_}
    return table_body


def source(session: DebugState, args: Body) -> Body:
    """Return the listing of a body of an object."""
    number = whole(args, "sourceReference", 0) or whole(table(args, "source"), "sourceReference", 0)
    return {"content": "\n".join(session.find_listing(number).lines) + "\n", "mimeType": "text/x-visa"}


def loaded_sources(session: DebugState, args: Body) -> Body:
    """Return the texts and listings of the program."""
    del args
    by_name: dict[str, Body] = {}
    for body in session.debugger.places.bodies.values():
        by_name.setdefault(body.path or body.name, session.source_of(body))
    return {"sources": list(by_name.values())}


def exception_info(session: DebugState, args: Body) -> Body:
    """Return the fault at which a thread has stopped. Raises RequestError if there is none."""
    whole(args, "threadId")
    stop = session.stop
    if stop is None or stop.fault is None:
        raise RequestError("the thread has not stopped at a fault")
    fault = stop.fault
    where = f"group {fault.group} thread {fault.thread}" + (f" lane {fault.lane}" if fault.lane is not None else "")
    return {
        "exceptionId": fault.kind.value,
        "description": str(fault),
        "breakMode": "always",
        "details": {"message": fault.message, "typeName": fault.kind.value, "fullTypeName": where},
    }


HANDLERS: Final = {
    "threads": threads,
    "stackTrace": stack_trace,
    "scopes": scopes,
    "variables": variables,
    "evaluate": evaluate,
    "setVariable": set_variable,
    "setExpression": set_expression,
    "completions": completions,
    "visaLanes": lanes,
    "source": source,
    "loadedSources": loaded_sources,
    "exceptionInfo": exception_info,
}
