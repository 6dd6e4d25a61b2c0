"""Finds the divisor of a multiplication by a reciprocal, as compilers write divisions by constants."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.read.code_lines import (
    Body,
    Node,
    assigned,
    backwards,
    chain_of,
    change_line,
    change_lines,
    condition_of,
    count_of,
    lists_of,
    places_of,
    set_counts,
    set_form,
    set_in,
    setters,
    steps_of,
    trees_of,
    walk,
)
from visa_lsp.app.read.expressions import text_of
from visa_lsp.app.read.plain_forms import split_constant
from visa_lsp.app.read.shape import PURE, reads_memory
from visa_lsp.app.read.tree import (
    INTEGERS,
    NOTHING,
    Parts,
    Tree,
    filled,
    form,
    in_place_of,
    is_set,
    leaf,
    linear,
    number_of,
    rewritten,
    step_of,
    sum_of,
    terms,
    uncast,
    without_casts,
)
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from visa_lsp.isa.types import DataType


class HighHalf(Struct, frozen=True):
    """The upper half of the product of a variable and a number, to which the variable is added so many times: -1, 0 or 1."""

    value: Tree
    factor: int
    is_unsigned: bool
    added: int


def high_half(tree: Tree, values: Mapping[str, Tree] | None = None) -> HighHalf | None:
    """Return a value as the upper half of a product; None for another value. ``values`` are those of variables."""
    parts = terms(tree.args[0] if (minus := form("A - V", tree)) else tree)
    hit = next((hit for part in parts if (hit := form("mul_hi(V, N)", part))), Parts())
    factor, others = number_of(hit["N"]), [_bare(part) for part in parts if part.op != "mul_hi()"]
    wholes = (hit["V"], (values or {}).get(hit["V"].op, NOTHING))
    added = others in [list(map(_bare, terms(_bare(whole)))) for whole in wholes]
    if factor is None or (others and not added) or (minus and (others or minus["V"] != hit["V"])):
        return None
    return HighHalf(hit["V"], factor, hit["N"].op.endswith("u"), -1 if minus else int(added))


def _bare(tree: Tree) -> Tree:
    """Return a value whose lower 32 bits are those of another one."""
    return _bare(tree.args[0]) if tree.op in INTEGERS else tree


def find_divisor(half: HighHalf, shift: int, *, signed: bool) -> int:
    """Return the number that every value is divided by, toward zero; 0 if there is none.

    The upper half of a product with ``factor`` is shifted; for signed values, 1 is added to a negative result.
    """
    factor, whole = half.factor + (half.added << 32), 1 << 32 + shift
    if not 0 < abs(factor) < 1 << 32 or (not signed and (half.added or factor < 0)):
        return 0
    divisor = -(-whole // abs(factor))
    error = abs(factor) * divisor - whole
    most = ((2 if signed else 1) << shift) - (factor < 0)  # less, because the least value has no negative
    is_exact = divisor > 1 and 0 < error <= most
    return (divisor if factor > 0 else -divisor) if is_exact else 0


_HALVES: Final = {
    "(V < 0 ? V + C : V) >> K": ty.D,
    "(V >= 0 ? V : V + C) >> K": ty.D,
    "(int)((int)V >= 0 ? V : V + C) >> K": ty.UD,
}
_REMAINDERS: Final = {
    "-D * (V / D) + V": "V % D",
    "V / D * -D + V": "V % D",
    "-D * (uint)(V / D) + V": "(uint)(V % D)",
    "(uint)(V / D) * -D + V": "(uint)(V % D)",
    "-D * ((uint)V / D) + V": "(uint)V % D",
    "(uchar)(-D * ((uint)(uchar)V / D) + V)": "(uchar)V % D",
}


def as_quotient(tree: Tree, type_of: Callable[[Tree], DataType | None]) -> Tree | None:
    """Write a multiplication of an unsigned value as a quotient, and what a division leaves as a remainder."""
    hit = form("X >> K", tree)
    half, shift = high_half(hit["X"]), number_of(hit["K"])
    if half is not None and shift is not None:
        divisor, own = find_divisor(half, shift, signed=False), type_of(half.value)
        is_unsigned = own in (ty.UD, ty.UW, ty.UB)
        if divisor and (is_unsigned or (own is ty.D and half.is_unsigned)):
            return Tree("/", (half.value if is_unsigned else Tree("(uint)", (half.value,)), leaf(divisor)))
    for pattern, kind in _HALVES.items():
        hit = form(pattern, tree)
        moved, shift = number_of(hit["C"]), number_of(hit["K"])
        if moved and shift and moved + 1 == 1 << shift and type_of(hit["V"]) is kind:
            return Tree("/", (hit["V"] if kind is ty.D else Tree("(int)", (hit["V"],)), leaf(moved + 1)))
    for pattern, value in _REMAINDERS.items():
        hit = form(pattern, tree)
        if number_of(hit["D"]) is not None and type_of(hit["V"]) is not None:
            return filled(value, hit)
    return None


def join_quotient(code: list[Node], node: Node, half: HighHalf) -> None:
    """Write a quotient whose parts have variables of their own, which lines add: the upper half of a line, shifted, and its sign."""
    shifted = [(line, hit) for line in code if (hit := set_form(line, "Q >> K", Q=leaf(node.assigns)))]
    signs = [line for line in code if set_form(line, "(uint)Q >> 31", Q=leaf(node.assigns))]
    if len(shifted) != 1 or len(signs) != 1:
        return
    (whole, hit), sign = shifted[0], signs[0]
    parts = [leaf(whole.assigns), leaf(sign.assigns)]
    divisor = find_divisor(half, number_of(hit["K"]) or 0, signed=True)

    def without_sign(tree: Tree) -> Tree | None:
        own = terms(tree)
        is_sum = tree.op == "+" and all(own.count(part) == 1 for part in parts)
        return sum_of([part for part in own if part != parts[1]]) if is_sum else None

    uses = [count_of(rf"\b{part.op}\b", code) for part in parts]
    trees = [tree for step in steps_of(line for line in code if line is not sign) for tree in step.trees]
    is_left = any(parts[1].op in tree.change(without_sign).names() for tree in trees)
    if divisor > 0 and uses[0] == uses[1] and not is_left and all(map(str.isidentifier, (part.op for part in parts))):
        change_lines(code, without_sign)
        text = str(Tree("/", (half.value, leaf(divisor))))
        whole.text, whole.range = f"{whole.assigns} = {text};", text_of(text, 8, ty.D)
        whole.places = places_of(node, whole, sign)
        node.text = sign.text = ""


def join_remainders(body: Body) -> None:
    """Write what a division by a number leaves as a remainder, where the quotient has a variable."""
    for name, value in _set_once(body).items():
        hit = form("V / D", value)
        number = number_of(hit["D"])
        if number is not None and not hit["V"].args and _is_fixed(body, hit["V"].op) and _is_fixed(body, name):
            parts = {"Q": leaf(name), "V": hit["V"], "D": hit["D"]}
            rules = dict.fromkeys(("-D * Q + V", "Q * -D + V", "V - Q * D", "V - D * Q"), "V % D")
            change_lines(body.code, partial(rewritten, rules=rules, **parts))


def divide_by_counters(body: Body) -> None:
    """Write quotients and remainders by a counter from 1 on with the operators of C, which has them for such divisors."""
    rules = {"remainder(A, D)": "A % D", "quotient(A, D)": "A / D"}
    for node in walk(body.code):
        step, inner = step_of(node.text), node.inner or []
        if step.words[:2] != ("for (", " = ") or step.words[-1] != "++) {":
            continue
        name, start = step.target, number_of(step.trees[1])
        if start and start > 0 and name == step.value and not setters(inner, name.op):
            change_lines(inner, partial(rewritten, rules=rules, D=name))


def join_halvings(body: Body) -> None:
    """Write a shift of a value that is moved toward zero first as a division by a power of two."""
    for code, index in backwards(body.code, 1):
        node, *others = chain_of(code, index)
        inner, rest = node.inner or [], code[index + 1 :]
        value = form("V < 0", condition_of(node.text))["V"]
        step = step_of(inner[0].text) if len(inner) == 1 and node.text.startswith("if (") else step_of("")
        if others or step.target != value or body.type_name(value.op) != "int":
            continue
        total = form("V + C", step.value, V=value)["C"] if step.op == "=" else step.value
        moved = 1 if step.op == "++" else number_of(total) if step.op in ("=", "+=") else None
        name, before = assigned(code[index - 1])
        if step.op == "=" and name == value.op:  # set again to what it holds and a number
            (rest_of_new, number), (rest_of_old, start) = split_constant(step.value), split_constant(before)
            moved = number - start if rest_of_new == rest_of_old else moved
        if moved is None or moved < 1 or moved & (moved + 1):
            continue
        shift = Tree(">>", (value, leaf((moved + 1).bit_length() - 1)))
        shifts = sum(tree == shift for tree in trees_of(rest))
        earliest = next((line for line in code if value.op in line.names), node)
        target, initial = assigned(earliest)
        # Set here and nowhere else, or an argument that nothing has named before.
        is_own = earliest is node or (target == value.op and target not in initial.names())
        word = rf"\b{value.op}\b"
        if is_own and shifts and shifts == count_of(word, rest) and count_of(word, code) == body.uses(value.op):
            change_lines(rest, in_place_of(shift, Tree("/", (value, leaf(moved + 1)))), places_of(node, *inner))
            del code[index]


MODE: Final = "set_cr0(cr0 ^ 48);"  # the other rounding of floats
_ESTIMATE: Final = "fma(recip((float)D), -3.5762787e-07f, recip((float)D))"
_QUOTIENT: Final = f"convert_uint((float)X * {_ESTIMATE})"
_REST: Final = f"{_ESTIMATE} * (fma(-(float)D, (float)Q, (float)X) + fma(-(float)(D - convert_uint((float)D)), (float)Q, (float)(X - convert_uint((float)X))))"
_SIGNED: Final = {
    "(magnitude(X) % magnitude(Y) + sign(X)) ^ sign(X)": "remainder(X, Y)",
    "sign(X) ^ ((magnitude(X) / magnitude(Y) + (sign(Y) ^ sign(X))) ^ sign(Y))": "quotient(X, Y)",
}
_CALLS: Final = {"/": "quotient()", "%": "remainder()", "quotient()": "quotient()", "remainder()": "remainder()"}
_WHOLE: Final = re.compile(r"(\d+)\.0f")
_STEPS: Final = 4  # reciprocal, estimate, quotient, and what the estimate misses


def join_divisions(body: Body, type_of: Callable[[Tree], DataType | None]) -> None:
    """Write the steps with floats by which compilers divide unsigned integers as a quotient or a remainder."""
    sets = _set_once(body)
    plain = {name: without_casts(value, INTEGERS) for name, value in sets.items()}
    values = {name: value for name, value in plain.items() if value.op in ("(float)", "abs()", "recip()", "fma()")}
    for code in lists_of(body.code):
        index = len(code) - _STEPS - 1
        while index > 0:
            index -= 1
            if code[index].text != MODE or code[index + _STEPS + 1].text != MODE:
                continue
            steps = [assigned(node) for node in code[index + 1 : index + _STEPS + 1]]
            expanded = [_expanded(value, values).change(_as_integer) for _, value in steps]
            name, rest = (leaf(steps[number][0]) for number in (2, 3))
            parts = form(_QUOTIENT, expanded[2]) if all(own for own, _ in steps) else Parts()
            if not parts or not form(_REST, expanded[3], **parts, Q=name):
                continue
            divisor = form("recip((float)D)", steps[0][1])["D"]
            number = _origin(steps[2][1].args[0].args[0].change(_as_integer), sets)
            if number is None or type_of(divisor) is not ty.UD:
                continue
            if type_of(number) is not ty.UD and (number_of(number) or -1) < 0:
                continue
            value = Tree("/", (number, divisor))
            places = places_of(*code[index : index + _STEPS + 2])
            code[index : index + _STEPS + 2] = [Node(f"{name} = {value};", places, range=text_of(str(value), 8, ty.UD))]
            division = {"Q": name, "D": divisor, "X": number}
            change_lines(code[index + 1 :], partial(_exact, division, rest, values))
            remainder = _expanded(filled("X % D", division), values)
            rests = {own for own, value in map(assigned, code) if own and _expanded(value, values) == remainder}
            change_lines(code[index + 1 :], partial(_corrected, rests, _expanded(divisor, values), values))
    _drop_corrections(body)


def _drop_corrections(body: Body) -> None:
    """Drop the corrections of quotients and rests for a rest that is not below the divisor: there is none."""
    divisors = _rests(body, _set_once(body))
    change_lines(body.code, partial(_compared_rest, divisors))
    for code, index in backwards(body.code) if divisors else ():
        flag, truth = assigned(code[index])
        if truth.op in ("false", "true") and flag in body.kinds and len(setters(body.code, flag)) == 1:
            places = code.pop(index).places
            change_lines(body.code, in_place_of(leaf(flag), truth), places)


def _as_integer(tree: Tree) -> Tree | None:
    """Write a float that is an integer as the conversion of one."""
    hit = _WHOLE.fullmatch(tree.op)
    return Tree("(float)", (leaf(hit[1]),)) if hit is not None else None


def _rests(body: Body, sets: Mapping[str, Tree]) -> dict[str, Tree]:
    """Return the variables that are what a division of unsigned integers leaves, with the divisors."""
    rests: dict[str, Tree] = {}
    for name, value in sets.items():
        hit = form("A % D", value)
        whole = form("A - Q * D", value)
        quotient = sets.get(whole["Q"].op, NOTHING)
        quotient = sets.get(quotient.op, quotient)  # the quotient may be a copy
        if whole and form("A / D", quotient, A=whole["A"], D=whole["D"]):
            hit = whole
        parts = [hit["A"], hit["D"]]
        is_unsigned = all(
            not part.args and (number_of(part) or body.kinds.get(part.op) in (ty.UD, ty.UW, ty.UB)) for part in parts
        )
        # What changes may be another number where it is compared, or subtracted from.
        if hit and is_unsigned and all(_is_fixed(body, part.op) for part in (parts if whole else parts[1:])):
            rests[name] = hit["D"]
    return rests


def _is_fixed(body: Body, name: str) -> bool:
    """Return whether a variable has one value: no line sets it, or only the first that names it does."""
    lines = [node for node in walk(body.code) if name in node.own_names()]
    sets = [node for node in lines if is_set(node.text, name)]
    return not sets or (len(sets) == 1 and sets[0] is lines[0])


def _compared_rest(rests: Mapping[str, Tree], tree: Tree) -> Tree | None:
    """Write a comparison of what a division leaves with the divisor as what it is."""
    if tree.op in (">=", "<") and rests.get(tree.args[0].op) == tree.args[1]:
        return leaf("false" if tree.op == ">=" else "true")
    return None


def _set_once(body: Body) -> dict[str, Tree]:
    """Return the values of the variables that lines assign once."""
    sets = [pair for node in walk(body.code) if (pair := assigned(node))[0]]
    counts = Counter(name for name, _ in sets)
    return {name: value for name, value in sets if counts[name] == 1}


def drop_zeros(tree: Tree, type_of: Callable[[Tree], DataType | None]) -> Tree | None:
    """Drop zeros that are added, and equal integers on both sides of a comparison."""
    if tree.op in ("+", "-") and len(tree.args) == 2 and tree.args[1] == leaf("0"):
        return tree.args[0]
    hit = form("(A * N + B) << K", tree)
    number, room = number_of(hit["N"]) or 0, 32 - (number_of(hit["K"]) or 0)
    if 1 << room - 1 <= number < 1 << room and type_of(tree) in (ty.D, ty.UD):  # the upper bits leave
        return filled("(A * N + B) << K", hit | {"N": Tree("u-", (leaf((1 << room) - number),))})
    is_integer = tree.op in ("==", "!=") and None not in (type_of(tree.args[0]), type_of(tree.args[1]))
    rules = {"A + B == B": "A == 0", "A + B != B": "A != 0"} if is_integer else {}
    return rewritten(tree, {"true ? A : B": "A", "false ? A : B": "B", "A + false": "A", "A & -false": "0"} | rules)


def join_signs(body: Body, type_of: Callable[[Tree], DataType | None]) -> None:
    """Write quotients and remainders of magnitudes with the sign put back as those of signed integers."""
    counts = set_counts(body.code)
    plain = {name: without_casts(value, INTEGERS) for name, value in _set_once(body).items() if counts[name] == 1}
    steps = (">>", "<<", "^", "/", "%", "abs()")
    values = {name: value for name, value in plain.items() if value.op in steps}

    for code in lists_of(body.code):
        for index, node in enumerate(code):
            if " ^ " in node.text:
                change_line(node, partial(_signed, type_of, counts, values, code[:index]))


def _signed(
    type_of: Callable[[Tree], DataType | None],
    counts: Mapping[str, int],
    values: Mapping[str, Tree],
    above: list[Node],
    tree: Tree,
) -> Tree | None:
    """Return a quotient or a remainder of signed integers; ``above`` are the lines above in the list of the tree's line."""
    if tree.op != "^":
        return None
    whole = _with_magnitudes(_expanded(tree, values))
    for pattern, value in _SIGNED.items():
        hit = form(pattern, whole)
        if not hit or any(map(reads_memory, hit.values())):
            continue
        # What lines set again has to be what it was where the steps of the division are set.
        changing = {name for part in hit.values() for name in part.names() if counts[name] > 1}
        steps, path = set[str](), tree.names() & values.keys()
        while path - steps:
            steps |= path
            path = {name for step in steps for name in values[step].names()} & values.keys()
        late = {name for name in steps if _expanded(leaf(name), values).names() & changing}
        if changing.isdisjoint(set_in(above)) and late <= {assigned(node)[0] for node in above}:
            return filled(value, {name: x if type_of(x) is ty.D else Tree("(int)", (x,)) for name, x in hit.items()})
    return None


def join_guards(body: Body) -> None:
    """Write a quotient or a remainder with its value for the divisor 0 as the function that has it."""

    def rule(tree: Tree) -> Tree | None:
        return _guarded(*tree.args) if tree.op == "?" else None

    change_lines(body.code, rule)
    for code, index in backwards(body.code, 1):
        chain = chain_of(code, index - 1)
        if len(chain) != 2 or chain[1].text != "} else {" or not all(node.inner for node in chain):
            continue
        without, sets = (dict(map(assigned, node.inner or [])) for node in chain)
        test = condition_of(chain[0].text)
        values = {name: _guarded(test, without.get(name, NOTHING), value) for name, value in sets.items()}
        is_whole = all(len(values) == len(node.inner or []) for node in chain)
        if is_whole and without.keys() == sets.keys() and None not in values.values():
            places = places_of(*walk(chain))
            lines = [Node(f"{name} = {value};", places) for name, value in values.items()]
            others = [Node("} else {", inner=lines, tail=chain[1].tail)]
            code[index - 1 : index + 1] = others if chain[0].continues else lines


def _guarded(test: Tree, without: Tree, value: Tree) -> Tree | None:
    """Return the call for a choice between a number and a quotient or a remainder; its divisor is 0 where the test holds."""
    total = form("V + N", value)
    added = number_of(total["N"]) if total else 0
    division = total["V"] if added else value
    call, divisor = _CALLS.get(division.op), form("Y == 0", test)["Y"]
    if call is None or added is None or number_of(without) != added - 1:
        return None
    part = form("X * N", uncast(division.args[1]))  # a multiple of a size, which is too small to leave 32 bits
    if uncast(divisor) not in (uncast(division.args[1]), part["X"] if part["X"].op in PURE else NOTHING):
        return None
    return Tree("+", (Tree(call, division.args), total["N"])) if added else Tree(call, division.args)


def _with_magnitudes(tree: Tree) -> Tree:
    """Return a value with names for signs and magnitudes: ``(S + X) ^ S`` is that of X, if S are the signs of its bits."""
    signs: dict[Tree, Tree] = {}

    def magnitude(part: Tree) -> Tree | None:
        if part.op == "abs()":
            return Tree("magnitude()", part.args)
        sign = form("E >> N", part.args[1]) if part.op == "^" else {}
        number = number_of(sign["N"]) if sign else None
        if number is None or number > 31:
            return None
        factor, rest = 1 << 31 - number, linear(part.args[0])
        rest.subtract([str(part.args[1])])
        rest.subtract({word: count * factor for word, count in linear(sign["E"]).items()})
        if any(rest.values()):
            return None
        value = sign["E"] if factor == 1 else Tree("*", (sign["E"], leaf(factor)))
        signs[part.args[1]] = Tree("sign()", (value,))
        return Tree("magnitude()", (value,))

    named = tree.change(magnitude)
    return named.change(signs.get)


def _expanded(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """Return a value without casts of integers, and with the steps of a division in place of their variables."""
    plain = without_casts(tree, INTEGERS)
    while (new := plain.put(values)) != plain:
        plain = new
    return plain


def _origin(tree: Tree, values: Mapping[str, Tree]) -> Tree | None:
    """Return the integer that a float was converted from."""
    value = values.get(tree.op, tree) if not tree.args else tree
    return value.args[0] if value.op == "(float)" else None


def _exact(parts: Mapping[str, Tree], rest: Tree, values: Mapping[str, Tree], tree: Tree) -> Tree | None:
    """Write a quotient in place of its estimate, and what it leaves as a remainder."""
    if tree == filled("convert_uint(C) + Q", {"C": rest, "Q": parts["Q"]}):
        return parts["Q"]
    if tree.op == "-" and _expanded(tree, values) == _expanded(filled("X - Q * D", parts), values):
        return filled("X % D", parts)
    if tree in (filled("X % D >= D", parts), filled("X % D < D", parts)):
        return leaf("0" if tree.op == ">=" else "true")
    return None


def _corrected(rests: set[str], divisor: Tree, values: Mapping[str, Tree], tree: Tree) -> Tree | None:
    """Drop the correction of a remainder that needs none."""
    hit = form("(X < D) ? 0 : E", tree)
    is_rest = hit["X"].op in rests or (hit["X"].op == "%" and _expanded(hit["X"].args[1], values) == divisor)
    return leaf("0") if is_rest and {_expanded(hit[name], values) for name in "DE"} == {divisor} else None
