"""Powers of two that divide integer variables; they show that an address is an index times the size of an element.

The divisor of a variable divides every value written to it. Between an assignment and the next join of control flow, it
is the divisor of the assigned value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.lower import root_of
from visa_lsp.app.read.model import (
    Both,
    Calc,
    Expr,
    If,
    Invoke,
    JumpLabel,
    Lanes,
    NamedCall,
    Repeat,
    Set,
    Statement,
    Transfer,
    single,
)
from visa_lsp.isa.model import Role
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.types import BOOL
from visa_lsp.program.model import AddressOf, General, Immediate, Inst, Kernel, PredicateOperand, RawOperand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.isa import lane

_ZERO: Final = 64  # zero is divided by every power of two
_MAX_ROUNDS: Final = 8  # a variable without a result by then counts as odd


class Alignment:
    """The divisor of each variable, computed from the sources of all instructions that write it."""

    def __init__(self, kernel: Kernel, statements: Iterable[Statement], zeros: Iterable[int] = ()) -> None:
        self._kernel = kernel
        self._known: dict[int, int] = dict.fromkeys(zeros, _ZERO)
        self._recent: dict[int, int] = {}
        writers: list[tuple[int, General, Expr]] = []
        others: set[int] = set()
        for statement in single(statements):
            match statement:
                case Set(General() as target, value):
                    writers.append((self._root(target.var), target, value))
                    self._known.setdefault(self._root(target.var), _ZERO)
                case Transfer(False):
                    others.add(self._root(statement.data.var))
                case NamedCall(inst):
                    others |= set(map(self._root, _list_writes(inst)))
        self._known |= dict.fromkeys(others, 0)
        for _ in range(_MAX_ROUNDS):
            before = dict(self._known)
            for root, target, value in writers:
                is_odd = target.modifier is OperandModifier.SAT or not self._is_int(target.var)
                self._known[root] = min(self._known[root], 0 if is_odd else self.of(value))
            if before == self._known:
                return
        self._known = {}

    def of(self, value: Expr, *, recent: bool = True) -> int:
        """Return the power of two that divides an integer value.

        ``recent`` uses the last assignments, which hold for active lanes only.
        """
        if not recent:
            kept, self._recent = self._recent, {}
            divisor = self.of(value)
            self._recent = kept
            return divisor
        match value:
            case Immediate(type_, bits) if type_.is_int and not type_.is_packed:
                return _power(bits)
            case General(var) if self._is_int(var) and value.modifier is not OperandModifier.NOT:
                return self._of_variable(var)
            case Lanes(operand, type_) if type_.is_int and self._is_int(operand.var):
                return self._of_variable(operand.var)
            case Calc(meaning, args, type_, False, modifier) if type_.is_int and modifier is not OperandModifier.NOT:
                return self._node(meaning, args)
        return 0

    def note(self, statement: Statement) -> None:
        """Record the divisors of the values that a statement writes; behind one with others inside, none hold."""
        match statement:
            case Both():
                for part in statement.parts:
                    self.note(part)
            case Transfer():
                self._recent.pop(self._root(statement.data.var), None)
            case Set(General() as target, value, control, guard):
                root, divisor = self._root(target.var), self.of(value)
                declared = self._kernel.variable(root)
                whole = declared is not None and declared.num_elements == control.exec_size and guard is None
                self._recent.pop(root, None)
                if whole and target.region.horz_stride in (None, 1) and self._is_int(target.var):
                    self._recent[root] = divisor
            case Set(PredicateOperand()):
                pass
            case Set() | NamedCall() | If() | Repeat() | JumpLabel() | Invoke():
                self._recent.clear()

    def enter(self) -> dict[int, int]:
        """Return the present divisors, which ``leave`` restores."""
        return dict(self._recent)

    def leave(self, divisors: dict[int, int]) -> None:
        """Restore the divisors of another place, or none."""
        self._recent = dict(divisors)

    def _of_variable(self, var: int) -> int:
        root = self._root(var)
        return max(self._known.get(root, 0), self._recent.get(root, 0))

    def _node(self, node: lane.Expr, args: Sequence[Expr]) -> int:
        if node.word in ("src", "const"):
            number = node.args[0]
            assert isinstance(number, int)
            return self.of(args[number]) if node.word == "src" else _power(number)
        parts = [self._node(part, args) for part in node.args if not isinstance(part, int)]
        match node.word:
            case "add" | "add3" | "sub" | "or" | "xor":
                return min(parts)
            case "and":
                return max(parts)
            case "mul":
                return min(_ZERO, sum(parts))
            case "mad":
                return min(parts[0] + parts[1], parts[2])
            case "shl":
                count = _source(node.args[1], args)
                return min(_ZERO, parts[0] + (count.bits & 31)) if isinstance(count, Immediate) else parts[0]
        return 0

    def _is_int(self, var: int) -> bool:
        type_ = self._kernel.variable_type(var)
        root = self._kernel.variable_type(self._root(var))
        return type_ is not None and type_.is_int and type_ is not BOOL and root is not None and root.size == type_.size

    def _root(self, var: int) -> int:
        return root_of(self._kernel, var)


def _list_writes(inst: Inst) -> Iterator[int]:
    """Yield the variables that an instruction may write."""
    for slot in inst.row.slots:
        value = inst.get(slot.name)
        if isinstance(value, AddressOf) or (slot.role is not Role.READ and isinstance(value, RawOperand | General)):
            yield value.var


def _source(node: lane.Expr | int, args: Sequence[Expr]) -> Expr:
    """Return the argument that a node names; None for any other node."""
    number = node.args[0] if not isinstance(node, int) and node.word == "src" else None
    return args[number] if isinstance(number, int) else None


def _power(number: int) -> int:
    return (number & -number).bit_length() - 1 if number else _ZERO
