"""Expressions in launch files: a small subset of Python's expressions, parsed with ``ast`` and never executed as code.

Knows operators, names and functions, no keys of launch files and no arrays: the caller supplies values of names and applies
operations. Invariant: only the allowed operators, names and functions are ever called; a text has at most
``MAX_EXPRESSION_CHARS`` characters and ``MAX_EXPRESSION_DEPTH`` levels, and ``number`` computes with numbers of at most
128 bits.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from visa_lsp.launchfile.values import Number

    Apply = Callable[[Callable[..., Any], tuple[Any, ...]], Any]

MAX_EXPRESSION_CHARS: Final = 400
MAX_EXPRESSION_DEPTH: Final = 50
_MAX_NUMBER_BITS: Final = 128
_CHARACTERS: Final = re.compile(r"[A-Za-z0-9_ .,()\[\]:+*/%@<>=!&|~-]*")

ARITHMETIC: Final[Mapping[type[ast.AST], tuple[str, Callable[..., Any]]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow),
    ast.USub: ("-", operator.neg),
    ast.UAdd: ("+", operator.pos),
}
COMPARISONS: Final[Mapping[type[ast.AST], tuple[str, Callable[..., Any]]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
# Operators for arrays only.
OF_ARRAYS: Final[Mapping[type[ast.AST], tuple[str, Callable[..., Any]]]] = {
    ast.MatMult: ("@", operator.matmul),
    ast.BitAnd: ("&", operator.and_),
    ast.BitOr: ("|", operator.or_),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.Invert: ("~", operator.invert),
}


def _round(value: Number) -> int:
    return round(value)  # without a number of digits, because a huge one would take forever


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": abs, "ceil": math.ceil, "floor": math.floor, "max": max, "min": min, "round": _round,
}  # fmt: skip


_ARGUMENTS: Final = {"abs": "x", "ceil": "x", "floor": "x", "max": "a, b, ...", "min": "a, b, ...", "round": "x"}
# Functions of NumPy with their NumPy names, by their arguments; those in brackets may be missing.
_ARRAY_ARGUMENTS: Final = {
    name: arguments
    for arguments, names in {
        "x": "abs arccos arcsin arctan ceil cos cosh exp exp2 expm1 floor isfinite isnan log log10 log1p log2 ravel rint sign sin "
        "sinh sqrt square tan tanh trunc int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64",
        "x, y": "fmod hypot maximum minimum dot",
        "y, x": "arctan2",
        "a, [axis]": "all any argmax argmin cumsum flip max mean min prod size sort sum",
        "a, [decimals]": "round",
        "a, min, max": "clip",
        "a, sizes, ...": "reshape",
        "a, [axes], ...": "transpose",
        "a, shift, [axis]": "roll",
        "condition, x, y": "where",
        "[start], end": "arange",
    }.items()
    for name in names.split()
}
ARRAY_FUNCTIONS: Final = tuple(sorted(_ARRAY_ARGUMENTS))


class FormulaError(ValueError):
    """An expression that cannot be parsed or computed; its message is one line."""


class Formula(Struct, frozen=True):
    """A parsed expression: its text, its tree, and its names."""

    text: str
    tree: ast.expr
    names: frozenset[str]


class Grammar(Struct, frozen=True):
    """The operators of an expression, its functions with their arguments, and with ``indexes`` indices and slices of arrays."""

    operators: Mapping[type[ast.AST], tuple[str, Callable[..., Any]]]
    functions: Mapping[str, str]
    indexes: bool = False

    def check_call(self, name: str, count: int) -> None:
        """Raise FormulaError for an unknown function, or one that does not take ``count`` arguments."""
        if name not in self.functions:
            raise FormulaError(f"unknown function '{name}'; known functions: {', '.join(sorted(self.functions))}")
        arguments = self.functions[name].split(", ")
        named = [argument for argument in arguments if argument != "..."]
        least = sum(not argument.startswith("[") for argument in named)
        if count < least or (count > len(named) and "..." not in arguments):
            raise FormulaError(f"expected {name}({self.functions[name]}), got {count} argument{'s' * (count != 1)}")


NUMBERS: Final = Grammar(ARITHMETIC, _ARGUMENTS)
ARRAYS: Final = Grammar({**ARITHMETIC, **COMPARISONS, **OF_ARRAYS}, _ARRAY_ARGUMENTS, indexes=True)


def is_comparison(formula: Formula) -> bool:
    """Return whether an expression is a comparison."""
    return isinstance(formula.tree, ast.Compare)


def read_formula(text: str, grammar: Grammar = NUMBERS) -> Formula:
    """Parse an expression. Raises FormulaError if it is invalid or ``grammar`` does not allow it."""
    if len(text) > MAX_EXPRESSION_CHARS:
        raise FormulaError(f"an expression has at most {MAX_EXPRESSION_CHARS} characters, got {len(text)}")
    good = _CHARACTERS.match(text)
    assert good is not None
    if good.end() < len(text):
        raise FormulaError(f"unexpected character '{text[good.end()]}' in an expression")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of Python's compiler do not concern the user
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        hint = "; put quotes around an expression with commas" if text.count("(") != text.count(")") else ""
        raise FormulaError(f"'{text:.60}' is not an expression{hint}") from None
    return Formula(text, tree, frozenset(_check_nodes(tree, grammar, 0)))


def _check_nodes(node: ast.AST, grammar: Grammar, depth: int) -> Iterator[str]:
    """Yield the names in a tree. Raises FormulaError for a node that is not allowed."""
    if depth > MAX_EXPRESSION_DEPTH:
        raise FormulaError(f"the expression is nested more than {MAX_EXPRESSION_DEPTH} levels deep")
    inner: list[ast.AST] = []
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            _within(value)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in grammar.operators:
            inner = [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in grammar.operators:
            inner = [left, right]
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in grammar.operators:
            inner = [left, right]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if not any(
            isinstance(arg, ast.Starred) for arg in args
        ):
            grammar.check_call(name, len(args))
            inner = list(args)
        case ast.Subscript(value=value, slice=index) if grammar.indexes:
            inner = [value, *(index.elts if isinstance(index, ast.Tuple) else [index])]
        case ast.Slice(lower=lower, upper=upper, step=step) if grammar.indexes:
            inner = [part for part in (lower, upper, step) if part is not None]
        case _:
            signs = dict.fromkeys(sign for sign, _ in grammar.operators.values())
            words = f"'{ast.unparse(node):.60}' is not allowed in an expression"
            raise FormulaError(f"{words}; allowed: {' '.join(signs)}, numbers, names and functions")
    for child in inner:
        yield from _check_nodes(child, grammar, depth + 1)


def compute(node: ast.AST, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]], apply: Apply) -> Any:
    """Compute a parsed tree. ``apply`` applies each operator or function to its values.

    Raises FormulaError for a name that ``names`` lacks, and the errors of ``apply``.
    """

    def value(part: ast.AST | None) -> Any:
        return None if part is None else compute(part, names, functions, apply)

    match node:
        case ast.Constant(value=constant):
            return constant
        case ast.Name(id=name):
            if name not in names:
                raise FormulaError(f"unknown name '{name:.60}'; known names: {', '.join(names) or 'none'}")
            return names[name]
        case ast.UnaryOp(op=op, operand=operand):
            return apply(_OPERATIONS[type(op)][1], (value(operand),))
        case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
            return apply(_OPERATIONS[type(op)][1], (value(left), value(right)))
        case ast.Call(func=ast.Name(id=name), args=args):
            return apply(functions[name], tuple(value(arg) for arg in args))
        case ast.Subscript(value=array, slice=ast.Tuple(elts=parts)):
            return apply(operator.getitem, (value(array), tuple(value(part) for part in parts)))
        case ast.Subscript(value=array, slice=index):
            return apply(operator.getitem, (value(array), value(index)))
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(value(lower), value(upper), value(step))
    raise AssertionError(node)  # the parser refuses everything else


_OPERATIONS: Final = {**ARITHMETIC, **COMPARISONS, **OF_ARRAYS}


def number(formula: Formula, names: Mapping[str, Number]) -> Number:
    """Compute an expression of numbers. Raises FormulaError if the result is not a number of at most 128 bits."""
    result: Number = _within(compute(formula.tree, names, FUNCTIONS, on_numbers))
    return result


def on_numbers(operation: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """Apply an operation to numbers. Raises FormulaError if the result is not a number of at most 128 bits."""
    if operation is operator.lshift and abs(values[1]) > _MAX_NUMBER_BITS:
        raise FormulaError(f"{values[0]} << {values[1]} is too large")
    if operation is operator.pow and all(isinstance(v, int) for v in values):
        base, exponent = values
        if exponent > _MAX_NUMBER_BITS or abs(base).bit_length() * max(exponent, 0) > 2 * _MAX_NUMBER_BITS:
            raise FormulaError(f"{base} ** {exponent} is too large")
    try:
        return _within(operation(*values))
    except ZeroDivisionError:
        raise FormulaError("division by zero") from None
    except OverflowError:
        raise FormulaError("the result is too large") from None
    except (TypeError, ValueError) as error:
        raise FormulaError(
            f"wrong operands of {getattr(operation, '__name__', 'a function').strip('_')}: {error}"
        ) from None


def _within(value: Any) -> Any:
    if not isinstance(value, int | float):
        raise FormulaError("the result is not a number")
    if isinstance(value, int) and value.bit_length() > _MAX_NUMBER_BITS:
        raise FormulaError(f"the result has more than {_MAX_NUMBER_BITS} bits")
    return value
