"""How long each request takes on a long text: ``python -m benchmarks.requests [--lines 20000 200000] [--rounds 40]``.

A real server over stdio, a text of real kernels, random places; each round edits the text first, so that nothing of the
last answer can be given again. p95 over the rounds. Exit status 1 where a request is over its limit.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from typing import Any

from benchmarks.fuzz_lsp import Wire
from benchmarks.inputs import kernel

URI = "file:///bench/long.visaasm"
_LIMITS = {20_000: 50.0, 200_000: 100.0}
_LONG = ("semanticTokens/range", "foldingRange", "documentSymbol")
_LONG_LIMIT = 300.0
# Answers as long as the text: they are made in slices and are measured, but no limit is set for them.
_UNLIMITED = (
    "semanticTokens/full",
    "semanticTokens/full/delta",
    "formatting",
    "diagnostic",
    "references of a busy name",
)


class Bench:
    """One server with one long text."""

    def __init__(self, lines: int, seed: int) -> None:
        self.draw = random.Random(seed)
        self.wire = Wire()
        self.wire.start()
        self.text = kernel(lines)
        self.lines = self.text.split("\n")
        self.version = 1
        self.number = 0
        item = {"uri": URI, "languageId": "visa", "version": 1, "text": self.text}
        self.wire.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}})
        self.code = [i for i, line in enumerate(self.lines) if line.startswith("    ") and "(M" in line]
        self.result_id = ""

    def ask(self, method: str, params: Any) -> tuple[float, Any]:
        """Milliseconds and result of a request."""
        self.number += 1
        started = time.perf_counter()
        result = self.wire.ask(method, params, f"b{self.number}")
        return (time.perf_counter() - started) * 1000, result

    def edit(self) -> None:
        """A keystroke in a comment of a random line: the text is another, its meaning is not."""
        line = self.draw.choice(self.code)
        self.version += 1
        place = {"line": line, "character": len(self.lines[line])}
        self.lines[line] += "/// x" if "//" not in self.lines[line] else "x"
        change = {"range": {"start": place, "end": place}, "text": self.lines[line][place["character"] :]}
        document = {"uri": URI, "version": self.version}
        self.wire.send(
            {
                "jsonrpc": "2.0",
                "method": "textDocument/didChange",
                "params": {"textDocument": document, "contentChanges": [change]},
            }
        )

    def params(self) -> dict[str, Any]:
        """Parameters that fit every request, about a random place."""
        line = self.draw.choice(self.code)
        text = self.lines[line]
        names = [i for i, ch in enumerate(text) if ch in "V_P" and not text[i - 1].isalnum()] or [4]
        where = {"line": line, "character": self.draw.choice(names) + 1}
        visible = {"start": {"line": line, "character": 0}, "end": {"line": line + 60, "character": 0}}
        return {
            "textDocument": {"uri": URI}, "position": where, "positions": [where], "range": visible, "ch": "\n",
            "newName": f"fresh{self.number}", "context": {"includeDeclaration": True, "diagnostics": [], "frameId": 0, "stoppedLocation": visible},
            "options": {"tabSize": 4, "insertSpaces": True}, "previousResultId": self.result_id, "query": "V0061",
        }  # fmt: skip


AT_PLACE = (
    "hover", "definition", "declaration", "typeDefinition", "implementation", "references", "documentHighlight",
    "completion", "signatureHelp", "prepareRename", "rename", "prepareCallHierarchy", "linkedEditingRange",
    "selectionRange", "onTypeFormatting", "inlayHint", "rangeFormatting", "codeAction", "semanticTokens/range",
    "inlineValue", "codeLens", "documentLink", "foldingRange", "documentSymbol",
)  # fmt: skip
FEW = ("diagnostic", "semanticTokens/full", "semanticTokens/full/delta", "formatting")


def percentile(values: list[float], part: float) -> float:
    """The value that so many are not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def measure(lines: int, rounds: int, seed: int) -> bool:
    """Print a table; whether every request is within its limit."""
    bench = Bench(lines, seed)
    first, _ = bench.ask("textDocument/diagnostic", bench.params())
    print(
        f"\n{len(bench.lines):,} lines, findings after opening {first:.0f} ms, {rounds} rounds, an edit before each\n"
    )
    print(f"{'request':32}{'median ms':>11}{'p95 ms':>9}{'limit':>8}{'answer kB':>11}")
    good = True
    limit = next((limit for size, limit in sorted(_LIMITS.items()) if lines <= size), 100.0)
    for method in (*AT_PLACE, "workspace/symbol", "completionItem/resolve", *FEW):
        times, size = [], 0
        for _ in range(rounds if method not in FEW else max(3, rounds // 10)):
            bench.edit()
            params = bench.params()
            if method == "completionItem/resolve":
                params = {
                    "label": "V0061",
                    "data": {"uri": URI, "kind": "variable", "line": params["position"]["line"]},
                }
            name = method if "/" in method and not method.startswith("semantic") else f"textDocument/{method}"
            # The edit is taken in before the clock starts: a keystroke has figures of its own.
            bench.ask("textDocument/prepareRename", {**bench.params(), "position": {"line": 0, "character": 0}})
            taken, result = bench.ask(name, params)
            if isinstance(result, dict) and "resultId" in result and "semantic" in method:
                bench.result_id = result["resultId"]
            times.append(taken)
            size = len(json.dumps(result))
        here = _LONG_LIMIT if method in _LONG else limit
        p95 = percentile(times, 0.95)
        bad = method not in _UNLIMITED and p95 > here
        good = good and not bad
        shown = "-" if method in _UNLIMITED else f"{here:.0f}"
        print(
            f"{method:32}{percentile(times, 0.5):11.1f}{p95:9.1f}{shown:>8}{size / 1000:11.1f}{'  over' if bad else ''}"
        )
    bench.wire.stop()
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print(f"seed {args.seed}")
    good = [measure(lines, args.rounds, args.seed) for lines in args.lines]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
