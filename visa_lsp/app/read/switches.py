"""Finds `switch` in trees of comparisons of one number with constants, in lines of C."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.app.read.code_lines import (
    Line,
    Node,
    assigned,
    chain_of,
    change_lines,
    condition_of,
    names_of,
    places_of,
    set_in,
    trees_of,
    walk,
)
from visa_lsp.app.read.shape import COMPARE, FALSE, JUMP, TRUE, is_constant
from visa_lsp.app.read.tree import NOTHING, Tree, leaf, number_of, rewritten, set_names, step_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MIN_CASES: Final = 3
_MAX_TESTS: Final = 2  # of a variable in the lines for some of its numbers
_MAX_AROUND: Final = 6  # lines beside inner comparisons, which become part of each case


class Branch(NamedTuple):
    """The numbers from ``low`` to ``high``, and the lines for them."""

    low: int
    high: int
    code: Sequence[Node]


class Test(NamedTuple):
    """A comparison of a variable, maybe as an unsigned integer, with a number."""

    name: str
    relation: str
    number: int
    is_unsigned: bool


def test_of(node: Node) -> Test | None:
    """Return the comparison that a line of an `if` makes; None for another line."""
    tree = condition_of(node.text) if "if (" in node.text and node.inner is not None else NOTHING
    number = number_of(tree.args[1]) if tree.op in COMPARE else None
    if number is None:
        return None
    is_unsigned = tree.args[0].op in ("(uint)", "(uchar)", "(ushort)")
    left = tree.args[0].args[0] if is_unsigned else tree.args[0]
    return Test(left.op, tree.op, number, is_unsigned) if not left.args else None


def find_cases(code: list[Node], index: int, low: int, high: int) -> tuple[str, list[Branch], int] | None:
    """Return the variable that a chain of `if` compares, the lines for each of its values, and the end of the chain."""
    test, chain = test_of(code[index]), chain_of(code, index)
    if test is None or code[index].continues:
        return None
    branches = list(_split(chain, test.name, Branch(low, high, ())))
    return None if any(branch.low > branch.high for branch in branches) else (test.name, branches, index + len(chain))


def _split(chain: Sequence[Node], name: str, whole: Branch) -> Iterator[Branch]:
    """Yield the branches of a chain for some numbers; one of no number where a condition is of another form."""
    rest = [whole]
    for node in chain:
        test = test_of(node)
        if node.text == "} else {":
            taken, rest = rest, []
        elif test is None or test.name != name or (test.is_unsigned and (whole.low < 0 or test.number < 0)):
            yield Branch(1, 0, ())
            return
        else:
            pieces = [piece for branch in rest for piece in _cut(branch, test.number)]
            taken = [branch for branch in pieces if COMPARE[test.relation](branch.low, test.number)]
            rest = [branch for branch in pieces if branch not in taken]
        for branch in taken:
            yield from _split_inside(node.inner or [], name, branch)
    yield from rest


def _split_inside(code: Sequence[Node], name: str, branch: Branch) -> Iterator[Branch]:
    """Yield the branches of the lines for some numbers, by the tests of these among a few plain lines."""
    for index, node in enumerate(code[: _MAX_AROUND + 1]):
        tree = condition_of(node.text) if node.text.endswith(") break;") else NOTHING
        number = number_of(tree.args[1]) if tree.op in COMPARE and tree.args[0] == leaf(name) else None
        if number is not None:
            before = [replace(line) for line in code[:index]]
            for piece in _cut(branch, number):
                if COMPARE[tree.op](piece.low, number):
                    yield piece._replace(code=[*before, Node("break;", node.places)])
                else:
                    yield from _split_inside([*before, *code[index + 1 :]], name, piece)
            return
        if not _are_plain([node], 1) or name in set_names(node.text):
            break
    start, end = _find_chain(code, name)
    if start == end:
        yield branch._replace(code=code)
    for part in _split(code[start:end], name, branch) if start < end else ():
        around = [replace(line) for line in code[:start]], [replace(line) for line in code[end:]]
        yield part._replace(code=[*around[0], *part.code, *around[1]])


def _find_chain(code: Sequence[Node], name: str) -> tuple[int, int]:
    """Return the beginning and the end of the comparisons of a variable among a few plain lines; equal ones if there are none."""
    for start, node in enumerate(code[: _MAX_AROUND + 1]):
        test = test_of(node)
        if test is not None and test.name == name:
            end = start + len(chain_of(list(code), start))
            needs = names_of(code[end:]) & set_in(code[start:end])
            return (start, end) if _are_plain(code[end:], _MAX_AROUND - start) and not needs else (0, 0)
        if not _are_plain([node], 1) or name in set_names(node.text):
            break
    return 0, 0


def _are_plain(code: Sequence[Node], most: int) -> bool:
    """Return whether lines are a few assignments."""
    return len(code) <= most and all(node.inner is None and step_of(node.text).op for node in code)


def key_of(branch: Branch) -> tuple[str, ...]:
    """Return the texts of the lines for some numbers, constants that no other line names first."""
    lines = list(walk(branch.code))
    counts = Counter(word for node in lines for word in node.own_names())
    early = [node for node in lines if is_constant(assigned(node)[1]) and counts[assigned(node)[0]] == 1]
    flat = not any(node.inner for node in lines)
    texts = [text for node in lines if node not in early or not flat for text in node.texts()]
    return (*(sorted(node.text for node in early) if flat else ()), *texts)


def split_by_tests(branch: Branch, name: str, uses: Mapping[str, int]) -> list[Branch]:
    """Return a branch in parts, such that their lines need no test of the variable; ``uses`` counts the words of the body."""
    tests = {test for tree in trees_of(branch.code) if (test := _equality(tree, name)) is not None}
    parts = [branch]
    if any(node.inner is not None for node in branch.code):
        return parts
    for number in sorted(number for number in tests if branch.low <= number <= branch.high)[:_MAX_TESTS]:
        parts = [piece for part in parts for piece in _cut(part, number)]
    return [part._replace(code=_for_numbers(branch.code, name, part, uses)) for part in parts]


def leave_before(name: str, least: int, most: int, *groups: Sequence[Branch]) -> list[Node]:
    """Return a condition around the lines for some numbers, which all leave a loop; nothing where that would be no clearer.

    ``least`` and ``most`` are the limits of the variable.
    """
    if len(groups) != 1 or len(groups[0]) > _MAX_TESTS:
        return []
    code = groups[0][0].code
    if code[-1].text != "break;" or not _are_plain(code[:-1], _MAX_AROUND):
        return []
    tests = [
        f"{name} == {low}" if low == high else f"{name} < {high + 1}" if low == least else f"{name} > {low - 1}"
        for low, high, _ in groups[0]
        if low in (high, least) or high == most
    ]
    if len(tests) < len(groups[0]):
        return []
    places = places_of(*(node for branch in groups[0] for node in branch.code))
    head = f"if ({' || '.join(tests)})"
    return [Node(f"{head} break;", places)] if len(code) == 1 else [Node(f"{head} {{", places, list(code), Line("}"))]


def _equality(tree: Tree, name: str) -> int | None:
    """Return the number that a test compares a variable with for equality."""
    return number_of(tree.args[1]) if tree.op in ("==", "!=") and tree.args[0] == leaf(name) else None


def _for_numbers(code: Sequence[Node], name: str, part: Branch, uses: Mapping[str, int]) -> list[Node]:
    """Return lines for some numbers, without tests that always or never hold for these."""

    def rule(tree: Tree) -> Tree | None:
        number = number_of(tree.args[1]) if tree.op in COMPARE and tree.args[0] == leaf(name) else None
        if number is None or (part.low < number < part.high and tree.op in ("==", "!=")):
            return None
        ends = {COMPARE[tree.op](end, number) for end in (part.low, part.high)}
        if len(ends) > 1 or (number in (part.low, part.high) and part.low < part.high and tree.op in ("==", "!=")):
            return None
        return TRUE if ends.pop() else FALSE

    lines = [replace(node) for node in code]
    change_lines(lines, rule)
    for node in list(lines):
        flag, value = assigned(node)
        inside = sum(re.findall(r"\w+", line.text).count(flag) for line in walk(lines)) if flag else 0
        if value in (TRUE, FALSE) and inside == uses[flag] and len(lines) > 1:
            lines.remove(node)
            change_lines(lines, {leaf(flag): value}.get, node.places)
    change_lines(lines, partial(rewritten, rules={"true ? A : B": "A", "false ? A : B": "B", "0 | A": "A"}))
    for node in lines:
        node.text = node.text.removeprefix("if (true) ")
    end = next((n for n, node in enumerate(lines, 1) if JUMP.match(node.text)), len(lines))
    kept = (node for node in lines[:end] if not node.text.startswith("if (false) "))
    return [node for node in kept if assigned(node)[1] != leaf(assigned(node)[0] or 0)]


def _cut(branch: Branch, number: int) -> list[Branch]:
    parts = (
        (branch.low, min(branch.high, number - 1)),
        (max(branch.low, number), min(branch.high, number)),
        (max(branch.low, number + 1), branch.high),
    )
    return [Branch(low, high, ()) for low, high in parts if low <= high]
