"""The time of each request on a long text: ``python -m benchmarks.requests [--lines 20000 200000] [--rounds 40]``.

A real server over stdio and a text of real kernels with some faults planted in it. Every round edits the text first, at
a random place: a word in a comment, a new line, a declaration, an operand, or the undoing of one of these; then the
findings are pulled, as editors do, and the request is sent for another random place. So no answer can be given
twice. *ms* is what a client waits from its first byte out to the last byte in, *CPU* what the server's process spent
meanwhile; p95 is over all rounds, the first one included, which is shown by itself too.
Every request that the server offers is sent; those left out are listed with the reason.
Exit status 1 where the p95 of what a client waits is over the limit that it is to keep.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.client import Client
from benchmarks.inputs import kernel

URI = "file:///bench/long.visaasm"
_LIMITS = ((20_000 * 1.5, 50.0), (1e9, 100.0))
_WHOLE_TEXT_REQUESTS = ("semanticTokens/range", "foldingRange", "documentSymbol")
_WHOLE_TEXT_MS = 300.0
NAME = re.compile(r"(?<![\w.:%])(?:[VPAT][0-9]+|_[A-Za-z0-9_]+)\b")
CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "diagnostic": {},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "definition": {"linkSupport": True},
        "completion": {"completionItem": {"snippetSupport": True}},
        "semanticTokens": {"requests": {"range": True, "full": {"delta": True}}, "tokenTypes": [], "tokenModifiers": [], "formats": ["relative"]},
    },
}  # fmt: skip

# Requests about a place; those of the same name with other parameters carry a remark behind a colon.
AT_PLACE = (
    "hover", "hover: a busy name", "hover: a label", "definition", "declaration", "typeDefinition", "implementation", "references",
    "references: a busy name", "documentHighlight", "documentHighlight: a busy name", "completion",
    "completion: mnemonic", "signatureHelp", "prepareRename", "rename", "rename: a busy name", "prepareCallHierarchy",
    "linkedEditingRange", "linkedEditingRange: a label", "selectionRange", "onTypeFormatting", "inlayHint", "rangeFormatting", "rangesFormatting",
    "codeAction",
    "codeAction: every fix", "semanticTokens/range", "inlineValue",
)  # fmt: skip
WHOLE = (
    "codeLens", "documentLink", "foldingRange", "documentSymbol", "diagnostic", "semanticTokens/full",
    "semanticTokens/full/delta", "formatting",
)  # fmt: skip
OTHER = (
    "workspace/symbol", "workspace/symbol: nothing fits", "workspace/diagnostic", "completionItem/resolve",
    "codeLens/resolve", "callHierarchy/incomingCalls", "callHierarchy/outgoingCalls", "workspace/executeCommand",
)  # fmt: skip
# The requests behind each capability; requests that are left out are under the reason.
PROVIDERS = {
    "hoverProvider": "hover", "signatureHelpProvider": "signatureHelp", "declarationProvider": "declaration",
    "definitionProvider": "definition", "typeDefinitionProvider": "typeDefinition",
    "implementationProvider": "implementation", "referencesProvider": "references",
    "documentHighlightProvider": "documentHighlight", "documentSymbolProvider": "documentSymbol",
    "codeActionProvider": "codeAction", "codeLensProvider": "codeLens codeLens/resolve",
    "documentLinkProvider": "documentLink", "workspaceSymbolProvider": "workspace/symbol",
    "documentFormattingProvider": "formatting", "documentRangeFormattingProvider": "rangeFormatting rangesFormatting",
    "documentOnTypeFormattingProvider": "onTypeFormatting", "renameProvider": "rename prepareRename",
    "foldingRangeProvider": "foldingRange", "selectionRangeProvider": "selectionRange",
    "callHierarchyProvider": "prepareCallHierarchy callHierarchy/incomingCalls callHierarchy/outgoingCalls",
    "linkedEditingRangeProvider": "linkedEditingRange", "inlineValueProvider": "inlineValue",
    "semanticTokensProvider": "semanticTokens/full semanticTokens/full/delta semanticTokens/range",
    "inlayHintProvider": "inlayHint", "diagnosticProvider": "diagnostic workspace/diagnostic",
    "completionProvider": "completion completionItem/resolve", "executeCommandProvider": "workspace/executeCommand",
}  # fmt: skip
NOT_ASKED = {
    "executeCommandProvider": "commands but visa.explain: jobs that a user starts, with progress, in a process or thread",
    "textDocumentSync": "benchmarks.edit has the figures of keystrokes",
    "positionEncoding": "no request",
    "workspace": "no request",
}


class Server(Client):
    """The real server; answers are taken as bytes, and read when the clock has stopped."""

    def greet(self) -> dict[str, Any]:
        """Shake hands; return the server's capabilities."""
        answer = self.request("initialize", {"processId": None, "rootUri": None, "capabilities": CAPABILITIES})
        self.notify("initialized", {})
        capabilities: dict[str, Any] = answer["capabilities"]
        return capabilities

    def time_request(self, method: str, params: object) -> tuple[float, float, bytes]:
        """Return milliseconds waited, milliseconds of CPU, and the message with the answer."""
        clock = (~self._process.pid << 3) | 2  # the process' CPU clock, as clock_getcpuclockid(3) makes it
        self._next += 1
        mine = re.compile(rb'"id":\s*%d[,}]' % self._next)
        spent, started = time.clock_gettime(clock), time.perf_counter()
        self._send({"id": self._next, "method": method, "params": params})
        while True:
            raw = self._receive()
            head = raw[:200]
            if mine.search(head) and b'"method"' not in head:
                waited = time.perf_counter() - started
                return waited * 1e3, (time.clock_gettime(clock) - spent) * 1e3, raw
            self._answer(json.loads(raw))


class Text:
    """The text as the client has it, with the edits of a user."""

    def __init__(self, server: Server, lines: int, draw: random.Random) -> None:
        self.server, self.draw = server, draw
        self.lines = kernel(lines).split("\n")
        self.version = 1
        code = [i for i, line in enumerate(self.lines) if line.startswith("    ") and "(M" in line]
        self.faults = sorted(draw.sample(code, 20))
        for number, at in enumerate(self.faults):
            line = self.lines[at]
            # An undeclared variable, and a mnemonic that is written as the seeds write it, which has a safe fix.
            name = re.findall(r"[a-z][a-z0-9_]*", line)[0]
            self.lines[at] = (
                NAME.sub(f"V99999{number}", line, count=1) if number % 2 else line.replace(name, name.upper(), 1)
            )
        uses = Counter(NAME.findall("\n".join(self.lines[code[0] :])))
        self.busy = next(name for name, _ in uses.most_common() if name[0] == "V")
        self.undo: tuple[int, int, list[str]] | None = None
        server.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": URI, "languageId": "visa", "version": 1, "text": "\n".join(self.lines)}},
        )

    def _replace(self, first: int, last: int, new: list[str]) -> None:
        """Replace lines, sent as the smallest change."""
        old = self.lines[first:last]
        self.lines[first:last] = new
        a, b = "\n".join(old), "\n".join(new)
        head = 0
        while head < min(len(a), len(b)) and a[head] == b[head]:
            head += 1
        tail = 0
        while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
            tail += 1

        def place(text: str) -> dict[str, int]:
            return {"line": first + text.count("\n"), "character": len(text) - text.rfind("\n") - 1}

        change = {
            "range": {"start": place(a[:head]), "end": place(a[: len(a) - tail])},
            "text": b[head : len(b) - tail],
        }
        self.version += 1
        self.server.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": URI, "version": self.version}, "contentChanges": [change]},
        )

    def edit(self) -> None:
        """Make one change at a random place, or undo the last one that broke something."""
        if self.undo is not None:
            at, behind, old = self.undo
            self.undo = None
            self._replace(at, behind, old)
            return
        at = self.a_line()
        line = self.lines[at]
        kind = self.draw.random()
        if kind < 0.5:
            self._replace(at, at + 1, [line + ("x" if "//" in line else "  // x")])
        elif kind < 0.65:
            self._replace(at, at + 1, [line, ""])
            self.undo = (at, at + 2, [line])
        elif kind < 0.85:
            name = self.draw.choice(NAME.findall(line) or ["M1"])
            self._replace(at, at + 1, [line.replace(name, name + "7", 1)])
            self.undo = (at, at + 1, [line])
        else:
            at = self.draw.randrange(len(self.lines) // 3)
            while "num_elts=" not in self.lines[at]:
                at = self.draw.randrange(len(self.lines) // 3)
            line = self.lines[at]
            self._replace(at, at + 1, [line.replace("num_elts=", "num_elts=1", 1)])
            self.undo = (at, at + 1, [line])

    def a_line(self) -> int:
        """Return a random line with an instruction."""
        while True:
            at = self.draw.randrange(len(self.lines))
            if self.lines[at].startswith("    ") and "(M" in self.lines[at]:
                return at


class Bench:
    """A server with one long text."""

    def __init__(self, lines: int, seed: int) -> None:
        self.draw = random.Random(seed)
        self.log = Path(tempfile.mkstemp(suffix=".log")[1])
        self.server = Server(self.log)
        self.capabilities = self.server.greet()
        self.text = Text(self.server, lines, self.draw)
        self.result_id = ""
        self.number = 0
        self.lens: Any = None

    def place(self, remark: str) -> tuple[int, int]:
        """Line and column of a random name."""
        while True:
            at = self.text.a_line()
            line = self.text.lines[at]
            if remark == "a busy name":
                at = self.draw.choice([i for i, line in enumerate(self.text.lines) if self.text.busy in line])
                return at, self.text.lines[at].index(self.text.busy) + 1
            if remark == "a label":
                labels = [i for i, line in enumerate(self.text.lines) if line[:1] == "_" and line.endswith(":")]
                return self.draw.choice(labels), 1
            if remark == "mnemonic":
                return at, len(line) - len(line.lstrip()) + 1
            names = [m.start() for m in NAME.finditer(line.partition("//")[0])]
            if names:
                return at, self.draw.choice(names) + 1

    def params(self, method: str, remark: str) -> dict[str, Any]:
        """Return the parameters of one round of a request."""
        self.number += 1
        line, column = self.place(remark)
        if method == "codeAction" and self.draw.random() < 0.5:
            line = self.draw.choice(self.text.faults)
        where = {"line": line, "character": column}
        visible = {"start": {"line": line, "character": 0}, "end": {"line": line + 60, "character": 0}}
        match method:
            case "completionItem/resolve":
                return {"label": self.text.busy, "data": {"uri": URI, "kind": "variable", "line": line}}
            case "codeLens/resolve":
                return self.lens  # type: ignore[no-any-return]
            case "callHierarchy/incomingCalls" | "callHierarchy/outgoingCalls":
                ends = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 7}}
                name = re.findall(r'"(.*)"', next(x for x in self.text.lines if x.startswith(".kernel ")))[0]
                item = {"name": name, "kind": 2, "uri": URI, "range": ends, "selectionRange": ends}
                return {"item": {**item, "data": {"body": name, "subroutine": ""}}}
            case "workspace/symbol":
                word = "zzqx" if remark else self.draw.choice(NAME.findall(self.text.lines[line]) or ["V"])
                return {"query": word[: self.draw.randint(1, 9)]}
            case "workspace/executeCommand":
                return {"command": "visa.explain", "arguments": [{"word": "mad"}]}
        only = ["source.fixAll"] if remark == "every fix" else None
        context = {"includeDeclaration": True, "diagnostics": [], "frameId": 0, "stoppedLocation": visible}
        if method in ("completion", "signatureHelp"):
            return {"textDocument": {"uri": URI}, "position": where}
        return {
            "textDocument": {"uri": URI}, "position": where, "positions": [where, {"line": line + 1, "character": 9}],
            "range": visible, "ranges": [visible, visible], "ch": "\n", "newName": f"fresh{self.number}",
            "context": {**context, "only": only} if only else context,
            "options": {"tabSize": 4, "insertSpaces": True}, "previousResultId": self.result_id, "previousResultIds": [],
        }  # fmt: skip

    def round(self, method: str, remark: str) -> tuple[float, float, bytes]:
        """Return an edit, then the request."""
        self.text.edit()
        # The edit and its findings have figures of their own (benchmarks.edit): they are taken in before the clock starts.
        self.server.request("textDocument/hover", {"textDocument": {"uri": "file:///none"}, "position": {"line": 0, "character": 0}})  # fmt: skip
        if method != "diagnostic" and remark != "every fix":
            self.server.request("textDocument/diagnostic", {"textDocument": {"uri": URI}})
        if method == "codeLens/resolve":
            lenses = self.server.request("textDocument/codeLens", {"textDocument": {"uri": URI}})
            self.lens = next((lens for lens in lenses if "data" in lens), lenses[0])
        name = method if "/" in method and not method.startswith("semantic") else f"textDocument/{method}"
        found = self.server.time_request(name, self.params(method, remark))
        if method.startswith("semanticTokens/full"):
            match = re.search(rb'"resultId":\s*"([^"]*)"', found[2][:200])
            self.result_id = match.group(1).decode() if match else ""
        return found


def percentile(values: list[float], part: float) -> float:
    """Return the value that so many are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def list_uncovered(capabilities: dict[str, Any]) -> list[str]:
    """Return the server's capabilities that this benchmark does not cover."""
    asked = {name.partition(":")[0] for name in (*AT_PLACE, *WHOLE, *OTHER)}
    return [
        key
        for key in capabilities
        if key not in NOT_ASKED and not (key in PROVIDERS and set(PROVIDERS[key].split()) <= asked)
    ]


def measure(lines: int, rounds: int, seed: int, wanted: list[str], settle: float) -> bool:
    """Print a table; whether every request is within its limit."""
    bench = Bench(lines, seed)
    opened = time.perf_counter()
    bench.server.request("textDocument/diagnostic", {"textDocument": {"uri": URI}})
    print(
        f"\n{len(bench.text.lines):,} lines, findings {(time.perf_counter() - opened) * 1e3:.0f} ms after opening, "
        f"{rounds} rounds each\n\n{'request':34}{'median ms':>10}{'p95 ms':>8}{'CPU median':>12}{'p95':>7}{'first ms':>10}{'limit':>7}"
        f"{'kB: median':>12}{'most':>10}{'empty':>7}"
    )
    time.sleep(settle)
    good = True
    limit = next(limit for size, limit in _LIMITS if lines <= size)
    for entry in (*AT_PLACE, *WHOLE, *OTHER):
        if wanted and not any(word in entry for word in wanted):
            continue
        method, _, remark = entry.partition(": ")
        waits, spent, sizes, empty = [], [], [], 0
        for _ in range(rounds):
            wait, cpu, raw = bench.round(method, remark)
            refused = b'"error"' in raw[:100]
            if refused and method != "rename":
                raise RuntimeError(f"{entry}: {raw[:300]!r}")
            waits.append(wait)
            spent.append(cpu)
            sizes.append(float(len(raw)))
            empty += refused or bool(re.search(rb'"result":\s*(?:null|\[\]|\{\})\s*[,}]', raw[:80]))
        here = _WHOLE_TEXT_MS if method in _WHOLE_TEXT_REQUESTS and lines > _LIMITS[0][0] else limit
        bad = percentile(waits, 0.95) > here
        good = good and not bad
        print(
            f"{entry:34}{percentile(waits, 0.5):10.1f}{percentile(waits, 0.95):8.1f}{percentile(spent, 0.5):12.1f}"
            f"{percentile(spent, 0.95):7.1f}{waits[0]:10.1f}{here:7.0f}{percentile(sizes, 0.5) / 1e3:12.1f}{max(sizes) / 1e3:10.1f}"
            f"{empty:7}{'  over' if bad else ''}",
            flush=True,
        )
    print(f"the server holds {bench.server.resident_mb():.0f} MB")
    left = list_uncovered(bench.capabilities)
    for key in left:
        print(f"not asked, and should be: {key}")
    bench.server.__exit__(None, None, None)
    bugs = bench.log.read_text(encoding="utf-8", errors="replace").count("Traceback")
    bench.log.unlink()
    if bugs:
        print(f"the server's log has {bugs} tracebacks")
    return good and not left and not bugs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="WORD",
        help="measure only requests with one of these words in their names",
    )
    parser.add_argument("--settle", type=float, default=0.0, help="wait N seconds after opening a text")
    args = parser.parse_args()
    print(f"seed {args.seed}")
    for key, reason in NOT_ASKED.items():
        print(f"not asked: {key}: {reason}")
    good = [measure(lines, args.rounds, args.seed, args.only, args.settle) for lines in args.lines]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
