"""Writes what compilers make of C as a person would: sums of conditions, comparisons in halves, atomics of all lanes, texels by components."""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import (
    Line,
    Node,
    assigned,
    backwards,
    chain_of,
    change_lines,
    condition_of,
    lists_of,
    places_of,
    setters,
    texts_of,
    trees_of,
    walk,
)
from visa_lsp.app.read.names import BY_NAME
from visa_lsp.app.read.shape import fold_one, own_level
from visa_lsp.app.read.tree import (
    COMPONENTS,
    NARROW,
    NEGATED,
    NOTHING,
    WORDS,
    Tree,
    filled,
    form,
    in_place_of,
    leaf,
    number_of,
    step_of,
)
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from visa_lsp.app.read.code_lines import Body

_COUNTED: Final = re.compile(r"for \((\w+) = ([^;]+); \1 < \d{1,6}; .*\) \{")
_POINTER: Final = re.compile(r"\((\w+) \*\)")
_ANY_VECTOR: Final = re.compile(r"\((u?(?:char|short|int|long)([24])) \*\)")
_SIGNED_VECTOR: Final = re.compile(r"(char|short|int)[24]")
_TEXELS: Final = ("read_imagef()", "read_texel_float()")
_STEPS: Final = ("++", "--", "+=", "-=")
_LESS: Final = "0 < (uint)(N >> 32) || (0 == (uint)(N >> 32) && G < (uint)N)"


_TURNED: Final = re.compile(r"(0x[0-9a-f]+|\d+)UL")
_WIDE_TESTS: Final = {  # numbers of 64 bits that are tested by halves
    "(int)(X >> 32) != 0 || (int)X != 0": "X != 0", "(int)(X >> 32) == 0 && (int)X == 0": "X == 0",
    "(int)(X >> 32) != 0 || (uint)X >= N": "X >= N", "(int)(X >> 32) == 0 && (uint)X < N": "X < N", "((int)X & N) == 0": "(X & N) == 0",
    "((int)X & N) != 0": "(X & N) != 0", "rotate_left_64(X, 32) == rotate_left_64(Y, 32)": "X == Y",
    "rotate_left_64(X, 32) != rotate_left_64(Y, 32)": "X != Y",
}  # fmt: skip


def write_usual_forms(body: Body) -> None:
    """Change the lines of a body in place."""

    def rule(tree: Tree) -> Tree | None:
        whole = _count(body, tree) or _whole_comparison(body, tree) or _wide_test(body, tree) or _truth(body, tree)
        return whole or fold_one(tree)

    change_lines(body.code, rule)
    for node in walk(body.code):
        head = _COUNTED.fullmatch(node.text)
        if head is not None and (head[2] == "0" or body.kinds.get(head[1]) is ty.UD):
            change_lines(node.inner or [], partial(_element_address, body, head[1]))
    _load_by_own_sign(body)
    _load_with_other_sign(body)
    _declare_reals(body)
    for code in list(lists_of(body.code)):
        _drop_equal(body, code)
        _store_narrow(body, code)
        _add_by_lane(body, code)
        _leave_with_value(code)
        _join_texels(body, code)


def drop_constant_tests(body: Body) -> None:
    """Write lines without tests of constants."""
    change_lines(body.code, fold_one)
    for code, index in backwards(body.code):
        inner = code[index].inner
        if code[index].text == "if (true) {" and inner is not None and len(chain_of(code, index)) == 1:
            code[index : index + 1] = inner


def write_continues(body: Body) -> None:
    """Write jumps to the end of a round of a loop, or to the step of its counter there, as `continue`."""
    for node in list(walk(body.code)):
        inner = node.inner or []
        is_step = len(inner) > 1 and node.text.startswith("while (") and step_of(inner[-1].text).op in _STEPS
        label = inner[-1 - is_step].text.removesuffix(":;") if node.is_loop and inner else ""
        jump = f"goto {label};"
        own = [line for line in own_level(inner) if line.text.endswith(jump)]
        if not label.isidentifier() or sum(jump in text for text in texts_of(body.code)) != len(own):
            continue
        for line in own:
            line.text = line.text.replace(jump, "continue;")
        if is_step:
            step = inner.pop()
            node.text, node.places = f"for (; {condition_of(node.text)}; {step.text[:-1]}) {{", places_of(node, step)
        inner.pop()


def _is_condition(body: Body, tree: Tree) -> bool:
    """Return whether a value is 0 or 1 in C."""
    return tree.op in (*NEGATED, "&&", "||", "u!") or (not tree.args and body.kinds.get(tree.op) is ty.BOOL)


def _count(body: Body, tree: Tree) -> Tree | None:
    """Add a condition in place of subtracting -1 where it holds."""
    minus = tree.args[-1] if tree.op in ("-", "u-") else NOTHING
    if (
        minus.op != "?"
        or [number_of(arg) for arg in minus.args[1:]] != [-1, 0]
        or not _is_condition(body, minus.args[0])
    ):
        return None
    return Tree("+", (tree.args[0], minus.args[0])) if tree.op == "-" else minus.args[0]


def _whole_comparison(body: Body, tree: Tree) -> Tree | None:
    """Compare a number of 32 bits with one of 64 as such."""
    parts = form(_LESS, tree)
    if not parts:
        return None
    number, other = parts["G"], parts["N"]
    number = number if body.type_name(number.op) == "uint" else Tree("(uint)", (number,))
    other = other if body.type_name(other.op) == "ulong" else Tree("(ulong)", (other,))
    return Tree("<", (number, other))


def _truth(body: Body, tree: Tree) -> Tree | None:
    """Return a condition that a test for other than 0, or the bits of a number, tells."""
    choice = tree.args[0] if tree.op == "!=" and number_of(tree.args[1]) == 0 else NOTHING
    if choice.op == "?" and all(_is_condition(body, arg) for arg in choice.args[1:]):
        return choice
    condition = form("as_float(as_int(as_float((uint)-C)) & 0x3f800000)", tree)["C"]
    return Tree("?", (condition, leaf("1.0f"), leaf("0.0f"))) if _is_condition(body, condition) else None


def _wide_test(body: Body, tree: Tree) -> Tree | None:
    """Test a number of 64 bits as such, which is tested by its halves."""
    turned = _TURNED.fullmatch(tree.args[-1].op) if tree.op in ("==", "!=") and not tree.args[-1].args else None
    if turned is not None and (parts := form("rotate_left_64(X, 32)", tree.args[0])):
        bits = int(turned[1], 0)
        return Tree(tree.op, (parts["X"], leaf(f"{hex((bits << 32 | bits >> 32) % (1 << 64))}UL")))
    for pattern, whole in _WIDE_TESTS.items():
        parts = form(pattern, tree)
        kind, number = body.kinds.get(parts["X"].op), number_of(parts["N"])
        if not parts or kind not in (ty.Q, ty.UQ) or ("N" in parts and (number is None or number < 0)):
            continue
        if body.kinds.get(parts.get("Y", parts["X"]).op) not in (ty.Q, ty.UQ):
            continue
        value = Tree("(ulong)", (parts["X"],)) if kind is ty.Q and whole in ("X >= N", "X < N") else parts["X"]
        return filled(whole, {**parts, "X": value})
    return None


def _element_address(body: Body, counter: str, tree: Tree) -> Tree | None:
    """Write the address of an element whose index is a small counter as such, because its offset in bytes does not wrap around."""
    hit = _POINTER.fullmatch(tree.op)
    parts = form("(ulong)P + X * N", tree.args[0]) if hit is not None and tree.args else {}
    if hit is None or not parts or parts["X"] != leaf(counter):
        return None
    own, cast = BY_NAME.get(body.elements.get(parts["P"].op, "")), BY_NAME.get(hit[1])
    if own is None or cast is None or own.size != cast.size or number_of(parts["N"]) != own.size:
        return None
    place = Tree("u&", (Tree("[]", (parts["P"], parts["X"])),))
    return place if own is cast else Tree(tree.op, (place,))


def _load_by_own_sign(body: Body) -> None:
    """Load a vector of a buffer by its own sign, where lines convert its components to that."""
    for node in walk(body.code):
        name, value = assigned(node)
        element = value.args[0].args[0].args[0] if _is_vector_load(value) else NOTHING
        own = body.elements.get(element.args[0].op, "") if element.op == "[]" else ""
        hit = _SIGNED_VECTOR.fullmatch(own)
        if hit is None or value.args[0].op != f"(u{own} *)" or body.types.get(name) != f"u{own} {name}":
            continue
        if len(setters(body.code, name)) != 1:
            continue
        used = [tree for tree in trees_of(body.code) if tree.op in COMPONENTS and tree.args[0] == leaf(name)]
        cast = [tree for tree in trees_of(body.code) if tree.op == f"({hit[1]})" and tree.args[0] in used]
        if len(cast) < len(used) or len(used) + 1 != body.uses(name):
            continue
        body.types[name] = f"{own} {name}"
        node.text = f"{name} = {element};"
        change_lines(body.code, {tree: tree.args[0] for tree in cast}.get)


def _load_with_other_sign(body: Body) -> None:
    """Load a vector with the sign that lines give all its components at once."""
    for node in walk(body.code):
        name, value = assigned(node)
        hit = _ANY_VECTOR.fullmatch(value.args[0].op) if value.op == "u*" else None
        if hit is None or len(setters(body.code, name)) != 1 or body.types.get(name) != f"{hit[1]} {name}":
            continue
        own = leaf(name)
        word = hit[1].removeprefix("u") if hit[1].startswith("u") else f"u{hit[1]}"
        whole = Tree(f"{{{word}}}", tuple(Tree(part, (own,)) for part in COMPONENTS[: int(hit[2])]))
        uses = sum(tree == whole for tree in trees_of(body.code))
        if uses and body.uses(name) == 1 + uses * int(hit[2]):
            body.types[name] = f"{word} {name}"
            node.text = f"{own} = {Tree('u*', (Tree(f'({word} *)', value.args[0].args),))};"
            change_lines(body.code, in_place_of(whole, own))
            _drop_copies(body, own)


def _drop_copies(body: Body, own: Tree) -> None:
    """Use a variable that one line sets instead of its copies."""
    for code, index in backwards(body.code):
        copy, value = assigned(code[index])
        if (
            value == own
            and len(setters(body.code, copy)) == 1
            and body.types[copy].split()[0] == body.types[own.op].split()[0]
        ):
            change_lines(body.code, in_place_of(leaf(copy), own), code.pop(index).places)


def _declare_reals(body: Body) -> None:
    """Declare a number as a float whose bits lines use as a float alone."""
    for node in walk(body.code):
        name, value = assigned(node)
        if body.kinds.get(name) not in (ty.D, ty.UD) or value.op not in ("as_uint()", "as_int()"):
            continue
        real = Tree("as_float()", (leaf(name),))
        uses = sum(tree == real for tree in trees_of(body.code))
        if body.is_float(value.args[0]) and uses and len(setters(body.code, name)) == 1 and body.uses(name) == uses + 1:
            body.kinds[name], body.types[name] = ty.F, f"float {name}"
            node.text, node.range = f"{name} = {value.args[0]};", None
            change_lines(body.code, {real: leaf(name)}.get)


def _is_vector_load(value: Tree) -> bool:
    """Return whether a value is a vector at the address of an element: ``*(uchar4 *)&a[i]``."""
    return value.op == "u*" and value.args[0].op.endswith(" *)") and value.args[0].args[0].op == "u&"


def _drop_equal(body: Body, code: list[Node]) -> None:
    """Drop the assignment of an integer that the condition above it says to be equal."""
    for index, node in enumerate(code):
        test, inner = condition_of(node.text), node.inner or []
        name, value = assigned(inner[0]) if inner else ("", NOTHING)
        is_equal = test.op == "==" and sorted(map(str, test.args)) == sorted((name, str(value)))
        if not is_equal or not node.text.startswith("if (") or body.kinds.get(name) not in (ty.D, ty.UD):
            continue
        node.places = places_of(node, inner.pop(0))
        is_last = index + 1 == len(code) or not code[index + 1].continues
        if is_last and [line.text for line in inner] == ["break;"]:
            code[index] = Node(f"{node.text[:-1]}break;", places_of(node, *inner))


def _leave_with_value(code: list[Node]) -> None:
    """Set a variable where a condition leaves the loop, instead of choosing its value by the condition before."""
    for node, leave in list(pairwise(code)):
        name, value = assigned(node)
        test = condition_of(leave.text) if leave.inner is None and leave.text.endswith(" break;") else NOTHING
        own = form("F ? N : V", value, F=test, V=leaf(name))
        if not own or test.args or number_of(own["N"]) is None or not name:
            continue
        lines = [Node(f"{name} = {own['N']};", node.places), Node("break;", leave.places)]
        code[code.index(node) : code.index(leave) + 1] = [
            Node(f"if ({test}) {{", places_of(node, leave), inner=lines, tail=Line("}"))
        ]


def _store_narrow(body: Body, code: list[Node]) -> None:
    """Store a narrow number without making it wider first."""
    for node in code:
        step = step_of(node.text)
        value = step.value if step.op == "=" else NOTHING
        if value.op not in WORDS or value.args[0].op not in NARROW or step.target.op != "[]":
            continue
        if body.elements.get(step.target.args[0].op, "").removeprefix("u") in ("char", "short", "int"):
            node.text = f"{step.target} = {value.args[0]};"


def _add_by_lane(body: Body, code: list[Node]) -> None:
    """Let each lane add its own 1 in place of one that adds their number."""
    for node, use in list(pairwise(code)):
        name, value = assigned(node)
        if value != Tree("ballot()", (leaf("true"),)) or body.uses(name) != 2 or not use.text.startswith("once "):
            continue
        parts = form("atomic_add(P, popcount(T))", step_of(use.text.removeprefix("once ")).target, T=leaf(name))
        if parts and not parts["P"].names() & body.types.keys():
            use.text, use.places = f"atomic_inc({parts['P']});", places_of(node, use)
            code.remove(node)


def _join_texels(body: Body, code: list[Node]) -> None:
    """Read a texel once whose components lines read one by one."""
    index = 0
    while index < len(code):
        name, value = assigned(code[index])
        run = [code[index]]
        texel = value.args[0] if value.op in COMPONENTS else NOTHING
        for other in code[index + 1 :] if texel.op in _TEXELS else ():
            part = assigned(other)[1]
            if part.op not in COMPONENTS or part.args[0] != texel:
                break
            run.append(other)
        names = {assigned(node)[0]: assigned(node)[1].op for node in run}
        if (
            len(run) > 1
            and name
            and all(len(setters(body.code, one)) == 1 for one in names)
            and not texel.names() & names.keys()
        ):
            vector = f"V_{len(body.types)}"
            body.types[vector] = f"float4 {vector}"
            code[index : index + len(run)] = [Node(f"{vector} = {texel};", places_of(*run))]
            change_lines(body.code, {leaf(one): Tree(part, (leaf(vector),)) for one, part in names.items()}.get)
        index += 1
