"""A client of the debug adapter over pipes, for tests: it sends requests, waits for answers and keeps events."""

from __future__ import annotations

import contextlib
import gc
import json
import queue
import socket
import subprocess
import sys
import threading
from typing import IO, Any, Self

from visa_lsp import __version__
from visa_lsp.dap import session
from visa_lsp.dap.open_launch import open_launch

Body = dict[str, Any]
WAIT = 60.0


class Refused(Exception):  # noqa: N818 - it says what the adapter has done
    """A response with ``success`` false."""


class _Client:
    """The part that both kinds of clients share. ``to`` and ``back`` are pipes to and from an adapter."""

    def __init__(self, to: IO[bytes], back: IO[bytes]) -> None:
        self._to, self._back = to, back
        self.events: list[Body] = []
        self._seq = 0
        self._messages: queue.Queue[Body | None] = queue.Queue()
        self._responses: dict[int, Body] = {}
        self._heard: list[Body] | None = None
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        raise NotImplementedError

    def over(self) -> int:
        """Wait until the adapter has ended; its exit status."""
        raise NotImplementedError

    def _read(self) -> None:
        stream = self._back
        try:
            while line := stream.readline():
                length = int(line.split(b":")[1])
                assert stream.readline() == b"\r\n"
                self._messages.put(json.loads(stream.read(length)))
        except ValueError:
            pass
        self._messages.put(None)

    def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._to.write(data)
        self._to.flush()

    def message(self, value: Any) -> None:
        """Send any JSON value as a message."""
        data = json.dumps(value).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))

    def send(self, command: str, **arguments: Any) -> int:
        """Send a request without waiting; its number."""
        self._seq += 1
        self.message({"seq": self._seq, "type": "request", "command": command, "arguments": arguments})
        return self._seq

    def ask(self, command: str, **arguments: Any) -> Body:
        """Send a request; the body of its answer. Raises Refused with its message."""
        return self.answer(self.send(command, **arguments))

    def answer(self, number: int) -> Body:
        """Wait for the answer of a request that was sent."""
        while number not in self._responses:
            self._next()
        response = self._responses.pop(number)
        if not response["success"]:
            assert "Traceback" not in response["message"]
            assert "internal error" not in response["message"], response["message"]
            raise Refused(response["message"])
        return response.get("body", {})

    def _next(self) -> None:
        try:
            message = self._messages.get(timeout=WAIT)
        except queue.Empty:
            raise TimeoutError(f"the adapter has said nothing for {WAIT} seconds") from None
        if message is None:
            raise EOFError
        if self._heard is not None:
            self._heard.append(message)
        if message["type"] == "response":
            self._responses[message["request_seq"]] = message
        else:
            self.events.append(message)

    def event(self, *names: str) -> Body:
        """Wait for the next event of a name; earlier events of other names are kept aside."""
        while True:
            found = next((event for event in self.events if event["event"] in names), None)
            if found is not None:
                self.events.remove(found)
                return {"event": found["event"], **found.get("body", {})}
            self._next()

    # ---- what most tests do

    def start(self, program: object, **more: Any) -> None:
        """Begin a session up to ``configurationDone``; breakpoints are given as ``lines=[..]`` of ``program``."""
        lines, filters = more.pop("lines", None), more.pop("filters", None)
        before = more.pop("before", None)
        self.ask("initialize", adapterID="visa")
        self.event("initialized")
        self.ask("launch", program=str(program), **more)
        if lines is not None:
            self.ask("setBreakpoints", source={"path": str(program)}, breakpoints=[{"line": n} for n in lines])
        self.ask("setExceptionBreakpoints", filters=filters or [])
        if before is not None:
            before(self)
        self.ask("configurationDone")

    def stop(self) -> Body:
        """Wait until the run has stopped."""
        found = self.event("stopped", "terminated")
        assert found["event"] == "stopped", found
        return found

    def go(self, command: str, thread: int = 1, **more: Any) -> Body:
        """Move the run and wait until it has stopped, or is over (the event is then ``exited``)."""
        self.ask(command, threadId=thread, **more)
        return self.event("stopped", "exited")

    def top(self, thread: int = 1) -> Body:
        """Return the innermost frame of a thread."""
        return self.ask("stackTrace", threadId=thread)["stackFrames"][0]

    def value(self, expression: str, **more: Any) -> str:
        """Return the value of an expression."""
        return self.ask("evaluate", expression=expression, **more)["result"]

    def scope(self, name: str, frame: int | None = None) -> dict[str, Body]:
        """Return the variables of a scope by name."""
        number = self.top()["id"] if frame is None else frame
        scopes = {s["name"]: s["variablesReference"] for s in self.ask("scopes", frameId=number)["scopes"]}
        return {v["name"]: v for v in self.ask("variables", variablesReference=scopes[name])["variables"]}

    def output(self) -> str:
        """Return the console's output so far."""
        return "".join(event["body"]["output"] for event in self.events if event["event"] == "output")

    def keep_all(self) -> list[Body]:
        """Keep every message from now on, in the list that this gives."""
        self._heard = []
        return self._heard

    def wait_for_exit(self) -> int:
        """Hear what is still said until the process has ended; its exit status."""
        try:
            while True:
                self._next()
        except EOFError:
            return self.over()

    def ends(self) -> int:
        """Disconnect; the exit status of the adapter."""
        self.ask("disconnect")
        return self.over()


class Client(_Client):
    """A ``visa-lsp dap`` process."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "visa_lsp", "dap"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        super().__init__(self.process.stdin, self.process.stdout)

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def over(self) -> int:
        return self.process.wait(timeout=WAIT)

    def read_errors(self) -> str:
        """Return the standard error of the process, after ending it if it still runs."""
        self.process.kill()
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()


# A session ends its process when its client has disconnected; here that process has other tests to do.
session._leave_soon = lambda: None


class ClientHere(_Client):
    """A session in a thread of this process: it costs no start of an interpreter."""

    def __init__(self) -> None:
        self._mine, self._its = socket.socketpair()
        self._ended: list[BaseException] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        super().__init__(self._mine.makefile("wb"), self._mine.makefile("rb"))

    def _serve(self) -> None:
        gone = contextlib.suppress(OSError)  # a disconnected peer takes nothing any more
        with self._its as its, gone, its.makefile("rb", buffering=0) as source, its.makefile("wb") as target:
            try:
                session.DebugSession(source, target, open_launch, __version__).serve()
            except BaseException as error:  # noqa: BLE001 - it is the test that fails
                self._ended.append(error)
            self._hang_up(its)

    def __exit__(self, *_: object) -> None:
        self._hang_up(self._mine)
        self._thread.join(WAIT)
        for stream in (self._to, self._back, self._mine):
            stream.close()
        gc.unfreeze()  # what a launch froze

    def _hang_up(self, end: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the other side has done so
            end.shutdown(socket.SHUT_RDWR)

    def over(self) -> int:
        self._thread.join(WAIT)
        assert not self._thread.is_alive()
        return len(self._ended)
