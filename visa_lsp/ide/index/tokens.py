"""The tokens of one statement for editors: words, names, numbers, regions, each with its kind.

Uses the tree of a line and, for instructions, the slots of operands (a name is a label if the slot requires one). Knows
no symbols and no positions outside the line. Invariant: tokens are in text order and do not overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.model import Shape, Slot
from visa_lsp.syntax import tree
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import Bound


class TokenKind(Enum):
    """The kind of a token."""

    MNEMONIC = "mnemonic"
    MODIFIER = "modifier"
    MASK = "execution mask"
    EXEC_SIZE = "execution size"
    COMBINE = "predicate combination"
    VARIABLE = "variable"
    LABEL = "label"
    FUNCTION = "function"
    DIRECTIVE = "directive"
    TYPE = "type"
    CLASS = "variable class"
    ALIGNMENT = "alignment"
    ATTRIBUTE = "attribute"
    ATTRIBUTE_VALUE = "attribute value"
    NUMBER = "number"
    ORIGIN = "origin"
    REGION = "region"
    BYTE_OFFSET = "byte offset"
    SOURCE_MODIFIER = "source modifier"
    ADDRESS_MODEL = "address model"
    DATA_SHAPE = "data shape"
    STRING = "string"
    KEYWORD = "keyword"


@dataclass(frozen=True, slots=True)
class Token:
    """A token. ``span`` counts from the start of the line; ``operand`` is the operand with the token."""

    kind: TokenKind
    span: Span
    text: str
    operand: tree.Operand | None = None
    node: tree.Expr | tree.RegionText | tree.Literal | None = None
    definition: bool = False


_FUNCTIONS: Final = (Shape.NAME, Shape.IDENTIFIER)
_FIXED_WORDS: Final = {tree.Decl: ".decl", tree.KernelAttr: ".kernel_attr", tree.Version: ".version"}


def tokens_of(statement: tree.Statement, bound: Bound | None = None) -> tuple[Token, ...]:
    """Return the tokens of a statement; ``bound`` is its instruction, if it is one."""
    match statement:
        case tree.Instruction():
            tokens = _instruction(statement, bound)
        case tree.Decl():
            tokens = _decl(statement)
        case tree.InputDecl():
            tokens = _input(statement)
        case tree.KernelAttr():
            tokens = _kernel_attr(statement)
        case tree.BodyDirective():
            tokens = _body(statement)
        case tree.Label(name=name):
            tokens = iter((_word(TokenKind.LABEL, name, definition=True),))
        case tree.Version():
            tokens = iter((_make_fixed_token(statement),))
        case _:
            tokens = iter(())
    return tuple(sorted(tokens, key=lambda t: t.span))


def _word(kind: TokenKind, word: tree.Word, operand: tree.Operand | None = None, *, definition: bool = False) -> Token:
    span = Span(word.span.start + 1, word.span.end - 1) if word.quoted else word.span
    return Token(kind, span, word.text, operand, definition=definition)


def _number(kind: TokenKind, node: tree.Expr, operand: tree.Operand | None = None) -> Token:
    return Token(kind, node.span, "", operand, node)


def _make_fixed_token(statement: tree.Decl | tree.KernelAttr | tree.Version) -> Token:
    text = _FIXED_WORDS[type(statement)]
    start = statement.span.start
    return Token(TokenKind.DIRECTIVE, Span(start, start + len(text)), text)


# ---- directives ----


def _decl(node: tree.Decl) -> Iterator[Token]:
    yield _make_fixed_token(node)
    if node.name:
        yield _word(TokenKind.VARIABLE, node.name, definition=True)
    if node.v_type:
        yield _word(TokenKind.CLASS, node.v_type)
    if node.type:
        yield _word(TokenKind.TYPE, node.type)
    if node.num_elts:
        yield _number(TokenKind.NUMBER, node.num_elts)
    if isinstance(node.align, tree.Word):
        yield _word(TokenKind.ALIGNMENT, node.align)
    elif node.align:
        yield _number(TokenKind.NUMBER, node.align)
    if node.alias:
        yield _word(TokenKind.VARIABLE, node.alias.name)
        yield _number(TokenKind.NUMBER, node.alias.offset)
    for item in node.attrs:
        yield _word(TokenKind.ATTRIBUTE, item.name)
        yield from _value(item.value)


def _value(value: tree.Expr | tree.Word | tree.Quoted | None) -> Iterator[Token]:
    if isinstance(value, (tree.Word, tree.Quoted)):
        yield Token(TokenKind.ATTRIBUTE_VALUE, value.span, value.text)
    elif value is not None:
        yield _number(TokenKind.ATTRIBUTE_VALUE, value)


def _input(node: tree.InputDecl) -> Iterator[Token]:
    yield _word(TokenKind.DIRECTIVE, node.directive)
    if node.name:
        yield _word(TokenKind.VARIABLE, node.name)
    for number in (node.offset, node.size):
        if number:
            yield _number(TokenKind.NUMBER, number)


def _kernel_attr(node: tree.KernelAttr) -> Iterator[Token]:
    yield _make_fixed_token(node)
    if node.name:
        yield _word(TokenKind.ATTRIBUTE, node.name)
    yield from _value(node.value)


def _body(node: tree.BodyDirective) -> Iterator[Token]:
    yield _word(TokenKind.DIRECTIVE, node.directive)
    if node.name:
        kind = TokenKind.LABEL if node.opens_subroutine else TokenKind.FUNCTION
        yield _word(kind, node.name, definition=True)


# ---- instructions ----


def mnemonic_words(bound: Bound | None) -> int:
    """Return the number of dotted words in the mnemonic."""
    row = bound.row if bound else None
    return 1 + row.mnemonic.count(".") if row else 1


def _instruction(node: tree.Instruction, bound: Bound | None) -> Iterator[Token]:
    if node.predicate:
        yield _word(TokenKind.VARIABLE, node.predicate.name)
        if node.predicate.combine:
            yield _word(TokenKind.COMBINE, node.predicate.combine)
    taken = mnemonic_words(bound)
    first_word, last_word = node.words[0], node.words[min(taken, len(node.words)) - 1]
    text = ".".join(w.text for w in node.words[:taken])
    yield Token(TokenKind.MNEMONIC, Span(first_word.span.start, last_word.span.end), text)
    for word in node.words[taken:]:
        yield _word(TokenKind.MODIFIER, word)
    if node.exec:
        if node.exec.mask:
            yield _word(TokenKind.MASK, node.exec.mask)
        yield _number(TokenKind.EXEC_SIZE, node.exec.size)
    slots = {id(b.node): b.slot for b in bound.operands} if bound else {}
    for operand in node.operands:
        yield from _operand(operand, slots.get(id(operand)))


def _operand(node: tree.Operand, slot: Slot | None) -> Iterator[Token]:
    match node:
        case tree.Ref():
            yield from _ref(node, node, slot)
        case tree.IndirectRef():
            yield from _indirect(node, node)
        case tree.AddressOfRef():
            yield _word(TokenKind.VARIABLE, node.name, node)
            if node.offset:
                yield _number(TokenKind.BYTE_OFFSET, node.offset, node)
        case tree.Literal():
            yield Token(TokenKind.NUMBER, node.value.span, "", node, node)
            if node.suffix:
                yield _word(TokenKind.TYPE, node.suffix, node)
        case tree.Group():
            for item in node.items:
                if isinstance(item, tree.Ref):
                    yield from _ref(item, node, slot)
                elif isinstance(item, tree.IndirectRef):
                    yield from _indirect(item, node)
                elif isinstance(item, tree.Literal):
                    yield Token(TokenKind.NUMBER, item.span, "", node, item)
        case tree.Quoted() if slot is not None and slot.shape in _FUNCTIONS:
            yield Token(TokenKind.FUNCTION, Span(node.span.start + 1, node.span.end - 1), node.text, node)
        case tree.Quoted():
            yield Token(TokenKind.STRING, node.span, node.text, node)
        case tree.AddressRef():
            yield from _address(node)


def _name_kind(slot: Slot | None) -> TokenKind:
    if slot is None:
        return TokenKind.VARIABLE
    if slot.shape in (Shape.LABEL, Shape.LABELS):
        return TokenKind.LABEL
    if slot.shape in _FUNCTIONS:
        return TokenKind.FUNCTION
    return TokenKind.KEYWORD if slot.shape is Shape.EXEC_WORD else TokenKind.VARIABLE


def _ref(node: tree.Ref, operand: tree.Operand, slot: Slot | None) -> Iterator[Token]:
    if node.modifier:
        yield _word(TokenKind.SOURCE_MODIFIER, node.modifier, operand)
    yield _word(_name_kind(slot), node.name, operand)
    for index in node.indices or ():
        yield _number(TokenKind.ORIGIN, index, operand)
    if node.region:
        yield Token(TokenKind.REGION, node.region.span, "", operand, node.region)
    if node.element:
        yield _number(TokenKind.NUMBER, node.element, operand)
    if node.dot:
        yield _number(TokenKind.BYTE_OFFSET, node.dot, operand)
    if node.suffix:
        yield _word(TokenKind.DATA_SHAPE, node.suffix, operand)


def _indirect(node: tree.IndirectRef, operand: tree.Operand) -> Iterator[Token]:
    if node.modifier:
        yield _word(TokenKind.SOURCE_MODIFIER, node.modifier, operand)
    yield _word(TokenKind.VARIABLE, node.name, operand)
    if node.index:
        yield _number(TokenKind.ORIGIN, node.index, operand)
    if node.offset:
        yield _number(TokenKind.BYTE_OFFSET, node.offset, operand)
    if node.region:
        yield Token(TokenKind.REGION, node.region.span, "", operand, node.region)
    if node.suffix:
        yield _word(TokenKind.TYPE, node.suffix, operand)


def _address(node: tree.AddressRef) -> Iterator[Token]:
    yield _word(TokenKind.ADDRESS_MODEL, node.model, node)
    parts: list[tree.Ref | tree.Expr | None] = [node.argument, node.surface_index]
    for item in node.items:
        parts.extend((item.scale, item.base, item.offset))
    for part in parts:
        if isinstance(part, tree.Ref):
            yield from _ref(part, node, None)
        elif part is not None:
            yield _number(TokenKind.NUMBER, part, node)
    if node.suffix:
        yield _word(TokenKind.DATA_SHAPE, node.suffix, node)
