"""Random messages against real debug adapters: ``python -m benchmarks.fuzz_dap [--count 10000] [--seed N]``.

Requests in any order, with arguments that fit, that almost fit and that are junk; frames that are broken, cancellations of
what was and will be sent, and at the end of each session a ``disconnect``, often in the middle of a run. Each request has to be
answered exactly once and never with an internal error, nothing may be written to standard error, and the process has to
end with status 0. Exit status 0 when all of that holds.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from dap_client import Client, Refused
from debugging import ENDLESS, EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

_SESSION = 1_000  # messages
SAXPY = EXAMPLES / "saxpy.visaasm"
_JUNK: tuple[Any, ...] = (
    None, True, -1, 0, 3, 2**70, 1.5, "", "x", "index", "\u0000", "\ud800", "a" * 5000, [], [1], [{}], {}, {"path": 3}, {"hex": 1},
)  # fmt: skip
_EXPRESSIONS = (
    "index", "index[3]", "index[99]", "P1", "P1[0]", "any(P1)", "item == (3,0,0)", "x[5] * 2", "y", "slm[0]", "index(0,1)<2;2,1>:f",
    "%r0", "a / 0", "1 << 99", "V9", "(" * 90, "-" * 1999, "index +", "sum(x)", "emask,x", "x_value:ub[7]", "__import__('os')",
    "min(item)", "abs(index - 3)", "9" * 1999, "index[1e300]", "x[1]:df", "index, 3",
)  # fmt: skip
_MOVES = (
    "continue", "next", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "visaRunAlone", "visaRunToBarrier", "visaLastWrite", "goto", "pause",
)  # fmt: skip
_BREAKS = (
    "setBreakpoints", "setFunctionBreakpoints", "setInstructionBreakpoints", "setDataBreakpoints", "setExceptionBreakpoints",
    "breakpointLocations", "dataBreakpointInfo", "gotoTargets",
)  # fmt: skip
_LOOKS = (
    "threads", "stackTrace", "scopes", "variables", "evaluate", "setVariable", "setExpression", "completions", "source", "loadedSources",
    "exceptionInfo", "readMemory", "writeMemory", "disassemble", "visaLanes", "modules", "",
)  # fmt: skip
_SELDOM: tuple[Any, ...] = (
    "initialize",
    "launch",
    "attach",
    "configurationDone",
    "restart",
    "terminate",
    "cancel",
    7,
    None,
)
_FRAMES = (
    b"Content-Length: 5\r\n\r\nhello", b"Content-Length: x\r\n\r\n", b"X: y\r\n\r\n", b"\r\n\r\n", b"Content-Length: 2\r\n\r\n[]",
    b"Content-Length: 2\r\n\r\n\xff\xfe", b"Content-Length: 0\r\n\r\n", b"Content-Length: 99999999999999\r\n\r\n",
)  # fmt: skip


class Attacker:
    """The messages of one session."""

    def __init__(self, chance: random.Random, program: Path) -> None:
        self.chance = chance
        self.program = program
        self.thread = 1  # the one that stopped last
        self.patience = chance.choice((0.0, 0.7, 1.0))  # how often it waits for a run that it has moved
        fitting: dict[str, Callable[[], Any]] = {
            "threadId": lambda: self.thread if chance.random() < 0.9 else chance.randrange(1, 9), "frameId": lambda: chance.randrange(3), "variablesReference": lambda: chance.randrange(1, 12),
            "expression": lambda: chance.choice(_EXPRESSIONS), "name": lambda: chance.choice((*_EXPRESSIONS, "[3]", "[1]")),
            "value": lambda: chance.choice(("3", "-1", "1e40", "index[2]", "1,2,3", "nan", "")), "context": lambda: chance.choice(("repl", "hover", "watch")),
            "source": lambda: chance.choice(({"path": str(program)}, {"sourceReference": 1}, {"path": "/dev/zero"}, {})),
            "line": lambda: chance.randrange(-2, 70), "endLine": lambda: chance.randrange(70), "column": lambda: chance.randrange(9),
            "text": lambda: chance.choice(_EXPRESSIONS), "granularity": lambda: chance.choice(("line", "instruction", "statement")),
            "singleThread": lambda: chance.random() < 0.5, "format": lambda: {"hex": True}, "start": lambda: chance.randrange(20),
            "count": lambda: chance.randrange(40), "filter": lambda: chance.choice(("indexed", "named")),
            "memoryReference": lambda: chance.choice(("grf:1:0:0", "buffer:0:8", "slm:1:0", "0x100000000000000", hex(2**56 + 3), "0")),
            "offset": lambda: chance.randrange(-9, 9), "data": lambda: chance.choice(("AAAA", "!", "A")), "instructionCount": lambda: chance.randrange(9),
            "instructionOffset": lambda: chance.randrange(-5, 5), "targetId": lambda: chance.randrange(4),
            "dataId": lambda: '["index", 1, "saxpy", 0]', "accessType": lambda: chance.choice(("read", "write", "readWrite", "change", "eat")),
            "requestId": lambda: chance.randrange(_SESSION), "bytes": lambda: chance.choice((0, 4, 2**40)), "filters": lambda: ["bounds", "races"],
            "breakpoints": self._breakpoints, "program": lambda: str(program), "arguments": lambda: {"checks": chance.choice(("all", "none", "x"))},
        }  # fmt: skip
        self._fitting = fitting

    def _breakpoints(self) -> list[Any]:
        chance = self.chance
        return [
            {"line": chance.randrange(20, 60), "name": chance.choice(("saxpy", "done", "x")), "instructionReference": hex(2**56 + chance.randrange(30)),
             "dataId": '["index", 1, "saxpy", 0]', "accessType": chance.choice(("read", "write", "change")),
             "condition": chance.choice(("", *_EXPRESSIONS)), "hitCondition": chance.choice(("", "3", "% 0", "often")),
             "logMessage": chance.choice(("", "", "{index[0]} and {x"))}
            for _ in range(chance.randrange(4))
        ]  # fmt: skip

    def arguments(self) -> Any:
        """Arguments for any request."""
        chance, names = self.chance, list(self._fitting)
        manner = chance.random()
        if manner < 0.05:
            return chance.choice((None, [], 4, "x"))
        junk = 0.0 if manner < 0.7 else 0.3 if manner < 0.9 else 1.0
        wanted = names if manner < 0.7 else chance.sample(names, chance.randrange(12))
        return {name: chance.choice(_JUNK) if chance.random() < junk else self._fitting[name]() for name in wanted}

    def command(self) -> Any:
        """Return a request by name: those that end a session are rare."""
        kinds = (_MOVES, _LOOKS, _LOOKS, _BREAKS, _SELDOM)
        return self.chance.choice(self.chance.choices(kinds, (30, 20, 20, 20, 4))[0])

    def attack(self, client: Client, count: int) -> list[int]:
        """Send so many messages; the numbers of those that have to be answered."""
        sent = []
        for number in range(1, count + 1):
            odd = self.chance.random()
            if odd < 0.02:
                client.raw(self.chance.choice(_FRAMES))
            elif odd < 0.04:
                client.message(
                    self.chance.choice([None, 3, {"type": "response"}, {"type": "event", "seq": []}, {"seq": number}])
                )
            else:
                command = self.command()
                client.events.clear()
                client.message({"seq": number, "type": "request", "command": command, "arguments": self.arguments()})
                sent.append(number)
                if command in _MOVES and self.chance.random() < self.patience:
                    self._settle(client, number)
        return sent

    def _settle(self, client: Client, number: int) -> None:
        """Wait until a run has stopped again, because most requests are refused while it runs, and when it has ended."""
        try:
            client.answer(number)
        except Refused as refused:
            if "the run is over" in str(refused):
                client.message({"seq": 0, "type": "request", "command": "restart"})
            elif "the kernel is running" in str(refused):
                client.message({"seq": 0, "type": "request", "command": "pause"})
            return
        if self.program.name == "endless.visaasm":
            client.message({"seq": 0, "type": "request", "command": "pause"})
        self.thread = client.event("stopped", "terminated").get("threadId", self.thread)
        for command, where in (
            ("stackTrace", {"threadId": self.thread}),
            ("scopes", {"frameId": 1}),
            ("variables", {"variablesReference": 1}),
        ):
            client.message({"seq": 0, "type": "request", "command": command, "arguments": where})


def _session(seed: int, count: int, program: Path) -> list[str]:
    """Run one session; return its errors."""
    chance = random.Random(seed)
    begun = {"program": str(program), "checks": chance.choice(("all", "none"))}
    with Client() as client:
        heard = client.keep_all()
        if chance.random() < 0.9:
            client.start(begun.pop("program"), stopOnEntry=chance.random() < 0.5, **begun)
        heard.clear()
        try:
            sent = Attacker(chance, program).attack(client, count)
            client.message({"seq": count + 1, "type": "request", "command": "threads"})
            client.answer(count + 1)
        except Refused:
            pass  # nothing was initialized
        except (AssertionError, EOFError, OSError) as error:
            return [f"{type(error).__name__}: {error}, and the process said {client.read_errors()!r}"]
        answers = Counter(m["request_seq"] for m in heard if m["type"] == "response" and m["request_seq"] <= count)
        client.message({"seq": count + 2, "type": "request", "command": "disconnect"})
        status, said = client.wait_for_exit(), client.read_errors()
    wrong = [n for n in sent if answers[n] != 1]
    found = [f"request {n} was answered {answers[n]} times" for n in wrong[:3]]
    words = [m.get("message") or m.get("body", {}).get("output", "") for m in heard]
    found += [word for word in words if "internal error" in word][:3]
    if status:
        found.append(f"exit status {status}")
    return found + ([f"standard error: {said}"] if said else [])


def fuzz(count: int, seed: int) -> list[str]:
    """Send ``count`` messages in sessions of at most a thousand; return the errors with the seeds of their sessions."""
    problems = []
    with tempfile.TemporaryDirectory() as name:
        endless = Path(name, "endless.visaasm")
        endless.write_text(ENDLESS, encoding="utf-8")
        launch = SAXPY.with_suffix(".launch.yaml").read_text(encoding="utf-8")
        endless.with_suffix(".launch.yaml").write_text(launch, encoding="utf-8")
        programs = (endless, SAXPY, EXAMPLES / "average.visaasm")
        for number, first in enumerate(range(0, count, _SESSION)):
            size = min(_SESSION, count - first)
            wrong = _session(seed + number, size, programs[number % len(programs)])
            problems += [f"seed {seed + number}, {programs[number % len(programs)].name}: {words}" for words in wrong]
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz_dap", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    print(f"seed {args.seed}, {args.count} messages")
    started = time.monotonic()
    problems = fuzz(args.count, args.seed)
    for problem in problems:
        print(f"FAILED: {problem}")
    print(f"{'failed' if problems else 'ok'} in {time.monotonic() - started:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
