"""Does ``visa-lsp diff`` find an edit, at its lines and nothing else? Thousands of edits of eight kinds, planted in real texts.

One edit is made in a text, which for half of them is disguised as well: names exchanged, declarations in another order. Found
means that everything reported lies on the lines of the edit. Before that every text is compared with itself in disguise.
Usage: python -m benchmarks.planted [COUNT [SEED]] [--show N] [--edits]; exit status 1 below 99 %, or where a disguise is a difference.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.disguise import disguise_text
from benchmarks.inputs import CORPUS
from visa_lsp.app.diff.sides import Side, side_of_text
from visa_lsp.compare.program_differences import compare_programs
from visa_lsp.isa.model import FlowClass
from visa_lsp.isa.table import TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from visa_lsp.compare.model import Difference

_WANTED = 0.99
_CODE = re.compile(r"^\s+(?:\([^)]*\)\s+)?[a-z]")
_COMMENT = re.compile(r"\s*//.*")
_NUMBER = re.compile(r"0x([0-9a-f]+):(\w+)")
_LANES = re.compile(r"\((M\w+, )(\d+)\)")
_COUNT = re.compile(r"num_elts=(\d+)")
_VARIABLE = re.compile(r"(?<![\w.%])V\d+(?=\()")
_TYPE = re.compile(r"\.decl (V\d+) v_type=G type=(\w+) num_elts=(\d+)")
_WORD = re.compile(r"^(\s+(?:\([^)]*\)\s+)?)([a-z]\w*)")


@dataclass(frozen=True, slots=True)
class Planted:
    """A text and its edited copy. ``a`` and ``b`` are the lines that may be reported, from 0."""

    kind: str
    before: str
    after: str
    a: frozenset[int]
    b: frozenset[int]


Edit = tuple[list[str], set[int], set[int]]


def _is_plain(line: str) -> bool:
    """Return whether a line is an instruction that control leaves to the next one."""
    word = _WORD.match(line)
    rows = TABLE.by_mnemonic.get(word[2], ()) if word and _CODE.match(line) else ()
    return bool(rows) and all(row.flow is FlowClass.NEXT for row in rows)


def _pick(lines: list[str], draw: random.Random, wanted: Callable[[str], object]) -> int | None:
    places = [n for n, line in enumerate(lines) if wanted(line)]
    return draw.choice(places) if places else None


def _insert(lines: list[str], draw: random.Random) -> Edit | None:
    at, source = _pick(lines, draw, _is_plain), _pick(lines, draw, _is_plain)
    if at is None or source is None:
        return None
    return [*lines[:at], lines[source], *lines[at:]], set(), {at}


def _delete(lines: list[str], draw: random.Random) -> Edit | None:
    at = _pick(lines, draw, _is_plain)
    return None if at is None else (lines[:at] + lines[at + 1 :], {at}, set())


def _replace(lines: list[str], at: int, line: str) -> Edit:
    return [*lines[:at], line, *lines[at + 1 :]], {at}, {at}


def _opcode(lines: list[str], draw: random.Random) -> Edit | None:
    at = _pick(lines, draw, _is_plain)
    word = _WORD.match(lines[at]) if at is not None else None
    if at is None or word is None:
        return None
    row = TABLE.by_mnemonic[word[2]][0]
    shapes = [slot.shape for slot in row.slots]
    others = [
        r.mnemonic
        for r in TABLE.rows
        if r.family == row.family and [s.shape for s in r.slots] == shapes and r is not row
    ]
    if not others:
        return None
    return _replace(lines, at, word[1] + draw.choice(others) + lines[at][word.end() :])


def _operand(lines: list[str], draw: random.Random) -> Edit | None:
    at = _pick(lines, draw, lambda line: _is_plain(line) and _VARIABLE.search(line))
    if at is None:
        return None
    declared = {found[1]: found.group(2, 3) for line in lines if (found := _TYPE.search(line))}
    place = draw.choice(list(_VARIABLE.finditer(lines[at])))
    others = [v for v, said in declared.items() if said == declared.get(place[0]) and v != place[0]]
    if not others:
        return None
    return _replace(lines, at, lines[at][: place.start()] + draw.choice(others) + lines[at][place.end() :])


def _immediate(lines: list[str], draw: random.Random) -> Edit | None:
    at = _pick(lines, draw, lambda line: _is_plain(line) and _NUMBER.search(line))
    if at is None:
        return None
    return _replace(
        lines, at, _NUMBER.sub(lambda m: f"0x{int(m[1], 16) ^ draw.randrange(1, 64):x}:{m[2]}", lines[at], count=1)
    )


def _exec_size(lines: list[str], draw: random.Random) -> Edit | None:
    at = _pick(lines, draw, lambda line: _is_plain(line) and _LANES.search(line))
    if at is None:
        return None
    sizes = {"1", "2", "4", "8", "16"} - {_LANES.search(lines[at])[2]}  # type: ignore[index]
    return _replace(lines, at, _LANES.sub(lambda m: f"({m[1]}{draw.choice(sorted(sizes))})", lines[at], count=1))


def _swap(lines: list[str], draw: random.Random) -> Edit | None:
    places = [n for n in range(len(lines) - 1) if _is_plain(lines[n]) and _is_plain(lines[n + 1])]
    if not places:
        return None
    at = draw.choice(places)
    return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]], {at, at + 1}, {at, at + 1}


def _declaration(lines: list[str], draw: random.Random) -> Edit | None:
    at = _pick(lines, draw, lambda line: line.startswith(".decl") and "v_type=G" in line)
    if at is None:
        return None
    if draw.random() < 0.5:
        line = _COUNT.sub(lambda m: f"num_elts={int(m[1]) * 2}", lines[at])
    else:
        line = re.sub(r"(?<= )type=\w+", draw.choice(["type=f", "type=ud", "type=uw"]), lines[at])
    return _replace(lines, at, line)


EDITS: dict[str, Callable[[list[str], random.Random], Edit | None]] = {
    "insert": _insert,
    "delete": _delete,
    "opcode": _opcode,
    "operand": _operand,
    "immediate": _immediate,
    "exec size": _exec_size,
    "swap": _swap,
    "declaration": _declaration,
}


def plant(paths: list[Path], count: int, seed: int, *, disguise: bool) -> Iterator[tuple[Planted, Side, Side]]:
    """Edits in texts chosen at random, as many of each kind; those that leave no other program are drawn again."""
    draw = random.Random(f"{seed} {disguise}")
    for number in range(count):
        kind = list(EDITS)[number % len(EDITS)]
        while True:
            made = _plant(kind, draw.choice(paths).read_text(encoding="utf-8"), draw, disguise=disguise)
            if made is not None:
                yield made
                break


def _plant(kind: str, text: str, draw: random.Random, *, disguise: bool) -> tuple[Planted, Side, Side] | None:
    lines = [_COMMENT.sub("", line).rstrip() for line in text.splitlines()]
    edit = EDITS[kind](lines, draw)
    if edit is None:
        return None
    edited, a, b = edit
    if _code(edited) == _code(lines) or _is_repeated(lines, a) or _is_repeated(edited, b):
        return None
    after = "\n".join(edited) + "\n"
    if disguise:
        after, where = disguise_text(after, draw)
        b = {where[line] for line in b}
    sides = side_of_text("a", text, None), side_of_text("b", after, None)
    if not (isinstance(sides[0], Side) and isinstance(sides[1], Side)):
        return None
    if sides[0].bodies[0].kernel.instructions == sides[1].bodies[0].kernel.instructions and kind != "declaration":
        return None
    return Planted(kind, text, after, frozenset(a), frozenset(b)), *sides


def _code(lines: list[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines if line.strip()]


def _is_repeated(lines: list[str], places: set[int]) -> bool:
    """Return whether an edited line has an equal neighbour, so that either could be the edited one."""
    return any(
        lines[n].split() in (lines[n - 1].split(), *(one.split() for one in lines[n + 1 : n + 2])) for n in places
    )


def is_same(path: Path) -> bool:
    """Return whether ``diff`` reports a text and its disguise as the same program."""
    text = path.read_text(encoding="utf-8")
    other, _ = disguise_text(text, random.Random(path.name))
    a, b = side_of_text("a", text, None), side_of_text("b", other, None)
    if not (isinstance(a, Side) and isinstance(b, Side)):
        return False
    return all(diff.same for diff in compare_programs(a.bodies, b.bodies, a.end, b.end))


def is_found(edit: Planted, changes: list[Difference]) -> bool:
    """Return whether there are changes, and only of the lines of the edit."""
    return bool(changes) and all(_inside(edit, change) for change in changes)


def _inside(edit: Planted, change: Difference) -> bool:
    kind = change.kind.value
    in_a = kind == "insert" or set(range(change.a.first, change.a.last + 1)) <= edit.a
    in_b = kind == "delete" or set(range(change.b.first, change.b.last + 1)) <= edit.b
    return in_a and in_b


def main() -> int:
    """Plant, compare, print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.planted", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=2000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the first N edits that are not found")
    parser.add_argument("--edits", action="store_true", help="run edits only, no disguised texts")
    args = parser.parse_args()
    paths = sorted(CORPUS.glob("dev*/*/*.visaasm"))
    told = [] if args.edits else [path for path in paths if not is_same(path)]
    if not args.edits:
        print(f"{len(paths)} texts in disguise, {len(paths) - len(told)} of them the same", *told, sep="\n  ")
    made: Counter[str] = Counter()
    found: Counter[str] = Counter()
    shown = 0
    for disguise in (False, True):
        for edit, a, b in plant(paths, args.count // 2, args.seed, disguise=disguise):
            diffs = compare_programs(a.bodies, b.bodies, a.end, b.end)
            changes = [change for diff in diffs for change in diff.changes]
            made[edit.kind] += 1
            if is_found(edit, changes):
                found[edit.kind] += 1
            elif shown < args.show:
                shown += 1
                _show(edit, changes)
    print(f"{'edit':<12} {'planted':>8} {'found':>6}")
    for kind in EDITS:
        print(f"{kind:<12} {made[kind]:>8} {found[kind]:>6}")
    share = found.total() / made.total()
    print(f"{'all':<12} {made.total():>8} {found.total():>6}  {100 * share:.2f} %")
    return 0 if share >= _WANTED and not told else 1


def _show(edit: Planted, changes: list[Difference]) -> None:
    print(f"--- {edit.kind}: a {sorted(n + 1 for n in edit.a)}, b {sorted(n + 1 for n in edit.b)}")
    before, after = edit.before.splitlines(), edit.after.splitlines()
    for prefix, lines, places in (("<", before, edit.a), (">", after, edit.b)):
        for n in sorted(places):
            print(f"  {prefix} {lines[n]}")
    for change in changes[:8]:
        print(f"    {change.kind.value} {change.a.first + 1} {change.b.first + 1} {change.what}")


if __name__ == "__main__":
    sys.exit(main())
