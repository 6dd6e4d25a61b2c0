r"""Messages to a language server in this process: malformed, ill-typed, out of order, edits of every kind.

A case is a conversation of its own. Each request has to be answered exactly once, nothing may be logged as an error of
ours, and the text of the document must be the client's: a list of lines that is edited as the protocol says, with line ends
``\n``, ``\r\n`` and ``\r``.
"""

from __future__ import annotations

import copy
import io
import json
import logging
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from benchmarks import handled_requests as asked
from benchmarks.attack.core import Target, Wrong
from benchmarks.attack.documents import change
from benchmarks.attack.kernels import Kernels
from benchmarks.attack.oddities import TOKENS, odd
from benchmarks.client_text import apply
from visa_lsp import __version__
from visa_lsp.lsp.server import create_server
from visa_lsp.lsp.transport.wire import serve_stdio

if TYPE_CHECKING:
    import random

URI: Final = "untitled:case"
OTHER: Final = "file:///nowhere/other.visaasm"
_MAX_INT32: Final = 2**31 - 1
_OTHERS: Final = (
    *asked.OTHER,
    "visa/disassembly",
    "none/such",
    "",
    "initialize",
    "$/none",
    "workspace/willRenameFiles",
)
_TOLD: Final = (
    "textDocument/didSave", "workspace/didChangeWatchedFiles", "workspace/didChangeWorkspaceFolders", "$/setTrace", "$/cancelRequest",
    "workspace/didChangeConfiguration", "visa/didChangeTrust", "visa/didChangeCursor", "textDocument/willSave", "window/workDoneProgress/cancel", "none/such",
    "initialized", "textDocument/didClose", "notebookDocument/didOpen", "$/progress",
)  # fmt: skip
# Runs take long, and have a target of their own.
_COMMANDS: Final = (*(name for name in asked.COMMANDS if not name.startswith("visa.run")), "x")
GARBAGE: Final[tuple[Any, ...]] = (
    None, True, 0, -1, 7, 1e300, 2**31, 2**63, 10**30, 0.5, "", "x", "1", "\ud800", "\U0001f600", [], {}, [[]], [1, "a"], {"a": {}}, {"uri": 5},
    {"token": []}, [None], {"line": -1, "character": -1}, {"line": 0}, {"line": "0", "character": 0}, {"start": None}, "a" * 5000, [{}] * 50,
)  # fmt: skip
_TOKENS: Final[tuple[Any, ...]] = ("t", 1, "", [], {}, [1], {"a": 1}, None, 1.5, True, "x" * 3000)
_BYTES: Final = (
    b"{", b"[", b"", b"null", b"1", b'"x"', b"[]", b"[[]]", b"\xff\xfe", b"nonsense", b'{"jsonrpc": "2.0"}', b'{"id": 1}', b"[" * 3000,
    b'{"a":' * 3000, b'{"jsonrpc":"2.0","id":NaN,"method":"x"}', b'{"jsonrpc":"2.0","id":1e999,"method":"x"}', b"1" * 6000,
    b'{"jsonrpc":"2.0","method":"exit","method":"x"}', b'{"jsonrpc":"1.0","id":"v","method":"shutdown","params":7}', b'"\\ud800"',
)  # fmt: skip
_PIECES: Final = (
    "", "", " ", "\n", "\r", "\r\n", "\r", "\n\r", "\r\r", "x", "V32", "/*", "*/", '"', "{", "}", "{ mov (M1, 8) V32(0,0)<1> 0x1:d }\n", "\u2028",
    "\x85", "\x0b", "\x0c", "\U0001d4b3", "é", "a\rb", "a\r\nb", "a\nb\rc\r\n", "\t", "0x", ":f", '.kernel "q"\n', "\x00", "\x1c", "\x1e",
)  # fmt: skip


class Record(logging.Handler):
    """The errors that were logged."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line of it."""
        error = record.exc_info[1] if record.exc_info else None
        # Malformed messages, and messages outside the protocol, are logged as such; everything else is a bug.
        if record.name.startswith("pygls") and record.getMessage().startswith("Unable to deserialize"):
            return
        if isinstance(error, ValueError | RecursionError) and record.getMessage() == "a message cannot be handled":
            return
        if record.getMessage().startswith("JsonRpcException: "):
            return
        self.said.append(
            f"{record.getMessage()[:200]} ({type(error).__name__}: {str(error)[:200]})"
            if error
            else record.getMessage()[:300]
        )


class Conversation:
    """The messages of a case, and what the document's text must be behind each."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.bodies: list[bytes] = []
        self.ids: list[Any] = []
        self.version = 1
        self.text: str | None = None
        self.encoding = draw.choice(("utf-16", "utf-16", "utf-16", "utf-8", "utf-32"))

    def make(self) -> None:
        """Make a session: a greeting, a text, edits and requests, the end."""
        pick = self.draw
        capabilities: dict[str, Any] = {
            "general": {"positionEncodings": [self.encoding]}, "textDocument": {"publishDiagnostics": {"versionSupport": True}},
            "window": {"workDoneProgress": True}, "workspace": {"workspaceFolders": True},
        }  # fmt: skip
        if pick.random() < 0.1:
            self.ask(pick.choice(_OTHERS), {})
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self.tell("initialized", {})
        self.open(
            odd(pick, Kernels(pick).text(pick.choice((1, 4, 60)))) if pick.random() < 0.9 else pick.choice(_PIECES)
        )
        for _ in range(pick.randrange(4, 14)):
            self.one()
        self.ask("textDocument/diagnostic", {"textDocument": {"uri": URI}})

    def one(self) -> None:
        """Send one more message."""
        pick = self.draw
        kind = pick.random()
        if kind < 0.4:
            self.edit()
        elif kind < 0.55:
            self.ask(pick.choice(asked.AT_PLACE), self.at_place())
        elif kind < 0.67:
            self.ask(pick.choice(asked.WHOLE), self.at_place())
        elif kind < 0.73:
            argument = pick.choice((URI, {"uri": URI}, {"word": "mad"}, pick.choice(GARBAGE)))
            self.ask("workspace/executeCommand", {"command": pick.choice(_COMMANDS), "arguments": [argument]})
        elif kind < 0.80:
            self.ask(pick.choice(_OTHERS), pick.choice((self.at_place(), pick.choice(GARBAGE))))
        elif kind < 0.88:
            value = pick.choice(
                (
                    self.at_place(),
                    {"settings": {"visa": pick.choice(GARBAGE)}},
                    {"id": pick.choice(GARBAGE)},
                    pick.choice(GARBAGE),
                )
            )
            method = pick.choice(_TOLD)
            if (
                method == "textDocument/didClose"
                and isinstance(value, dict)
                and value.get("textDocument") == {"uri": URI}
            ):
                self.text = None
            self.tell(method, value)
        elif kind < 0.94:
            method = pick.choice((*asked.AT_PLACE, *asked.WHOLE))
            self.ask(method, change(pick, self.at_place(), GARBAGE))
        elif kind < 0.97:
            self.bodies.append(pick.choice(_BYTES))
        else:
            ident = pick.choice((*self.ids[-2:], 99999, "none", None, [], {}, 1.5, True))
            self.send({"jsonrpc": "2.0", "id": ident, pick.choice(("result", "error")): pick.choice(GARBAGE)})

    def send(self, message: dict[str, Any]) -> None:
        """Put a message behind the others."""
        self.bodies.append(json.dumps(message).encode())

    def tell(self, method: str, params: Any) -> None:
        """Add a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any) -> None:
        """Add a request with its own id."""
        number = len(self.ids) + 1
        ident = self.draw.choice((number, f"r{number}", -number, number + 2**40))
        self.ids.append(ident)
        self.send({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})

    def open(self, text: str) -> None:
        """Open the document."""
        # Half a character is in no JSON text that a client sends.
        self.text = text.encode("utf-8", "replace").decode()
        item = {"uri": URI, "languageId": "visa", "version": self.version, "text": self.text}
        self.tell("textDocument/didOpen", {"textDocument": item})

    def edit(self) -> None:
        """Change the document, by one change or some."""
        pick = self.draw
        if self.text is None:
            self.open(pick.choice(_PIECES) * 3)
            return
        changes: list[dict[str, Any]] = []
        text = self.text
        for _ in range(pick.choice((1, 1, 2, 4))):
            new = pick.choice((*_PIECES, *TOKENS))
            change: dict[str, Any] = {"text": new.encode("utf-8", "replace").decode()}
            if pick.random() < 0.96:
                change["range"] = self.range()
            if pick.random() < 0.1 and "range" in change:
                change["rangeLength"] = pick.choice((0, 3, 10**6))
            text = apply(text, change, self.encoding)
            changes.append(change)
        self.version += 1
        identifier = {"uri": URI, "version": self.version}
        self.text = text
        self.tell("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})

    def place(self) -> dict[str, int]:
        """Return a position, mostly in the text."""
        pick = self.draw
        lines = (self.text or "").splitlines() or [""]
        line = pick.choice((pick.randrange(len(lines) + 1), pick.randrange(len(lines) + 1), 0, len(lines), _MAX_INT32))
        width = len(lines[line]) if line < len(lines) else 0
        return {
            "line": line,
            "character": pick.choice((0, pick.randrange(width + 2), pick.randrange(width + 2), width, _MAX_INT32)),
        }

    def range(self) -> dict[str, Any]:
        """Return a range, short or long."""
        pick = self.draw
        start = self.place()
        if pick.random() < 0.5:
            return {"start": start, "end": dict(start)}
        near = {"line": min(_MAX_INT32, start["line"] + pick.randrange(3)), "character": pick.choice((0, 1, 5, 40))}
        first, last = sorted(
            (start, near if pick.random() < 0.8 else self.place()), key=lambda p: (p["line"], p["character"])
        )
        return {"start": first, "end": last}

    def at_place(self) -> dict[str, Any]:
        """Parameters that fit any question about the document."""
        pick = self.draw
        where = self.place()
        found: dict[str, Any] = {
            "textDocument": {"uri": pick.choice((URI, URI, URI, OTHER))}, "position": where, "positions": [where], "newName": pick.choice(_PIECES),
            "ch": "\n", "context": {"includeDeclaration": True, "diagnostics": [], "frameId": 0, "stoppedLocation": self.range()},
            "options": {"tabSize": 4, "insertSpaces": True}, "range": self.range(), "previousResultId": "1", "query": "V",
            "previousResultIds": [{"uri": URI, "value": "x"}], "uri": URI, "label": "V32", "settings": {}, "changes": [],
            "event": {"added": [], "removed": []}, "value": "off", "data": {"uri": URI, "kind": "variable", "line": where["line"]},
        }  # fmt: skip
        if pick.random() < 0.15:
            found["workDoneToken"] = pick.choice(_TOKENS)
        if pick.random() < 0.15:
            found["partialResultToken"] = pick.choice(_TOKENS)
        return copy.deepcopy(found)


class Messages(Target):
    """Conversations with a server that is made for each."""

    name = "messages"
    suffix = ".json"

    def __init__(self) -> None:
        self.record = Record()
        self.before = logging.getLogger().handlers[:]
        logging.getLogger().handlers = [self.record]

    def make(self, draw: random.Random) -> Conversation:
        """Return the messages."""
        made = Conversation(draw)
        made.make()
        return made

    def to_bytes(self, case: Conversation) -> bytes:
        """Return the messages, one a line."""
        return b"\n".join(case.bodies)

    def attempt(self, case: Conversation, draw: random.Random) -> str:
        """Let the server read all of it, and look at what it wrote and knows."""
        self.record.said.clear()
        server = create_server(__version__)
        wire = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in case.bodies)
        known: list[str | None] = []
        outgoing = io.BytesIO()

        class Incoming(io.BytesIO):
            """What the client sends, in pieces of any size; at its end the server's text is kept."""

            def read(self, size: int | None = -1) -> bytes:
                data = super().read(min(size or 1, draw.choice((1, 100, 100_000, 100_000))))
                if not data:
                    opened = server.documents.get(URI)
                    known.append(opened.analysis.document.text if opened else None)
                return data

        server._stop_event = stop = Event()  # noqa: SLF001 - what start_io does, without a process of its own
        serve_stdio(server, stop, Incoming(wire), outgoing)
        server.shutdown()  # type: ignore[no-untyped-call]
        answers = replies(outgoing.getvalue())
        self._judge(case, answers, known)
        return "answered"

    def _judge(self, case: Conversation, answers: list[dict[str, Any]], known: list[str | None]) -> None:
        times: dict[str, int] = {}
        for answer in answers:
            if "method" not in answer and answer.get("id") is not None:
                times[json.dumps(answer["id"])] = times.get(json.dumps(answer["id"]), 0) + 1
            if (answer.get("error") or {}).get("code") == -32603:
                raise Wrong(f"an internal error: {answer['error']['message'][:300]}")
        wanted = [json.dumps(ident) for ident in case.ids]
        if twice := [ident for ident in wanted if times.get(ident, 0) > 1]:
            raise Wrong(f"answered more than once: {twice[:3]}")
        if known and known[-1] != case.text:
            raise Wrong(f"the server has another text: {different(case.text, known[-1])}")
        if missing := [ident for ident in wanted if not times.get(ident)]:
            raise Wrong(f"{len(missing)} requests of {len(wanted)} without an answer: {missing[:3]}")
        if self.record.said:
            raise Wrong(f"logged: {self.record.said[0]}")

    def close(self) -> None:
        """Give the log back."""
        logging.getLogger().handlers = self.before


def different(mine: str | None, others: str | None) -> str:
    """Return the first place where two texts differ."""
    if mine is None or others is None:
        return f"{mine if mine is None else len(mine)} and {others if others is None else len(others)}"
    at = next((i for i, (a, b) in enumerate(zip(mine, others, strict=False)) if a != b), min(len(mine), len(others)))
    return f"at {at} {mine[max(0, at - 5) : at + 20]!r} is {others[max(0, at - 5) : at + 20]!r}"


def replies(data: bytes) -> list[dict[str, Any]]:
    """Return the messages that the server wrote."""
    found = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
        )
        found.append(json.loads(rest[:length]))
        data = rest[length:]
    return found
