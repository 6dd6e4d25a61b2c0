"""Mutate the package in many places, and count which mutants the tests of a tier notice.

One copy of the repository holds all mutants. Each mutated expression is in it as ``(mutant if is_on(7) else original)``, and
``VISA_LSP_MUTANT=7`` in the environment turns the seventh on, in every process that a test starts too. A first run with none turned on
records which test reaches which mutant. Each mutant then gets only the tests that reach it, the quickest first, until one fails.

    python -m benchmarks.mutate_source FOLDER --record              the tests of the default tier
    python -m benchmarks.mutate_source FOLDER --record -- --full    the tests that these options of pytest choose
    python -m benchmarks.mutate_source FOLDER                       run the mutants, print killed and survived by room

FOLDER is made by the first call and keeps everything, so that runs can be stopped and continued. Exit status 1 where fewer than
nine of ten mutants are killed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
from bisect import bisect_right
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parents[1]
REQUIRED_SHARE: Final = 0.9
# How many tests a first and a second try take: most mutants are killed by a few, and to collect all takes half a minute.
STAGES: Final = (25, 250, None)
MAX_COST_SECONDS: Final = 200  # of recorded cost

# The module that the copy gets as `visa_lsp.mutants`: the switch, and the plugin for pytest that records results.
SWITCH: Final = """\
import os

ACTIVE = int(os.environ.get("VISA_LSP_MUTANT", "0"))
RECORD = os.environ.get("VISA_LSP_MUTANT_RECORD", "")
# In a process that a test has started: that test, also where the process runs tests of its own.
STARTED_BY = os.environ.get("PYTEST_CURRENT_TEST", "")
_seen = set()


def is_on(number):
    if RECORD:
        test = (STARTED_BY or os.environ.get("PYTEST_CURRENT_TEST", "")).rpartition(" ")[0]
        if (number, test) not in _seen:
            _seen.add((number, test))
            with open(os.path.join(RECORD, f"{os.getpid()}.hits"), "a", encoding="utf-8") as stream:
                stream.write(f"{number}\\t{int(bool(STARTED_BY))}\\t{test}\\n")
    return number == ACTIVE


def pytest_runtest_logreport(report):
    if RECORD and "PYTEST_XDIST_WORKER" not in os.environ:
        with open(os.path.join(RECORD, "results"), "a", encoding="utf-8") as stream:
            stream.write(f"{report.outcome}\\t{report.duration}\\t{report.nodeid}\\n")
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """An expression of the package and its replacement."""

    number: int
    path: str
    line: int
    end_line: int
    column: int
    end_column: int
    original: str
    mutated: str

    @property
    def room(self) -> str:
        """The room of the module, as in `visa_lsp/ROOM/...`."""
        return self.path.split("/")[1].removesuffix(".py")

    def __str__(self) -> str:
        return f"{self.number:4} {self.path}:{self.line}: {_one_line(self.original)}  ->  {_one_line(self.mutated)}"


def _one_line(source: str) -> str:
    return " ".join(source.split())[:100]


# ---- choosing mutants

_COMPARISONS: Final = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_OPERATIONS: Final = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


def replacement(node: ast.AST) -> ast.expr | None:
    """Return the replacement of an expression in a mutant; None where it is not mutated."""
    match node:
        case ast.Compare(left=left, ops=[first, *rest], comparators=others) if type(first) in _COMPARISONS:
            return ast.Compare(left, [_COMPARISONS[type(first)](), *rest], others)
        case ast.BoolOp(op=operator, values=values):
            return ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATIONS:
            return ast.BinOp(left, _OPERATIONS[type(operator)](), right)
        case ast.IfExp(test=test, body=body, orelse=other):
            return ast.IfExp(test, other, body)
        case ast.Constant(value=bool() as value):
            return ast.Constant(not value)
        case ast.Constant(value=int() as value):
            return ast.Constant(value + 1)
    return None


def sites(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each expression that can be mutated with its mutant: values, conditions, and calls whose value is not used."""
    match node:
        # The parts of a text with values have no positions of their own before Python 3.12.
        case ast.JoinedStr() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Expr(value=ast.Call() as call):
            yield call, ast.Constant(None)
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield value, ast.Constant(None)
        case ast.If(test=ast.Name() | ast.Call() | ast.Attribute() as test):
            yield test, ast.UnaryOp(ast.Not(), test)
    if isinstance(node, ast.expr) and (mutated := replacement(node)) is not None:
        yield node, mutated
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "pattern"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and not isinstance(part, ast.pattern):
                yield from sites(part)


def choose(count: int, seed: int) -> list[Mutant]:
    """Choose mutants: two in each room, and the others by the number of places that a room has; no two in one statement line."""
    by_room: dict[str, list[Mutant]] = defaultdict(list)
    for path in sorted((ROOT / "visa_lsp").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        if name == "visa_lsp/__init__.py" or "__future__" not in source:
            continue
        places = {}
        for node, mutated in sites(ast.parse(source)):
            places[node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0] = mutated
        for place, mutated in places.items():
            mutant = Mutant(0, name, *place, "", ast.unparse(ast.fix_missing_locations(mutated)))
            by_room[mutant.room].append(mutant)
    chance = random.Random(seed)
    chosen = [mutant for room in by_room.values() for mutant in chance.sample(room, min(2, len(room)))]
    others = [mutant for room in by_room.values() for mutant in room]
    chance.shuffle(others)
    chosen = [*chance.sample(chosen, min(count, len(chosen))), *others]
    apart: dict[tuple[str, int], Mutant] = {}
    for mutant in chosen:
        touched = [(mutant.path, line) for line in range(mutant.line, mutant.end_line + 1)]
        if len({id(m) for m in apart.values()}) < count and not any(line in apart for line in touched):
            apart.update(dict.fromkeys(touched, mutant))
    unique = {(m.path, m.line, m.column): m for m in apart.values()}
    return [Mutant(**{**asdict(m), "number": i, "original": _original(m)}) for i, m in enumerate(unique.values(), 1)]


def _original(mutant: Mutant) -> str:
    lines = (ROOT / mutant.path).read_bytes().splitlines(keepends=True)[mutant.line - 1 : mutant.end_line]
    lines[-1] = lines[-1][: mutant.end_column]
    lines[0] = lines[0][mutant.column :]
    return b"".join(lines).decode()


# ---- the copy


def make_copy(folder: Path, mutants: list[Mutant]) -> None:
    """Write the tracked files with all mutants, none of them on, and the list of mutants."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, tracked.split("\0")):
        (folder / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / "copy" / name)
    (folder / "copy/visa_lsp/mutants.py").write_text(SWITCH, encoding="utf-8")
    by_path = defaultdict(list)
    for mutant in mutants:
        by_path[mutant.path].append(mutant)
    for path, here in by_path.items():
        (folder / "copy" / path).write_text(
            add_switches((ROOT / path).read_text(encoding="utf-8"), here), encoding="utf-8"
        )
    (folder / "mutants.json").write_text(json.dumps([asdict(m) for m in mutants], indent=1), encoding="utf-8")


def add_switches(source: str, mutants: list[Mutant]) -> str:
    """Return a module's text with a switch around each mutated expression; its lines keep their numbers."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text = b"".join(lines)
    for mutant in sorted(mutants, key=lambda m: -m.line):
        first, last = starts[mutant.line - 1] + mutant.column, starts[mutant.end_line - 1] + mutant.end_column
        switch = f"(({mutant.mutated}) if _is_on({mutant.number}) else (".encode()
        text = text[:first] + switch + text[first:last] + b"))" + text[last:]
    future = b"from __future__ import annotations"
    return text.replace(future, future + b"; from visa_lsp.mutants import is_on as _is_on", 1).decode()


# ---- running


def run_tests(folder: Path, arguments: list[str], seconds: float | None, **environment: str) -> int | None:
    """Run pytest in the copy; return its exit status, None where it took too long."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "visa_lsp.mutants", "-p", "no:cacheprovider", *arguments]
    variables = {**os.environ, "PYTHONPATH": str(folder / "copy"), **environment}
    with subprocess.Popen(
        command, cwd=folder / "copy", env=variables, stdin=subprocess.DEVNULL, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)


def record(folder: Path, options: list[str]) -> None:
    """Run a tier with no mutant on, and keep which test reaches which mutant, and what each test costs."""
    made = folder / "record"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    status = run_tests(folder, ["-n", "auto", *options], None, VISA_LSP_MUTANT_RECORD=str(made))
    cost: dict[str, float] = defaultdict(float)
    failed = set()
    for line in (made / "results").read_text(encoding="utf-8").splitlines():
        outcome, duration, test = line.split("\t", 2)
        cost[test] += float(duration)
        if outcome != "passed":
            failed.add(test)
    reach: dict[int, set[str]] = defaultdict(set)
    for path in made.glob("*.hits"):
        for line in path.read_text(encoding="utf-8").splitlines():
            number, is_child, test = line.split("\t", 2)
            reach[int(number)].add(test)
            if is_child == "1":  # it may serve the tests that follow, which are those of its folder
                folder_name = test.partition("::")[0].rpartition("/")[0] + "/"
                reach[int(number)].update(t for t in cost if t.startswith(folder_name))
    usable = {test: seconds for test, seconds in cost.items() if test not in failed}
    kept = {number: sorted(usable if "" in tests else tests & usable.keys()) for number, tests in reach.items()}
    (folder / "reach.json").write_text(json.dumps({"cost": usable, "reach": kept}), encoding="utf-8")
    print(f"pytest ended with {status}: {len(usable)} tests usable, {len(failed)} skipped or failed in a copy")
    print(f"{sum(map(bool, kept.values()))} mutants are reached")


def judge(folder: Path, mutant: Mutant, tests: list[str], cost: dict[str, float], limit: float) -> dict[str, object]:
    """Run the tests that reach a mutant, those of its rooms first and the quickest before others; return the verdict."""
    rooms = [f"tests/{part}/" for part in reversed(mutant.path.split("/")[1:-1])]
    ordered = sorted(
        tests, key=lambda test: (next((i for i, room in enumerate(rooms) if test.startswith(room)), 9), cost[test])
    )
    # What is reached while modules are loaded is reached by all tests: as many as take so long have to do.
    total = list(accumulate(cost[test] for test in ordered))
    ordered = ordered[: bisect_right(total, MAX_COST_SECONDS)]
    done = 0
    for stage in STAGES:
        part = ordered[done:stage]
        if not part:
            continue
        done += len(part)
        listed = folder / f"tests.{mutant.number}"
        listed.write_text("\n".join(part), encoding="utf-8")
        status = run_tests(
            folder,
            ["-x", "-p", "no:randomly", f"@{listed}"],
            limit + 3 * sum(cost[test] for test in part),
            VISA_LSP_MUTANT=str(mutant.number),
        )
        listed.unlink()
        if status != 0:
            return {"killed": True, "how": "time" if status is None else "test", "tests": done}
    return {"killed": False, "how": "not reached" if not ordered else "survived", "tests": done}


def run_all(folder: Path, jobs: int, limit: float, only: list[int]) -> int:
    """Judge the mutants that have no verdict yet, print all verdicts, and return the exit status."""
    mutants = [Mutant(**row) for row in json.loads((folder / "mutants.json").read_text(encoding="utf-8"))]
    reached = json.loads((folder / "reach.json").read_text(encoding="utf-8"))
    kept = folder / "verdicts.json"
    verdicts = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    left = [m for m in mutants if (m.number in only if only else str(m.number) not in verdicts)]
    with ThreadPoolExecutor(jobs) as pool:
        tests = {m.number: reached["reach"].get(str(m.number), []) for m in left}
        futures = {pool.submit(judge, folder, m, tests[m.number], reached["cost"], limit): m for m in left}
        for future, mutant in futures.items():
            verdicts[str(mutant.number)] = future.result()
            kept.write_text(json.dumps(verdicts), encoding="utf-8")
            print(f"{verdicts[str(mutant.number)]['how']:12} {mutant}", flush=True)
    return report(mutants, verdicts)


def report(mutants: list[Mutant], verdicts: dict[str, dict[str, object]]) -> int:
    """Print killed and survived by room and the survivors; return the exit status."""
    rooms: dict[str, list[bool]] = defaultdict(list)
    for mutant in mutants:
        if str(mutant.number) in verdicts:
            rooms[mutant.room].append(bool(verdicts[str(mutant.number)]["killed"]))
    print(f"\n{'room':<14} killed survived")
    for room, killed in sorted(rooms.items()):
        print(f"{room:<14} {sum(killed):6} {len(killed) - sum(killed):8}")
    every = [killed for here in rooms.values() for killed in here]
    print(f"{'all':<14} {sum(every):6} {len(every) - sum(every):8}")
    for mutant in mutants:
        verdict = verdicts.get(str(mutant.number), {"killed": True})
        if not verdict["killed"]:
            print(f"{verdict['how']:12} {mutant}")
    return 0 if every and sum(every) >= REQUIRED_SHARE * len(every) else 1


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mutate_source", description="Count the mutants of the package that the tests notice."
    )
    parser.add_argument("folder", type=Path, help="folder of the copy, the record and the verdicts; made when missing")
    parser.add_argument("--count", type=int, default=150, help="number of mutants of a new folder (default 150)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the choice of a new folder (default 1)")
    parser.add_argument(
        "--record", action="store_true", help="run the tests once, with no mutant on, and keep what they reach"
    )
    parser.add_argument("--only", type=int, nargs="*", default=[], help="judge these mutants, again if need be")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of mutants judged at a time")
    parser.add_argument(
        "--limit", type=float, default=60, help="seconds that a run may take beyond three times its recorded cost"
    )
    parser.add_argument("options", nargs="*", help="options of pytest that choose a tier, after `--`")
    args = parser.parse_args()
    if not (args.folder / "mutants.json").exists():
        args.folder.mkdir(parents=True, exist_ok=True)
        make_copy(args.folder, choose(args.count, args.seed))
    if args.record:
        record(args.folder.resolve(), args.options)
        return 0
    return run_all(args.folder.resolve(), args.jobs, args.limit, args.only)


if __name__ == "__main__":
    sys.exit(main())
