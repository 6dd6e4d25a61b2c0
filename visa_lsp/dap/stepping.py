"""Requests that begin, end and move a run: initialize to disconnect, steps forward and back, goto, restart.

Each handler answers at once; the session moves the run. Invariant: every capability in ``initialize`` has a handler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from visa_lsp.dap.request_arguments import RequestError, flag, text, whole
from visa_lsp.debug.goals import Goal, SourceStepGoal, StepGoal, ToBarrier
from visa_lsp.debug.stops import FILTERS, RunStop

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.dap.state import DebugState
    from visa_lsp.debug.stepper import Thread

    Body = dict[str, Any]

_OFFERED: Final = (
    "supportsConfigurationDoneRequest", "supportsFunctionBreakpoints", "supportsConditionalBreakpoints",
    "supportsHitConditionalBreakpoints", "supportsEvaluateForHovers", "supportsStepBack", "supportsSetVariable",
    "supportsRestartRequest", "supportsGotoTargetsRequest", "supportsCompletionsRequest", "supportsValueFormattingOptions",
    "supportsExceptionInfoRequest", "supportsExceptionFilterOptions", "supportsDataBreakpoints", "supportsDataBreakpointBytes",
    "supportsReadMemoryRequest", "supportsWriteMemoryRequest", "supportsDisassembleRequest", "supportsCancelRequest",
    "supportsBreakpointLocationsRequest", "supportsSteppingGranularity", "supportsInstructionBreakpoints",
    "supportsSingleThreadExecutionRequests", "supportsTerminateRequest", "supportsLogPoints", "supportsSetExpression",
    "supportsLoadedSourcesRequest", "supportsClipboardContext", "supportsDelayedStackTraceLoading",
)  # fmt: skip
_FILTER_WORDS: Final = {
    "bounds": "Accesses outside of memory or registers",
    "uninitialised": "Reads of values never written",
    "races": "Data races",
    "barriers": "Barriers that some lanes or threads miss",
    "alignment": "Misaligned accesses",
    "division": "Divisions by zero",
    "access": "Accesses that an argument does not allow",
    "fatal": "Fatal faults: step budget, bad calls and operands",
}
_OFF: Final = frozenset({"division"})  # a note of the run, not a fault


def initialize(session: DebugState, args: Body) -> Body:
    """Return the capabilities, and store the client's conventions. Raises RequestError the second time."""
    if session.initialized:
        raise RequestError("'initialize' was sent already")
    session.first_line = int(args.get("linesStartAt1") is not False)
    session.first_column = int(args.get("columnsStartAt1") is not False)
    session.uris = args.get("pathFormat") == "uri"
    session.initialized = True
    filters = [
        {"filter": name, "label": _FILTER_WORDS[name], "default": name not in _OFF, "supportsCondition": True,
         "conditionDescription": "an expression such as item == (3,0,0)"}
        for name in FILTERS
    ]  # fmt: skip
    return {
        **dict.fromkeys(_OFFERED, True),
        "exceptionBreakpointFilters": filters,
        "completionTriggerCharacters": ["%", "_"],
    }


def launch(session: DebugState, args: Body) -> None:
    """Prepare the run of a program; it begins when the configuration is done. Raises RequestError if it cannot be prepared."""
    if session.launched is not None:
        raise RequestError("a program was launched already")
    flag(args, "stopOnEntry")
    flag(args, "stopAtWrongStore")
    session.open(args)


def attach(session: DebugState, args: Body) -> None:
    """Refuse the request: the debugger runs kernels in its own simulator. Raises RequestError always."""
    del session, args
    raise RequestError("attach is not offered: kernels run in the debugger's own simulator; use launch")


def configuration_done(session: DebugState, args: Body) -> None:
    """Begin the run: the client has sent its breakpoints."""
    del args
    session.configured = True


def choose_first_movement(session: DebugState) -> Callable[[], RunStop]:
    """Return the first movement: stop at the first instruction, at a wrong store, or continue from the start."""
    session.writer.event(
        "process",
        {"name": session.debugger.launch.dispatch.kernel.name, "startMethod": "launch", "isLocalProcess": True},
    )
    debugger = session.debugger
    if session.launch_arguments.get("stopAtWrongStore") and not session.runs_through:
        return lambda: _to_wrong_store(session)
    if session.launch_arguments.get("stopOnEntry") and not session.runs_through:
        return lambda: debugger.enter(session.poll)
    return lambda: debugger.go(Goal(), session.poll)


def _to_wrong_store(session: DebugState) -> RunStop:
    """Run to the end, then go back to the last store to the first wrong element."""
    debugger, launched = session.debugger, session.launched
    thread = debugger.enter(session.poll).thread
    assert launched is not None
    around = debugger.cells_of(thread, thread.frame) if thread is not None else None
    end = debugger.go_to_end(session.poll)
    wrong = launched.wrong() if end.reason == "end" else None
    if wrong is None or around is None:
        return end
    arg, index, words = wrong
    session.say(words, "important")
    return debugger.back_to_writer(around.argument(arg).element(index), around, session.poll)


def restart(session: DebugState, args: Body) -> None:
    """Begin again with the program reread from disk; breakpoints stay. Raises RequestError without a program."""
    given = args.get("arguments")
    old = session.launched
    if old is None:
        raise RequestError("no program is launched yet")
    arguments = {**session.launch_arguments, **(given if isinstance(given, dict) else {})}
    session.open(arguments)
    session.started = False


def disconnect(session: DebugState, args: Body) -> None:
    """End the session and the process."""
    del args
    session.over = True


def terminate(session: DebugState, args: Body) -> None:
    """End the run; the session stays until the client disconnects."""
    del args
    session.then = lambda: RunStop("terminated", None)


def cancel(session: DebugState, args: Body) -> None:
    """Answer only: the reader has noted the cancellation, and a request in progress is finished."""
    del session, args


def pause(session: DebugState, args: Body) -> None:
    """Stop the run soon. Raises RequestError when it is not running."""
    whole(args, "threadId", 0)
    if not session.running:
        raise RequestError("the kernel is not running")
    session.pause()


def _thread(session: DebugState, args: Body) -> Thread:
    return session.debugger.thread(whole(args, "threadId"))


def _alone(args: Body, thread: Thread) -> Thread | None:
    return thread if flag(args, "singleThread") else None


def continue_(session: DebugState, args: Body) -> Body | None:
    """Continue until something stops the run."""
    number = whole(args, "threadId", 0)
    debugger = session.debugger
    alone = _alone(args, debugger.thread(number)) if flag(args, "singleThread") else None
    body = session.go(lambda: debugger.go(Goal(alone=alone), session.poll))
    return None if body is None else {"allThreadsContinued": alone is None}


def _step(session: DebugState, args: Body, *, over: bool = False, out: bool = False) -> None:
    debugger = session.debugger
    thread = _thread(session, args)
    alone = _alone(args, thread)
    goal: Goal
    if text(args, "granularity", "statement") == "line" and not out:
        goal = SourceStepGoal(thread, debugger.places, debugger.place(thread), alone, over=over)
    else:
        goal = StepGoal(thread, alone, over=over, out=out)
    session.go(lambda: debugger.go(goal, session.poll))


def next_(session: DebugState, args: Body) -> None:
    """Step one line, over calls."""
    _step(session, args, over=True)


def step_in(session: DebugState, args: Body) -> None:
    """Step one instruction, into calls."""
    _step(session, args)


def step_out(session: DebugState, args: Body) -> None:
    """Run until the subroutine or function has returned."""
    _step(session, args, out=True)


def step_back(session: DebugState, args: Body) -> None:
    """Step back to the previous instruction of the thread."""
    debugger, thread = session.debugger, _thread(session, args)
    session.go(lambda: debugger.back(StepGoal(thread, over=True, breaks=False), session.poll))


def reverse_continue(session: DebugState, args: Body) -> None:
    """Go back to the last breakpoint, data breakpoint or fault, else to the start."""
    whole(args, "threadId", 0)
    debugger = session.debugger
    session.go(lambda: debugger.back(Goal(), session.poll))


def run_alone(session: DebugState, args: Body) -> None:
    """``visaRunAlone`` {threadId}: let only this thread run, until it ends, waits for others or stops."""
    debugger, thread = session.debugger, _thread(session, args)
    session.go(lambda: debugger.go(Goal(thread, alone=thread), session.poll))


def run_to_barrier(session: DebugState, args: Body) -> None:
    """``visaRunToBarrier`` {threadId, singleThread?}: go on until the thread is about to execute a barrier."""
    debugger, thread = session.debugger, _thread(session, args)
    session.go(lambda: debugger.go(ToBarrier(thread, _alone(args, thread)), session.poll))


def last_write(session: DebugState, args: Body) -> None:
    """``visaLastWrite`` {frameId?, expression}: go back to the instruction that last wrote an element or variable."""
    debugger = session.debugger
    activation = session.view.activation(session, args)
    cells = session.view.cells(debugger, activation, text(args, "expression"))
    around = debugger.cells(activation)
    session.go(lambda: debugger.back_to_writer(cells, around, session.poll))


# ---- goto


def goto_targets(session: DebugState, args: Body) -> Body:
    """Return the instructions of a line at which a thread can continue."""
    path, number = session.source_in(args)
    line = session.line_in(whole(args, "line"))
    debugger = session.debugger
    if number:
        line, places = debugger.places.at_listing(session.find_listing(number).name, line)
    else:
        line, places = debugger.places.at_line(path, line)
    targets = []
    for body, pc in places:
        address = debugger.places.address(body, pc)
        session.view.targets[len(session.view.targets) + 1] = address
        targets.append({
            "id": len(session.view.targets), "label": f"{body.name}: {body.format_instruction(pc).strip()}",
            "line": session.line_out(line), "instructionPointerReference": hex(address),
        })  # fmt: skip
    return {"targets": targets}


def goto(session: DebugState, args: Body) -> None:
    """Continue a thread elsewhere in its body. Raises RequestError for an unknown target."""
    debugger, thread = session.debugger, _thread(session, args)
    place = debugger.places.at_address(session.view.targets.get(whole(args, "targetId"), 0))
    if place is None:
        raise RequestError("unknown target; request gotoTargets first")
    body, pc = place

    def move() -> RunStop:
        debugger.jump(thread, body, pc)
        return RunStop("goto", thread)

    session.go(move)


HANDLERS: Final = {
    "initialize": initialize,
    "launch": launch,
    "attach": attach,
    "configurationDone": configuration_done,
    "restart": restart,
    "disconnect": disconnect,
    "terminate": terminate,
    "cancel": cancel,
    "pause": pause,
    "continue": continue_,
    "next": next_,
    "stepIn": step_in,
    "stepOut": step_out,
    "stepBack": step_back,
    "reverseContinue": reverse_continue,
    "gotoTargets": goto_targets,
    "goto": goto,
    "visaRunAlone": run_alone,
    "visaRunToBarrier": run_to_barrier,
    "visaLastWrite": last_write,
}
