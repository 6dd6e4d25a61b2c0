"""Expectations of a launch file that are not arrays: expressions over arrays, and the results of a reference program.

The caller runs the reference. Invariants: only functions that ``launchfile.formulas`` lists are called. No array has
more bytes than all arrays of a launch may have. An expression takes a time in proportion to the arrays of the launch,
or some seconds.
"""

from __future__ import annotations

import ast
import math
import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.app.launch.report import ExpectationReport
from visa_lsp.launchfile.formulas import (
    ARRAY_FUNCTIONS,
    ARRAYS,
    COMPARISONS,
    Formula,
    FormulaError,
    compute,
    is_comparison,
    on_numbers,
    read_formula,
)
from visa_lsp.program.elements import MAX_BUFFER_BYTES
from visa_lsp.sim.launch.config import Array, BufferArg, Expectation, ImageArg, LaunchConfig, LaunchError, ValueArg
from visa_lsp.sim.launch.expect import mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from visa_lsp.launchfile.values import GivenExpectation, Number
    from visa_lsp.sim.launch.prepare import PreparedLaunch

    Key = int | str

_MAX_MATRIX_PRODUCTS: Final = 1 << 33  # multiplications in one matrix product: some ten seconds
_LEAST_BUDGET: Final = 1 << 26  # elements that the operations of one expression may make: half a second
# The same, per element of the launch's arrays: an expression has at most 400 characters.
_BUDGET_PER_ELEMENT: Final = 64


def _reshape(array: Array, *shape: int) -> Array:
    return np.reshape(array, shape)


def _transpose(array: Array, *axes: int) -> Array:
    return np.transpose(array, axes or None)


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    **{name: getattr(np, name) for name in ARRAY_FUNCTIONS},
    # Expressions have no tuples.
    "reshape": _reshape,
    "transpose": _transpose,
}
# Functions whose result has no more elements than one of their arguments.
_NOT_LARGER: Final = frozenset(
    _FUNCTIONS[name]
    for name in ("all", "any", "argmax", "argmin", "cumsum", "flip", "max", "mean", "min", "prod", "ravel",
                 "reshape", "roll", "size", "sort", "sum", "transpose")
)  # fmt: skip


def _compare(
    condition: GivenExpectation, actual: Array, wanted: Array, key: Key, words: str, *, shown: bool
) -> ExpectationReport:
    """Compare with the given tolerances; differences are ``shown`` if ``actual`` is the array of the argument."""
    expected = Expectation(key, wanted, False, condition.rtol, condition.atol, condition.ulp)
    wrong = mismatch(actual, expected)
    if wrong is None:
        return ExpectationReport(key, ok=True, message="holds")
    return ExpectationReport(key, False, f"{words}: {wrong.message}", wrong if shown else None)


def condition_reports(
    conditions: Mapping[int, GivenExpectation],
    prepared: PreparedLaunch,
    config: LaunchConfig,
    names: Mapping[str, Number],
    run: Callable[[Path], Mapping[Key, Array]],
) -> Iterator[tuple[int, ExpectationReport]]:
    """Yield the report of each condition after a run, with its number; ``run`` gives the arrays that a reference leaves.

    Raises LaunchError for an expression that cannot be computed, and what ``run`` raises.
    """
    for number, condition in conditions.items():
        if condition.reference is not None:
            for report in _of_reference(condition, prepared, config, run(condition.reference)):
                yield number, report
        else:
            try:
                yield number, _of_expression(condition, _NamedArrays(prepared, config, names))
            except FormulaError as error:
                raise LaunchError(f"expect: '{condition.expr}': {error}", condition.arg) from None


def _of_reference(
    condition: GivenExpectation, prepared: PreparedLaunch, config: LaunchConfig, left: Mapping[Key, Array]
) -> Iterator[ExpectationReport]:
    """Yield a report for the compared argument, or for each argument that the reference changes."""
    before = _values_before(config)
    keys = [condition.arg] if condition.arg is not None else [
        key for key, array in left.items() if _bytes(array) != _bytes(before[key])
    ]  # fmt: skip
    assert condition.reference is not None
    for key in keys or list(left):
        words = f"as {condition.reference.name} leaves it"
        if key not in left or key not in prepared.arrays:
            raise LaunchError(f"argument {key} is expected to be {words}, but is not a buffer", key)
        yield _compare(condition, prepared.arrays[key], left[key], key, words, shown=True)


def _values_before(config: LaunchConfig) -> dict[Key, Any]:
    """Return the values of arguments before the run; a number without its own type is a Python number."""
    return {
        key: arg.array.item() if isinstance(arg, ValueArg) and not arg.typed and not arg.array.ndim else arg.array
        for key, arg in config.by_key.items()
        if isinstance(arg, BufferArg | ImageArg | ValueArg)
    }


def _bytes(array: Array) -> bytes:
    return bytes(array.tobytes())


class _NamedArrays:
    """The values of names in expressions: arrays after and before the run, values, and axes of the sweep."""

    def __init__(self, prepared: PreparedLaunch, config: LaunchConfig, names: Mapping[str, Number]) -> None:
        self.prepared = prepared
        self.keys: dict[str, Key] = {}
        self.values: dict[str, Any] = dict(names)
        given = _values_before(config)
        by_place = {key: f"arg{key}" for key in given}
        for words in (by_place, {key: prepared.names.get(key, "") or str(key) for key in given}):
            self.values |= {f"{words[key]}0": value for key, value in given.items()}
            self.values |= {words[key]: prepared.arrays.get(key, value) for key, value in given.items()}
            self.keys |= {words[key]: key for key in given}
        elements = sum(np.size(value) for value in self.values.values())
        self.elements_left = max(_LEAST_BUDGET, _BUDGET_PER_ELEMENT * elements)

    def argument(self, formula: Formula) -> Key:
        """Return the first array argument that an expression names."""
        names = [node.id for node in ast.walk(formula.tree) if isinstance(node, ast.Name)]
        for name in names:
            key = self.keys.get(name, self.keys.get(name.removesuffix("0")))
            if key is not None and key in self.prepared.arrays:
                return key
        raise FormulaError("expected the name of a buffer or image")

    def array(self, node: ast.AST) -> Array:
        """Return the value of a part of an expression."""
        with np.errstate(all="ignore"):
            return np.asarray(compute(node, self.values, _FUNCTIONS, self.apply))

    def apply(self, operation: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        """Apply an operation to arrays and numbers. Raises FormulaError if that is too large, too expensive or invalid."""
        if all(type(value) in (int, float) for value in values) and operation not in _FUNCTIONS.values():
            return on_numbers(operation, values)
        try:
            self._pay(operation, values)
            return operation(*values)
        except FormulaError:
            raise
        except (TypeError, ValueError, IndexError, ArithmeticError, MemoryError) as error:
            words = str(error).splitlines()[0] if str(error) else type(error).__name__
            name = getattr(operation, "__name__", "a function").strip("_")
            raise FormulaError(f"wrong operands of {name}: {words:.200}") from None

    def _pay(self, operation: Callable[..., Any], values: tuple[Any, ...]) -> None:
        size = _result_size(operation, [np.shape(value) for value in values], values)
        self.elements_left -= size * (size.bit_length() if operation is np.sort else 1)
        if self.elements_left < 0:
            raise FormulaError(
                "the expression is too expensive: it computes far more elements than the arrays of the launch have"
            )


def _of_expression(condition: GivenExpectation, names: _NamedArrays) -> ExpectationReport:
    formula = read_formula(condition.expr, ARRAYS)
    key = condition.arg if condition.arg is not None else names.argument(formula)
    if key not in names.prepared.arrays:
        raise FormulaError(f"argument {key} is not a buffer")
    tree = formula.tree
    if not is_comparison(formula):
        actual, wanted = names.prepared.arrays[key], names.array(tree)
        return _compare(condition, actual, _spread(wanted, actual), key, condition.expr, shown=True)
    assert isinstance(tree, ast.Compare)
    sign, compare = COMPARISONS[type(tree.ops[0])]
    left, right = names.array(tree.left), names.array(tree.comparators[0])
    if sign == "==":
        whole = isinstance(tree.left, ast.Name) and left is names.prepared.arrays[key]
        left = left if whole else _spread(left, right)
        return _compare(condition, left, _spread(right, left), key, condition.expr, shown=whole)
    holds = np.asarray(names.apply(compare, (left, right)))
    if holds.all():
        return ExpectationReport(key, ok=True, message="holds")
    index = tuple(int(n) for n in np.argwhere(~holds)[0])
    shown = (np.broadcast_to(side, holds.shape)[index] for side in (left, right))
    place = f"[{', '.join(map(str, index))}]: " if index else ""
    words = f"{np.count_nonzero(~holds)} of {holds.size} do not hold: {place}{f' {sign} '.join(map(str, shown))}"
    return ExpectationReport(key, ok=False, message=f"{condition.expr}: {words}")


def _spread(array: Array, like: Array) -> Array:
    """Broadcast an array to the shape of another; if that fails, return it unchanged, and the comparison reports the shape."""
    try:
        return np.broadcast_to(array, np.broadcast_shapes(array.shape, like.shape))
    except ValueError:
        return array


def _result_size(operation: Callable[..., Any], shapes: list[tuple[int, ...]], values: tuple[Any, ...]) -> int:
    """Return the maximum number of elements of a result. Raises FormulaError if it is too large."""
    sizes = [math.prod(shape) for shape in shapes]
    if operation is np.arange:
        size = max((abs(float(value)) for value in values if np.ndim(value) == 0), default=0.0)
        if len(values) == 3:
            raise FormulaError("expected arange(END) or arange(START, END)")
        size *= len(values)
    elif operation in (operator.matmul, np.dot):
        inner = shapes[0][-1] if shapes[0] else 1
        if sizes[0] * sizes[-1] // max(1, inner) > _MAX_MATRIX_PRODUCTS:
            raise FormulaError("the matrices are too large to multiply")
        size = float(sizes[0] * sizes[-1] // max(1, inner) // max(1, inner))
    elif operation is operator.getitem or operation in _NOT_LARGER:
        size = float(max(sizes, default=0))
    else:
        size = float(math.prod(np.broadcast_shapes(*shapes)))
    if size * np.dtype(np.float64).itemsize > MAX_BUFFER_BYTES:
        raise FormulaError(f"a result would have {int(size)} elements; at most {MAX_BUFFER_BYTES} bytes are allowed")
    return int(size)
