"""Builds expressions and operands from nodes; has the helpers for reading a node.

Knows the grammar's rule names and the tree's classes, nothing else. ``build`` does the same for statements.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.syntax import tree
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.syntax.nodes import Node

_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.))")
# Splits the usual operands, which the grammar reads as one token: a name with its suffixes, a value with its type.
_USUAL_REF: Final = re.compile(
    r"(\([^()0-9]+\))?([^(<.]+)(?:\(([0-9]+),?([0-9]+)?\))?(<([0-9]+)(?:;([0-9]+),([0-9]+))?>)?(?:\.([0-9]+))?"
)
_USUAL_VALUE: Final = re.compile(r"([0-9a-fA-Fx]+):([a-z]+)")
_ESCAPED: Final = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
# A deeper constant expression is refused, so that no later walk can exhaust the stack.
MAX_DEPTH: Final = 64


def node_span(node: Node) -> Span:
    """Return the columns of a node."""
    return Span(node.start, node.end)


def child_of(node: Node, *names: str) -> Node | None:
    """Return the first of the parts with one of these rule names."""
    for part in node.parts:
        if part.name in names:
            return part
    return None


def word_at(node: Node | None) -> tree.Word | None:
    """Return a node as a word; None for None."""
    return None if node is None else tree.Word(node.text, node_span(node))


def need_word(node: Node | None) -> tree.Word:
    """Return a node that the grammar guarantees, as a word."""
    assert node is not None
    return tree.Word(node.text, node_span(node))


def unquote(text: str) -> str:
    """Return the value of a quoted string with escapes resolved; the closing quote may be missing.

    A number in an escape is a byte. Bytes that are not UTF-8 become the characters of ``surrogateescape``, as in a file.
    """

    def unescape(match: re.Match[str]) -> str:
        hexa, octal, char = match.groups()
        if hexa or octal:
            return bytes((int(hexa, 16) if hexa else int(octal, 8) & 0xFF,)).decode("utf-8", "surrogateescape")
        return _ESCAPED.get(char, char)

    inner = text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
    unescaped = _ESCAPE.sub(unescape, inner)
    if unescaped.isascii() or unescaped == inner:
        return unescaped
    try:  # several bytes can be one character
        return unescaped.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return unescaped


def build_quoted(node: Node) -> tree.Quoted:
    """Return a quoted string with escapes resolved."""
    return tree.Quoted(unquote(node.text), node_span(node))


# ---- expressions ----


def _number(text: str, span: Span) -> tree.Number:
    return tree.Number(tree.integer(text), span, text)


_CHAIN: Final = frozenset(
    {"bit_or", "bit_xor", "bit_and", "equality", "relational", "shift", "additive", "multiplicative"}
)


def expression(node: Node) -> tree.Expr:
    """Return the tree of an expression node of any level."""
    name = node.name
    if name in ("decimal", "hex", "number"):
        return _number(node.text, node_span(node))
    if name == "float":
        return tree.Float(float(node.text), node_span(node), node.text)
    if name in _CHAIN:
        return _chain(node)
    parts = node.parts
    if name == "unary_op":
        return tree.Unary(node.text[0], expression(parts[0]), node_span(node))
    if name == "sizeof":
        inner = parts[0] if parts[0].name == "pname" else child_of(parts[0], "pname")
        return tree.SizeOf(need_word(inner), node_span(node))
    if name == "builtin":
        return tree.Builtin(need_word(node), node_span(node))
    if name == "conditional" and len(parts) == 3:
        return tree.Conditional(expression(parts[0]), expression(parts[1]), expression(parts[2]), node_span(node))
    return expression(parts[0])


def _chain(node: Node) -> tree.Expr:
    """Build ``a op b op c``; the operators are the text between the operands."""
    parts = node.parts
    left = expression(parts[0])
    for before, part in pairwise(parts):
        op = node.full_text[before.end : part.start].strip()
        left = tree.Binary(op, left, expression(part), Span(node.start, part.end))
    return left


# ---- operands ----


def execution(node: Node) -> tree.ExecText:
    """Return the execution control of ``(M1, 16)``."""
    form = node.parts[0]
    if form.name == "any_exec":
        number = next(part for part in form.parts if part.name == "expr")
        return tree.ExecText(word_at(child_of(form, "exec_mask")), expression(number), node_span(node))
    mask, comma, size = node.text[1:-1].rpartition(", ")
    start = node.start + 1
    word = tree.Word(mask, Span(start, start + len(mask))) if comma else None
    return tree.ExecText(word, _number(size, Span(node.end - 1 - len(size), node.end - 1)), node_span(node))


def _suffix(node: Node) -> tree.Word | None:
    suffix = child_of(node, "suffix")
    return None if suffix is None else word_at(child_of(suffix, "suffix_word"))


def _modifier(node: Node) -> tree.Word | None:
    mod = child_of(node, "src_mod")
    if mod is None:
        return None
    text = mod.text.rstrip()
    return tree.Word("".join(text.split()), Span(mod.start, mod.start + len(text)))


def _region(node: Node) -> tree.RegionText | None:
    region = child_of(node, "region")
    if region is None:
        return None
    form = region.parts[0]
    values = [expression(form)] if form.name == "rexpr" else [expression(part) for part in form.parts]
    # ``<;w,h>`` of the seed has three places and two numbers.
    number = {"region3": 3, "region2": 2, "rexpr": 1}[form.name]
    vert = values[0] if len(values) == 3 else None
    width = values[-2] if len(values) >= 2 else None
    return tree.RegionText(vert, width, values[-1], number, node_span(region))


def _ref(node: Node) -> tree.Ref:
    indices = child_of(node, "indices")
    dot, element = child_of(node, "dot"), child_of(node, "element")
    return tree.Ref(
        _modifier(node),
        need_word(child_of(node, "pname")),
        None if indices is None else tuple(expression(part) for part in indices.parts),
        _region(node),
        None if element is None else expression(element.parts[0]),
        None if dot is None else expression(dot.parts[0]),
        _suffix(node),
        node_span(node),
    )


def _usual_ref(node: Node) -> tree.Ref:
    match = _USUAL_REF.fullmatch(node.full_text, node.start, node.end)
    assert match is not None
    modifier, name, first_index, second_index, region, _, width, _, dot = match.groups()
    indices = None
    if first_index is not None:
        indices = (
            (_build_counted(match, 3),)
            if second_index is None
            else (_build_counted(match, 3), _build_counted(match, 4))
        )
    numbers = None
    if width is not None:
        numbers = tree.RegionText(
            _build_counted(match, 6), _build_counted(match, 7), _build_counted(match, 8), 3, _span(match, 5)
        )
    elif region is not None:
        numbers = tree.RegionText(None, None, _build_counted(match, 6), 1, _span(match, 5))
    return tree.Ref(
        None if modifier is None else tree.Word(modifier, _span(match, 1)),
        tree.Word(name, _span(match, 2)),
        indices,
        numbers,
        None,
        None if dot is None else _build_counted(match, 9),
        None,
        node_span(node),
    )


def _usual_value(node: Node) -> tree.Literal:
    match = _USUAL_VALUE.fullmatch(node.full_text, node.start, node.end)
    assert match is not None
    return tree.Literal(_build_counted(match, 1), tree.Word(match.group(2), _span(match, 2)), node_span(node))


def _build_counted(match: re.Match[str], group: int) -> tree.Number:
    return _number(match.group(group), _span(match, group))


def _span(match: re.Match[str], group: int) -> Span:
    return Span(*match.span(group))


def _indirect(node: Node) -> tree.IndirectRef:
    index, offset = child_of(node, "ind_index"), child_of(node, "ind_offset")
    return tree.IndirectRef(
        _modifier(node),
        need_word(child_of(node, "pname")),
        None if index is None else expression(index.parts[0]),
        None if offset is None else expression(offset.parts[0]),
        _region(node),
        _suffix(node),
        node_span(node),
        node.name == "seed_indir",
    )


def _address_of(node: Node) -> tree.AddressOfRef:
    bracket, seed = child_of(node, "ao_bracket"), child_of(node, "ao_seed")
    offset: tree.Expr | None = None
    if bracket is not None:
        offset = expression(bracket.parts[0])
    elif seed is not None:
        number = seed.parts[0]
        offset = expression(number)
        if "-" in node.full_text[seed.start : number.start]:
            offset = tree.Unary("-", offset, node_span(seed))
    return tree.AddressOfRef(need_word(child_of(node, "pname")), offset, seed is not None, node_span(node))


def _literal(node: Node) -> tree.Literal:
    return tree.Literal(expression(node.parts[0]), _suffix(node), node_span(node))


def _length(node: Node) -> tree.Literal:
    return tree.Literal(expression(node.parts[0]), None, node_span(node), length=True)


def _group(node: Node) -> tree.Group:
    return tree.Group(tuple(operand(item.parts[0]) for item in node.parts), node_span(node))


def _ref_or_expr(node: Node) -> tree.Ref | tree.Expr:
    return _ref(node) if node.name == "ref" else expression(node)


def _address_item(node: Node) -> tree.AddressItem:
    scale, base, off = child_of(node, "addr_scale"), child_of(node, "expr", "ref"), child_of(node, "addr_off")
    both = child_of(node, "addr_pair")
    pair: tuple[tree.Expr, tree.Expr] | None = None
    if both is not None:
        x, y = both.parts
        pair = expression(x), expression(y)
    offset: tree.Expr | None = None
    if off is not None:
        sign, value = off.parts
        offset = expression(value)
        if sign.text == "-":
            offset = tree.Unary("-", offset, node_span(off))
    assert base is not None
    return tree.AddressItem(
        None if scale is None else expression(scale.parts[0]),
        _ref_or_expr(base),
        offset,
        node_span(node),
        pair,
    )


def _address(node: Node) -> tree.AddressRef:
    node = node.parts[0]
    argument = child_of(node, "model_arg")
    parts = [] if argument is None else argument.parts
    model = word_at(child_of(node, "model"))
    return tree.AddressRef(
        model or tree.Word("flat", Span(node.start, node.start)),
        _ref_or_expr(parts[0]) if parts else None,
        expression(parts[1]) if len(parts) > 1 else None,
        tuple(_address_item(part) for part in node.parts if part.name == "addr_item"),
        _suffix(node),
        node_span(node),
    )


_OPERAND: Final[dict[str, Callable[[Node], tree.Operand]]] = {
    "usual_ref": _usual_ref,
    "usual_value": _usual_value,
    "ref": _ref,
    "indirect": _indirect,
    "seed_indir": _indirect,
    "address_of": _address_of,
    "literal": _literal,
    "length": _length,
    "group": _group,
    "string": build_quoted,
    "address": _address,
    "junk": lambda node: tree.Junk(node.text, node_span(node)),
}


def operand(node: Node) -> tree.Operand:
    """Return the operand of a node named after its shape."""
    return _OPERAND[node.name](node)
