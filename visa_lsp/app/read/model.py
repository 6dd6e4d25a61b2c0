"""The statements and expressions of pseudo-code.

Operands of the program (``program.model``) are the leaves of expressions. ``places`` are the numbers of the
instructions of a statement. Nothing here prints or computes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.isa.operands import OperandModifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from visa_lsp.isa import lane
    from visa_lsp.isa.types import DataType, ExecControl
    from visa_lsp.program.model import Inst, Predicate, RawOperand, Value


class Calc(Struct, frozen=True):
    """The value of a lane expression over some arguments, converted to ``type``.

    ``modifier`` is applied by the expression that contains this one, after the conversion.
    """

    meaning: lane.Expr
    args: tuple[Expr, ...]
    type: DataType
    saturate: bool = False
    modifier: OperandModifier = OperandModifier.NONE


class Choose(Struct, frozen=True):
    """``yes`` where the predicate holds, else ``no``; converted to ``type``."""

    condition: Predicate
    yes: Expr
    no: Expr
    type: DataType
    saturate: bool = False
    modifier: OperandModifier = OperandModifier.NONE


class Compare(Struct, frozen=True):
    """A relation of two values by its code in the object, for each lane."""

    relation: int
    left: Expr
    right: Expr


Expr: TypeAlias = "Calc | Choose | Compare | Lanes | Value"


class Lanes(Struct, frozen=True):
    """The contiguous elements of a raw operand, one for each lane."""

    operand: RawOperand
    type: DataType
    modifier: OperandModifier = OperandModifier.NONE


class Set(Struct, frozen=True):
    """An assignment of a value to a place, in the enabled lanes for which the guard holds."""

    target: Value
    value: Expr
    control: ExecControl
    guard: Predicate | None
    places: tuple[int, ...]


class MemoryPlace(Struct, frozen=True):
    """The memory of an access: shared local memory, the surface in a variable, or an address model of ``isa.lsc_codes``."""

    shared: bool = False
    variable: int = -1
    model: int = 0
    operand: Value = None


class Transfer(Struct, frozen=True):
    """A load or store of ``elements`` of ``size`` bytes each at the addresses of lanes, in bytes: (address * scale) + offset.

    Element k of all lanes fills row k of ``data``, a cell of ``cell`` bytes for each lane, from ``high`` on. With
    ``single`` there is one address, and the elements are contiguous. ``wraps``: addresses have 32 bits. ``value``
    replaces the data of a store of one element per lane. An atomic is a load of the old value with an ``update`` by the
    values of ``sources``. An access to ``image``, a message, has coordinates and other parameters as ``sources``, and channels of
    a texel as ``elements``; ``states`` are the instructions that set its surface and its sampler.
    """

    write: bool
    memory: MemoryPlace
    address: Expr
    scale: int
    offset: Value
    wraps: bool
    data: RawOperand
    size: int
    cell: int
    elements: tuple[int, ...]
    single: bool
    high: bool
    control: ExecControl
    guard: Predicate | None
    places: tuple[int, ...]
    value: Expr = None
    update: str = ""
    sources: tuple[Expr, ...] = ()
    image: Inst | None = None
    states: tuple[Inst, ...] = ()


class Both(Struct, frozen=True):
    """Equal statements for neighbouring lanes, which differ only in their registers."""

    low: Set | Transfer | Both
    high: Set | Transfer | Both
    places: tuple[int, ...]

    @property
    def parts(self) -> tuple[Set | Transfer, ...]:
        """The statements, from the lowest lanes on."""
        return tuple(
            [part for half in (self.low, self.high) for part in (half.parts if isinstance(half, Both) else (half,))]
        )


class NamedCall(Struct, frozen=True):
    """A named operation on operands: a message, a barrier, or an instruction with several results."""

    inst: Inst
    places: tuple[int, ...]


class BranchTest(Struct, frozen=True):
    """The active lanes that a branch takes.

    Without predicate and index, these are all of its lanes. ``whole`` takes all lanes of the thread or none, by the
    first bit of the predicate. ``index`` is compared with ``case`` for the whole thread. ``negated``: the lanes that do
    not take the branch. ``tests`` compute the predicate, which only this condition reads.
    """

    predicate: Predicate | None
    control: ExecControl
    whole: bool = False
    index: Value = None
    case: int = 0
    negated: bool = False
    tests: tuple[Set | Both, ...] = ()


class If(Struct, frozen=True):
    """A condition with its two branches."""

    condition: BranchTest
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    places: tuple[int, ...]


class Repeat(Struct, frozen=True):
    """A loop: ``body`` repeats while lanes stay in it; ``first`` is tested before each round, ``last`` after it."""

    body: tuple[Statement, ...]
    first: BranchTest | None = None
    last: BranchTest | None = None
    first_places: tuple[int, ...] = ()
    last_places: tuple[int, ...] = ()


class Break(Struct, frozen=True):
    """An exit from the innermost loop."""

    places: tuple[int, ...]


class Continue(Struct, frozen=True):
    """A jump to the next round of the innermost loop."""

    places: tuple[int, ...]


class Goto(Struct, frozen=True):
    """A jump to a label of this list of statements, or of an enclosing one."""

    label: int
    places: tuple[int, ...]


class JumpLabel(Struct, frozen=True):
    """A place for ``Goto``."""

    label: int


class Return(Struct, frozen=True):
    """An exit from the routine."""

    places: tuple[int, ...]


class Invoke(Struct, frozen=True):
    """A call of a routine of the same body, in the lanes of the condition."""

    routine: int
    condition: BranchTest
    places: tuple[int, ...]


Statement: TypeAlias = (
    "Set | Transfer | Both | NamedCall | If | Repeat | Break | Continue | Goto | JumpLabel | Return | Invoke"
)


class Routine(Struct, frozen=True):
    """The main part of a body (``entry`` 0) or a subroutine: the number of its first block, its label, its statements."""

    entry: int
    label: int | None
    body: tuple[Statement, ...]
    structured: bool = True


class Reading(Struct, frozen=True):
    """A kernel or function as pseudo-code."""

    routines: tuple[Routine, ...]


def inner_lists(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """Return the lists of statements inside of one."""
    match statement:
        case If():
            return statement.then, statement.otherwise
        case Repeat():
            return (statement.body,)
    return ()


def flat(code: Sequence[Statement]) -> Iterator[Statement]:
    """Yield all statements, those inside of others too."""
    for statement in code:
        yield statement
        for inner in inner_lists(statement):
            yield from flat(inner)


def single(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Yield statements, and the parts of those for several lanes in their place."""
    for statement in statements:
        yield from statement.parts if isinstance(statement, Both) else (statement,)


def parts(value: Expr) -> tuple[Expr, ...]:
    """Return the values that an operation takes; nothing for an operand."""
    match value:
        case Calc(_, args):
            return args
        case Choose(_, one, other) | Compare(_, one, other):
            return one, other
    return ()


def leaves(value: Expr) -> Iterator[Expr]:
    """Yield the operands of an expression."""
    if not isinstance(value, Calc | Choose | Compare):
        yield value
    for part in parts(value):
        yield from leaves(part)


def map_leaves(value: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """Replace the operands of an expression; None keeps one."""
    match value:
        case Calc():
            return replace(value, args=tuple(map_leaves(arg, change) for arg in value.args))
        case Choose():
            return replace(value, yes=map_leaves(value.yes, change), no=map_leaves(value.no, change))
        case Compare():
            return replace(value, left=map_leaves(value.left, change), right=map_leaves(value.right, change))
    new = change(value)
    return value if new is None else new
