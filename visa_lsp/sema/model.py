"""The result of binding a text: symbols, references, bound instructions, problems.

Positions are (line, span within the line), so that nothing here moves when lines above change. The values are plain;
rules in ``checks`` turn problems into diagnostics, ``lower`` turns bodies into the program.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec import Struct, field

from visa_lsp.isa.model import Instruction, Role, Slot

if TYPE_CHECKING:
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType
    from visa_lsp.program.model import Attribute, FieldValue, Input, Inst
    from visa_lsp.syntax import tree
    from visa_lsp.text import Span

T = TypeVar("T")


class SymbolKind(Enum):
    """The classes of names; the values are words for messages."""

    GENERAL = "general variable"
    ADDRESS = "address variable"
    PREDICATE = "predicate variable"
    SAMPLER = "sampler variable"
    SURFACE = "surface variable"
    LABEL = "label"
    SUBROUTINE = "subroutine"

    # Hashed by identity, because the hash of Enum is slow and every declaration is looked up by its kind.
    __hash__ = object.__hash__


VARIABLE_LETTER = {
    "G": SymbolKind.GENERAL,
    "A": SymbolKind.ADDRESS,
    "P": SymbolKind.PREDICATE,
    "S": SymbolKind.SAMPLER,
    "T": SymbolKind.SURFACE,
}


class Place(NamedTuple):
    """A span of a line."""

    line: int
    span: Span


class Reference(NamedTuple):
    """A use of a symbol."""

    place: Place
    role: Role


class Symbol(Struct, eq=False):
    """A variable or label of one body. ``id`` is its number in the object. Predefined ones have no place.

    ``alias`` is the base and the byte offset in it. ``place`` of a label is its definition, or None for an undefined
    one.
    """

    name: str
    kind: SymbolKind
    id: int
    place: Place | None = None
    decl: tree.Decl | None = None
    type: DataType | None = None
    num_elements: int = 1
    unsized: bool = False  # the declaration lacks its size; ``num_elements`` is then the maximum
    align: int = 0
    alias: tuple[Symbol, int] | None = None
    scope: DeclarationScope | None = None
    predefined: bool = False
    input: Input | None = None
    input_place: Place | None = None
    references: list[Reference] = field(default_factory=list)
    attributes: tuple[Attribute, ...] = ()
    name_index: int = 0
    doc: str = ""
    end: tuple[Symbol, int] | None = None  # cached result of ``base``

    @property
    def byte_size(self) -> int:
        """The number of bytes of a general variable."""
        return self.num_elements * (self.type.size if self.type else 4)

    def base(self) -> tuple[Symbol, int]:
        """Return the variable at the end of the alias chain, and the byte offset in it; cycles end where they close."""
        if self.alias is None:
            return self, 0
        chain: list[Symbol] = []
        symbol, seen = self, set[int]()
        while symbol.alias is not None and symbol.end is None and id(symbol) not in seen:
            seen.add(id(symbol))
            chain.append(symbol)
            symbol = symbol.alias[0]
        # A chain may be as long as the text, so that its members share the result.
        base = symbol.end or (symbol, 0)
        for member in reversed(chain):
            assert member.alias is not None
            base = (base[0], base[1] + member.alias[1])
            member.end = base
        return base


class DeclarationScope(Struct, eq=False):
    """A declaration scope: that of the body, or one between braces.

    ``last_line`` is -1 while it is open. ``outer`` is the next scope around it with declarations before it, or that of
    the body.
    """

    parent: DeclarationScope | None
    first_line: int
    last_line: int = -1
    place: Place | None = None  # place of the opening brace
    names: dict[str, Symbol] = field(default_factory=dict)
    outer: DeclarationScope | None = None

    def visible(self, name: str) -> Symbol | None:
        """Return the innermost symbol of a name while the scope is open; enclosing scopes get no names until it ends."""
        scope: DeclarationScope | None = self
        while scope is not None:
            symbol = scope.names.get(name)
            if symbol is not None:
                return symbol
            scope = scope.outer
        return None

    def find(self, name: str) -> Symbol | None:
        """Return the innermost symbol of a name."""
        scope: DeclarationScope | None = self
        while scope is not None:
            symbol = scope.names.get(name)
            if symbol is not None:
                return symbol
            scope = scope.parent
        return None


class Problem(Struct, frozen=True):
    """A problem for a rule to report: ``kind`` selects the rule, ``args`` has the values for its message."""

    kind: str
    place: Place
    args: Mapping[str, object]
    related: tuple[tuple[Place, str], ...] = ()

    def get(self, name: str, kind: type[T]) -> T:
        """Return a value that is of one kind."""
        value = self.args[name]
        assert isinstance(value, kind)
        return value


class BoundOperand(Struct, frozen=True):
    """A slot, its text, and its value in the program (None if it has a problem)."""

    slot: Slot
    node: tree.Operand
    value: FieldValue


class Bound(Struct, frozen=True):
    """A statement of the instruction stream: an instruction, a label line, a ``.function`` line.

    ``inst`` is None if a problem leaves no meaning.
    """

    line: int
    statement: tree.Statement
    row: Instruction | None
    operands: tuple[BoundOperand, ...]
    inst: Inst | None


class Predefined(Mapping[str, Symbol]):
    """The predefined symbols of a body by all of their names, created on first use.

    ``source`` has the symbols shared by all bodies; all names of a symbol give the same one. ``used`` are those created
    for this body.
    """

    __slots__ = ("_made", "_source")

    def __init__(self, source: Mapping[str, Symbol]) -> None:
        self._source = source
        self._made: dict[int, Symbol] = {}

    def __getitem__(self, name: str) -> Symbol:
        shared = self._source[name]
        symbol = self._made.get(id(shared))
        if symbol is None:
            symbol = self._made[id(shared)] = copy(shared)
            symbol.references = []
        return symbol

    def __iter__(self) -> Iterator[str]:
        return iter(self._source)

    def __len__(self) -> int:
        return len(self._source)

    @property
    def used(self) -> Iterable[Symbol]:
        """The symbols of this body that were looked up so far."""
        return self._made.values()


class Body(Struct, eq=False):
    """A kernel or a function."""

    name: str
    is_kernel: bool
    place: Place | None
    first_line: int
    last_line: int
    platform: Platform
    scope: DeclarationScope
    strings: list[str] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    labels: dict[str, Symbol] = field(default_factory=dict)
    inputs: list[Input] = field(default_factory=list)
    attributes: list[tuple[Attribute, Place]] = field(default_factory=list)
    code: list[Bound] = field(default_factory=list)
    scopes: list[DeclarationScope] = field(default_factory=list)
    predefined: Predefined = field(default_factory=lambda: Predefined({}))

    def find(self, name: str, line: int) -> Symbol | None:
        """Return the symbol of a variable name at a line; later declarations count too."""
        # In the order of the braces: of two scopes that begin on one line, the later one is the inner one.
        scope = next((s for s in reversed(self.scopes) if s.first_line <= line <= s.last_line), self.scope)
        return scope.find(name) or self.predefined.get(name)

    def of_kind(self, kind: SymbolKind) -> list[Symbol]:
        """Return the declared symbols of a kind, by id."""
        return [s for s in self.symbols if s.kind is kind]


class BoundModule(Struct, frozen=True):
    """A bound text."""

    version: tuple[int, int] | None
    version_line: int
    bodies: tuple[Body, ...]
    problems: tuple[Problem, ...]
    platform: Platform
    versions: int = 0  # number of ``.version`` lines

    def body_at(self, line: int) -> Body | None:
        """Return the body around a line."""
        index = bisect_right(self.bodies, line, key=lambda body: body.first_line) - 1
        return self.bodies[index] if index >= 0 and line <= self.bodies[index].last_line else None


__all__ = [
    "VARIABLE_LETTER", "Body", "Bound", "BoundModule", "BoundOperand", "DeclarationScope", "Place", "Predefined",
    "Problem", "Reference", "Role", "Symbol", "SymbolKind",
]  # fmt: skip
