"""Random messages against a real server: ``python -m benchmarks.fuzz_lsp [--count 10000] [--seed N]``.

Valid and invalid requests, notifications and answers in random order, in a workspace with FIFOs, devices, links, folders and
files that are not texts, and unreadable files. Each request has to be answered exactly once, the server must not
die, and its findings at the end must be those of a fresh server that is given the same texts.
Exit status 0 when all of that holds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.client_text import apply, line_starts
from benchmarks.handled_requests import AT_PLACE, COMMANDS, OTHER, WHOLE
from benchmarks.inputs import CORPUS
from visa_lsp.analysis.analysis import VERIFY

ROOT = Path(__file__).parents[1]
SERVER = [sys.executable, "-m", "visa_lsp"]
_PATIENCE = 300.0
# Every incremental answer is compared with a full one: a difference is an error in the log.
_VERIFYING = {**os.environ, VERIFY: "1"}
# The largest number that the protocol has; beyond it a message is invalid and changes nothing.
_MAX_INT32 = 2**31 - 1

VALID_TEXT = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=16 align=GRF
.decl V33 v_type=G type=f num_elts=16 align=GRF alias=<V32, 0>
.decl P1 v_type=P num_elts=16
.input V32 offset=32 size=64
.kernel_attr SimdSize=16
L0:
    mov (M1, 16) V32(0,0)<1> V33(0,0)<1;1,0>
    cmp.lt (M1, 16) P1 V32(0,0)<1;1,0> 0x10:d
    (P1) goto (M1, 16) L0
    ret (M1, 1)
"""


# Texts of other languages with vISA in them, by name: what an editor calls them.
HOSTS = {"h.cl": "opencl", "h.cpp": "cpp", "h.py": "python"}
HOST = """// visa: asm
void f(int x) {
  asm volatile("{\\n"
      ".decl t v_type=G type=d num_elts=16 align=GRF\\n"
      "add (M1, 16) t(0,0)<1> %0(0,0)<1;1,0> nope(0,0)<1;1,0>\\n"
      "}" : "+rw"(x));
  f(x, 1);
}
# visa: asm
y = "mov (M1, 16) $0(0,0)<1> 0x1:d"
"""


def language_of(uri: str) -> str:
    """Return the language id of a document."""
    return HOSTS.get(uri.rpartition("/")[2], "yaml" if uri.endswith(".yaml") else "visa")


class Wire:
    """A server process with its messages; answers are kept by id."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=_VERIFYING
        )
        self.said: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()
        self.answers: Counter[str] = Counter()
        self.results: dict[str, Any] = {}
        self.asked: list[dict[str, Any]] = []
        self.strange: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, message: Any) -> None:
        """Send a message, or the bytes of one."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line.decode(errors="replace").rstrip())

    @property
    def tracebacks(self) -> list[str]:
        """The last line of each traceback in the log: a bug of ours, or of the library."""
        found, inside = [], False
        for line in self.said:
            if line.startswith("Traceback"):
                inside = True
            elif inside and line and not line.startswith((" ", "  ")):
                found.append(line)
                inside = False
        return found

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while (line := stream.readline().strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not length:
                return
            message = json.loads(stream.read(length))
            if "method" in message:
                if "id" in message:
                    self.asked.append(message)
            elif message.get("id") is None:
                self.strange.append(message)
            else:
                key = json.dumps(message["id"])
                self.results[key] = message
                self.answers[key] += 1

    def wait(self, wanted: set[str], patience: float = _PATIENCE) -> bool:
        """Wait until every id has an answer; False where the server is dead or time is up."""
        until = time.monotonic() + patience
        while any(not self.answers[key] for key in wanted):
            if self.process.poll() is not None or time.monotonic() > until:
                return all(self.answers[key] for key in wanted)
            time.sleep(0.005)
        return True

    def ask(self, method: str, params: Any, ident: str) -> Any:
        """Send a request and return its result."""
        self.send({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})
        if not self.wait({json.dumps(ident)}):
            raise RuntimeError(f"no answer to {method}")
        return self.results[json.dumps(ident)].get("result")

    def start(self, folder: Path | None = None) -> None:
        """Shake hands, perhaps with a workspace."""
        root = folder.as_uri() if folder else None
        folders = [{"uri": root, "name": "w"}] if root else None
        self.ask(
            "initialize",
            {"processId": None, "rootUri": root, "workspaceFolders": folders, "capabilities": CAPABILITIES},
            "start",
        )
        self.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})

    def stop(self) -> int:
        """Return an orderly end; gives the exit status."""
        self.ask("shutdown", None, "stop")
        self.send({"jsonrpc": "2.0", "method": "exit"})
        return self.process.wait(60)


CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {
        "configuration": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "workspaceFolders": True,
    },
    "textDocument": {
        "diagnostic": {},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "definition": {"linkSupport": True},
        "completion": {"completionItem": {"snippetSupport": True}},
    },
}
GARBAGE: tuple[Any, ...] = (
    None,
    7,
    -1,
    "x",
    "",
    [],
    {},
    [1, "a"],
    {"uri": 5},
    {"textDocument": None},
    True,
    1e300,
    "\ud83d\ude00",
)


_SPARSE_FILE_BYTES = 20 << 30


def strange_files(folder: Path) -> None:
    """Fill a workspace with files that are not texts under the names of texts; the FIFOs have no writer."""
    (folder / "good.visaasm").write_text(VALID_TEXT)
    (folder / "sub").mkdir()
    for name in (
        "pipe.visaasm",
        "pipe.launch.yaml",
        "pipe.zeinfo.yaml",
        "f0.zeinfo.yaml",
        "visa-lsp.toml",
        "sub/pyproject.toml",
    ):
        os.mkfifo(folder / name)
    (folder / "zero.visaasm").symlink_to("/dev/zero")
    (folder / "zero.zeinfo.yaml").symlink_to("/dev/zero")
    (folder / "null.visaasm").symlink_to("/dev/null")
    (folder / "tty.visaasm").symlink_to("/dev/tty")
    (folder / "gone.visaasm").symlink_to(folder / "nowhere")
    (folder / "self.visaasm").symlink_to(folder / "self.visaasm")
    (folder / "sub" / "up").symlink_to(folder)
    (folder / "folder.visaasm").mkdir()
    with (folder / "huge.visaasm").open("wb") as file:
        file.truncate(_SPARSE_FILE_BYTES)
    with (folder / "huge.isa").open("wb") as file:
        file.write(b"CISA\4\1")
        file.truncate(_SPARSE_FILE_BYTES)
    (folder / "secret.visaasm").write_text(VALID_TEXT)
    (folder / "secret.visaasm").chmod(0)
    (folder / "bytes.visaasm").write_bytes(bytes(range(256)) * 40)
    (folder / "returns.visaasm").write_bytes(VALID_TEXT.replace("\n", "\r").encode())


class Fuzz:
    """A generator of messages that keeps the expected texts."""

    def __init__(self, wire: Wire, draw: random.Random, folder: Path) -> None:
        self.wire, self.draw, self.folder = wire, draw, folder
        self.texts: dict[str, tuple[int, str]] = {}
        self.wanted: set[str] = set()
        self.number = 0
        self.sources = [VALID_TEXT]
        for path in sorted(CORPUS.glob("dev/*/*.visaasm"))[:400]:
            text = path.read_text(encoding="utf-8")
            if text.count("\n") < 700:
                self.sources.append(text)
        self.names = [(folder / f"f{i}.visaasm").as_uri() for i in range(4)] + [
            "untitled:one",
            (folder / "z.zeinfo.yaml").as_uri(),
            *((folder / name).as_uri() for name in HOSTS),
        ]
        # What a workspace has beside texts: queried, never opened.
        self.strange = [path.as_uri() for path in sorted(folder.rglob("*")) if path.suffix and path.parent.name != "up"]

    def request(self, method: Any, params: Any, *, broken: bool = False) -> None:
        """Send a request with its own id."""
        self.number += 1
        ident: Any = self.draw.choice((self.number, f"r{self.number}"))
        message = {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}
        if broken:
            message.pop(self.draw.choice(("params", "jsonrpc")))
        self.wanted.add(json.dumps(ident))
        self.wire.send(message)

    def notify(self, method: str, params: Any) -> None:
        """Tell something."""
        self.wire.send({"jsonrpc": "2.0", "method": method, "params": params})

    def place(self, text: str) -> dict[str, int]:
        """Return a position, mostly in the text."""
        if self.draw.random() < 0.1:
            return {
                "line": self.draw.choice((0, 10**6, 2**31 - 1)),
                "character": self.draw.choice((0, 10**6, 2**31 - 1)),
            }
        lines = line_starts(text)
        line = self.draw.randrange(len(lines))
        return {"line": line, "character": self.draw.randrange(lines[line][1] - lines[line][0] + 2)}

    def one(self) -> None:
        """Send one message."""
        kind = self.draw.random()
        uri = self.draw.choice(self.names)
        if kind < 0.06:
            self.open(uri)
        elif kind < 0.09:
            self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            self.texts.pop(uri, None)
        elif kind < 0.34:
            self.edit(uri)
        elif kind < 0.60:
            self.at_place(uri)
        elif kind < 0.74:
            self.whole(uri)
        elif kind < 0.78:
            if self.draw.random() < 0.3:
                uri = self.draw.choice(self.strange)
            argument = self.draw.choice((uri, {"uri": uri}, {"word": "mad"}, "V101", self.draw.choice(GARBAGE)))
            self.request(
                "workspace/executeCommand",
                {"command": self.draw.choice((*COMMANDS, "visa.none")), "arguments": [argument]},
            )
        elif kind < 0.82:
            method = self.draw.choice((*OTHER, "visa/disassembly"))
            good = {
                "query": "v",
                "previousResultIds": [],
                "uri": uri,
                "label": "V32",
                "data": {"uri": uri, "kind": "variable", "line": 3},
                "range": self.range("x"),
            }
            self.request(method, self.draw.choice((good, good, self.draw.choice(GARBAGE))))
        elif kind < 0.90:
            self.rubbish(uri)
        elif kind < 0.95:
            self.notify(
                "$/cancelRequest",
                {"id": self.draw.choice((self.number, f"r{self.number}", self.number - 1, "none", None))},
            )
        else:
            self.answer()

    def open(self, uri: str) -> None:
        """Open a document, perhaps again."""
        text = self.draw.choice(self.sources) if self.draw.random() < 0.6 else VALID_TEXT
        language = language_of(uri)
        if language in HOSTS.values():
            text = HOST
        self.notify(
            "textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}}
        )
        self.texts[uri] = (1, text)

    def edit(self, uri: str) -> None:
        """Change a document and its expected text."""
        if uri not in self.texts:
            self.open(uri)
        version, text = self.texts[uri]
        changes = []
        for _ in range(self.draw.choice((1, 1, 1, 2, 3))):
            change: dict[str, Any] = {"text": self.piece(text)}
            if self.draw.random() < 0.97:
                change["range"] = self.range(text)
            text = apply(text, change)
            changes.append(change)
        if len(text) > 200_000:
            text = VALID_TEXT
            changes.append({"text": text})
        self.texts[uri] = (version + 1, text)
        self.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": version + 1}, "contentChanges": changes}
        )

    def piece(self, text: str) -> str:
        """Return a text to type."""
        lines = text.split("\n")
        line = self.draw.choice(lines)
        # A lone return ends a line; one beside a newline, before or behind it, makes or breaks an end of two characters.
        return self.draw.choice(
            ("", "", " ", "\n", "x", "V32", "/*", "*/", '"', "{", "}", "<", "(M1, 8)", "\U0001d4b3", "ü", "\t", "\r\n", "0x", ":f",
             "\r", "\r", "\n\r", "\r\r\n", line + "\r", line + "\r\n", "{ " + line.strip() + "\n", line + "}\n", line + " }\r\n",
             "{ " + line.strip() + " }\n", "{}\n", "}}\n", line + "\n", "\n".join(lines[: self.draw.randrange(6)]))
        )  # fmt: skip

    def range(self, text: str) -> dict[str, Any]:
        """Return a range, mostly a short one."""
        start = self.place(text)
        if self.draw.random() < 0.6:
            return {
                "start": start,
                "end": {
                    "line": start["line"],
                    "character": min(_MAX_INT32, start["character"] + self.draw.randrange(4)),
                },
            }
        end = (
            self.place(text)
            if self.draw.random() < 0.05
            else {"line": min(_MAX_INT32, start["line"] + self.draw.randrange(3)), "character": self.draw.randrange(40)}
        )
        first, last = sorted((start, end), key=lambda p: (p["line"], p["character"]))
        return {"start": first, "end": last}

    def at_place(self, uri: str) -> None:
        """Send a request about a place."""
        text = self.texts.get(uri, (0, VALID_TEXT))[1]
        where = self.place(text)
        if self.draw.random() < 0.05:
            uri = self.draw.choice(self.strange)
        params = {
            "textDocument": {"uri": uri}, "position": where, "positions": [where], "newName": self.piece(text), "ch": "\n",
            "context": {"includeDeclaration": True}, "options": {"tabSize": 4, "insertSpaces": True},
        }  # fmt: skip
        self.request(self.draw.choice(AT_PLACE), params, broken=self.draw.random() < 0.03)

    def whole(self, uri: str) -> None:
        """Send a request about a text or a range."""
        text = self.texts.get(uri, (0, VALID_TEXT))[1]
        params = {
            "textDocument": {"uri": uri}, "range": self.range(text), "previousResultId": str(self.draw.randrange(50)),
            "context": {"diagnostics": [], "frameId": 0, "stoppedLocation": self.range(text)},
            "options": {"tabSize": 4, "insertSpaces": True},
        }  # fmt: skip
        self.request(self.draw.choice(WHOLE), params, broken=self.draw.random() < 0.03)

    def rubbish(self, uri: str) -> None:
        """Send an invalid message."""
        rubbish = self.draw.choice(GARBAGE)
        match self.draw.randrange(9):
            case 0:
                self.request(self.draw.choice(AT_PLACE + WHOLE), rubbish)
            case 1:
                self.request(self.draw.choice(("none/such", "", "textDocument/none", "initialize")), rubbish)
            case 2:
                self.request(rubbish if not isinstance(rubbish, str) else 5, {})
            case 3:
                self.notify(
                    self.draw.choice(
                        ("none/such", "$/none", "workspace/didChangeWatchedFiles", "textDocument/didSave")
                    ),
                    self.draw.choice((rubbish, {"changes": [{"uri": self.draw.choice(self.strange), "type": 2}]})),
                )
            case 4:
                self.wire.send(
                    self.draw.choice(
                        ([], [1], 7, "x", {}, {"jsonrpc": "2.0"}, {"id": 1}, b"{", b"\xff\xfe", b"nonsense")
                    )
                )
            case 5:
                self.notify(
                    "workspace/didChangeConfiguration",
                    {"settings": self.draw.choice((rubbish, {"visa": rubbish}, {"visa": {"inlayHints": rubbish}}))},
                )
            case 6:
                self.notify("$/setTrace", {"value": self.draw.choice(("off", "messages", "verbose", 7))})
            case 7:
                self.notify(
                    "textDocument/didChange",
                    {"textDocument": {"uri": "file:///nowhere", "version": 3}, "contentChanges": [{"text": "x"}]},
                )
            case _:
                self.request(
                    "textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": -1, "character": rubbish}}
                )

    def answer(self) -> None:
        """Send a response to the server, requested or not."""
        if self.wire.asked and self.draw.random() < 0.8:
            asked = self.wire.asked.pop(0)
            result = (
                [{"platform": self.draw.choice(("", "DG2", "none"))}]
                if asked["method"] == "workspace/configuration"
                else None
            )
            self.wire.send(
                {
                    "jsonrpc": "2.0",
                    "id": asked["id"],
                    "result": self.draw.choice((result, result, self.draw.choice(GARBAGE))),
                }
            )
        else:
            ident = self.draw.choice((self.number, f"r{self.number}", "unknown", None))
            self.wire.send({"jsonrpc": "2.0", "id": ident, "result": self.draw.choice(GARBAGE)})


def findings(wire: Wire, texts: dict[str, tuple[int, str]], mark: str) -> dict[str, Any]:
    """Return the findings of every open text, in an order of their own."""
    found = {}
    for number, uri in enumerate(sorted(texts)):
        report = wire.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}}, f"{mark}{number}")
        found[uri] = sorted(json.dumps(item, sort_keys=True) for item in report["items"])
    return found


def fuzz(count: int, seed: int, log: Path | None = None) -> list[str]:
    """Send the messages; return the errors."""
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        strange_files(Path(folder))
        wire = Wire()
        wire.start(Path(folder))
        fuzzer = Fuzz(wire, random.Random(seed), Path(folder))
        for number in range(count):
            try:
                fuzzer.one()
            except BrokenPipeError:
                problems.append(f"the server died after {number} messages")
                return problems
            if number % 40 == 39 and not wire.wait(fuzzer.wanted):
                break
        alive = wire.wait(fuzzer.wanted)
        missing = sorted(key for key in fuzzer.wanted if not wire.answers[key])
        double = sorted(key for key in fuzzer.wanted if wire.answers[key] > 1)
        if missing or not alive:
            problems.append(f"{len(missing)} requests without an answer: {missing[:5]}")
        if double:
            problems.append(f"{len(double)} requests answered more than once: {double[:5]}")
        if wire.process.poll() is not None:
            return [*problems, f"the server ended with status {wire.process.returncode}"]
        wire.send(
            {
                "jsonrpc": "2.0",
                "method": "workspace/didChangeConfiguration",
                "params": {"settings": {"visa": {"platform": "DG2", "inlayHints": True}}},
            }
        )
        for uri in [uri for uri in fuzzer.texts if language_of(uri) in HOSTS.values()]:
            # A host that is broken in many places may be understood differently when it is opened: that it is answered counts.
            del fuzzer.texts[uri]
        mine = findings(wire, fuzzer.texts, "end")
        fresh = Wire()
        fresh.start(Path(folder))
        fresh.send(
            {
                "jsonrpc": "2.0",
                "method": "workspace/didChangeConfiguration",
                "params": {"settings": {"visa": {"platform": "DG2"}}},
            }
        )
        for uri, (version, text) in fuzzer.texts.items():
            item = {"uri": uri, "languageId": language_of(uri), "version": version, "text": text}
            fresh.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}})
        others = findings(fresh, fuzzer.texts, "end")
        different = [uri for uri in mine if mine[uri] != others[uri]]
        if different:
            problems.append(f"findings differ from a fresh server's: {different}")
            if log:
                log.with_suffix(".json").write_text(
                    json.dumps({u: [fuzzer.texts[u][1], mine[u], others[u]] for u in different}, indent=1)
                )
        errors = Counter(m["error"]["code"] for m in wire.results.values() if "error" in m)
        print(
            f"answered: {len(fuzzer.wanted)} requests; errors by code: {dict(errors)}; findings: {sum(map(len, mine.values()))}"
        )
        if -32603 in errors:
            said = next(
                m["error"]["message"] for m in wire.results.values() if m.get("error", {}).get("code") == -32603
            )
            problems.append(f"{errors[-32603]} internal errors, the first: {said}")
        bugs = Counter(line for line in wire.tracebacks if not line.startswith(("json.decoder", "UnicodeDecodeError")))
        if bugs:
            problems.append(f"{sum(bugs.values())} tracebacks in the log: {dict(bugs.most_common(8))}")
            if log:
                log.write_text("\n".join(wire.said))
        for one in (wire, fresh):
            status = one.stop()
            if status:
                problems.append(f"exit status {status} after an orderly shutdown")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--log", type=Path, help="write the server's standard error to this file, unless empty")
    args = parser.parse_args()
    print(f"seed {args.seed}, {args.count} messages")
    started = time.monotonic()
    problems = fuzz(args.count, args.seed, args.log)
    for problem in problems:
        print(f"FAILED: {problem}")
    print(f"{'failed' if problems else 'ok'} in {time.monotonic() - started:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
