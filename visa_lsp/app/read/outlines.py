"""Moves the bodies of library functions that a compiler has inlined out of a kernel, into functions of their own.

A branch is such a body if it has the constants of one, gives one variable its value, and does nothing else. Equal
bodies become one function.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.read.code_lines import (
    Node,
    chain_of,
    count_of,
    lists_of,
    names_of,
    places_of,
    set_in,
    texts_of,
    trees_of,
    walk,
    words_without_trees,
)
from visa_lsp.app.read.names import c_type
from visa_lsp.app.read.shape import Shaper, own_level
from visa_lsp.app.read.tree import WORD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.read.code_lines import Body
    from visa_lsp.app.read.liveness import Liveness

_MIN_LINES: Final = 6
_INPUTS: Final = ("x", "y", "z")
_NUMBERS: Final = re.compile(r"(?<![\w.])\d[\d.]*(?:e[-+]\d+)?f?\b")
_JUMPS: Final = re.compile(r"\b(?:goto|return|continue)\b|:;$")
_BREAKS: Final = re.compile(r"\bbreak;")
_MEMORY: Final = re.compile(r"const_base|symbol\(")
_DIVISOR: Final = re.compile(r"recip\(\(float\)\(double\)(\w+)\)")
_COUNTER: Final = re.compile(r"for \((\w+) = ")
_CALLS: Final = re.compile(  # of values alone
    r"(?:fma|fmax|fmin|fabs|abs|min|max|sqrt|rsqrt|recip|exp2|log2|sin|cos|trunc|floor|rint|mul_hi|carry|borrow|clz|scaled_divide\w*|quotient"
    r"|remainder|symbol|rotate_\w+|convert_\w+|as_\w+)\(\)"
)
# Names of functions with the constants that only they have, or text of a loop; the first that fits counts.
_FUNCTIONS: Final = (
    ("log2", ("0.20825222f",)),
    ("log10", ("0.06269017f",)),
    ("log", ("0.13984437f", "0.20010406f")),
    ("tan", ("0.009716849f", "0.0004837513f")),
    ("cos", ("0.31830987f", "1.5707964f", "2.6057805e-06f")),
    ("sin", ("0.31830987f", "2.6057805e-06f")),
    ("pow", ("3.1946183e-05f", "0.69311523f")),
    ("modulo", ("3.552713678800501e-15", "%")),
    ("quotient", ("3.552713678800501e-15", "/")),
    ("modulo", ("= 63;;", "remainder(")),
)


class Outline(Struct):
    """A function: its name, the types of its result and of its inputs ``x``, ``y``, ``z``, and its lines."""

    name: str
    type: str
    inputs: tuple[str, ...]
    code: list[Node]

    @property
    def head(self) -> str:
        """Its declaration."""
        parameters = ", ".join(f"{word} {name}" for word, name in zip(self.inputs, _INPUTS, strict=False))
        return f"static {self.type} {self.name}({parameters})"


def move_out(body: Body, kernel: str) -> list[Outline]:
    """Return the functions that were inlined in a body, named after the kernel; lines call them in their place."""
    functions: dict[tuple[str, ...], Outline] = {}
    live = Shaper(body).live()
    moved: set[int] = set()  # lists of lines
    for code in list(lists_of(body.code)):
        for index in range(len(code) - 1, -1, -1):
            chain = chain_of(code, index)
            lines = list(walk(chain))
            if (
                id(code) in moved
                or len(lines) < _MIN_LINES
                or code[index].continues
                or not code[index].text.startswith("if (")
            ):
                continue
            name, parts = _function_of(lines), _results_and_inputs(body, chain, live)
            if not name or parts is None or not _is_value(chain):
                continue
            result, inputs = parts
            moved |= {id(inner) for node in chain for inner in lists_of(node.inner or [])}
            new = [_renamed(node, dict(zip(inputs, _INPUTS, strict=False))) for node in chain]
            types = tuple(body.type_name(word) for word in inputs)
            key = (name, *types, *_canonical(new, body))
            own = functions.get(key)
            if own is None:
                number = sum(key[0] == name for key in functions)
                whole = f"{kernel}_{name}{f'_{number + 1}' if number else ''}"
                new.append(Node(f"return {result};"))
                own = functions[key] = Outline(whole, c_type(body.kinds[result]), types, new)
            call = f"{result} = {own.name}({', '.join(inputs)});"
            code[index : index + len(chain)] = [Node(call, places_of(*lines))]
    return list(functions.values())


def _function_of(lines: Sequence[Node]) -> str:
    """Return the library function whose constants lines have; empty if there is none."""
    text = "\n".join(node.text for node in lines)
    words = set(_NUMBERS.findall(text))
    return next(
        (
            name
            for name, marks in _FUNCTIONS
            if all(mark in words or (not mark[0].isdigit() and mark in text) for mark in marks)
        ),
        "",
    )


def _results_and_inputs(body: Body, chain: list[Node], live: Liveness) -> tuple[str, list[str]] | None:
    """Return the variable that a chain of branches sets, and those that it needs; None if it is no function of numbers."""
    before, after = live.before.get(id(chain[0])), live.after.get(id(chain[0]))
    if before is None or after is None or chain[-1].text != "} else {":
        return None
    used, sets = names_of(chain), set_in(chain) & body.types.keys()
    results = sets & after
    counters = {hit[1] for node in walk(chain) if (hit := _COUNTER.match(node.text)) is not None}
    before -= {word for word in counters if count_of(rf"\b{word}\b", chain) == body.uses(word)}
    scalars = [word for word in dict.fromkeys(WORD.findall("\n".join(texts_of(chain)))) if word in body.scalars]
    divisor = _DIVISOR.search("\n".join(texts_of(chain)))
    inputs = [*sorted((before & used) - (results - before)), *scalars]
    inputs.sort(key=lambda word: divisor is not None and word == divisor[1])
    if len(results) != 1 or len(inputs) > len(_INPUTS) or results & set(inputs):
        return None
    numbers = all(word in body.kinds or word in body.scalars for word in (*inputs, *results))
    return (next(iter(results)), inputs) if numbers and not sets & set(inputs) else None


def _is_value(chain: list[Node]) -> bool:
    """Return whether a chain of branches only computes: no memory but constants, no other lanes, no way out."""
    if words_without_trees(chain) - {"else", "break", "do", "for"} or any(
        _JUMPS.search(text) for text in texts_of(chain)
    ):
        return False
    if any(_BREAKS.search(text) for node in own_level(chain) for text in node.texts()):
        return False
    for tree in trees_of(chain):
        if tree.op in ("[]", "u&") or (tree.op == "u*" and not _MEMORY.search(str(tree))):
            return False
        if tree.op.endswith("()") and not _CALLS.fullmatch(tree.op):
            return False
    return "lane" not in names_of(chain)


def _renamed(node: Node, names: dict[str, str]) -> Node:
    """Return a line with those inside of it, with other names."""
    pattern = re.compile(r"(?<![.\w])(" + "|".join(map(re.escape, names)) + r")\b")
    for line in walk([node]):
        line.change(lambda text: pattern.sub(lambda hit: names[hit[1]], text))
    return node


def _canonical(code: list[Node], body: Body) -> Iterator[str]:
    """Yield the texts of lines with their variables numbered in order."""
    numbers: dict[str, str] = {}

    def number(hit: re.Match[str]) -> str:
        word = hit[0]
        return numbers.setdefault(word, f"{body.type_name(word)}{len(numbers)}") if word in body.types else word

    for text in texts_of(code):
        yield WORD.sub(number, text)
