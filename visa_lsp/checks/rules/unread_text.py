"""The lexer of text 4.2 does not read this spelling.

Older finalizers read some of these spellings, and others are common habits: blanks inside of `(-)`, types in mixed
case, decimal fractions with a type other than `:f` and `:df`, a sign `+` before a number, an execution size that is not
a plain number.

Why: the text does not compile, and the finalizer reports only a syntax error.

Example:

    .version 4.2
    mov (M1 16) V33(0,0)<1> 0x1:d

Instead:

    .version 4.2
    mov (M1, 16) V33(0,0)<1> 0x1:d

Authority: lexer and grammar of the finalizer of August 2026 (intel-graphics-compiler 98fff71643f1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from msgspec import Struct

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, report_as, rule
from visa_lsp.isa.model import Dialect
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V239", "unread-text", ERROR, __doc__)
Found = tuple[Span, str]
_TYPE: Final = "(?i:u?[dwbqv]|[dh]?f|bf|vf|bool)"
# Words that may be in lower or upper case, but not in mixed case.
_MIXED_TYPES: Final = re.compile(rf":(?!(?:bool|Bool|BOOL|[a-z]+|[A-Z]+)(?![A-Za-z0-9_])){_TYPE}(?![A-Za-z0-9_.])")
_CLASS: Final = re.compile(r"(?:[a-z]+|[A-Z]+|Bool)[0-9]*|e2m1|E2M1")
_FRACTION: Final = re.compile(
    r"(?<![A-Za-z0-9_.])[0-9]+(?:\.[0-9]+(?:[eE][-+][0-9]+)?|[eE][-+][0-9]+)(\s*):([A-Za-z0-9_]+)"
)
_MODIFIER: Final = re.compile(r"\((?:\s+(?:-abs|-|abs|~)\s*|(?:-abs|-|abs|~)\s+|\s*not\s*)\)")
_INDIRECT: Final = re.compile(r"(?<![A-Za-z0-9_])r\s+\[")
_CONSTANT: Final = re.compile(r"%(?:DispatchSIMD|Platform)(?![A-Za-z0-9_])")
_POINT: Final = re.compile(r"\.\s+[A-Za-z]")
_LINE_PATTERNS: Final = (
    (_MIXED_TYPES, "a type must be all lower case or all upper case, not `{}`"),
    (_MODIFIER, "a modifier of a source must be `(-)`, `(abs)`, `(-abs)` or `(~)`, without blanks, not `{}`"),
    (_INDIRECT, "remove the blank before the bracket: `r[`, not `{}`"),
    (_CONSTANT, "unknown constant `{}`; expected `%DispatchSimd`"),
)
_QUOTED: Final = re.compile(r'"(?:\\.|[^"\\])*"')
_ESCAPE: Final = re.compile(r"\\(?:[abefnrtv'\"?\\]|[0-9]{1,3}|x[0-9A-Fa-f]{1,2})|(\\.)")
_EXEC: Final = re.compile(r"\(\s*(?:[A-Za-z_0-9]+\s*,\s*)?[0-9]+\s*\)")


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    node = bound.statement
    if ctx.dialect is not Dialect.V42 or not isinstance(node, tree.Instruction):
        return
    finding = next(_in_instruction(ctx, bound, node), None)
    if finding is not None:
        yield _report(ctx, bound.line, finding)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    """Yield unread spellings in declarations and in attributes of the kernel."""
    if ctx.dialect is not Dialect.V42:
        return
    for symbol in ctx.find_declarations(body):
        if symbol.decl is not None and symbol.place is not None and not symbol.decl.errors:
            finding = next(_in_declaration(ctx, symbol.decl, symbol.place.line), None)
            if finding is not None:
                yield _report(ctx, symbol.place.line, finding)
    for _, place in body.attributes:
        node = ctx.document.statement(place.line)
        if isinstance(node, tree.KernelAttr) and not node.errors:
            code = ctx.document.code(place.line)
            finding = next(chain(_in_attribute(node), _escapes(code), _signs(node, code)), None)
            if finding is not None:
                yield _report(ctx, place.line, finding)


def _report(ctx: CheckContext, line: int, finding: Found) -> Diagnostic:
    span, message = finding
    return ctx.report(RULE, Place(line, span), message)


def _in_instruction(ctx: CheckContext, bound: Bound, node: tree.Instruction) -> Iterator[Found]:
    code = ctx.document.code(bound.line)
    yield from _escapes(code)
    if '"' in code:
        return
    for pattern, message in _LINE_PATTERNS:
        match = pattern.search(code)
        if match is not None:
            yield Span(*match.span()), message.format(match[0])
    for match in _FRACTION.finditer(code):
        if match[2].lower() in ("f", "df") and (match[1] or not match[2].islower()):
            yield (
                Span(*match.span()),
                f"a decimal fraction must end with `:f` or `:df`, without a blank before it, not `{match[1]}:{match[2]}`",
            )
    head = node.operands[0].span.start if node.operands else len(code)
    match = _POINT.search(code, 0, head)
    if match is not None and not (bound.row is not None and any(slot.length for slot in bound.row.slots)):
        yield Span(*match.span()), "remove the blank after the point of a word"
    if node.exec is not None and _EXEC.fullmatch(code, node.exec.span.start, node.exec.span.end) is None:
        yield (
            node.exec.span,
            f"an execution size is written as in `(M1, 16)`, not `{code[node.exec.span.start : node.exec.span.end]}`",
        )
    for operand in bound.operands:
        yield from _signs(operand.node, code)
        if isinstance(operand.node, tree.Literal):
            yield from _literal(operand.node)
            number = operand.node.value
            if operand.slot.hexadecimal and isinstance(number, tree.Number) and number.text[:2] not in ("0x", "0X"):
                yield (
                    operand.node.span,
                    f"`{operand.slot.name}` must be a hexadecimal number: `{number.value:#x}`, not `{number.text}`",
                )
        elif isinstance(operand.node, tree.IndirectRef) and operand.node.index is None:
            yield (
                operand.node.span,
                f"`{operand.node.name.text}` lacks its element, as in `{operand.node.name.text}(0)`",
            )


def _literal(node: tree.Literal) -> Iterator[Found]:
    """Yield numbers of floating-point types that are more than one number with a sign."""
    value, of = node.value, node.suffix.text.lower() if node.suffix is not None else ""
    if of in ("f", "df"):
        number = value.operand if isinstance(value, tree.Unary) and value.op == "-" else value
        if not isinstance(number, (tree.Number, tree.Float)) or value.span.start != node.span.start:
            yield node.span, f"a number of type `{of}` cannot be an expression"
    elif of == "hf" and not isinstance(value, (tree.Number, tree.Float)):
        yield node.span, "a number of type `hf` is written as its bits in hexadecimal, as in `0x3c00:hf`"


def _signs(node: object, code: str) -> Iterator[Found]:
    """Yield each ``+`` before a number."""
    if "+" not in code:
        return
    if isinstance(node, tree.Unary) and node.op == "+":
        yield node.span, "remove the `+` before the number"
    if isinstance(node, tuple):
        for child in node:
            yield from _signs(child, code)
    elif isinstance(node, Struct) and not isinstance(node, Span):
        for name in node.__struct_fields__:
            yield from _signs(getattr(node, name), code)


def _escapes(code: str) -> Iterator[Found]:
    """Yield unknown escape sequences of strings."""
    if "\\" not in code:
        return
    for quoted in _QUOTED.finditer(code):
        for match in _ESCAPE.finditer(code, *quoted.span()):
            if match[1] is not None:
                yield Span(*match.span()), f"unknown escape sequence `{match[0]}` in a string"


def _in_declaration(ctx: CheckContext, node: tree.Decl, line: int) -> Iterator[Found]:
    if node.type is not None and _CLASS.fullmatch(node.type.text) is None:
        yield node.type.span, f"a type must be all lower case or all upper case, not `{node.type.text}`"
    if isinstance(node.align, tree.Word) and node.align.text == "2_GRF":
        yield node.align.span, "unknown alignment `2_GRF`; expected `2GRF` or `GRFx2`"
    for number in (node.num_elts, node.align, node.alias and node.alias.offset):
        if number is not None and not isinstance(number, tree.Number):
            yield from _signs(number, ctx.document.code(line))
    if node.attrs:
        yield from _escapes(ctx.document.code(line))


def _in_attribute(node: tree.KernelAttr) -> Iterator[Found]:
    if node.name is None or node.name.text != "Target":
        return
    value = node.value
    if isinstance(value, tree.Quoted) and value.text == "cs":
        yield value.span, "text 4.2 has no target `cs`; expected `3d` or `cm`"
    elif isinstance(value, tree.Number) and value.value > 1:
        yield value.span, f"unknown target {value.value}; expected 0 or 1"
    elif value is None:
        yield node.span, '`Target` lacks its value, as in `Target="3d"`'


_INPUT = report_as(RULE, "text 4.2 has no `.parameter`; declare an input with `.input`")
CHECK = Check(RULE, {"unread-input": _INPUT}, instruction=_instruction, body=_body)
