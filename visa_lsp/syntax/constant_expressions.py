"""Values of constant expressions: 64-bit two's complement, as the real assembler computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from visa_lsp.syntax.tree import Binary, Builtin, Conditional, Expr, Float, Number, SizeOf, Unary

_MASK: Final = (1 << 64) - 1


class ExpressionError(Exception):
    """An expression without a value; ``args[0]`` is the reason, ``node`` the place."""

    def __init__(self, message: str, node: Expr) -> None:
        super().__init__(message)
        self.node = node


def _wrap(value: int) -> int:
    value &= _MASK
    return value - (1 << 64) if value >> 63 else value


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_BINARY: Final[dict[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b),
    "<<": lambda a, b: a << (b & 63),
    ">>": lambda a, b: a >> (b & 63),
    ">>>": lambda a, b: (a & _MASK) >> (b & 63),
    "&": lambda a, b: a & b,
    "^": lambda a, b: a ^ b,
    "|": lambda a, b: a | b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}
_UNARY: Final[dict[str, Callable[[int], int]]] = {
    "-": lambda a: -a,
    "+": lambda a: a,
    "~": lambda a: ~a,
    "!": lambda a: int(a == 0),
}


def evaluate(node: Expr, size_of: Callable[[str], int | None], builtin: Callable[[str], int | None]) -> int:
    """Return the value as a signed 64-bit integer.

    Raises ExpressionError for an unknown name, a float or a division by zero. ``size_of`` returns the bytes of a
    variable, type or ``GRF``; ``builtin`` the value of numbers such as ``%DispatchSimd``.
    """
    match node:
        case Number(value=value):
            return _wrap(value)
        case Float():
            raise ExpressionError("an integer expression cannot contain a float", node)
        case Unary(op=op, operand=operand):
            return _wrap(_UNARY[op](evaluate(operand, size_of, builtin)))
        case Binary(op=op, left=left, right=right):
            a, b = evaluate(left, size_of, builtin), evaluate(right, size_of, builtin)
            if op in "/%" and b == 0:
                raise ExpressionError("division by zero in a constant expression", node)
            return _wrap(_BINARY[op](a, b))
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            chosen = then if evaluate(condition, size_of, builtin) else otherwise
            return evaluate(chosen, size_of, builtin)
        case SizeOf(name=name):
            size = size_of(name.text)
            if size is None:
                raise ExpressionError(f"unknown variable or type `{name.text}` in `%sizeof`", node)
            return size
        case Builtin(name=name):
            constant = builtin(name.text)
            if constant is None:
                raise ExpressionError(f"`{name.text}` has no value here", node)
            return constant
