"""Moves the bodies of library functions that a compiler has inlined out of a kernel, into functions of their own.

A branch is such a body if it has the constants of one, gives one variable its value, and does nothing else. Equal
bodies become one function.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

from visa_lsp.app.read.code_lines import (
    Node,
    assigned,
    chain_of,
    change_lines,
    count_of,
    lists_of,
    names_of,
    places_of,
    set_in,
    setters,
    texts_of,
    trees_of,
    walk,
    words_without_trees,
)
from visa_lsp.app.read.doubles import HOLDERS
from visa_lsp.app.read.names import c_type
from visa_lsp.app.read.shape import PURE, Shaper, own_level
from visa_lsp.app.read.tree import COMPONENTS, WORD, Tree, in_place_of, leaf, parse
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.read.code_lines import Body
    from visa_lsp.app.read.liveness import Liveness
    from visa_lsp.isa.types import DataType

_MIN_LINES: Final = 6
_INPUTS: Final = ("x", "y", "z", "w")
_NUMBERS: Final = re.compile(r"(?<![\w.])(?:0x[0-9a-f]+|\d[\d.]*(?:e[-+]\d+)?f?)\b")
_JUMPS: Final = re.compile(r"\b(?:goto|return|continue)\b|:;$")
_BREAKS: Final = re.compile(r"\bbreak;")
_MEMORY: Final = re.compile(r"const_base|symbol\(")
_DIVISOR: Final = re.compile(r"recip\(\(float\)(?:\(double\))?(\w+(?:\(\d\))?)\)")
_COUNTER: Final = re.compile(r"for \((\w+) = ")
_CALLS: Final = re.compile(  # of values alone
    r"(?:fma|fmax|fmin|fabs|abs|min|max|sqrt|rsqrt|recip|exp2|log2|sin|cos|trunc|floor|rint|mul_hi|carry|borrow|clz|scaled_divide|approx_divide|quotient"
    r"|remainder|symbol|rotate_\w+|convert_\w+|as_\w+)\(\)"
)
_CARRY: Final = "{ uint bit_ = "  # a sum or a difference with the bit that leaves it
_OF_INTEGERS: Final = ("modulo", "quotient")
_RESULTS: Final = 4  # of a function that scales a vector


class _Sign(NamedTuple):
    """The name of a function, and what its body alone has: constants, or text of a loop.

    At most ``before`` lines before its branches belong to it. ``results`` is the number of its results; 0: it changes its inputs.
    """

    name: str
    marks: tuple[str, ...]
    before: int = 0
    results: int = 1


# The first that fits counts.
_FUNCTIONS: Final = (
    _Sign("pow", ("0.0082917195f", "3.1946183e-05f"), 28),
    _Sign("log2", ("0.20825222f",)),
    _Sign("log10", ("0.06269017f",)),
    _Sign("log", ("0.13984437f", "0.20010406f")),
    _Sign("tan", ("0.009716849f", "0.0004837513f"), 2),
    _Sign("cos", ("0.31830987f", "1.5707964f", "2.6057805e-06f"), 2),
    _Sign("sin", ("0.31830987f", "2.6057805e-06f"), 2),
    _Sign("pow", ("0.0008941205f", "0.2402265f")),
    _Sign("cosh_or_sinh", ("3.1946183e-05f", "0.008366675f")),
    _Sign("atan2", ("2.3561945f", "0.82336295f")),
    _Sign("tanh", ("0.0009227935f", "19.061546f")),
    _Sign("exp10", ("1.4320989e-08f", "0x4217b818"), 10),
    _Sign("expm1", ("2.3197575e-09f", "0.0014098851f"), 10),
    _Sign("sincos", ("0.31830987f", "2.6057805e-06f"), 2, 2),
    _Sign("normalize", ("7.7371252e+25f", "rsqrt("), 0, 0),
    _Sign("length", ("7.7371252e+25f", "2.7105054e-20f", "sqrt("), 1),
    _Sign("tan", ("0.00021164021228814784",), 6),
    _Sign("sincos", ("3.968374318722162e-09",), 6, 2),
    _Sign("cos", ("3.968374318722162e-09", "1.5707963267948966"), 6),
    _Sign("sin", ("3.968374318722162e-09", "4.930380657631324e-32"), 4),
    _Sign("pow", ("6.223015277861142e-61", "1.6069380442589903e+60"), 24),
    _Sign("log1p", ("8.77779851006591e+304",), 4),
    _Sign("log", ("0.2000003665949424", "0.1428756883852146"), 2),
    _Sign("log2", ("3.768874985636099e-07",), 4),
    _Sign("log10", ("0.10857375315018218",), 4),
    _Sign("exp2", ("0.009618142269653759", "0.0013333417185814622"), 12),
    _Sign("exp10", ("0.0023517968411397305",), 12),
    _Sign("exp", ("708.39624f", "7.004739485526721e-17"), 12),
    _Sign("atan2", ("2.001862183482302e-05", "1.2246467991473532e-16"), 6),
    _Sign("modulo", ("3.552713678800501e-15", "%")),
    _Sign("quotient", ("3.552713678800501e-15", "/")),
    _Sign("modulo", ("= 63;;", "remainder(")),
)


class Outline(Struct):
    """A function: its name, the type of its result, its parameters with their types, and its lines."""

    name: str
    type: str
    parameters: tuple[str, ...]
    code: list[Node]

    @property
    def head(self) -> str:
        """Its declaration."""
        return f"static {self.type} {self.name}({', '.join(self.parameters) or 'void'})"


class _Region(NamedTuple):
    """The lines of a function in a list: those before its branches, and the branches; its results, their type, and its inputs."""

    name: str
    before: list[Node]
    chain: list[Node]
    results: list[str]
    kind: DataType
    inputs: list[str]
    doubles: set[str]  # variables that hold the bits of doubles

    @property
    def type(self) -> str:
        """The type of all results together."""
        return c_type(self.kind) + (str(len(self.results)) if len(self.results) > 1 else "")


def move_out(body: Body, kernel: str) -> list[Outline]:
    """Return the functions that were inlined in a body, named after the kernel; lines call them in their place."""
    functions: dict[tuple[str, ...], Outline] = {}
    shaper = Shaper(body)
    live = shaper.live()
    moved: set[int] = set()  # lists of lines
    for code in list(lists_of(body.code)):
        for index in range(len(code) - 1, -1, -1):
            region = _region(body, code, index, live) if id(code) not in moved and index < len(code) else None
            if region is None:
                continue
            moved |= {id(inner) for node in region.chain for inner in lists_of(node.inner or [])}
            types = tuple(
                "double" if word in region.doubles else body.type_name(word) or "uint" for word in region.inputs
            )
            lines = _lines_of_function(body, region)
            key = (region.name, *types, *_canonical(lines, body))
            if key not in functions:
                number = sum(other[0] == region.name for other in functions)
                name = f"{kernel}_{region.name}{f'_{number + 1}' if number else ''}"
                parameters = tuple(f"{word} {own}" for word, own in zip(types, _INPUTS, strict=False))
                functions[key] = Outline(name, region.type, parameters, lines)
            code[index : index + len(region.chain)] = _lines_of_call(body, region, functions[key].name)
            code[:] = [node for node in code if not any(node is line for line in region.before)]
    if functions:
        shaper.drop_dead()  # flags that only functions need
    return list(functions.values())


def _lines_of_function(body: Body, region: _Region) -> list[Node]:
    """Return the lines of a region with the names of a function's inputs, and variables of its own for the results."""
    names = dict(zip(region.inputs, _INPUTS, strict=False))
    names |= {word: body.copy_of(word) for word in region.results if word not in names}
    lines = [*region.before, *region.chain]
    for word in region.inputs:
        if word.endswith(")"):
            change_lines(lines, in_place_of(parse(word), leaf(names[word])))
        if word in region.doubles:
            change_lines(lines, partial(_as_double, word, body.type_name(word)))
    lines = [_renamed(node, names) for node in lines]
    values = [
        names[word] if body.kinds.get(word) is region.kind else f"as_double({names[word]})" for word in region.results
    ]
    whole = f"({region.type}){{{', '.join(values)}}}" if len(values) > 1 else values[0]
    return [*lines, Node(f"return {whole};")]


def _lines_of_call(body: Body, region: _Region, function: str) -> list[Node]:
    """Return the lines that call a function in place of a region, and set the variables that are its results."""
    places, results = places_of(*walk([*region.before, *region.chain])), region.results
    arguments = [f"as_double({word})" if word in region.doubles else word for word in region.inputs]
    is_plain = len(results) == 1 and body.kinds.get(results[0]) is region.kind
    target = results[0] if is_plain else body.new_vector(region.type)
    lines = [Node(f"{target} = {function}({', '.join(arguments)});", places)]
    for word, part in zip(results, COMPONENTS if len(results) > 1 else ("",), strict=False) if not is_plain else ():
        value = f"{target}{part}"
        is_bits = body.kinds.get(word) is not region.kind
        lines.append(Node(f"{word} = {f'as_{body.type_name(word)}({value})' if is_bits else value};", places))
    return lines


def _region(body: Body, code: list[Node], index: int, live: Liveness) -> _Region | None:
    """Return the region of a library function whose branches begin at a line: the one with the fewest inputs."""
    chain = chain_of(code, index)
    lines = list(walk(chain))
    if len(lines) < _MIN_LINES or not code[index].text.startswith("if (") or not _is_value(body, chain):
        return None
    text, before = "\n".join(node.text for node in lines), list[Node]()
    most = max((sign.before for sign in _FUNCTIONS if any(mark in text for mark in sign.marks)), default=-1)
    between: set[str] = set()  # variables that other lines change
    best: _Region | None = None
    for node in (None, *code[:index][::-1]) if most >= 0 else ():
        if node is not None:
            word = assigned(node)[0]
            uses = count_of(rf"\b{word}\b", [*before, *chain, node]) if word else 0
            if not word or uses != body.uses(word) or not _is_value(body, [node]):
                between |= set_in([node])
                if node.inner is not None or len(between) > most:
                    break
                continue
            before.insert(0, node)
        parts = _results_and_inputs(body, before, chain, live)
        if parts is not None and not between & set(parts[2]) and (best is None or len(parts[2]) < len(best.inputs)):
            name = _function_of([*before, *lines], len(before), parts[0], parts[2])
            best = (
                _Region(name, list(before), chain, *parts, _doubles(body, name, parts[0], parts[2])) if name else best
            )
            if best is not None and not best.doubles and best.kind is ty.DF:
                best = best._replace(kind=body.kinds.get(best.results[0], best.kind))
        if len(before) >= most:
            break
    return _with_flags(body, code[:index], best) if best is not None else None


def _with_flags(body: Body, above: list[Node], region: _Region) -> _Region:
    """Return a region that sets the flags among its inputs itself, where their values are tests of others that have not changed."""
    for number, node in enumerate(above):
        name, value = assigned(node)
        others = value.names() & body.types.keys()
        is_flag = name in region.inputs and body.kinds.get(name) is ty.BOOL and len(setters(body.code, name)) == 1
        if is_flag and others <= set(region.inputs) - {name} and others.isdisjoint(set_in(above[number + 1 :])):
            copy = Node(node.text, node.places)
            region = region._replace(
                before=[copy, *region.before], inputs=[word for word in region.inputs if word != name]
            )
    return region


def _doubles(body: Body, name: str, results: list[str], inputs: list[str]) -> set[str]:
    """Return the variables that hold the bits of doubles, where a function is one of doubles."""
    holders = {word for word in (*results, *inputs) if body.type_name(word) in HOLDERS}
    is_integer = name in _OF_INTEGERS and all(word in body.kinds for word in holders)
    return set() if is_integer else holders & set(inputs)


def _result_kind(body: Body, word: str, inputs: list[str]) -> DataType | None:
    """Return the type of a result: that of a double where a function of doubles gives its bits."""
    kind = body.kinds.get(word)
    is_bits = body.type_name(word) in HOLDERS and any(
        body.type_name(name) in ("double", "uint2", "int2") for name in inputs
    )
    return ty.DF if is_bits else kind


def _as_double(word: str, kind: str, tree: Tree) -> Tree | None:
    """Return a tree that takes a double instead of its words."""
    bits = Tree(f"as_{kind}()", (leaf(word),))
    if tree == Tree("as_double()", (leaf(word),)):
        return leaf(word)
    if tree.op in COMPONENTS and tree.args == (leaf(word),):
        return Tree(tree.op, (bits,))
    return bits if tree == leaf(word) and kind in ("ulong", "long") else None


def _function_of(lines: Sequence[Node], count: int, results: list[str], inputs: list[str]) -> str:
    """Return the library function whose constants lines have, of which ``count`` are before its branches; empty if there is none."""
    given = 0 if len(results) > 1 and set(results) <= set(inputs) else len(results)
    text = "\n".join(node.text for node in lines)
    words = set(_NUMBERS.findall(text))
    return next(
        (
            sign.name
            for sign in _FUNCTIONS
            if count <= sign.before
            and given == sign.results
            and all(mark in words or (not mark[0].isdigit() and mark in text) for mark in sign.marks)
        ),
        "",
    )


def _results_and_inputs(
    body: Body, before: list[Node], chain: list[Node], live: Liveness
) -> tuple[list[str], DataType, list[str]] | None:
    """Return the variables that a region sets, their type, and those that it needs; None if it is no function of numbers."""
    alive, after = live.before.get(id(chain[0])), live.after.get(id(chain[0]))
    if alive is None or after is None:
        return None
    used, sets = names_of(chain), set_in(chain) & body.types.keys()
    results = sorted(sets & after)
    is_whole = chain[-1].text == "} else {"
    # Variables of lines that set them whole, which have nothing from before.
    counters = {hit[1] for node in walk(chain) if (hit := _COUNTER.match(node.text)) is not None}
    counters |= {
        word for node in walk(chain) if node.text.startswith(_CARRY) for word in names_of([node]) & body.types.keys()
    }
    counters |= _tables(body, chain)
    inner = {word for word in counters if count_of(rf"\b{word}\b", chain) == body.uses(word)}
    alive, results = alive - inner, [word for word in results if word not in inner]
    own = {assigned(node)[0] for node in before}
    text = "\n".join(texts_of([*before, *chain]))
    scalars = [word for word in dict.fromkeys(WORD.findall(text)) if word in body.scalars]
    needed = (alive & used) | (names_of(before) & body.types.keys())
    divisor = _DIVISOR.search(text)
    inputs = [*sorted(needed - own - (set() if not is_whole else set(results) - alive)), *scalars]
    calls = [str(tree) for tree in trees_of([*before, *chain]) if tree.op in PURE and tree.args[0].op.isdecimal()]
    inputs += dict.fromkeys(calls)
    inputs.sort(key=lambda word: divisor is not None and word == divisor[1])
    if not all(word in body.kinds or body.type_name(word) in HOLDERS for word in results):
        return None
    changed = sets & set(inputs)
    kinds = {_result_kind(body, word, inputs) for word in results}
    kind = kinds.pop() if len(kinds) == 1 else None
    if changed - set(results) or kind is None or not 0 < len(results) <= _RESULTS or len(inputs) > len(_INPUTS):
        return None
    if not is_whole and set(results) != set(inputs):
        return None
    if any(body.type_name(word) in HOLDERS for word in changed):
        return None
    types = (*HOLDERS, "float2", "float3", "float4")
    numbers = all(
        word in body.kinds or word in body.scalars or word in calls or body.type_name(word) in types for word in inputs
    )
    return (results, kind, inputs) if numbers else None


def _tables(body: Body, chain: list[Node]) -> set[str]:
    """Return the arrays that only a chain of branches names, and that take constants from memory."""
    targets = {
        tree.args[0].op for tree in trees_of(chain) if tree.op == "memcpy()" and _MEMORY.search(str(tree.args[1]))
    }
    return {name for name in targets & body.types.keys() if count_of(rf"\b{name}\b", chain) == body.uses(name)}


def _is_value(body: Body, chain: list[Node]) -> bool:
    """Return whether a chain of branches only computes: no memory but constants, no other lanes, no way out."""
    tables = _tables(body, chain)
    plain = [node for node in walk(chain) if not node.text.startswith(_CARRY)]
    words = words_without_trees([replace(node, inner=None) for node in plain])
    if words - {"else", "break", "do", "for"} or any(_JUMPS.search(text) for text in texts_of(chain)):
        return False
    if any(_BREAKS.search(text) for node in own_level(chain) for text in node.texts()):
        return False
    for tree in trees_of(chain):
        if tree.op in ("[]", "memcpy()") and tree.args[0].op in tables:
            continue
        if tree.op in ("[]", "u&") or (tree.op == "u*" and not _MEMORY.search(str(tree))):
            return False
        is_given = tree.op in PURE and tree.args[0].op.isdecimal()  # by the launch: an input
        if tree.op.endswith("()") and not is_given and not _CALLS.fullmatch(tree.op):
            return False
    return "lane" not in names_of(chain)


def _renamed(node: Node, names: dict[str, str]) -> Node:
    """Return a line with those inside of it, with other names."""
    pattern = re.compile(r"(?<![.\w])(" + "|".join(map(re.escape, names)) + r")(?!\w)")
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
