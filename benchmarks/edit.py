"""From a keystroke to published findings, over stdio with the real server, at three sizes; every kind of edit.

Each edit is followed by its undo, which is measured too; before the measurement every kind is done a few times, so that
growth compares a server that is at work, not one that sees a kind of line for the first time. Wall is what a client
waits from writing the message to having read its findings; CPU is the server's, by the scheduler's clock. On a shared
machine the wall times include other users: look at the line above the table, at the CPU, and at the last rows,
which have what another process takes to answer after each edit, without any work and with as much as an edit's.
With ``--busy`` every edit is followed by the requests that editors send a moment after it, and every tenth comes after a
pause in which the server has begun to work ahead; wall is still what the client waits for its findings.
With ``--standing`` the text has 0, 10, 100, 1,000 and 2,000 faults in it that stay, of four kinds, anywhere in its code.
Usage: python -m benchmarks.edit [--busy | --standing] [TIMES] [LINES ...] [WORD ...]; each kind is done TIMES times and
undone; words pick kinds.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from collections import Counter, defaultdict
from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmarks.client import URI, Client, Echo
from benchmarks.inputs import kernel
from benchmarks.measure import Machine, percentile, table

if TYPE_CHECKING:
    from collections.abc import Callable

Place = tuple[int, int]
Edit = tuple[Place, Place, str]

_VARIABLE = re.compile(r"\b[VPA][0-9]+\b")
_DECL = ".decl V999999 v_type=G type=d num_elts=8 align=dword\n"
# Kinds that change what many lines mean, or many lines, are done less often.
_SELDOM = 10
# The requests of an editor after a keystroke, about the visible lines and about all lines.
_SHOWN = ("semanticTokens/range", "inlayHint", "codeAction")
_WHOLE = ("codeLens", "foldingRange", "documentSymbol", "documentLink")
_TOKENS = {
    "requests": {"range": True, "full": {"delta": True}}, "tokenTypes": [], "tokenModifiers": [], "formats": ["relative"],
}  # fmt: skip
_PAUSE = 0.5
_WORK = 0.0015  # seconds of CPU time that an edit takes, more or less
STANDING = (0, 10, 100, 1_000, 2_000)
_WARM = 4  # turns that are not measured


def beside(line: int, tokens: str | None) -> list[tuple[str, object]]:
    """Return the requests of an editor that shows sixty lines from ``line`` on, and has ``tokens`` already."""
    document = {"uri": URI}
    place = {"start": {"line": line, "character": 0}, "end": {"line": line + 60, "character": 0}}
    at = {"textDocument": document, "position": {"line": line, "character": 4}}
    shown = [(name, {"textDocument": document, "range": place, "context": {"diagnostics": []}}) for name in _SHOWN]
    kind = "semanticTokens/full/delta" if tokens else "semanticTokens/full"
    colours = (kind, {"textDocument": document, "previousResultId": tokens})
    every = [*shown, ("documentHighlight", at), colours, *((name, {"textDocument": document}) for name in _WHOLE)]
    return [(f"textDocument/{name}", params) for name, params in every]


class Session:
    """A server, one text, and the times by kind of edit."""

    def __init__(self, client: Client, echo: Echo, text: str, pick: random.Random, *, busy: bool = False) -> None:
        self.client, self.echo, self.pick, self.busy = client, echo, pick, busy
        self.echoes: list[float] = []
        self.counted: list[float] = []
        self.lines = text.split("\n")
        self.walls: dict[str, list[float]] = defaultdict(list)
        self.cpus: dict[str, list[float]] = defaultdict(list)
        self.code = [i for i, line in enumerate(self.lines) if line.startswith("    ")]
        self.decls = [i for i, line in enumerate(self.lines) if line.startswith(".decl") and "num_elts=" in line]
        self.labels = [i for i, line in enumerate(self.lines) if line.startswith("_") and line.endswith(":")]
        self.labels = self.labels or [self.code[-1]]
        uses = Counter(_VARIABLE.findall("\n".join(self.lines[self.code[0] :])))
        declared = {self.lines[i].split()[1]: i for i in self.decls}
        self.most_used = next(declared[name] for name, _ in uses.most_common() if name in declared)

    def forget(self) -> None:
        """Drop the times so far."""
        for known in (self.walls, self.cpus, self.echoes, self.counted):
            known.clear()

    def edit(self, kind: str, start: Place, end: Place, new: str) -> None:
        """Replace a range, and put the old text back."""
        first, last = start[0], end[0]
        old = "\n".join(self.lines[first : last + 1])
        tail = len(old) - len(self.lines[last]) + end[1]
        old = old[start[1] : tail]
        rows = new.split("\n")
        behind = (first + len(rows) - 1, len(rows[-1]) + (start[1] if len(rows) == 1 else 0))
        for where, what in (((start, end), new), ((start, behind), old)):
            if self.busy and self.pick.random() < 0.1:
                time.sleep(_PAUSE)
            cpu, at = self.client.cpu_exact(), time.perf_counter()
            self.client.change(*where, what)
            self.walls[kind].append((time.perf_counter() - at) * 1e3)
            self.cpus[kind].append((self.client.cpu_exact() - cpu) * 1e3)
            self.counted.append(self.echo.once(_WORK))
            self.echoes.append(self.echo.once())
            if self.busy:
                self.client.ask(beside(first, self.client.tokens))

    # ---- where ----

    def type_letter(self, lines: list[int], letters: str) -> Edit:
        """Return the typing of a character in one of ``lines``."""
        at = self.pick.choice(lines)
        column = self.pick.randrange(len(self.lines[at]))
        return (at, column), (at, column), self.pick.choice(letters)

    def behind(self, lines: list[int], what: str) -> Edit:
        """Return the insertion of a text at the end of one of ``lines``."""
        at = self.pick.choice(lines)
        end = (at, len(self.lines[at]))
        return end, end, what

    def before(self, lines: list[int], what: str) -> Edit:
        """Return the insertion of a text before one of ``lines``."""
        at = self.pick.choice(lines)
        return (at, 0), (at, 0), what

    def cut(self, lines: list[int], many: int = 1) -> Edit:
        """Return the deletion of lines."""
        at = self.pick.choice(lines[: max(1, len(lines) - many - 2)])
        return (at, 0), (min(at + many, len(self.lines) - 1), 0), ""

    def paste(self) -> Edit:
        """500 lines once more."""
        at = self.pick.choice(self.code[: max(1, len(self.code) - 510)])
        return (at, 0), (at, 0), "\n".join(self.lines[at : at + 500]) + "\n"

    def delete(self, lines: list[int]) -> Edit:
        """Return the deletion of a character in one of ``lines``."""
        at = self.pick.choice(lines)
        column = self.pick.randrange(len(self.lines[at]))
        return (at, column), (at, column + 1), ""

    def resize(self) -> Edit:
        """Return a digit more in the size of a declaration."""
        at = self.pick.choice(self.decls)
        column = self.lines[at].index("num_elts=") + 9
        return (at, column), (at, column), "1"

    def version(self, digits: str) -> Edit:
        """Return the last digits of the version, others now."""
        line = self.lines[0]
        return (0, len(line) - 2), (0, len(line)), digits


def kinds(session: Session) -> dict[str, tuple[Callable[[], Edit], int]]:
    """Return every kind of edit, with the factor by which it is rarer."""
    code, decls = session.code, session.decls
    some = {
        "instruction: type a character": lambda: session.type_letter(code, "x1V,(."),
        "instruction: delete a character": lambda: session.delete(code),
        "instruction: begin a comment": lambda: session.behind(code, "  //"),
        "instruction: type in a comment": lambda: session.behind(code, "  // a note"),
        "instruction: new line": lambda: session.behind(code, "\n"),
        "instruction: delete the line": lambda: session.cut(code),
        "instruction: insert a line": lambda: session.before(code, "    mov (M1, 1) V0(0,0)<1> V0(0,0)<0;1,0>\n"),
        "declaration: type a character": lambda: session.type_letter(decls, "x1V,("),
        "declaration: change the size": session.resize,
        "declaration: delete the line": lambda: session.cut(decls),
        "declaration: a new one": lambda: session.before(decls, _DECL),
        "label: rename": lambda: session.before(session.labels, "x"),
        "scope: type {": lambda: session.before(code, "{\n"),
        "scope: type }": lambda: session.before(code, "}\n"),
        "scope: { in the declarations": lambda: session.before(decls, "{\n"),
    }
    seldom = {
        "paste and cut 500 lines": session.paste,
        "cut and paste 500 lines": lambda: session.cut(code, 500),
        "cut and paste 500 declarations": lambda: session.cut(decls, 500),
        "remove the most used declaration": lambda: ((session.most_used, 0), (session.most_used + 1, 0), ""),
        "comment: open one that never ends": lambda: session.before(code, "/*"),
        "version: other digits, same dialect": lambda: session.version(".0"),
        "version: another dialect": lambda: session.version(".2"),
    }
    return {k: (v, 1) for k, v in some.items()} | {k: (v, _SELDOM) for k, v in seldom.items()}


def edits(session: Session, turn: int, words: list[str]) -> None:
    """Yield each kind of edit once, or those with one of ``words`` in their names."""
    for kind, (make, seldom) in kinds(session).items():
        if turn % seldom == 0 and (not words or any(word in kind for word in words)):
            session.edit(kind, *make())


def _row(name: str, walls: list[float], cpus: list[float]) -> list[object]:
    shown = [statistics.median(walls), percentile(walls, 0.99), statistics.median(cpus), percentile(cpus, 0.99)]
    return [name, len(walls), *shown]


def _show(session: Session, machine: str) -> None:
    rows = [_row(kind, walls, session.cpus[kind]) for kind, walls in session.walls.items()]
    for group in ("instruction", "declaration"):
        chosen = [kind for kind in session.walls if kind.startswith(group)]
        if len(chosen) > 1:
            walls = [wall for kind in chosen for wall in session.walls[kind]]
            rows.append(_row(f"all: {group}", walls, [cpu for kind in chosen for cpu in session.cpus[kind]]))
    rows.append(_row("echo, no work", session.echoes, [0.0]))
    rows.append(_row(f"echo, {_WORK * 1e3:.1f} ms of work", session.counted, [_WORK * 1e3]))
    head = ["", "edits", "wall median ms", "wall p99 ms", "CPU median ms", "CPU p99 ms"]
    table(f"edits in a text of {len(session.lines)} lines ({machine})", head, rows)


def with_faults(text: str, many: int) -> str:
    """Return the text with so many faulty lines: a mask, a region, a missing name, a parenthesis."""
    lines, pick = text.split("\n"), random.Random(many)
    places = [
        at for at, line in enumerate(lines) if line.startswith("    ") and "(M1, 16)" in line and "(0,0)<1>" in line
    ]
    for number, at in enumerate(pick.sample(places, many)):
        line = lines[at]
        lines[at] = (
            line.replace("(M1, 16)", "(M1, 15)"),
            line.replace("(0,0)<1>", "(0,0)<3>", 1),
            re.sub(r"\bV([0-9]+)", r"V9\g<1>7", line, count=1),
            line.replace("(M1, 16)", "(M1 16)"),
        )[number % 4]
    return "\n".join(lines)


def measure_findings(times: int, size: int, words: list[str]) -> None:
    """Edits of instructions and declarations with more and more findings that stay."""
    rows: list[list[object]] = []
    first: dict[str, float] = {}
    with ExitStack() as stack:
        echo = stack.enter_context(Echo())
        machine = Machine()
        for many in STANDING:
            with Client() as client:
                client.initialize()
                text = with_faults(kernel(size), many)
                client.open(text)
                session = Session(client, echo, text, random.Random(1))
                for turn in range(-_WARM, times):
                    if turn == 0:
                        session.forget()
                    edits(session, max(0, turn), words)
                for group in ("instruction", "declaration"):
                    kinds_of = [kind for kind in session.walls if kind.startswith(group)]
                    walls = [wall for kind in kinds_of for wall in session.walls[kind]]
                    cpus = [cpu for kind in kinds_of for cpu in session.cpus[kind]]
                    if not walls:
                        continue
                    p99 = percentile(walls, 0.99)
                    first.setdefault(group, p99)
                    rows.append([*_row(f"{group}s, {many} standing", walls, cpus), f"{p99 / first[group]:.2f}x"])
    head = ["", "edits", "wall median ms", "wall p99 ms", "CPU median ms", "CPU p99 ms", "p99 to none standing"]
    table(f"edits with standing findings in a text of {size} lines ({machine.words()})", head, rows)


def main(times: int, sizes: list[int], words: list[str], *, busy: bool) -> None:
    with ExitStack() as stack:
        echo, sessions = stack.enter_context(Echo()), []
        for size in sizes:
            client = stack.enter_context(Client())
            client.initialize(**({"semanticTokens": _TOKENS} if busy else {}))
            text = kernel(size)
            client.open(text)
            sessions.append(Session(client, echo, text, random.Random(1), busy=busy))
        for turn in range(-_WARM, times):
            if turn == 0:
                machine = Machine()
                for session in sessions:
                    session.forget()
            # In turns, so that the sizes are compared on a machine in the same state.
            for session in sessions:
                edits(session, max(0, turn), words)
        for session in sessions:
            _show(session, machine.words())
    medians = {len(s.lines): {kind: statistics.median(cpus) for kind, cpus in s.cpus.items()} for s in sessions}
    for small, large in pairwise(sorted(medians)) if not busy else ():
        shared = {k: medians[large][k] / medians[small][k] for k in medians[small] if not k.startswith("version")}
        worst = max(shared, key=shared.__getitem__)
        each = {k: r for k, r in shared.items() if k.startswith(("instruction", "declaration"))}
        most = max(each, key=each.__getitem__, default=worst)
        print(
            f"growth of an edit's CPU from {small} to {large} lines: instructions and declarations, median of the kinds "
            f"{statistics.median(each.values() or [0]):.2f}x, largest {shared[most]:.2f}x ({most}); "
            f"of all kinds {shared[worst]:.2f}x ({worst})"
        )


if __name__ == "__main__":
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.edit", description=__doc__, formatter_class=form)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--standing", action="store_true")
    parser.add_argument("given", nargs="*", metavar="TIMES | LINES | WORD")
    asked = parser.parse_args()
    numbers = [int(a) for a in asked.given if a.isdigit()]
    words = [a for a in asked.given if not a.isdigit()]
    if asked.standing:
        many = numbers[1] if len(numbers) > 1 else 200_000
        measure_findings(numbers[0] if numbers else 40, many, words or ["instruction:", "declaration:"])
    else:
        main(numbers[0] if numbers else 150, numbers[1:] or [2_000, 20_000, 200_000], words, busy=asked.busy)
