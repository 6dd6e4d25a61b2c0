"""Writes integers as a person declares and indexes them.

Copies of 64 bits that only indexes need, signs of bytes, unsigned constants, bytes that are loaded as one word, numbers
that a compiler computes twice or keeps in a register.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import (
    Node,
    assigned,
    change_lines,
    condition_of,
    count_of,
    lists_of,
    places_of,
    set_counts,
    set_in,
    setters,
    steps_of,
    trees_of,
    walk,
    words_without_trees,
)
from visa_lsp.app.read.element_indexes import short_index
from visa_lsp.app.read.names import BY_NAME, c_type
from visa_lsp.app.read.plain_forms import add
from visa_lsp.app.read.shape import conjuncts, reads_memory
from visa_lsp.app.read.tree import (
    COMPONENTS,
    MIRROR,
    NEGATED,
    NOTHING,
    WIDE,
    Step,
    Tree,
    form,
    in_place_of,
    leaf,
    number_of,
    rewritten,
    set_names,
    step_of,
    uncast,
)
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.app.read.code_lines import Body
    from visa_lsp.isa.types import DataType

_LOW: Final = ("+", "-", "*", "&", "|", "^", "u-", "u~", "?")  # whose lower bits come from lower bits
_MIN_CONSTANT: Final = 0x10000  # below, a negative number is one that a person writes
_COUNTED: Final = re.compile(r"for \((\w+) = \d+; \(int\)\1 < ([^;]+); \1\+\+\) \{")
_PACKED: Final = re.compile(r"as_(uchar|char)([24])\(\)")
_VECTOR_STORE: Final = re.compile(r"\(([a-z]+)([234]) \*\)")
_TEXELS: Final = ("read_", "write_texel", "write_image", "load", "sample")
_REALS: Final = {ty.F: re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?f"), ty.DF: re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")}
_SIGNS: Final = {"X > -1": "X >= 0", "X <= -1": "X < 0"}
_OF_HIGH_BIT: Final = {"<": ">=", ">=": "<"}  # of a test for less than 0: for 128 or more
_BYTES: Final = (ty.B, ty.UB)


def write_integers(body: Body, type_of: Callable[[Tree], DataType | None]) -> None:
    """Change the lines of a body in place."""
    _put_constants(body)
    _spread_flags(body, type_of)
    _drop_masks(body)
    _index_by_sums(body)
    _split_words(body)
    _split_stores(body)
    _count_as_int(body)
    index_by_source(body, body.code, [], type_of)
    change_lines(body.code, partial(_plain, body, type_of))
    _declare_bytes(body, type_of)
    change_lines(body.code, partial(_byte_range, type_of))
    _write_unsigned(body, type_of)
    for code in list(lists_of(body.code)):
        _join_equal(body, code)


def _plain(body: Body, type_of: Callable[[Tree], DataType | None], tree: Tree) -> Tree | None:
    """Drop casts that an index or a coordinate does not need; name the division that rounds up."""
    if tree.op == "[]" and all(part.op in ("+", "-", "*", *WIDE) or not part.args for part in tree.args[1].walk()):
        wide = (ty.Q, ty.UQ)
        index = tree.args[1].change(
            lambda part: part.args[0] if part.op in WIDE and body.kinds.get(part.args[0].op) in wide else None
        )
        return Tree("[]", (tree.args[0], index))
    if tree.op.startswith(_TEXELS) and tree.op.endswith("()"):
        args = [
            arg.args[0] if arg.op in ("(uint)", "(int)") and type_of(arg.args[0]) in (ty.D, ty.UD) else arg
            for arg in tree.args
        ]
        return Tree(tree.op, tuple(args))
    if tree.op in NEGATED:
        return _compared_byte(type_of, tree) or rewritten(tree, _SIGNS)
    parts = form("(X >= L ? X + A : X + B) >> K", tree)
    shift, added, again, least = (number_of(parts[name]) for name in "KABL")
    if shift is None or added is None or not 0 < shift < ty.D.bits - 1 or type_of(parts["X"]) is not ty.D:
        return None
    is_rounded = added == (1 << shift) - 1 and again == 2 * added and least == -added
    return Tree("divide_up()", (parts["X"], leaf(1 << shift))) if is_rounded else None


def _compared_byte(type_of: Callable[[Tree], DataType | None], tree: Tree) -> Tree | None:
    """Compare an unsigned byte with the number that it has, or with another one, instead of as a signed one."""
    if tree.op not in ("==", "!=") or tree.args[0].op != "(char)":
        return None
    byte, number, other = tree.args[0].args[0], number_of(tree.args[1]), tree.args[1]
    if other.op == "(char)" and type_of(other.args[0]) is ty.UB:
        return Tree(tree.op, (byte if type_of(byte) is ty.UB else Tree("(uchar)", (byte,)), other.args[0]))
    if number is None or not -(1 << 7) <= number < 1 << 7:
        return None
    mask = number_of(byte.args[1]) if byte.op == "&" and type_of(byte.args[0]) is ty.UB else None
    if mask is not None:
        low = Tree("&", (byte.args[0], leaf(hex(mask % (1 << 8)))))
        return Tree(tree.op, (low, leaf(hex(number % (1 << 8)))))
    return Tree(tree.op, (byte, leaf(number % (1 << 8)))) if type_of(byte) is ty.UB else None


# ---- constants


def _put_constants(body: Body) -> None:
    """Write a constant that a variable holds in place of the variable."""
    counts, odd = set_counts(body.code), words_without_trees(body.code)
    for code in list(lists_of(body.code)):
        for node in list(code):
            name, value = assigned(node)
            number, kind = number_of(value), body.kinds.get(name)
            is_real = kind in _REALS and _REALS[kind].fullmatch(str(value)) is not None
            is_integer = kind is not None and number is not None and kind.is_int and kind.size <= ty.D.size
            is_fixed = re.fullmatch(r"\d\w+UL", form("as_double(N)", value)["N"].op) is not None or (
                value.op in ("+", "-") and value.args[0].op == "const_base" and number_of(value.args[1]) is not None
            )
            if not is_real and not is_integer and not is_fixed:
                continue
            if counts[name] != 1 or name in odd:
                continue
            if kind is ty.UD:
                bits = (number or 0) % (1 << ty.UD.bits)
                value = leaf(f"{bits if bits < _MIN_CONSTANT else hex(bits)}u")
            code.remove(node)
            change_lines(body.code, in_place_of(leaf(name), value), node.places)


def _spread_flags(body: Body, type_of: Callable[[Tree], DataType | None]) -> None:
    """Write a short comparison of integers that do not change in place of the flag that holds it."""
    counts = set_counts(body.code)
    for code in list(lists_of(body.code)):
        for node in list(code):
            name, value = assigned(node)
            is_short = value.op in NEGATED and all(not uncast(arg).args for arg in value.args)
            if body.kinds.get(name) is not ty.BOOL or not is_short or counts[name] != 1:
                continue
            if any(type_of(arg) is None or counts[arg.op] > 1 for arg in map(uncast, value.args)):
                continue
            code.remove(node)
            change_lines(body.code, in_place_of(leaf(name), value), node.places)


def _drop_masks(body: Body) -> None:
    """Drop a mask of a number that has been masked so."""
    counts = set_counts(body.code)
    masks = {
        name: value.args[1]
        for name, value in map(assigned, walk(body.code))
        if value.op == "&" and number_of(value.args[1]) is not None and counts[name] == 1
    }
    change_lines(
        body.code,
        lambda tree: tree.args[0] if tree.op == "&" and tree.args[1] == masks.get(tree.args[0].op, NOTHING) else None,
    )


def _index_by_sums(body: Body) -> None:
    """Divide an index that is a sum of offsets in bytes, some of which variables hold."""
    counts = set_counts(body.code)
    for node in walk(body.code):
        name, value = assigned(node)
        factor = number_of(value.args[1]) if value.op in ("<<", "*") else None
        if factor is None or counts[name] != 1 or value.args[0].args or counts[value.args[0].op] > 1:
            continue

        def rule(tree: Tree, name: str = name, value: Tree = value) -> Tree | None:
            if tree.op != "[]" or name not in tree.args[1].names() or "/" not in str(tree.args[1]):
                return None
            new = short_index(tree.put({name: value}))
            return new if new is not None and "/" not in str(new.args[1]) else None

        change_lines(body.code, rule)


def _write_unsigned(body: Body, type_of: Callable[[Tree], DataType | None]) -> None:
    """Write large negative constants as unsigned ones where 32 bits of the result are needed."""

    def rule(tree: Tree) -> Tree | None:
        if tree.op in ("rotate_left()", "rotate_right()"):
            return Tree(tree.op, (_unsigned(tree.args[0]), *tree.args[1:]))
        if tree.op in ("(int)", "(uint)") and type_of(tree.args[0]) in (ty.D, ty.UD):
            return Tree(tree.op, (_unsigned(tree.args[0]),))
        return None

    change_lines(body.code, rule)
    for node in walk(body.code):
        step = step_of(node.text)
        if step.op in ("=", "+=", "-=", "*=", "^=", "&=", "|=") and type_of(step.target) in (ty.D, ty.UD):
            node.text = str(Step(step.words, (*step.trees[:-1], _unsigned(step.value))))


def _unsigned(tree: Tree) -> Tree:
    """Return a value with the same 32 bits, without large negative constants."""
    number = number_of(tree.args[-1]) if tree.op in ("-", "u-") else None
    if number is not None and _MIN_CONSTANT <= number < 1 << 31 and tree.args[-1].op.startswith("0x"):
        unsigned = leaf(hex((1 << 32) - number))
        return unsigned if tree.op == "u-" else Tree("+", (_unsigned(tree.args[0]), unsigned))
    if tree.op == "<<":
        return Tree(tree.op, (_unsigned(tree.args[0]), tree.args[1]))
    if tree.op not in _LOW or tree.op == "?":
        return tree
    return Tree(tree.op, tuple(map(_unsigned, tree.args)))


# ---- bytes


def _split_words(body: Body) -> None:
    """Load the bytes of an array one by one where lines need them so."""
    for code in list(lists_of(body.code)):
        for index in range(len(code) - 1, -1, -1):
            name, value = assigned(code[index])
            hit = _PACKED.fullmatch(value.op)
            place = form("*Q", value.args[0])["Q"] if hit is not None else NOTHING
            element = form("&A[I]", place.args[0]) if place.op in ("(ushort *)", "(uint *)") else {}
            if hit is None or not element or body.elements.get(element["A"].op) != hit[1]:
                continue
            parts = {Tree(part, (leaf(name),)): number for number, part in enumerate(COMPONENTS)}
            used = sorted({parts[tree] for tree in trees_of(body.code) if tree in parts})
            count = sum(tree in parts for tree in trees_of(body.code))
            if (
                body.types.get(name) != f"{hit[1]}{hit[2]} {name}"
                or count + 1 != body.uses(name)
                or len(used) < int(hit[2])
            ):
                continue
            new = {number: body.new(BY_NAME[hit[1]]) for number in used}
            lines = [
                Node(f"{new[number]} = {Tree('[]', (element['A'], add(element['I'], number)))};", code[index].places)
                for number in used
            ]
            code[index : index + 1] = lines
            change_lines(body.code, {tree: leaf(new[number]) for tree, number in parts.items() if number in new}.get)


def _split_stores(body: Body) -> None:
    """Store numbers one by one whose vector only one store needs."""
    for code in list(lists_of(body.code)):
        for index in range(len(code) - 1, -1, -1):
            step = step_of(code[index].text)
            shape = (
                _VECTOR_STORE.fullmatch(step.target.args[0].op) if step.op == "=" and step.target.op == "u*" else None
            )
            element = form("&A[I]", step.target.args[0].args[0]) if shape is not None else {}
            if shape is None or not element or not _is_stored_alike(body.elements.get(element["A"].op, ""), shape[1]):
                continue
            name, count = step.value.op, int(shape[2])
            lines = code[max(0, index - count) : index]
            parts = [step_of(line.text) for line in lines]
            wanted = [Tree(part, (leaf(name),)) for part in COMPONENTS[:count]]
            plain = all(part.op == "=" and not reads_memory(part.value) for part in parts[1:])
            targets = [part.target for part in parts]
            if sorted(map(str, targets)) != sorted(map(str, wanted)) or not plain or body.uses(name) != count + 1:
                continue
            for line, part in zip(lines, parts, strict=True):
                number = COMPONENTS.index(part.target.op)
                place = Tree("[]", (element["A"], add(element["I"], number)))
                line.text, line.range = str(Step(part.words, (place, part.value))), None
            lines[-1].places = places_of(lines[-1], code[index])
            del code[index]


def _is_stored_alike(element: str, word: str) -> bool:
    """Return whether an element holds the bits of a number of another type as they are."""
    own, other = BY_NAME.get(element), BY_NAME.get(word)
    return own is not None and other is not None and own.is_int == other.is_int and own.size == other.size


def _declare_bytes(body: Body, type_of: Callable[[Tree], DataType | None]) -> None:
    """Declare signed bytes as unsigned ones where no line depends on their sign, and one compares or loads them as such."""
    groups: dict[str, set[str]] = {name: {name} for name, kind in body.kinds.items() if kind is ty.B}
    for step in steps_of(body.code):
        for part in (part for tree in step.trees for part in tree.walk() if part.op in ("==", "!=")):
            _unite(groups, [arg.op for arg in part.args if not arg.args])
        if step.op and not step.target.args:
            _unite(groups, [step.target.op, *(name for name in step.value.names() if name in groups)])
    odd = words_without_trees(body.code)
    for group in {id(group): group for group in groups.values()}.values():
        uses = _ByteUses(body, group, type_of)
        if odd.isdisjoint(group) and uses.are_neutral() and uses.is_unsigned:
            for name in group:
                body.kinds[name], body.types[name] = ty.UB, f"{c_type(ty.UB)} {name}"
            change_lines(body.code, uses.rewrite)
    change_lines(body.code, partial(_compared_byte, type_of))


def _byte_range(type_of: Callable[[Tree], DataType | None], tree: Tree) -> Tree | None:
    """Write the test whether an unsigned byte is in a range as two comparisons."""
    added, taken = form("(uchar)(V + N) < C", tree), form("(uchar)(V - N) < C", tree)
    byte, number, count = ((added or taken)[name] for name in "VNC")
    offset, length = number_of(number) or 0, number_of(count) or 0
    if byte.args or type_of(byte) is not ty.UB or not 0 < offset < 1 << 8 or not 0 < length < 1 << 8:
        return None
    low = offset if taken else (1 << 8) - offset
    end = low + length
    above, below = Tree(">=", (byte, leaf(low))), Tree("<", (byte, leaf(end % (1 << 8))))
    return above if end == 1 << 8 else Tree("&&" if end < 1 << 8 else "||", (above, below))


def plain_range(tree: Tree, type_of: Callable[[Tree], DataType | None]) -> Tree | None:
    """Write the test whether an integer of 32 bits is in a range, or outside of one, as two comparisons."""
    hit = form("(uint)(V - N) < C", tree) or form("(uint)(V - N) >= C", tree)
    value, low, length = hit["V"], number_of(hit["N"]) or 0, number_of(hit["C"]) or 0
    kind, is_inside = type_of(value), tree.op == "<"
    if length >= 1 << 31:  # what is left of 32 bits lies below
        low, length, is_inside = low + length - (1 << 32), (1 << 32) - length, not is_inside
    if value.args or kind is None or not kind.is_int or kind.size > ty.D.size or not 0 < low < low + length <= 1 << 31:
        return None
    if is_inside:
        return Tree("&&", (Tree(">=", (value, leaf(low))), Tree("<", (value, leaf(low + length)))))
    return Tree("||", (Tree("<", (value, leaf(low))), Tree(">=", (value, leaf(low + length)))))


def _unite(groups: dict[str, set[str]], names: list[str]) -> None:
    own = [name for name in names if name in groups]
    whole: set[str] = set().union(*(groups[name] for name in own)) if len(own) == len(names) else set()
    for name in whole:
        groups[name] = whole


class _ByteUses:
    """The uses of some signed bytes in the lines of a body."""

    def __init__(self, body: Body, group: set[str], type_of: Callable[[Tree], DataType | None]) -> None:
        self.body, self.group, self.type_of = body, group, type_of
        self.is_unsigned = False

    def are_neutral(self) -> bool:
        """Return whether no line depends on the sign."""
        for step in steps_of(self.body.code):
            for index, tree in enumerate(step.trees):
                if not tree.args and tree.op in self.group and tree in step.targets:
                    if step.op != "=":
                        return False
                    continue
                target = step.target if step.op == "=" and index == len(step.trees) - 1 else NOTHING
                is_low = target.op in self.group or self.type_of(target) in _BYTES
                self.is_unsigned |= target.op in self.group and self._is_loaded(tree)
                if not (self._is_low(tree) if is_low else self._is_free(tree)):
                    return False
        return True

    def _is_loaded(self, tree: Tree) -> bool:
        return tree.op == "[]" and self.type_of(tree) is ty.UB

    def _is_low(self, tree: Tree) -> bool:
        """Return whether the lower bits of a value do not depend on the sign of the bytes."""
        if not tree.args:
            return True
        if tree.op == "?":
            return self._is_free(tree.args[0]) and all(map(self._is_low, tree.args[1:]))
        return all(map(self._is_low if tree.op in _LOW else self._is_free, tree.args))

    def _is_free(self, tree: Tree) -> bool:
        """Return whether a value does not depend on the sign of the bytes."""
        if tree.op in self.group:
            return False
        if tree.op in ("(uchar)", "(char)"):
            self.is_unsigned |= tree.op == "(uchar)" and tree.args[0].op in self.group
            return self._is_low(tree.args[0]) and (tree.op == "(uchar)" or tree.args[0].op not in self.group)
        if tree.op in ("<", ">=") and tree.args[0].op in self.group:
            return number_of(tree.args[1]) == 0
        if tree.op in ("==", "!=") and not tree.args[0].args and tree.args[0].op in self.group:
            other = tree.args[1]
            number = number_of(other)
            is_byte = other.op == "(char)" and self.type_of(other.args[0]) is ty.UB
            return other.op in self.group or (number is not None and -(1 << 7) <= number < 1 << 7) or is_byte
        return all(map(self._is_free, tree.args))

    def rewrite(self, tree: Tree) -> Tree | None:
        """Return a tree for the unsigned bytes."""
        if tree.op == "(uchar)" and tree.args[0].op in self.group:
            return tree.args[0]
        if tree.op in ("<", ">=") and tree.args[0].op in self.group and number_of(tree.args[1]) == 0:
            return Tree(_OF_HIGH_BIT[tree.op], (tree.args[0], leaf(1 << 7)))
        if tree.op in ("==", "!=") and tree.args[0].op in self.group:
            number = number_of(tree.args[1])
            if number is not None:
                return Tree(tree.op, (tree.args[0], leaf(number % (1 << 8))))
            if tree.args[1].op == "(char)":
                return Tree(tree.op, (tree.args[0], *tree.args[1].args))
        return None


# ---- indexes and counters


def _count_as_int(body: Body) -> None:
    """Declare a counter as an int whose test compares it as one; the lines of the loop see no negative number."""
    for node in walk(body.code):
        head = _COUNTED.fullmatch(node.text)
        if head is None or body.kinds.get(head[1]) is not ty.UD or len(setters(body.code, head[1])) != 1:
            continue
        uses = sum(tree == leaf(head[1]) for tree in trees_of(node.inner or []))
        casts = (*WIDE, "(int)")
        free = sum(tree.op in casts and tree.args[0] == leaf(head[1]) for tree in trees_of(node.inner or []))
        start = int(node.text.split(" = ")[1].split(";")[0])
        if uses != free or start >= 1 << 31 or body.uses(head[1]) != uses + 3:
            continue
        body.kinds[head[1]], body.types[head[1]] = ty.D, f"int {head[1]}"
        change_lines([node], in_place_of(Tree("(int)", (leaf(head[1]),)), leaf(head[1])))


def index_by_source(
    body: Body, code: list[Node], facts: list[Tree], type_of: Callable[[Tree], DataType | None]
) -> None:
    """Index by a number of 32 bits instead of its copy with 64, where that is the same."""
    for node in list(code):
        if node.inner is not None:
            test = condition_of(node.text) if node.text.startswith("if (") else NOTHING
            index_by_source(body, node.inner, [*facts, *(conjuncts(test) if test is not NOTHING else [])], type_of)
            continue
        name, value = assigned(node)
        source = value.args[0] if value.op in WIDE else value
        kind = type_of(source)
        is_copy = body.kinds.get(name) in (ty.Q, ty.UQ) and not source.args and number_of(source) is None
        if not is_copy or kind is None or not kind.is_int or kind.size > ty.D.size:
            continue
        rest = code[code.index(node) + 1 :]
        is_steady = len(setters(body.code, source.op)) <= 1 or (
            _is_kept(rest, name, source.op) and count_of(rf"\b{name}\b", rest) + 1 == body.uses(name)
        )
        if len(setters(body.code, name)) != 1 or not is_steady:
            continue
        mirrored = [Tree(MIRROR[fact.op], fact.args[::-1]) if fact.op == ">" else fact for fact in facts]
        is_less = any(fact.op == "<" and fact.args[0] == source and type_of(fact.args[1]) is kind for fact in mirrored)
        rule = partial(_as_source, body, leaf(name), source, type_of, is_less and kind.size == ty.D.size)
        free = sum(rule(tree) is not None for tree in trees_of(body.code))
        copies = sum(
            step.op == "=" and step.value == leaf(name) and body.kinds.get(step.target.op) in (ty.Q, ty.UQ)
            for step in steps_of(body.code)
        )
        if free and free + copies + 1 == body.uses(name):
            code.remove(node)
            change_lines(body.code, rule, node.places)
            change_lines(body.code, in_place_of(leaf(name), source))


def _is_kept(rest: list[Node], copy: str, source: str) -> bool:
    """Return whether lines name a copy for the last time before they set its source, and no loop does both."""
    lines = list(walk(rest))
    last = max((number for number, line in enumerate(lines) if copy in line.own_names()), default=0)
    loops = [line for line in lines[: last + 1] if line.is_loop and copy in line.names]
    return source not in set_in(loops) and not any(source in set_names(line.text) for line in lines[: last + 1])


def _as_source(
    body: Body, copy: Tree, source: Tree, type_of: Callable[[Tree], DataType | None], is_less: bool, tree: Tree
) -> Tree | None:
    """Write the source of a copy with 64 bits where that is the same: as an index, beside 64 bits, and times a number."""
    if copy not in tree.args:
        return None
    if tree.op == "[]" and tree.args[1] == copy:
        return Tree("[]", (tree.args[0], source))
    others = [arg for arg in tree.args if arg != copy]
    if len(tree.args) != 2 or len(others) != 1:
        return None
    if tree.op == "*" and number_of(others[0]) is not None:
        return Tree("*", tuple([Tree("(long)", (source,)) if arg == copy else arg for arg in tree.args]))
    wide = type_of(others[0]) in (ty.Q, ty.UQ) or body.elements.get(others[0].op) is not None
    if tree.op == "+" and (wide or (is_less and others[0] == leaf(1))):
        return Tree("+", tuple([source if arg == copy else arg for arg in tree.args]))
    return None


def _join_equal(body: Body, code: list[Node]) -> None:
    """Compute a number once that two lines of a list compute."""
    variables: dict[tuple[str, Tree], str] = {}
    for node in list(code):
        name, value = assigned(node)
        earlier = variables.get((body.type_name(name), value)) if name in body.kinds and value.args else None
        if earlier is not None and len(setters(body.code, name)) == len(setters(body.code, earlier)) == 1:
            code.remove(node)
            change_lines(body.code, in_place_of(leaf(name), leaf(earlier)), node.places)
            continue
        changed = set_in([node])
        if any(line.text.endswith(":;") for line in walk([node])):  # lanes come here from above all of them
            variables = {}
        variables = {key: own for key, own in variables.items() if own not in changed and not key[1].names() & changed}
        if name in body.kinds and value.args and not reads_memory(value) and name not in value.names():
            variables[body.type_name(name), value] = name
