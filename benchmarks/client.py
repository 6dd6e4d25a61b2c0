"""A language client reduced to what a measurement needs: the real server over stdio, one message at a time.

The server's CPU time is read from the system, its answers' bytes are parsed only where the benchmark requests them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

_SERVER = [sys.executable, "-c", "from visa_lsp.cli.main import main; raise SystemExit(main())"]
URI = "file:///benchmark.visaasm"
_HEAD = 200  # characters of a message that have its method and the version of the text


_ECHO = """
import sys, time
while line := sys.stdin.buffer.readline():
    until = time.thread_time() + float(line.split()[0])
    while time.thread_time() < until:
        pass
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


class Echo:
    """A process that echoes its input after some CPU time, to measure the overhead of the machine."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", _ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self.once()

    def once(self, seconds: float = 0.0) -> float:
        """Return the milliseconds of writing and reading back a line as long as a small edit, with this much work between."""
        at = time.perf_counter()
        self._in.write(b"%-250f\n" % seconds)
        self._in.flush()
        self._out.readline()
        return (time.perf_counter() - at) * 1e3

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._in.close()
        self._process.wait()
        self._out.close()


class Client:
    """A running server with one open document."""

    def __init__(self, log: Path | None = None) -> None:
        self.started = time.perf_counter()
        with (log or Path(os.devnull)).open("wb") as said:
            self._process = subprocess.Popen(_SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._next = 0
        self.version = 0
        self.bytes_in = 0
        self._unanswered: set[int] = set()
        self.tokens: str | None = None  # the name of the last tokens that came

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._in.close()
        self._out.close()

    def _send(self, *messages: dict[str, Any]) -> None:
        bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
        self._in.write(b"".join([b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies]))
        self._in.flush()

    def _receive(self) -> bytes:
        size = 0
        while (line := self._out.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        if not size:
            raise RuntimeError("the server ended")
        self.bytes_in += size
        return self._out.read(size)

    def request(self, method: str, params: object) -> Any:
        """Send a request and wait for the answer; drop other messages."""
        self._next += 1
        self._send({"id": self._next, "method": method, "params": params})
        while True:
            message = json.loads(self._receive())
            if message.get("id") == self._next and "method" not in message:
                return message.get("result")
            self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        if "id" in message and "method" in message:
            self._send({"id": message["id"], "result": None})

    def notify(self, method: str, params: object) -> None:
        """Tell something."""
        self._send({"method": method, "params": params})

    def ask(self, questions: Iterable[tuple[str, object]]) -> None:
        """Send requests with their parameters at once, and wait for the answers."""
        messages = []
        for method, params in questions:
            self._next += 1
            self._unanswered.add(self._next)
            messages.append({"id": self._next, "method": method, "params": params})
        self._send(*messages)
        while self._unanswered:
            self._take(json.loads(self._receive()))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message:
            self._answer(message)
        else:
            self._unanswered.discard(message.get("id", -1))
            result = message.get("result")
            if isinstance(result, dict) and "resultId" in result:
                self.tokens = result["resultId"]

    def initialize(self, **more: object) -> float:
        """Shake hands; the seconds from the start of the process to the answer."""
        capabilities = {"textDocument": {"publishDiagnostics": {"versionSupport": True}, **more}}
        self.request("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        taken = time.perf_counter() - self.started
        self.notify("initialized", {})
        return taken

    def finish(self) -> None:
        """Let the server end in good order."""
        self.request("shutdown", None)
        self.notify("exit", None)
        self._process.wait()

    def open(self, text: str) -> None:
        """Open the document and wait for its findings."""
        item = {"uri": URI, "languageId": "visa", "version": 0, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        self.findings(0)

    def change(self, start: tuple[int, int], end: tuple[int, int], text: str) -> int:
        """Edit the document, and wait for the findings of that version; how many there are."""
        self.edit(start, end, text)
        return self.findings(self.version)

    def edit(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        """Edit the document."""
        self.version += 1
        span = {
            "start": {"line": start[0], "character": start[1]},
            "end": {"line": end[0], "character": end[1]},
        }
        identifier = {"uri": URI, "version": self.version}
        params = {"textDocument": identifier, "contentChanges": [{"range": span, "text": text}]}
        self.notify("textDocument/didChange", params)

    def findings(self, version: int) -> int:
        """Wait for the findings of a version, and give how many they are.

        They are not taken apart: a thousand would cost this client more than the server, and its time is in the walls.
        """
        while True:
            raw = self._receive()
            head = raw[:_HEAD]
            if b'"textDocument/publishDiagnostics"' not in head:
                self._take(json.loads(raw))
            elif b'"version": %d,' % version in head:
                return raw.count(b'"severity":')

    def cpu(self) -> float:
        """CPU seconds of the server so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cpu_exact(self) -> float:
        """CPU seconds of the server so far, by the scheduler's clock: nanoseconds, where ``cpu`` has hundredths."""
        tasks = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text("ascii").split()[0]) for task in tasks) / 1e9

    def resident_mb(self) -> float:
        """Memory that the server holds."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6
