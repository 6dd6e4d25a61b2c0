"""The response times of the debugger over stdio, and the cost of a breakpoint that is not hit.

A stop until the variables of a kernel with 4,000 of them are there; a step until the run has stopped; eleven thousand instructions and eleven
million back; an interpreted run with and without a breakpoint on a line that is never reached, and with a condition that is never
true. Usage: python -m benchmarks.debug [ROUNDS]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import folder, percentile, read_number, table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from dap_client import Client

VARIABLES = 4_000
_LAUNCH = "kernel: long\nplatform: TGLLP\ngroups: [1, 1, 1]\nlocal_size: [16, 1, 1]\nargs: {}\n"


def _many() -> str:
    names = [f"V{n:04d}" for n in range(VARIABLES)]
    return "\n".join([
        ".version 4.1", '.kernel "long"',
        *(f".decl {name} v_type=G type={'f' if n % 2 else 'd'} num_elts=16 align=GRF" for n, name in enumerate(names)),
        '.kernel_attr Target="cm"', ".kernel_attr SimdSize=16",
        *(f"    mov (M1, 16) {name}(0,0)<1> 0x{n:x}:{'f' if n % 2 else 'd'}" for n, name in enumerate(names)),
        "    ret (M1, 1)", "",
    ])  # fmt: skip


def _loop(rounds: int) -> str:
    return "\n".join([
        ".version 4.1", '.kernel "long"', ".decl n v_type=G type=d num_elts=1", ".decl a v_type=G type=d num_elts=16",
        ".decl b v_type=G type=d num_elts=16", ".decl P1 v_type=P num_elts=1", '.kernel_attr Target="cm"', ".kernel_attr SimdSize=16",
        "    mov (M1_NM, 1) n(0,0)<1> 0x0:d", "    mov (M1, 16) a(0,0)<1> 0x1:d", "    mov (M1, 16) b(0,0)<1> 0x2:d", "again:",
        *["    add (M1, 16) a(0,0)<1> a(0,0)<1;1,0> b(0,0)<1;1,0>", "    xor (M1, 16) b(0,0)<1> a(0,0)<1;1,0> b(0,0)<1;1,0>"] * 4,
        "    add (M1_NM, 1) n(0,0)<1> n(0,0)<0;1,0> 0x1:d", f"    cmp.lt (M1_NM, 1) P1 n(0,0)<0;1,0> 0x{rounds:x}:d",
        "    (P1) jmp (M1, 1) again", "    ret (M1, 1)", "",
    ])  # fmt: skip


def _write(where: Path, name: str, text: str) -> Path:
    path = where / f"{name}.visaasm"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".launch.yaml").write_text(_LAUNCH, encoding="utf-8")
    return path


def _time(what: Any) -> float:
    began = time.perf_counter()
    what()
    return (time.perf_counter() - began) * 1e3


def _show(client: Client) -> None:
    frame = client.top()["id"]
    scopes = client.ask("scopes", frameId=frame)["scopes"]
    found = client.ask("variables", variablesReference=scopes[0]["variablesReference"])["variables"]
    assert len(found) == VARIABLES


def _looks(path: Path, rounds: int) -> list[list[object]]:
    with Client() as client:
        client.start(path, stopOnEntry=True)
        client.stop()
        shown, stepped = [], []
        for _ in range(rounds):
            stepped.append(_time(lambda: client.go("next")))
            shown.append(_time(lambda: _show(client)))
        client.ends()
    return [
        [f"a stop until {VARIABLES:,} variables are there", percentile(shown, 0.5), percentile(shown, 0.95)],
        ["a step", percentile(stepped, 0.5), percentile(stepped, 0.95)],
    ]


def _backs(path: Path, steps: int, rounds: int) -> list[list[object]]:
    end = path.read_text(encoding="utf-8").count("\n")
    with Client() as client:
        client.start(path, stopOnEntry=True, checks="none", lines=[end])
        client.stop()
        client.go("continue")
        near = [_time(lambda: client.go("stepBack")) for _ in range(rounds)]
        far = _time(lambda: client.go("reverseContinue"))
        client.ends()
    return [
        [f"a step back behind {steps:,} instructions", percentile(near, 0.5), percentile(near, 0.95)],
        ["all of them back, looking for a breakpoint", far, far],
    ]


def _runs(path: Path, rounds: int) -> list[list[object]]:
    """Return a run in the debugger against ``run``, both with all checks."""
    from visa_lsp.dap.open_launch import open_launch
    from visa_lsp.debug.breakpoints import Wish
    from visa_lsp.debug.goals import Goal
    from visa_lsp.sim.machine import run
    from visa_lsp.sim.observers.checkers import checkers

    def time_stop(line: str, condition: str = "") -> float:
        debugger = open_launch({"program": str(path)}, lambda _words: None).debugger
        lines = path.read_text(encoding="utf-8").splitlines()
        at, places = debugger.places.at_line(str(path), next(n for n, text in enumerate(lines) if line in text))
        debugger.add("breakpoint", places, Wish(condition), at)
        debugger.apply()
        return _time(lambda: debugger.go(Goal()))

    def plain() -> float:
        launch = open_launch({"program": str(path)}, lambda _words: None).debugger.launch
        return _time(lambda: run(launch.dispatch, checkers("all")))

    found: dict[str, list[float]] = {"plain": [], "never reached": [], "never true": []}
    for _ in range(rounds):
        found["plain"].append(plain())
        found["never reached"].append(time_stop("ret (M1, 1)", "n[0] < 0"))
        found["never true"].append(time_stop("cmp.lt", "n[0] < 0"))
    base = min(found["plain"])
    return [[f"a run, {what}", min(costs), min(costs) / base] for what, costs in found.items()]


def main(rounds: int) -> None:
    with folder() as name:
        where = Path(name)
        many = _write(where, "many", _many())
        table("waits over stdio", ["", "median ms", "p95 ms"], _looks(many, rounds))
        short = _write(where, "short", _loop(20_000))
        table("runs in one process, all checks", ["", "ms", "of a plain run"], _runs(short, max(1, rounds // 10)))
        for count in (1_000, 1_000_000):
            long = _write(where, f"loop{count}", _loop(count))
            table("back in time", ["", "median ms", "p95 ms"], _backs(long, count * 11, min(rounds, 10)))


if __name__ == "__main__":
    main(int(read_number(__doc__, "rounds", 30)))
