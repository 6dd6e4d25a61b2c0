"""Templates for instruction lines that differ only in the names of variables, for the program only.

In the class of a line, the kind and type of each variable, and equalities of names, replace the names. The first line
of a class is bound with marker numbers for its variables, which no text has; every later line replaces the markers in
the values by its own numbers. So binding must do nothing but copy the number of a variable. A template is kept only if
the names of the class are exactly those that binding looked up; ``tests/sema/test_instruction_templates.py`` compares
whole programs.
"""

from __future__ import annotations

import re
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from visa_lsp.program.model import Inst, Value
from visa_lsp.sema.instructions import instruction
from visa_lsp.sema.model import Body, Bound, Symbol
from visa_lsp.syntax import tree
from visa_lsp.syntax.bulk import PLAIN_NAME, replace_words
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from visa_lsp.isa.model import Instruction as Row
    from visa_lsp.sema.binding_pass import BindingPass

    Maker = Callable[[Sequence[int | None]], Value]

# Numbers stay in the text between names, because each piece costs time.
_NAME: Final = re.compile(f"({PLAIN_NAME.pattern})")
_CLASS_MARK: Final = "\x01"
# Text that depends on more than kind and type of a variable, or on the kernel.
_ASKS_MORE: Final = re.compile(r"%(?:sizeof|dispatch)", re.IGNORECASE)
_STRANGE: Final = 1 << 80  # no text or object has numbers from here on
_UNREAD: Final = tree.Unknown("", Span(0, 0))  # the statement of a line with a template


class InstructionTemplate(Struct, frozen=True):
    """The template of a class: the row, the values of one line, and the places for the variables of each line."""

    row: Row
    values: tuple[Value, ...]
    makers: tuple[tuple[int, Maker], ...]

    def inst(self, ids: Sequence[int | None], line: int) -> Inst:
        """Return the instruction of a line, given the numbers of its words; only those of variables are used."""
        values = list(self.values)
        for at, make in self.makers:
            values[at] = make(ids)
        return Inst(self.row, tuple(values), line)


class InstructionTemplates:
    """The templates of one body."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self._names = body.scope.names
        self._ids: dict[str, int] = {}  # numbers of the variables declared so far
        self._tokens = _Tokens()
        self._templates: dict[str, InstructionTemplate | None] = {}

    def serve(self, ctx: BindingPass, code: str) -> bool:
        """Bind a line without reading it; return False if it must be read."""
        if _CLASS_MARK in code:
            return False
        pieces = _NAME.split(code)
        words = pieces[1::2]
        template = self._templates.get(self._class_of(pieces, words))
        if template is None:
            return False
        line = ctx.line
        inst = template.inst(list(map(self._ids.get, words)), line)
        self.body.code.append(Bound(line, _UNREAD, template.row, (), inst))
        return True

    def _class_of(self, pieces: list[str], words: list[str]) -> str:
        """Return the class of a line of these pieces, alternately a word and the text between; consumes the pieces."""
        ids = self._ids
        if len(ids) < len(self._names):
            for name in islice(reversed(self._names), len(self._names) - len(ids)):
                ids[name], self._tokens[name] = self._names[name].id, _token(self._names[name])
        line_class = replace_words(pieces, self._tokens)
        if len(set(words)) < len(words):
            used = [word for word in words if word in ids]
            if len(set(used)) < len(used):
                line_class += _CLASS_MARK + ",".join([str(used.index(name)) for name in used])
        return line_class

    def learnt(self, ctx: BindingPass, code: str, node: tree.Instruction) -> bool:
        """Bind a line that was read, as the first of its class; return False if it must be bound separately."""
        if _CLASS_MARK in code or _ASKS_MORE.search(code):
            return False
        pieces = _NAME.split(code)
        words, places = pieces[1::2], _places(pieces)[1::2]
        key = self._class_of(pieces, words)
        if key in self._templates:
            return False
        symbols = {at: self._names[word] for at, word in enumerate(words) if word in self._ids}
        self._templates[key] = None  # because a class has at most one attempt
        strings = len(self.body.strings)
        template = _template(ctx, node, symbols)
        if template is None:
            return False
        inst = template.inst(list(map(self._ids.get, words)), ctx.line)
        self.body.code.append(Bound(ctx.line, node, template.row, (), inst))
        looked_up = {
            (use.place.span.start, use.place.span.end)
            for symbol in symbols.values()
            for use in takewhile(lambda use: use.place.line == ctx.line, reversed(symbol.references))
        }
        variables = {place for name, place in zip(words, places, strict=True) if name in self._ids}
        # No template for a line that is the first to name a label, because later lines differ.
        if looked_up == variables and len(self.body.strings) == strings:
            self._templates[key] = template
        return True


class _Tokens(dict[str, str]):
    """Maps a name to its substitute in a class: kind and type of a declared variable, else the name itself."""

    __slots__ = ()

    def __missing__(self, name: str) -> str:
        self[name] = name
        return name


def _token(symbol: Symbol) -> str:
    return f"{_CLASS_MARK}{symbol.kind.value}{symbol.type.name if symbol.type else ''};"


def _places(pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Return the place of each piece of a line."""
    places, at = [], 0
    for piece in pieces:
        places.append((at, at + len(piece)))
        at += len(piece)
    return places


def _template(ctx: BindingPass, node: tree.Instruction, symbols: Mapping[int, Symbol]) -> InstructionTemplate | None:
    """Return the template of a line with these variables, by the numbers of its words; None after a problem."""
    ids = [(symbol, symbol.id) for symbol in symbols.values()]
    problems = len(ctx.problems)
    for at, symbol in symbols.items():
        symbol.id = _STRANGE + at
    try:
        strange = instruction(ctx, node).inst
    finally:
        for symbol, number in ids:
            symbol.id = number
    if strange is None or len(ctx.problems) > problems:
        del ctx.problems[problems:]
        return None
    makers = tuple(
        [(at, make) for at, value in enumerate(strange.values) if (make := _maker(value, symbols)) is not None]
    )
    return InstructionTemplate(strange.row, strange.values, makers)


def _maker(value: Value, places: Container[int]) -> Maker | None:
    """Return a function that makes a value from the numbers of a line's words, if the value has a marker; else None."""
    if isinstance(value, int):
        at = value - _STRANGE
        return (lambda ids: ids[at]) if at in places else None
    if isinstance(value, tuple):
        items = [(item, _maker(item, places)) for item in value]
        if all(make is None for _, make in items):
            return None
        return lambda ids: tuple([item if make is None else make(ids) for item, make in items])  # type: ignore[misc]
    # The number in an operand is its ``var``.
    place = getattr(value, "var", 0) - _STRANGE
    if not isinstance(value, Struct) or place not in places:
        return None
    cls: Callable[..., Value] = type(value)
    fields, at = structs.astuple(value), value.__struct_fields__.index("var")
    before, behind = fields[:at], fields[at + 1 :]
    return lambda ids: cls(*before, ids[place], *behind)
