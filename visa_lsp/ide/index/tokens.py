"""The tokens of one statement for editors: words, names, numbers, regions, each with its kind.

Uses the tree of a line and, for instructions, the slots of operands (a name is a label if the slot requires one). Knows
no symbols and no positions outside the line. Invariant: tokens are in text order and do not overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import chain
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


Part = tuple[TokenKind, tree.Word | tree.Expr | tree.RegionText | None]
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
            numbers = ((TokenKind.NUMBER, statement.offset), (TokenKind.NUMBER, statement.size))
            tokens = _parts((TokenKind.DIRECTIVE, statement.directive), (TokenKind.VARIABLE, statement.name), *numbers)
        case tree.KernelAttr():
            name = _parts((TokenKind.ATTRIBUTE, statement.name))
            tokens = chain(_directive(statement), name, _value(statement.value))
        case tree.BodyDirective():
            kind = TokenKind.LABEL if statement.opens_subroutine else TokenKind.FUNCTION
            directive = _parts((TokenKind.DIRECTIVE, statement.directive))
            tokens = chain(directive, _parts((kind, statement.name), definition=True))
        case tree.Label(name=word):
            tokens = _parts((TokenKind.LABEL, word), definition=True)
        case tree.Version():
            tokens = _directive(statement)
        case _:
            tokens = iter(())
    return tuple(sorted(tokens, key=lambda t: t.span))


def _parts(*parts: Part, operand: tree.Operand | None = None, definition: bool = False) -> Iterator[Token]:
    """Yield the tokens of parts of a statement: a word with its text, an expression or region as its node; None is absent."""
    for kind, node in parts:
        if isinstance(node, tree.Word):
            span = Span(node.span.start + 1, node.span.end - 1) if node.quoted else node.span
            yield Token(kind, span, node.text, operand, definition=definition)
        elif node is not None:
            yield Token(kind, node.span, "", operand, node)


# ---- directives


def _directive(statement: tree.Decl | tree.KernelAttr | tree.Version) -> Iterator[Token]:
    text, start = _FIXED_WORDS[type(statement)], statement.span.start
    yield Token(TokenKind.DIRECTIVE, Span(start, start + len(text)), text)


def _decl(node: tree.Decl) -> Iterator[Token]:
    yield from _directive(node)
    yield from _parts((TokenKind.VARIABLE, node.name), definition=True)
    align = TokenKind.ALIGNMENT if isinstance(node.align, tree.Word) else TokenKind.NUMBER
    yield from _parts(
        (TokenKind.CLASS, node.v_type), (TokenKind.TYPE, node.type), (TokenKind.NUMBER, node.num_elts), (align, node.align)
    )  # fmt: skip
    if node.alias:
        yield from _parts((TokenKind.VARIABLE, node.alias.name), (TokenKind.NUMBER, node.alias.offset))
    for item in node.attrs:
        yield from _parts((TokenKind.ATTRIBUTE, item.name))
        yield from _value(item.value)


def _value(value: tree.Expr | tree.Word | tree.Quoted | None) -> Iterator[Token]:
    if isinstance(value, (tree.Word, tree.Quoted)):
        yield Token(TokenKind.ATTRIBUTE_VALUE, value.span, value.text)
    else:
        yield from _parts((TokenKind.ATTRIBUTE_VALUE, value))


# ---- instructions


def mnemonic_words(bound: Bound | None) -> int:
    """Return the number of dotted words in the mnemonic."""
    row = bound.row if bound else None
    return 1 + row.mnemonic.count(".") if row else 1


def _instruction(node: tree.Instruction, bound: Bound | None) -> Iterator[Token]:
    if node.predicate:
        yield from _parts((TokenKind.VARIABLE, node.predicate.name), (TokenKind.COMBINE, node.predicate.combine))
    taken = mnemonic_words(bound)
    first_word, last_word = node.words[0], node.words[min(taken, len(node.words)) - 1]
    text = ".".join(w.text for w in node.words[:taken])
    yield Token(TokenKind.MNEMONIC, Span(first_word.span.start, last_word.span.end), text)
    yield from _parts(*((TokenKind.MODIFIER, word) for word in node.words[taken:]))
    if node.exec:
        yield from _parts((TokenKind.MASK, node.exec.mask), (TokenKind.EXEC_SIZE, node.exec.size))
    slots = {id(b.node): b.slot for b in bound.operands} if bound else {}
    for operand in node.operands:
        yield from _operand(operand, slots.get(id(operand)))


def _operand(node: tree.Operand, slot: Slot | None) -> Iterator[Token]:
    match node:
        case tree.Ref() | tree.IndirectRef():
            yield from _ref(node, node, slot)
        case tree.AddressOfRef():
            yield from _parts((TokenKind.VARIABLE, node.name), (TokenKind.BYTE_OFFSET, node.offset), operand=node)
        case tree.Literal():
            yield Token(TokenKind.NUMBER, node.value.span, "", node, node)
            yield from _parts((TokenKind.TYPE, node.suffix), operand=node)
        case tree.Group():
            for item in node.items:
                if isinstance(item, tree.Ref | tree.IndirectRef):
                    yield from _ref(item, node, slot)
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


def _ref(node: tree.Ref | tree.IndirectRef, operand: tree.Operand, slot: Slot | None) -> Iterator[Token]:
    parts: list[Part]
    if isinstance(node, tree.Ref):
        parts = [(_name_kind(slot), node.name), *((TokenKind.ORIGIN, index) for index in node.indices or ())]
        parts += [
            (TokenKind.NUMBER, node.element),
            (TokenKind.BYTE_OFFSET, node.dot),
            (TokenKind.DATA_SHAPE, node.suffix),
        ]
    else:
        parts = [(TokenKind.VARIABLE, node.name), (TokenKind.ORIGIN, node.index), (TokenKind.BYTE_OFFSET, node.offset)]
        parts.append((TokenKind.TYPE, node.suffix))
    yield from _parts(
        (TokenKind.SOURCE_MODIFIER, node.modifier), *parts, (TokenKind.REGION, node.region), operand=operand
    )


def _address(node: tree.AddressRef) -> Iterator[Token]:
    yield from _parts((TokenKind.ADDRESS_MODEL, node.model), (TokenKind.DATA_SHAPE, node.suffix), operand=node)
    items = (part for item in node.items for part in (item.scale, item.base, item.offset))
    for part in (node.argument, node.surface_index, *items):
        if isinstance(part, tree.Ref):
            yield from _ref(part, node, None)
        else:
            yield from _parts((TokenKind.NUMBER, part), operand=node)
