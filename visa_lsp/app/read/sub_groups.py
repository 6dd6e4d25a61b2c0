"""Writes the steps by which compilers combine the values of all lanes as calls, as `sub_group_reduce_max(v)`.

The steps are patterns, in which capitals stand for arrays and values. The lanes that are off count as the neutral value
`N`. Steps become a call only where all other lines read nothing but their result.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.read.code_lines import Body, Node, backwards, change_lines, match_lines, places_of, trees_of
from visa_lsp.app.read.names import BY_NAME
from visa_lsp.app.read.tree import NOTHING, Tree, form, in_place_of, leaf, rewritten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FORMS: Final = (
    ("add", "{} + {}"), ("and", "{} & {}"), ("or", "{} | {}"), ("xor", "{} ^ {}"),
    ("min", "min({}, {})"), ("max", "max({}, {})"), ("min", "fmin({}, {})"), ("max", "fmax({}, {})"),
)  # fmt: skip
_NEUTRAL: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "int": {"add": ("0",), "or": ("0",), "xor": ("0",), "and": ("-1",), "max": ("(int)0x80000000",), "min": ("0x7fffffff",)},
    "uint": {"add": ("0",), "or": ("0",), "xor": ("0",), "and": ("-1",), "max": ("0",), "min": ("-1", "0xffffffffu")},
    "float": {"add": ("0.0f",), "max": ("-INFINITY",), "min": ("INFINITY",)},
}  # fmt: skip
_SCANNED: Final = ("add", "min", "max")
_ARRAYS: Final = "ABCDEF"
_ONE: Final = ("each_lane(0, {last}) A[lane] = N;", "A[lane] = X;")
_TWO: Final = (
    "each_lane(0, 15) A[lane] = N;",
    "each_lane(0, 15) B[lane] = N;",
    "if (lane <= 15) A[lane] = X;",
    "if (lane >= 16) B[lane - 16] = X;",
)


class Fold(Struct, frozen=True):
    """The steps of an operation, and the patterns of its results: each with the array and the words that name it, and the call."""

    operation: str
    lanes: int
    steps: tuple[str, ...]
    results: Mapping[str, tuple[str, str, str]]


@cache
def _folds() -> tuple[Fold, ...]:
    folds: list[Fold] = []
    for lanes, loads in ((16, _ONE), (32, _ONE), (32, _TWO)):
        fill = tuple([step.format(last=lanes - 1) for step in loads])
        folds += [_reduction(operation, lanes, fill, formula) for operation, formula in _FORMS]
        for operation, formula in (pair for pair in _FORMS if pair[0] in _SCANNED):
            if loads is _TWO:
                moves = (*_moved("A", "C", 16, "N"), *_moved("B", "D", 16, "A[15]"))
                scans = (*_scan("C", 16, formula), *_scan("D", 16, formula))
                below = "C", "below", f"scan_exclusive_{operation}"
                last = formula.format("C[15]", "D[lane - 16]")
                folds.append(Fold(operation, lanes, (*fill, *moves, *scans), {last: below, "C[lane]": below}))
                continue
            inclusive = {
                "A[lane]": ("A", "below", f"scan_inclusive_{operation}"),
                f"A[{lanes - 1}]": ("A", "all", f"reduce_{operation}"),
            }
            exclusive = {"B[lane]": ("B", "below", f"scan_exclusive_{operation}")}
            folds.append(Fold(operation, lanes, (*fill, *_scan("A", lanes, formula)), inclusive))
            moves = tuple(_moved("A", "B", lanes, "N"))
            folds.append(Fold(operation, lanes, (*fill, *moves, *_scan("B", lanes, formula)), exclusive))
    return tuple(folds)


def _reduction(operation: str, lanes: int, fill: tuple[str, ...], formula: str) -> Fold:
    """Return the steps that halve an array, or that begin with two of them."""
    steps, array, length = list(fill), "A", lanes
    for halved in _ARRAYS[2:]:
        if length > 2:
            length //= 2
            right = "B[lane]" if array == "A" and len(fill) == len(_TWO) else f"{array}[lane + {length}]"
            steps.append(f"each_lane(0, {length - 1}) {halved}[lane] = {formula.format(f'{array}[lane]', right)};")
            array = halved
    result = formula.format(f"{array}[0]", f"{array}[1]")
    return Fold(operation, lanes, tuple(steps), {result: (array, "all", f"reduce_{operation}")})


def _scan(array: str, lanes: int, formula: str = "{} + {}") -> Iterator[str]:
    """Yield the steps that combine each element with those before it."""
    place, before = f"{array}[2 * lane + 1]", f"{array}[2 * lane]"
    yield f"each_lane(0, {lanes // 2 - 1}) {place} = {formula.format(before, place)};"
    for number in (2, 3):
        place, before = f"{array}[4 * lane + {number}]", f"{array}[4 * lane + 1]"
        change = f"+= {before}" if "+" in formula else f"= {formula.format(place, before)}"
        yield f"each_lane(0, {lanes // 4 - 1}) {place} {change};"
    for width in (4, 8, 16):
        for start in range(width, lanes, 2 * width):
            place = f"{array}[lane + {start}]"
            yield f"each_lane(0, {width - 1}) {place} = {formula.format(f'{array}[{start - 1}]', place)};"


def _moved(array: str, copy: str, lanes: int, before: str) -> Iterator[str]:
    """Yield the steps that copy an array, moved by one element."""
    yield f"once {copy}[0] = {before};"
    start, width = 1, lanes // 2
    while width > 1:
        place = f"lane + {start - 1}" if start > 1 else "lane"
        yield f"each_lane(0, {width - 1}) {copy}[lane + {start}] = {array}[{place}];"
        start, width = start + width, width // 2
    yield f"once {copy}[{start}] = {array}[{start - 1}];"


def fold_sub_groups(body: Body, shared: Mapping[str, str]) -> None:
    """Change the lines in place; ``shared`` are the types of the elements of arrays that the lanes of a thread share."""
    for write in (_write_atomic, _write_calls, _write_sum):
        for code, index in backwards(body.code):
            if code[index].text.startswith("each_lane("):
                write(body, shared, code, index)


@cache
def _atomics() -> tuple[tuple[str, ...], ...]:
    """Return the steps by which a lane adds for all of them, and shares out what was there; the last lines give each lane its part."""
    halves = (
        *_TWO, *_scan("A", 16), *_scan("B", 16), "each_lane(0, 15) B[lane] = A[15] + B[lane];",
        "R = one_for_all(atomic_add(P, B[15]));", "if (lane <= 15) V = A[lane] + R - X;", "each_lane(0, 15) B[lane] += R;",
        "if (lane >= 16) V = B[lane - 16] - X;",
    )  # fmt: skip
    fills = [(lanes, tuple(step.format(last=lanes - 1) for step in _ONE)) for lanes in (16, 32)]
    ones = ((*fill, *_scan("A", lanes), f"R = one_for_all(atomic_add(P, A[{lanes - 1}]));") for lanes, fill in fills)
    return (halves, *ones)


def _write_atomic(body: Body, shared: Mapping[str, str], code: list[Node], index: int) -> None:
    """Write an atomic that each lane does for itself in place of one that a lane does for all."""
    for steps in _atomics():
        parts = match_lines(steps, code[index:])
        if shared.get(parts["A"].op) not in ("int", "uint") or str(parts["N"]) != "0":
            continue
        lines, result = code[index : index + len(steps)], parts["V"]
        del code[index : index + len(steps)]
        if "V" not in parts:
            own = [tree for tree in trees_of(body.code) if form("A[lane] + R - X", tree, **parts)]
            result = leaf(body.new(BY_NAME[shared[parts["A"].op]])) if len(own) == 1 else NOTHING
            change_lines(body.code, in_place_of(own[0], result) if own else in_place_of(NOTHING, NOTHING))
        arrays = [parts[letter].op for letter in "ABR" if letter in parts]
        if result is NOTHING or any(map(body.uses, arrays)):
            code[index:index] = lines
            return
        is_one = str(parts["X"]) == "1"
        call = f"atomic_inc({parts['P']})" if is_one else f"atomic_add({parts['P']}, {parts['X']})"
        code.insert(index, Node(f"{result} = {call};", places_of(*lines)))
        return


def _write_calls(body: Body, shared: Mapping[str, str], code: list[Node], index: int) -> None:
    """Write the calls of a fold in place of its steps, if nothing else needs their arrays."""
    for fold in _folds():
        if _write_fold(body, shared, code, index, fold):
            return


def _write_fold(body: Body, shared: Mapping[str, str], code: list[Node], index: int, fold: Fold) -> bool:
    """Write the calls of one fold; return whether its steps are there."""
    steps = code[index : index + len(fold.steps)]
    parts = match_lines(fold.steps, steps)
    type_name = shared.get(parts["A"].op, "")
    if str(parts["N"]) not in _NEUTRAL.get(type_name, {}).get(fold.operation, ()) or (
        type_name == "float" and fold.lanes != body.lanes  # the order of a sum matters
    ):
        return False
    del code[index : index + len(fold.steps)]
    arrays = {parts[letter].op for letter in _ARRAYS if letter in parts}
    every = list(trees_of(body.code))
    results = {pattern: [tree for tree in every if form(pattern, tree, **parts)] for pattern in fold.results}
    reads = [part.op for trees in results.values() for tree in trees for part in tree.walk() if part.op in arrays]
    if not reads or len(reads) != sum(map(body.uses, arrays)):
        code[index:index] = steps
        return False
    calls: dict[str, str] = {}
    for pattern, (letter, word, call) in fold.results.items():
        if results[pattern]:
            name = f"{parts[letter].op}_{word}"
            calls[name] = f"sub_group_{call}({_argument(body, shared, parts['X'], type_name)})"
            body.kinds[name], body.types[name] = BY_NAME[type_name], f"{type_name} {name}"
            change_lines(body.code, partial(rewritten, rules={pattern: name}, **parts))
    code[index:index] = [Node(f"{name} = {call};", places_of(*steps)) for name, call in calls.items()]
    return True


def _argument(body: Body, shared: Mapping[str, str], value: Tree, type_name: str) -> Tree:
    """Return a value with a cast, unless it is a number, a variable or an element that has the type."""
    name = value.args[0].op if value.op == "[]" else value.op
    elements = body.elements.get(name) or shared.get(name)
    own = elements if value.args else "int" if name.isdecimal() else body.type_name(name)
    return value if own == type_name else Tree(f"({type_name})", (value,))


def _write_sum(_: Body, shared: Mapping[str, str], code: list[Node], index: int) -> None:
    """Write the steps that add up the whole numbers of all lanes in one line."""
    for lanes in (32, 16):
        steps = tuple(_scan("A", lanes))
        array, lines = match_lines(steps, code[index:])["A"], code[index : index + len(steps)]
        if shared.get(array.op) in ("int", "uint"):
            text = f"once for (int k = 1; k < {lanes}; k++) {array}[k] += {array}[k - 1];"
            code[index : index + len(steps)] = [Node(text, places_of(*lines))]
            return
