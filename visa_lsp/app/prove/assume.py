"""Assumptions of the user: ``n <= groups * local_size``, ``len(y) >= n``, ``n % 16 == 0`` and such, as conditions.

Names are those of arguments (``argN`` where ze_info has none), ``groups``, ``local_size``, ``global_size`` and
``offset``, which are along x unless ``_y`` or ``_z`` follows, and ``len(NAME)``, the elements of a buffer.
"""

from __future__ import annotations

import ast
import keyword
import re
from typing import TYPE_CHECKING, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.prove.payload import AXES, LaunchSymbols, size_of
from visa_lsp.app.prove.terms import RELATIONS, Claim, Sum, both, either, negation, number
from visa_lsp.program.elements import cl_bytes, cl_element, element_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.program.payload import KernelInfo

MAX_CHARS: Final = 400
MAX_DIGITS: Final = 18
_NAME: Final = "__name"  # makes a name of a word of Python's own
_WORDS: Final = frozenset(keyword.kwlist) - {"and", "or", "not"}
_OPERATORS: Final = (ast.Eq, ast.NotEq, ast.Gt, ast.GtE, ast.Lt, ast.LtE)  # by their codes


def assumption(text: str, info: KernelInfo, symbols: LaunchSymbols) -> Claim:
    """Return the condition of an assumption. Raises UserError if the text is not an assumption."""
    try:
        tree = _parse(text) if len(text) <= MAX_CHARS else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is None:
        raise UserError(f"--assume {text!r}: expected a comparison such as 'n <= groups * local_size'")
    return _AssumptionReader(text, info, symbols).condition(tree)


def read_term(text: str, info: KernelInfo, symbols: LaunchSymbols) -> Sum:
    """Return the value of an expression of the language of assumptions."""
    return _AssumptionReader(text, info, symbols).term(_parse(text))


def _parse(text: str) -> ast.expr:
    """Parse an expression in which words of Python's own, such as `in`, may be names of arguments. Raises SyntaxError."""
    names = re.sub(r"\w+", lambda hit: f"{hit[0]}{_NAME}" if hit[0] in _WORDS else hit[0], text.strip())
    return ast.parse(names, mode="eval").body


def find_fixed_values(conditions: Iterable[Claim]) -> dict[str, int]:
    """Return the values that conditions give to symbols, by their names."""
    fixed = {}
    for condition in conditions:
        if condition.word not in ("eq", "le") or len(condition.term.factors) != 1 or condition.term.factors[0][1] != 1:
            continue
        atom, value = condition.term.factors[0][0], -condition.term.constant
        if not atom.parts and (condition.word == "eq" or value == atom.low):
            fixed[atom.name] = value
    return fixed


def name_of(info: KernelInfo, index: int) -> str:
    """Return the name of an argument, as assumptions write it."""
    return info.argument_name(index) or f"arg{index}"


def element_size(info: KernelInfo, index: int) -> int:
    """Return the number of bytes of an element of a buffer argument; 1 if its type is unknown."""
    record = info.record_of(index)
    return record.size if record is not None else cl_bytes(info.pointee_of(index)) or 1


def vector_type(info: KernelInfo, index: int) -> str:
    """Return the type of the elements of a buffer argument that are vectors or structures; empty for numbers and unknown types."""
    name = info.pointee_of(index)
    if info.record_of(index) is not None:
        return name
    element = cl_element(name)
    return name if element and cl_bytes(name) > element_bytes(element) else ""


def sum_words(summands: Iterable[tuple[str, int]], constant: int) -> str:
    """Return a sum of names, with their factors, and a constant: ``2 * k - n + 1``."""
    words = ""
    for name, factor in sorted(summands, key=_place):
        scaled = name if abs(factor) == 1 else f"{abs(factor)} * {f'({name})' if '%' in name else name}"
        words += f" {'-' if factor < 0 else '+'} {scaled}" if words else f"{'-' if factor < 0 else ''}{scaled}"
    if not constant:
        return words or "0"
    if words.startswith("-"):
        return f"{constant} - {words[1:]}"
    return f"{words} {'-' if constant < 0 else '+'} {abs(constant)}" if words else str(constant)


def _place(summand: tuple[str, int]) -> tuple[bool, bool, bool]:
    """Return the place of a summand in a sum: rows, columns, what has no id, and negative ones last."""
    words, factor = summand
    return factor < 0, "get_" not in words, " * " not in words


class _AssumptionReader:
    def __init__(self, text: str, info: KernelInfo, symbols: LaunchSymbols) -> None:
        self.text, self.info, self.symbols = text, info, symbols

    def wrong(self, why: str) -> UserError:
        return UserError(f"--assume {self.text!r}: {why}")

    def condition(self, node: ast.expr) -> Claim:
        match node:
            case ast.BoolOp(ast.And(), values):
                return both(*(self.condition(one) for one in values))
            case ast.BoolOp(ast.Or(), values):
                return either(*(self.condition(one) for one in values))
            case ast.UnaryOp(ast.Not(), operand):
                return negation(self.condition(operand))
            case ast.Compare(left, ops, comparators):
                terms = [self.term(one) for one in (left, *comparators)]
                return both(*(self._relation(op, a, b) for op, a, b in zip(ops, terms, terms[1:], strict=False)))
        raise self.wrong("expected a comparison, such as 'n <= groups * local_size'")

    def _relation(self, op: ast.cmpop, a: Sum, b: Sum) -> Claim:
        if type(op) not in _OPERATORS:
            raise self.wrong("expected one of <=, <, >=, >, ==, !=")
        return RELATIONS[_OPERATORS.index(type(op))](a, b)

    def term(self, node: ast.expr) -> Sum:
        pool = self.symbols.pool
        match node:
            case ast.Constant(int() as value) if not isinstance(value, bool) and abs(value) < 10**MAX_DIGITS:
                return number(value)
            case ast.Name(name):
                return self._look_up(name)
            case ast.UnaryOp(ast.USub(), operand):
                return self.term(operand) * -1
            case ast.BinOp(left, ast.Add(), right):
                return self.term(left) + self.term(right)
            case ast.BinOp(left, ast.Sub(), right):
                return self.term(left) - self.term(right)
            case ast.BinOp(left, ast.Mult(), right):
                return pool.product(self.term(left), self.term(right))
            case ast.BinOp(left, ast.Mod() | ast.Div() | ast.FloorDiv() as op, right):
                divisor = self.term(right)
                if not divisor.is_constant or divisor.constant < 1:
                    raise self.wrong("only a positive whole number can divide")
                whole = pool.quotient(self.term(left), divisor.constant)
                return self.term(left) - whole * divisor.constant if isinstance(op, ast.Mod) else whole
            case ast.Call(ast.Name("len"), [ast.Name(name)], []):
                index, name = self._index(name), name.removesuffix(_NAME)
                entry = next((one for one in self.info.payload if one.arg_index == index), None)
                if index is None or entry is None or entry.kind not in ("buffer", "local"):
                    raise self.wrong(f"the kernel has no buffer {name}")
                return pool.quotient(size_of(self.symbols, index), element_size(self.info, index))
        raise self.wrong("expected whole numbers, names, len(NAME), and + - * / %")

    def _index(self, name: str) -> int | None:
        name = name.removesuffix(_NAME)
        names = [name_of(self.info, at) for at in range(self.info.argument_count)]
        return names.index(name) if name in names else None

    def _look_up(self, name: str) -> Sum:
        index, name = self._index(name), name.removesuffix(_NAME)
        if index is not None:
            if index not in self.symbols.values:
                raise self.wrong(f"the kernel uses no whole number {name} passed by value")
            return self.symbols.values[index]
        word, _, axis = name.rpartition("_")
        if axis not in AXES or not word or not axis:
            word, axis = name, "x"
        axis_index = AXES.index(axis)
        sizes = {
            "groups": self.symbols.counts,
            "num_groups": self.symbols.counts,
            "local_size": self.symbols.local,
            "offset": self.symbols.offsets,
        }
        if word in sizes:
            return sizes[word][axis_index]
        if word == "global_size":
            return self.symbols.totals(axis_index)
        raise self.wrong(f"unknown name {name!r}; known: arguments, groups, local_size, global_size, offset")
