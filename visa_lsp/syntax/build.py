"""Builds the statement of a line from its nodes: one function for each relevant grammar rule.

Knows the grammar's rule names and the tree's classes, nothing else. Never fails: a missing part becomes an error of the
statement.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.syntax import tree
from visa_lsp.syntax.build_operands import (
    build_quoted,
    child_of,
    execution,
    expression,
    need_word,
    node_span,
    operand,
    unquote,
    word_at,
)
from visa_lsp.syntax.constant_expressions import ExpressionError, evaluate
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.syntax.nodes import Node


# The number of broken parts reported per line, because more would not help in a line of junk.
_TOLD: Final = 8


def _rest(node: Node, what: str) -> tuple[tree.SyntaxProblem, ...]:
    rest = child_of(node, "rest")
    if rest is None:
        return ()
    text = rest.text.strip()
    start = rest.start + rest.text.index(text)
    return (tree.SyntaxProblem(f"unexpected `{text}` behind {what}", Span(start, start + len(text))),)


def _predicate(node: Node) -> tree.PredicateText:
    end = node.start + len(node.text.rstrip())
    return tree.PredicateText(
        "!" in node.text, need_word(child_of(node, "pname")), word_at(child_of(node, "combine")), Span(node.start, end)
    )


def _build_dotted_word(node: Node) -> tree.Word:
    """Return a dotted word; an expression in parentheses, ``.(7+7)``, is replaced by its value."""
    word = child_of(node, "dotted_word")
    assert word is not None
    number = child_of(word, "paren_expr")
    if number is None:
        return need_word(word)
    try:
        return tree.Word(str(evaluate(expression(number), _build_nothing, _build_nothing)), node_span(word))
    except ExpressionError:
        return need_word(word)


def _build_nothing(_name: str) -> None:
    return None


def instruction(node: Node) -> tree.Instruction:
    """Return the instruction of ``(P1) add.sat (M1, 16) ..``."""
    words: list[tree.Word] = []
    operands: list[tree.Operand] = []
    predicate, execute, option = None, None, None
    for part in node.parts:
        match part.name:
            case "predicate":
                predicate = _predicate(part)
            case "mnemonic":
                words.append(need_word(part))
            case "dotted":
                words.append(_build_dotted_word(part))
            case "exec":
                execute = execution(part)
            case "option":
                option = word_at(child_of(part, "ident"))
            case "operand":
                _add_operand(node.full_text, operands, operand(part.parts[0]))
    errors: list[tree.SyntaxProblem] = []
    for index, operand_node in enumerate(operands):
        if isinstance(operand_node, tree.Junk):
            text = node.full_text[operand_node.span.start : operand_node.span.end]
            operands[index] = tree.Junk(text, operand_node.span)
            if len(errors) < _TOLD:
                errors.append(tree.SyntaxProblem(_no_operand(text), operand_node.span))
    return tree.Instruction(predicate, tuple(words), execute, tuple(operands), node_span(node), tuple(errors), option)


def _add_operand(line: str, operands: list[tree.Operand], new: tree.Operand) -> None:
    """Append an operand; parts that touch junk without a blank belong to the same broken operand.

    Only its span is extended, because joining its text with each part would take quadratic time.
    """
    while operands and operands[-1].span.end == new.span.start:
        # Operands may follow each other without a blank, so that junk that could begin one is not joined to a valid operand.
        character = line[new.span.start]
        starts_one = isinstance(new, tree.Junk) and (character.isalnum() or character in '_%&"')
        if not isinstance(operands[-1], tree.Junk) and (starts_one or not isinstance(new, tree.Junk)):
            break
        span = Span(operands.pop().span.start, new.span.end)
        new = tree.Junk("", span)
    operands.append(new)


def _no_operand(text: str) -> str:
    name = re.match(r"(?:\([^()]*\))?(%?[A-Za-z_][A-Za-z0-9_]*)\s*[(<]", text)
    form = f"; a general operand reads `{name.group(1)}(0,0)<1;1,0>`" if name else ""
    return f"`{text}` is not an operand{form}"


def _label(node: Node) -> tree.Label:
    return tree.Label(need_word(child_of(node, "label_name")), node.start == 0, node_span(node))


def _attr(node: Node) -> tree.AttrItem:
    value = child_of(node, "attr_value")
    value_node: tree.Expr | tree.Word | None = None
    if value is not None:
        inner = value.parts[0]
        if inner.name == "string":
            value_node = tree.Word(unquote(inner.text), node_span(inner), quoted=True)
        else:
            value_node = need_word(inner) if inner.name == "ident" else expression(inner)
    return tree.AttrItem(need_word(child_of(node, "ident")), value_node)


def _decl(node: Node) -> tree.Decl:
    v_type = type_ = v_name = None
    num_elts: tree.Expr | None = None
    align: tree.Word | tree.Expr | None = None
    alias: tree.Alias | None = None
    attrs: tuple[tree.AttrItem, ...] = ()
    errors = []
    for item in node.parts:
        if item.name != "decl_item":
            continue
        part = item.parts[0]
        inner = part.parts
        match part.name:
            case "v_type":
                v_type = need_word(inner[0])
            case "type_prop":
                type_ = need_word(inner[0])
            case "num_elts":
                num_elts = expression(inner[0])
            case "align":
                align = expression(inner[0]) if inner[0].name == "expr" else need_word(inner[0])
            case "alias" | "seed_alias" as form:
                alias = tree.Alias(need_word(inner[0]), expression(inner[1]), form == "seed_alias", node_span(part))
            case "attrs":
                attrs = tuple(_attr(a) for a in inner)
            case "v_name":
                v_name = need_word(inner[0])
            case "junk":
                errors.append(tree.SyntaxProblem(f"`{part.text}` is not a property of a declaration", node_span(part)))
    name = child_of(node, "name")
    if name is None:
        errors.insert(0, tree.SyntaxProblem("a declaration needs a name: `.decl V1 v_type=G ..`", node_span(node)))
    return tree.Decl(
        word_at(name),
        v_type,
        type_,
        num_elts,
        align,
        alias,
        attrs,
        v_name,
        node_span(node),
        tuple(errors[:_TOLD]),
    )


def _input(node: Node) -> tree.InputDecl:
    values: dict[str, tree.Expr] = {}
    errors = []
    for item in node.parts:
        if item.name != "input_item":
            continue
        part = item.parts[0]
        if part.name == "junk":
            errors.append(tree.SyntaxProblem(f"`{part.text}` is not a property of an input", node_span(part)))
        else:
            values[part.name] = expression(part.parts[0])
    name = child_of(node, "pname")
    if name is None:
        errors.insert(0, tree.SyntaxProblem("an input needs a variable: `.input V1 offset=32 size=4`", node_span(node)))
    return tree.InputDecl(
        need_word(child_of(node, "input_word")),
        word_at(name),
        values.get("input_off"),
        values.get("input_size"),
        node_span(node),
        tuple(errors[:_TOLD]),
    )


def _kernel_attr(node: Node) -> tree.KernelAttr:
    name, value_node = child_of(node, "ident"), child_of(node, "kattr_value")
    errors = list(_rest(node, "the attribute"))
    value: tree.Expr | tree.Quoted | tree.Word | None = None
    inner = None if value_node is None or not value_node.parts else value_node.parts[0]
    if inner is not None:
        if inner.name == "string":
            value = build_quoted(inner)
        else:
            value = expression(inner.parts[0]) if inner.name == "bare_end" else need_word(inner)
    if name is None:
        errors.insert(0, tree.SyntaxProblem("an attribute needs a name: `.kernel_attr SimdSize=16`", node_span(node)))
    return tree.KernelAttr(word_at(name), value, node_span(node), tuple(errors))


def _version(node: Node) -> tree.Version:
    number = child_of(node, "version_no")
    errors = list(_rest(node, "the version"))
    if number is None:
        errors.insert(0, tree.SyntaxProblem("a version is two numbers: `.version 4.1`", node_span(node)))
        return tree.Version(None, None, node_span(node), tuple(errors[:1]))
    # There may be blanks around the dot; a number may be as long as the line.
    major, minor = (int(part) for part in number.text.split("."))
    return tree.Version(major, minor, node_span(node), tuple(errors))


def _body(node: Node) -> tree.BodyDirective:
    directive, name_node = need_word(child_of(node, "body_word")), child_of(node, "body_name")
    errors = list(_rest(node, "the name"))
    name = None
    if name_node is None:
        example = '"main"' if directive.text == ".kernel" else '"f"'
        errors = [tree.SyntaxProblem(f"`{directive.text}` needs a name: `{directive.text} {example}`", node_span(node))]
    else:
        inner = name_node.parts[0]
        quoted = inner.name == "string"
        name = tree.Word(unquote(inner.text) if quoted else inner.text, node_span(inner), quoted)
        if directive.text == ".funcdecl" and not quoted:
            example = f'the name after `.funcdecl` must be in quotes: `.funcdecl "{inner.text}"`'
            errors.append(tree.SyntaxProblem(example, node_span(inner)))
    return tree.BodyDirective(directive, name, node_span(node), tuple(errors))


def _scope(node: Node) -> tree.Scope:
    return tree.Scope(node.text.startswith("{"), node_span(node), _rest(node, "the brace"))


def _unknown(node: Node) -> tree.Unknown:
    return tree.Unknown(
        node.text,
        node_span(node),
        (tree.SyntaxProblem("this is neither a directive, a label nor an instruction", node_span(node)),),
    )


def _bad_directive(node: Node) -> tree.Unknown:
    word = node.text.split()[0]
    known_directives = ".version .kernel .decl .input .kernel_attr .function .global_function .funcdecl .parameter"
    span = Span(node.start, node.start + len(word))
    return tree.Unknown(
        node.text,
        node_span(node),
        (tree.SyntaxProblem(f"unknown directive `{word}`; known directives: {known_directives}", span),),
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
    """Return the statement of a ``line`` node."""
    inner = child_of(node, "statement")
    assert inner is not None
    part = inner.parts[0]
    return _STATEMENT[part.name](part)
