"""From parsimonious nodes to the tree: one function per grammar rule that matters.

Knows the grammar's rule names and the tree's classes, nothing else. Never fails: what is missing becomes an error of
the statement.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.syntax import tree
from visa_lsp.syntax.expressions import ExpressionError, evaluate
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from parsimonious.nodes import Node

_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.))")
_ESCAPED: Final = {"a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
# A constant expression deeper than this is refused, so that no later walk can exhaust the stack.
MAX_DEPTH: Final = 64


def _span(node: Node) -> Span:
    return Span(node.start, node.end)


def _parts(node: Node) -> Iterator[Node]:
    """The named nodes directly below, looking through sequences, choices and repetitions; blanks left out."""
    for child in node.children:
        name = child.expr_name
        if name == "_":
            continue
        if name:
            yield child
        else:
            yield from _parts(child)


def _child(node: Node, *names: str) -> Node | None:
    return next((part for part in _parts(node) if part.expr_name in names), None)


def _word(node: Node | None) -> tree.Word | None:
    return None if node is None else tree.Word(node.text, _span(node))


def _need(node: Node | None) -> tree.Word:
    assert node is not None
    return tree.Word(node.text, _span(node))


def unquote(text: str) -> str:
    """The value of a quoted string, escapes resolved; a missing closing quote is forgiven."""

    def one(match: re.Match[str]) -> str:
        hexa, octal, char = match.groups()
        if hexa:
            return chr(int(hexa, 16))
        if octal:
            return chr(int(octal, 8) & 0xFF)
        return _ESCAPED.get(char, char)

    inner = text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
    return _ESCAPE.sub(one, inner)


def _string(node: Node) -> tree.Quoted:
    return tree.Quoted(unquote(node.text), _span(node))


# ---- expressions ----


def _number(text: str, span: Span) -> tree.Number:
    return tree.Number(int(text, 16 if text[:2] in ("0x", "0X") else 10), span, text)


_CHAIN: Final = frozenset(
    {"bit_or", "bit_xor", "bit_and", "equality", "relational", "shift", "additive", "multiplicative"}
)


def expression(node: Node) -> tree.Expr:
    """The tree of an expression node of any level."""
    name = node.expr_name
    if name in ("decimal", "hex", "number"):
        return _number(node.text, _span(node))
    if name == "float":
        return tree.Float(float(node.text), _span(node), node.text)
    if name in _CHAIN:
        return _chain(node)
    parts = list(_parts(node))
    if name == "unary_op":
        return tree.Unary(node.text[0], expression(parts[0]), _span(node))
    if name == "sizeof":
        inner = parts[0] if parts[0].expr_name == "pname" else _child(parts[0], "pname")
        return tree.SizeOf(_need(inner), _span(node))
    if name == "builtin":
        return tree.Builtin(_need(node), _span(node))
    if name == "conditional" and len(parts) == 3:
        return tree.Conditional(expression(parts[0]), expression(parts[1]), expression(parts[2]), _span(node))
    return expression(parts[0])


def _chain(node: Node) -> tree.Expr:
    """``a op b op c``: the operators are the text between the operands."""
    parts = list(_parts(node))
    left = expression(parts[0])
    for before, part in pairwise(parts):
        op = node.full_text[before.end : part.start].strip()
        left = tree.Binary(op, left, expression(part), Span(node.start, part.end))
    return left


# ---- operands ----


def _suffix(node: Node) -> tree.Word | None:
    suffix = _child(node, "suffix")
    return None if suffix is None else _word(_child(suffix, "suffix_word"))


def _modifier(node: Node) -> tree.Word | None:
    mod = _child(node, "src_mod")
    if mod is None:
        return None
    text = mod.text.rstrip()
    return tree.Word("".join(text.split()), Span(mod.start, mod.start + len(text)))


def _region(node: Node) -> tree.RegionText | None:
    region = _child(node, "region")
    if region is None:
        return None
    form = next(_parts(region))
    values = [expression(form)] if form.expr_name == "rexpr" else [expression(part) for part in _parts(form)]
    # ``<;w,h>`` of the seed has three places and two numbers.
    number = {"region3": 3, "region2": 2, "rexpr": 1}[form.expr_name]
    vert = values[0] if len(values) == 3 else None
    width = values[-2] if len(values) >= 2 else None
    return tree.RegionText(vert, width, values[-1], number, _span(region))


def _ref(node: Node) -> tree.Ref:
    indices = _child(node, "indices")
    dot, element = _child(node, "dot"), _child(node, "element")
    return tree.Ref(
        _modifier(node),
        _need(_child(node, "pname")),
        None if indices is None else tuple(expression(part) for part in _parts(indices)),
        _region(node),
        None if element is None else expression(next(_parts(element))),
        None if dot is None else expression(next(_parts(dot))),
        _suffix(node),
        _span(node),
    )


def _indirect(node: Node) -> tree.IndirectRef:
    index, offset = _child(node, "ind_index"), _child(node, "ind_offset")
    return tree.IndirectRef(
        _modifier(node),
        _need(_child(node, "pname")),
        None if index is None else expression(next(_parts(index))),
        None if offset is None else expression(next(_parts(offset))),
        _region(node),
        _suffix(node),
        _span(node),
        node.expr_name == "seed_indir",
    )


def _address_of(node: Node) -> tree.AddressOfRef:
    bracket, seed = _child(node, "ao_bracket"), _child(node, "ao_seed")
    offset: tree.Expr | None = None
    if bracket is not None:
        offset = expression(next(_parts(bracket)))
    elif seed is not None:
        number = next(_parts(seed))
        offset = expression(number)
        if "-" in node.full_text[seed.start : number.start]:
            offset = tree.Unary("-", offset, _span(seed))
    return tree.AddressOfRef(_need(_child(node, "pname")), offset, seed is not None, _span(node))


def _literal(node: Node) -> tree.Literal:
    return tree.Literal(expression(next(_parts(node))), _suffix(node), _span(node))


def _length(node: Node) -> tree.Literal:
    return tree.Literal(expression(next(_parts(node))), None, _span(node), length=True)


def _group(node: Node) -> tree.Group:
    return tree.Group(tuple(operand(next(_parts(item))) for item in _parts(node)), _span(node))


def _ref_or_expr(node: Node) -> tree.Ref | tree.Expr:
    return _ref(node) if node.expr_name == "ref" else expression(node)


def _address_item(node: Node) -> tree.AddressItem:
    scale, base, off = _child(node, "addr_scale"), _child(node, "expr", "ref"), _child(node, "addr_off")
    both = _child(node, "addr_pair")
    pair = None if both is None else tuple(expression(part) for part in _parts(both))
    offset: tree.Expr | None = None
    if off is not None:
        sign, value = _parts(off)
        offset = expression(value)
        if sign.text == "-":
            offset = tree.Unary("-", offset, _span(off))
    assert base is not None
    return tree.AddressItem(
        None if scale is None else expression(next(_parts(scale))),
        _ref_or_expr(base),
        offset,
        _span(node),
        pair,  # type: ignore[arg-type]
    )


def _address(node: Node) -> tree.AddressRef:
    node = next(_parts(node))
    argument = _child(node, "model_arg")
    parts = [] if argument is None else list(_parts(argument))
    model = _word(_child(node, "model"))
    return tree.AddressRef(
        model or tree.Word("flat", Span(node.start, node.start)),
        _ref_or_expr(parts[0]) if parts else None,
        expression(parts[1]) if len(parts) > 1 else None,
        tuple(_address_item(part) for part in _parts(node) if part.expr_name == "addr_item"),
        _suffix(node),
        _span(node),
    )


_OPERAND: Final[dict[str, Callable[[Node], tree.Operand]]] = {
    "ref": _ref,
    "indirect": _indirect,
    "seed_indir": _indirect,
    "address_of": _address_of,
    "literal": _literal,
    "length": _length,
    "group": _group,
    "string": _string,
    "address": _address,
    "junk": lambda node: tree.Junk(node.text, _span(node)),
}


def operand(node: Node) -> tree.Operand:
    """The operand of a node named after its shape."""
    return _OPERAND[node.expr_name](node)


# ---- statements ----


def _rest(node: Node, what: str) -> tuple[tree.SyntaxProblem, ...]:
    rest = _child(node, "rest")
    if rest is None:
        return ()
    text = rest.text.strip()
    start = rest.start + rest.text.index(text)
    return (tree.SyntaxProblem(f"unexpected `{text}` behind {what}", Span(start, start + len(text))),)


def _predicate(node: Node) -> tree.PredicateText:
    end = node.start + len(node.text.rstrip())
    return tree.PredicateText(
        "!" in node.text, _need(_child(node, "pname")), _word(_child(node, "combine")), Span(node.start, end)
    )


def _dotted_word(node: Node) -> tree.Word:
    """A dotted word; a number in parentheses, ``.(7+7)``, stands for its value."""
    word = _child(node, "dotted_word")
    assert word is not None
    number = _child(word, "paren_expr")
    if number is None:
        return _need(word)
    try:
        return tree.Word(str(evaluate(expression(number), _nothing, _nothing)), _span(word))
    except ExpressionError:
        return _need(word)


def _nothing(_name: str) -> None:
    return None


def instruction(node: Node) -> tree.Instruction:
    """``(P1) add.sat (M1, 16) ..``."""
    words: list[tree.Word] = []
    operands: list[tree.Operand] = []
    predicate, execute, option = None, None, None
    for part in _parts(node):
        match part.expr_name:
            case "predicate":
                predicate = _predicate(part)
            case "mnemonic":
                words.append(_need(part))
            case "dotted":
                words.append(_dotted_word(part))
            case "exec":
                size = next(p for p in _parts(part) if p.expr_name == "expr")
                execute = tree.ExecText(_word(_child(part, "exec_mask")), expression(size), _span(part))
            case "option":
                option = _word(_child(part, "ident"))
            case "operand":
                _add_operand(node, operands, operand(next(_parts(part))))
    errors = [tree.SyntaxProblem(_no_operand(one.text), one.span) for one in operands if isinstance(one, tree.Junk)]
    return tree.Instruction(predicate, tuple(words), execute, tuple(operands), _span(node), tuple(errors), option)


def _add_operand(node: Node, operands: list[tree.Operand], new: tree.Operand) -> None:
    """Append an operand; what touches junk without a blank is part of the same broken operand."""
    while operands and operands[-1].span.end == new.span.start:
        # Operands may follow each other without a blank: junk that could begin one is not glued to a sound operand.
        starts_one = isinstance(new, tree.Junk) and (new.text[0].isalnum() or new.text[0] in '_%&"')
        if not isinstance(operands[-1], tree.Junk) and (starts_one or not isinstance(new, tree.Junk)):
            break
        span = Span(operands.pop().span.start, new.span.end)
        new = tree.Junk(node.full_text[span.start : span.end], span)
    operands.append(new)


def _no_operand(text: str) -> str:
    name = re.match(r"(?:\([^()]*\))?(%?[A-Za-z_][A-Za-z0-9_]*)\s*[(<]", text)
    form = f"; a general operand reads `{name.group(1)}(0,0)<1;1,0>`" if name else ""
    return f"`{text}` is no operand{form}"


def _label(node: Node) -> tree.Label:
    return tree.Label(_need(_child(node, "label_name")), node.start == 0, _span(node))


def _attr(node: Node) -> tree.AttrItem:
    value = _child(node, "attr_value")
    found: tree.Expr | tree.Word | None = None
    if value is not None:
        inner = next(_parts(value))
        if inner.expr_name == "string":
            found = tree.Word(unquote(inner.text), _span(inner), quoted=True)
        else:
            found = _need(inner) if inner.expr_name == "ident" else expression(inner)
    return tree.AttrItem(_need(_child(node, "ident")), found)


def _decl(node: Node) -> tree.Decl:
    values: dict[str, object] = {}
    attrs: tuple[tree.AttrItem, ...] = ()
    errors = []
    for item in _parts(node):
        if item.expr_name != "decl_item":
            continue
        part = next(_parts(item))
        kind = part.expr_name
        inner = list(_parts(part))
        if kind == "junk":
            errors.append(tree.SyntaxProblem(f"`{part.text}` is no property of a declaration", _span(part)))
        elif kind == "attrs":
            attrs = tuple(_attr(a) for a in inner)
        elif kind in ("alias", "seed_alias"):
            values["alias"] = tree.Alias(_need(inner[0]), expression(inner[1]), kind == "seed_alias", _span(part))
        elif kind in ("num_elts", "align") and inner[0].expr_name == "expr":
            values[kind] = expression(inner[0])
        else:
            values["type" if kind == "type_prop" else kind] = _need(inner[0])
    name = _child(node, "name")
    if name is None:
        errors.insert(0, tree.SyntaxProblem("a declaration needs a name: `.decl V1 v_type=G ..`", _span(node)))
    return tree.Decl(
        _word(name),
        values.get("v_type"),  # type: ignore[arg-type]
        values.get("type"),  # type: ignore[arg-type]
        values.get("num_elts"),  # type: ignore[arg-type]
        values.get("align"),  # type: ignore[arg-type]
        values.get("alias"),  # type: ignore[arg-type]
        attrs,
        values.get("v_name"),  # type: ignore[arg-type]
        _span(node),
        tuple(errors),
    )


def _input(node: Node) -> tree.InputDecl:
    values: dict[str, tree.Expr] = {}
    errors = []
    for item in _parts(node):
        if item.expr_name != "input_item":
            continue
        part = next(_parts(item))
        if part.expr_name == "junk":
            errors.append(tree.SyntaxProblem(f"`{part.text}` is no property of an input", _span(part)))
        else:
            values[part.expr_name] = expression(next(_parts(part)))
    name = _child(node, "pname")
    if name is None:
        errors.insert(0, tree.SyntaxProblem("an input needs a variable: `.input V1 offset=32 size=4`", _span(node)))
    return tree.InputDecl(
        _need(_child(node, "input_word")),
        _word(name),
        values.get("input_off"),
        values.get("input_size"),
        _span(node),
        tuple(errors),
    )


def _kernel_attr(node: Node) -> tree.KernelAttr:
    name, value_node = _child(node, "ident"), _child(node, "kattr_value")
    errors = list(_rest(node, "the attribute"))
    value: tree.Expr | tree.Quoted | tree.Word | None = None
    inner = None if value_node is None else next(_parts(value_node), None)
    if inner is not None:
        if inner.expr_name == "string":
            value = _string(inner)
        else:
            value = expression(next(_parts(inner))) if inner.expr_name == "bare_end" else _need(inner)
    if name is None:
        errors.insert(0, tree.SyntaxProblem("an attribute needs a name: `.kernel_attr SimdSize=16`", _span(node)))
    return tree.KernelAttr(_word(name), value, _span(node), tuple(errors))


def _version(node: Node) -> tree.Version:
    number = _child(node, "version_no")
    errors = list(_rest(node, "the version"))
    if number is None:
        errors.insert(0, tree.SyntaxProblem("a version is two numbers: `.version 4.1`", _span(node)))
        return tree.Version(None, None, _span(node), tuple(errors[:1]))
    major, minor = (int(part[:9]) for part in number.text.split("."))
    return tree.Version(major, minor, _span(node), tuple(errors))


def _body(node: Node) -> tree.BodyDirective:
    directive, name_node = _need(_child(node, "body_word")), _child(node, "body_name")
    errors = list(_rest(node, "the name"))
    name = None
    if name_node is None:
        example = '"main"' if directive.text == ".kernel" else '"f"'
        errors = [tree.SyntaxProblem(f"`{directive.text}` needs a name: `{directive.text} {example}`", _span(node))]
    else:
        inner = next(_parts(name_node))
        quoted = inner.expr_name == "string"
        name = tree.Word(unquote(inner.text) if quoted else inner.text, _span(inner), quoted)
    return tree.BodyDirective(directive, name, _span(node), tuple(errors))


def _scope(node: Node) -> tree.Scope:
    return tree.Scope(node.text.startswith("{"), _span(node), _rest(node, "the brace"))


def _unknown(node: Node) -> tree.Unknown:
    return tree.Unknown(
        node.text,
        _span(node),
        (tree.SyntaxProblem("this is neither a directive, a label nor an instruction", _span(node)),),
    )


def _bad_directive(node: Node) -> tree.Unknown:
    word = node.text.split()[0]
    known = ".version .kernel .decl .input .kernel_attr .function .global_function .funcdecl .parameter"
    span = Span(node.start, node.start + len(word))
    return tree.Unknown(
        node.text, _span(node), (tree.SyntaxProblem(f"unknown directive `{word}`; there are {known}", span),)
    )


_STATEMENT: Final[dict[str, Callable[[Node], tree.Statement]]] = {
    "version": _version,
    "decl": _decl,
    "input": _input,
    "kernel_attr": _kernel_attr,
    "body": _body,
    "bad_directive": _bad_directive,
    "scope": _scope,
    "label": _label,
    "instruction": instruction,
    "unknown": _unknown,
}


def statement(node: Node) -> tree.Statement:
    """The statement of a ``line`` node."""
    inner = _child(node, "statement")
    assert inner is not None
    part = next(_parts(inner))
    return _STATEMENT[part.expr_name](part)
