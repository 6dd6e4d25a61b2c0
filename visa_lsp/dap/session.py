"""One debug session: requests in, responses and events out, and the run between them.

The main thread handles requests and runs the kernel; another one reads, so that requests are received during a run. Knows no
simulator: the run is a ``Debugger`` of the room ``debug``. Invariant: every request has one response, and the process
ends within seconds of ``disconnect``, of the end of input, and of the closing of its output.
"""

from __future__ import annotations

import os
import queue
import threading
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from visa_lsp.dap import data_breakpoints as watching
from visa_lsp.dap import inspect as looking
from visa_lsp.dap import points, raw
from visa_lsp.dap import stepping as moving
from visa_lsp.dap.request_arguments import RequestError
from visa_lsp.dap.state import DebugState, LaunchRefused
from visa_lsp.dap.wire import MAX_MESSAGE_BYTES, parse_message
from visa_lsp.debug.cells import DebugError
from visa_lsp.debug.stops import RunStop
from visa_lsp.message_frames import BrokenFrame, FrameReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import RawIOBase

    from visa_lsp.dap.state import Open
    from visa_lsp.dap.wire import Message

GRACE: Final = 2.0  # seconds for a request in progress when the session ends
_REASONS: Final = {
    "function": "function breakpoint",
    "instruction": "instruction breakpoint",
    "data": "data breakpoint",
    "barrier": "step",
    "start": "entry",
}
# The requests that are served while the kernel runs.
_ANY_TIME: Final = frozenset({
    "pause", "disconnect", "terminate", "cancel", "threads", "setBreakpoints", "setFunctionBreakpoints",
    "setInstructionBreakpoints", "setExceptionBreakpoints", "setDataBreakpoints", "source", "loadedSources",
    "breakpointLocations", "configurationDone", "initialize", "launch", "attach",
    "restart",
})  # fmt: skip


class DebugSession(DebugState):
    """A session: its loop, and the run between its requests."""

    def __init__(self, source: RawIOBase, target: BinaryIO, open_launch: Open, version: str) -> None:
        super().__init__(target, points.MAKERS)
        self.version = version
        self.open_launch = open_launch
        self._printed = 0
        self._inbox: queue.SimpleQueue[Message | BrokenFrame | None] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._source = FrameReader(source, MAX_MESSAGE_BYTES)
        self._handlers: dict[str, Callable[[DebugState, dict[str, Any]], Any]] = {
            **moving.HANDLERS, **looking.HANDLERS, **points.HANDLERS, **watching.HANDLERS, **raw.HANDLERS,
        }  # fmt: skip

    # ---- the loop

    def serve(self) -> None:
        """Handle requests until the client disconnects or ends."""
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._leave_unread, daemon=True).start()
        while not self.over:
            message = self._inbox.get()
            self._handle(message)
            while self.then is not None and not self.over:
                self._run()

    def _read(self) -> None:
        """Read messages for the main thread; end the process when the client disconnects or disappears."""
        while True:
            try:
                body = self._source.next()
                message = None if body is None else parse_message(body)
            except BrokenFrame as error:
                self._inbox.put(error)
                continue
            except (OSError, ValueError):
                message = None
            if message is not None and message.get("command") == "cancel":
                number = (message.get("arguments") or {}) if isinstance(message.get("arguments"), dict) else {}
                if isinstance(number.get("requestId"), int):
                    self._cancelled.add(number["requestId"])
            self._inbox.put(message)
            if message is None or message.get("command") == "disconnect":
                _leave_soon()
            if message is None:
                return

    def _leave_unread(self) -> None:
        """End the session when its client has closed our output, though perhaps not our input."""
        if self.writer.wait_until_unread():
            self._inbox.put(None)
            _leave_soon()

    def poll(self) -> bool:
        """Handle requests that arrived while the kernel runs; return True to stop it, for a pause or another movement."""
        while not self._inbox.empty():
            self._handle(self._inbox.get())
        return self.pausing or self.over or self.then is not None

    def _handle(self, message: Message | BrokenFrame | None) -> None:
        if message is None:
            self.over = True
            return
        if isinstance(message, BrokenFrame):
            self.say(f"cannot read a message: {message}", "important")
            return
        if message.get("type") != "request":
            return
        command, number = message.get("command"), message.get("seq")
        head = {
            "type": "response",
            "request_seq": number if isinstance(number, int) else 0,
            "command": command if isinstance(command, str) else "",
        }
        try:
            body = self._answer(command, number, message.get("arguments"))
        except (RequestError, DebugError) as error:
            self.writer.send(
                {
                    **head,
                    "success": False,
                    "message": str(error),
                    "body": {
                        "error": {"id": 1, "format": _escape(str(error)), "showUser": command in ("launch", "attach")}
                    },
                }
            )
        except Exception as error:
            if os.environ.get("VISA_LSP_DEBUG"):
                raise
            words = " ".join(f"internal error: {type(error).__name__}: {error}".split())
            self.writer.send({**head, "success": False, "message": words})
        else:
            self.writer.send({**head, "success": True, **({} if body is None else {"body": body})})
        self._after(command)

    def _answer(self, command: object, number: object, arguments: object) -> Any:
        if isinstance(number, int) and number in self._cancelled:
            self._cancelled.discard(number)
            raise RequestError("cancelled")
        if not isinstance(command, str):
            raise RequestError("'command' must be a text")
        handler = self._handlers.get(command)
        if handler is None:
            raise RequestError(f"unknown request '{command[:80]}'")
        if arguments is not None and not isinstance(arguments, dict):
            raise RequestError("'arguments' must be an object")
        if not self.initialized and command not in ("initialize", "disconnect", "cancel"):
            raise RequestError("the first request must be 'initialize'")
        if self.running and command not in _ANY_TIME:
            raise RequestError(f"the kernel is running: '{command}' must wait until it stops")
        return handler(self, arguments or {})

    def _after(self, command: object) -> None:
        """Do what a request requires after its response."""
        if command == "initialize" and self.initialized:
            self.writer.event("initialized")
        if self.launched is not None and self.configured and not self.started:
            self.started = True
            self.then = moving.choose_first_movement(self)

    # ---- running

    def _run(self) -> None:
        run, self.then = self.then, None
        assert run is not None
        self.view.clear()
        self.running = True
        try:
            stop: RunStop | None = run()
        except (DebugError, RequestError) as error:
            self.say(str(error), "important")
            stop = self.stop
        except Exception as error:
            if os.environ.get("VISA_LSP_DEBUG"):
                raise
            self.say(" ".join(f"internal error: {type(error).__name__}: {error}".split()), "important")
            stop = RunStop("terminated", None)
        finally:
            self.running = False
        if self.then is not None:  # a pause that arrived meanwhile refers to this movement
            return
        self.pausing = False
        if not self.over and stop is not None:
            self.send_stopped(stop)

    def send_stopped(self, stop: RunStop) -> None:
        """Send the event that the run has stopped or ended."""
        self.stop = stop
        self._say_printed()
        if stop.reason == "end":
            self._finish()
            return
        if stop.reason == "terminated":
            self.send_terminated()
            return
        body: dict[str, Any] = {
            "reason": _REASONS.get(stop.reason, stop.reason),
            "allThreadsStopped": True,
            "description": _words(stop),
        }
        if stop.thread is not None:
            body["threadId"] = self.debugger.number(stop.thread)
        if stop.text:
            body["text"] = stop.text
        if stop.hits:
            body["hitBreakpointIds"] = list(stop.hits)
        if stop.fault is not None:
            self.say(f"fault: {stop.fault}", "stderr")
        self.writer.event("stopped", body)

    def _finish(self) -> None:
        assert self.launched is not None
        status, lines = self.launched.finish()
        self._say_printed()
        for line in lines:
            self.say(line, "stdout")  # at the place where ``run`` prints it
        self.writer.event("exited", {"exitCode": status})
        self.send_terminated()

    def send_terminated(self) -> None:
        """Send the event that the session has ended."""
        self.writer.event("terminated")

    # ---- words for the user

    def _say_printed(self) -> None:
        """Send the kernel's output since the last stop."""
        if self.launched is None:
            return
        printed = self.launched.printed()
        if len(printed) > self._printed:
            self.writer.event("output", {"category": "stdout", "output": printed[self._printed :]})
            self._printed = len(printed)

    def open(self, arguments: dict[str, Any]) -> None:
        """Prepare the run of a launch request. On failure ends the session and raises RequestError."""
        try:
            self.launched = self.open_launch(arguments, self.say)
        except LaunchRefused as error:
            self.say(str(error), "stderr")
            self.writer.event("exited", {"exitCode": error.status})
            self.send_terminated()
            raise RequestError(str(error)) from None
        self.launch_arguments = arguments
        self._printed = 0
        self.stop = None
        self.debugger.focus = self.launched.focus
        for note in self.launched.notes:
            self.say(f"note: {note}")
        points.put_filters(self)
        self.points.rebuild(self)


def _words(stop: RunStop) -> str:
    reasons = {"barrier": "at a barrier", "start": "the start of the run", "exception": "fault"}
    return reasons.get(stop.reason, f"{stop.reason}: {stop.text}" if stop.reason == "data" else stop.reason)


def _escape(message: str) -> str:
    """Return a message with its braces escaped, because braces in the field are variables."""
    return message.replace("{", "(").replace("}", ")")


def _leave_soon() -> None:
    """End the process after the grace period, because its client has disappeared."""
    timer = threading.Timer(GRACE, os._exit, (0,))
    timer.daemon = True
    timer.start()
