"""Instruction lines that differ only in the names of variables are bound once, for the program alone.

The class of a line is its text with each variable's name replaced by the kind and type of the variable, and by which names
are equal. When the second line of a class comes, the first is bound again, with other numbers of its variables: where those
turn up in the values, the values of further lines have their own. Price: what is bound may depend on nothing else of a variable.
Confidence: a template is kept only if the names of the class are exactly those that binding looked up, and if it gives the
values of its own line again; ``tests/sema/test_instruction_templates.py`` compares whole programs.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct, structs

from visa_lsp.program.model import Inst
from visa_lsp.sema.instructions import instruction
from visa_lsp.sema.model import Bound
from visa_lsp.syntax import tree
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.isa.model import Instruction as Row
    from visa_lsp.program.model import Value
    from visa_lsp.sema.context import BindingPass
    from visa_lsp.sema.model import Body, Symbol

    Maker = Callable[[Sequence[int]], Value]

_NAME: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)")
_CLASS_MARK: Final = "\x01"
# What says more of a variable than its kind and type, or something of the kernel.
_ASKS_MORE: Final = re.compile(r"%(?:sizeof|dispatch)", re.IGNORECASE)
_STRANGE: Final = 1 << 40  # from here on no number in a text or an object
_UNREAD: Final = tree.Unknown("", Span(0, 0))  # the statement of a line that a template serves


class _NoTemplateError(Exception):
    """The values of a line cannot serve others."""


class InstructionTemplate(Struct, frozen=True):
    """What lines of a class are: the row, the values of one of them, and where those of another one differ."""

    row: Row
    values: tuple[Value, ...]
    makers: tuple[tuple[int, Maker], ...]

    def inst(self, ids: Sequence[int], line: int) -> Inst:
        """The instruction of a line whose variables have these numbers, by occurrence."""
        if not self.makers:
            return Inst(self.row, self.values, line)
        values = list(self.values)
        for at, make in self.makers:
            values[at] = make(ids)
        return Inst(self.row, tuple(values), line)


class _FirstLine(NamedTuple):
    """The first line of a class, from which a template may be made."""

    node: tree.Instruction
    inst: Inst
    symbols: Sequence[Symbol]


class InstructionTemplates:
    """The templates of one body."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self._names = body.scope.names
        self._known: dict[str, tuple[str, Symbol]] = {}
        self._templates: dict[str, InstructionTemplate | None] = {}
        self._met: dict[str, _FirstLine] = {}

    def served(self, ctx: BindingPass, code: str) -> bool:
        """Bind a line without reading it; False where it has to be read."""
        if _CLASS_MARK in code:
            return False
        pieces = _NAME.split(code)
        ids = self._replaced(pieces)
        key = "".join(pieces)
        template = self._templates.get(key)
        if template is None:
            first = self._met.pop(key, None)
            template = _template(ctx, *first) if first is not None else None
            if template is None:
                return False
            self._templates[key] = template
        ctx.body.code.append(Bound(ctx.line, _UNREAD, template.row, (), template.inst(ids, ctx.line)))
        return True

    def _replaced(self, pieces: list[str]) -> list[int]:
        """Replace names in the pieces of a line, and say which are equal; the numbers of their variables."""
        known, ids, used = self._known, [], []
        for at in range(1, len(pieces), 2):
            name = pieces[at]
            found = known.get(name)
            if found is None:
                symbol = self._names.get(name)
                if symbol is None:
                    continue
                found = known[name] = (_token(symbol), symbol)
            pieces[at] = found[0]
            ids.append(found[1].id)
            used.append(name)
        if len(set(used)) < len(used):
            pieces.append(_CLASS_MARK + ",".join([str(used.index(name)) for name in used]))
        return ids

    def learn(self, ctx: BindingPass, code: str, node: tree.Instruction) -> None:
        """Take in a line that was just bound, without a problem, and without a string that was new."""
        if _CLASS_MARK in code:
            return
        pieces = _NAME.split(code)
        places = _places(pieces)
        names = [(pieces[at], places[at]) for at in range(1, len(pieces), 2) if pieces[at] in self._names]
        self._replaced(pieces)
        key = "".join(pieces)
        if key in self._templates:
            return
        symbols = [self._names[name] for name, _ in names]
        inst = self.body.code[-1].inst
        self._templates[key] = None  # nothing more is learnt of this class
        if inst is None or _ASKS_MORE.search(code):
            return
        looked_up = {
            (use.place.span.start, use.place.span.end)
            for symbol in symbols
            for use in takewhile(lambda use: use.place.line == ctx.line, reversed(symbol.references))
        }
        if looked_up == {place for _, place in names}:
            self._met[key] = _FirstLine(node, inst, symbols)


def _token(symbol: Symbol) -> str:
    return f"{_CLASS_MARK}{symbol.kind.value}{symbol.type.name if symbol.type else ''};"


def _places(pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Where each piece of a line stands."""
    places, at = [], 0
    for piece in pieces:
        places.append((at, at + len(piece)))
        at += len(piece)
    return places


def _template(
    ctx: BindingPass, node: tree.Instruction, inst: Inst, symbols: Sequence[Symbol]
) -> InstructionTemplate | None:
    """The template of a line, which is bound again for it; None where it serves no other line."""
    ids = [symbol.id for symbol in symbols]
    problems = len(ctx.problems)
    for at, symbol in reversed(list(enumerate(symbols))):
        symbol.id = _STRANGE + at
    try:
        strange = instruction(ctx, node).inst
    finally:
        for symbol, number in zip(symbols, ids, strict=True):
            symbol.id = number
    if strange is None or len(ctx.problems) > problems or strange.row is not inst.row:
        del ctx.problems[problems:]
        return None
    try:
        pairs = enumerate(zip(inst.values, strange.values, strict=True))
        makers = tuple([(at, _maker(value, other)) for at, (value, other) in pairs if value != other])
    except _NoTemplateError:
        return None
    found = InstructionTemplate(inst.row, inst.values, makers)
    return found if found.inst(ids, inst.line) == inst else None


def _maker(value: Value, strange: Value) -> Maker:
    """What makes a value of the numbers of variables, from two that differ in those only. Raises _NoTemplateError."""
    if type(value) is not type(strange):
        raise _NoTemplateError
    if isinstance(strange, int):
        at = strange - _STRANGE
        if at < 0:
            raise _NoTemplateError
        return lambda ids: ids[at]
    if isinstance(value, tuple) and isinstance(strange, tuple) and len(value) == len(strange):
        items = [None if a == b else _maker(a, b) for a, b in zip(value, strange, strict=True)]
        return lambda ids: tuple([v if m is None else m(ids) for v, m in zip(value, items, strict=True)])  # type: ignore[misc]
    if not isinstance(value, Struct):
        raise _NoTemplateError
    cls: Callable[..., Value] = type(value)
    fields = value.__struct_fields__
    pairs = [(name, getattr(value, name), getattr(strange, name)) for name in fields]
    changed = [(name, _maker(one, other)) for name, one, other in pairs if one != other]
    if [name for name, _ in changed] != ["var"] or fields[0] != "var":
        return lambda ids: structs.replace(value, **{name: make(ids) for name, make in changed})
    # Most operands begin with the number of their variable.
    (_, number), rest = changed[0], [one for _, one, _ in pairs[1:]]
    return lambda ids: cls(number(ids), *rest)
