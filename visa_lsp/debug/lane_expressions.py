"""Expressions over the lanes of a stopped thread: ``V0051[3] > 7``, ``any(P1)``, ``item == (3,0,0)``, ``V32(1,0)<8;8,1>:f``.

A text becomes functions of a frame's cells; it is never evaluated as Python. Numbers are compared and computed as in C,
element by element where one side is a variable. Invariant: an expression ends, and writes nothing.

    or     a || b      and  a && b      compare  == != < <= > >=      bits  | ^ &      shift  << >>
    sum    + -         product  * / %   prefix  - ! ~                 behind  [index]  (row,col)<region>  :type
    names  variables, predicates, addresses, surfaces, arguments, slm; item, local, group, thread, lane, emask
    calls  any(x) all(x) sum(x) min(x) max(x) abs(x) count(x)
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from visa_lsp.debug.cells import TYPES, Cells, DebugError, FrameCells
from visa_lsp.program.regions import list_strided_elements, origin

Get = Callable[[FrameCells], Any]

MAX_TEXT_CHARS: Final = 2000
_MAX_DEPTH: Final = 40
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
    r"|(?P<name>%?[A-Za-z_$@?][\w$@?]*)|(?P<sign>\|\||&&|[=!<>]=|<<|>>|[-+*/%&|^~!<>()\[\],:;]))"
)
_REGION: Final = re.compile(
    r"\(\s*(\d{1,6})\s*,\s*(\d{1,6})\s*\)\s*(?:<\s*(\d{1,3})\s*(?:;\s*(\d{1,3})\s*,\s*(\d{1,3})\s*)?>)?"
)
_STYLE: Final = re.compile(r",\s*([xduf])\s*\Z")


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression. ``cells`` returns the elements that it names, or is None for computed values."""

    text: str
    get: Get
    cells: Callable[[FrameCells], Cells] | None
    style: str = ""

    def holds(self, scope: FrameCells) -> bool:
        """Return whether the value, or one of its elements, is true."""
        return truth(self.get(scope))


def truth(value: Any) -> bool:
    """Return whether a value, or one of its elements, is not zero. Raises DebugError for work items."""
    if isinstance(value, np.ndarray):
        return bool(value.any())
    if isinstance(value, list | tuple):
        raise DebugError("work items can only be compared, such as item == (3,0,0)")
    return bool(value)


def number_of(value: Any, text: str) -> int | float:
    """Return a value as one number. Raises DebugError for anything else."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, int | float):
        raise DebugError(f"'{text.strip()[:80]}' is not one number")
    return value


def read(text: str) -> Expression:
    """Read an expression; ``,x`` ``,d`` ``,u`` ``,f`` at its end choose the number format.

    Raises DebugError for a malformed text.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise DebugError(f"the expression has more than {MAX_TEXT_CHARS} characters")
    style = _STYLE.search(text)
    body = text[: style.start()] if style else text
    reader = _Reader(body)
    node = reader.whole()
    return Expression(text.strip(), node.get, node.cells, style[1] if style else "")


@dataclass(frozen=True, slots=True)
class _Node:
    get: Get
    cells: Callable[[FrameCells], Cells] | None = None


def _of_cells(cells: Callable[[FrameCells], Cells], *, single: bool = False) -> _Node:
    if single:
        return _Node(lambda scope: cells(scope).values()[0], cells)
    return _Node(lambda scope: cells(scope).values(), cells)


def _divide(a: Any, b: Any) -> Any:
    """Divide as in C: whole numbers are truncated towards zero."""
    if np.issubdtype(np.asarray(a).dtype, np.floating) or np.issubdtype(np.asarray(b).dtype, np.floating):
        return np.divide(a, b)
    _no_zero(b)
    return (
        np.trunc(np.true_divide(a, b)).astype(np.int64)
        if isinstance(a, np.ndarray)
        else int(a) // int(b)
        if (a < 0) == (b < 0)
        else -(abs(int(a)) // abs(int(b)))
    )


def _rest(a: Any, b: Any) -> Any:
    _no_zero(b)
    return np.fmod(a, b)


def _no_zero(b: Any) -> None:
    if not np.all(b):
        raise DebugError("division by zero")


def _shift(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def shift(a: Any, b: Any) -> Any:
        if not np.all((np.asarray(b) >= 0) & (np.asarray(b) < 64)):
            raise DebugError("a shift must be by 0 to 63 bits")
        return function(_whole(a), _whole(b))

    return shift


def _whole(value: Any) -> Any:
    """Return integers as 64-bit ones. Raises DebugError for other values."""
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in "iub":
            raise DebugError("bit operations need whole numbers")
        return value if value.dtype == np.uint64 else value.astype(np.int64)
    if isinstance(value, int):
        return value
    raise DebugError("bit operations need whole numbers")


def _wide(value: Any) -> Any:
    """Return a value for arithmetic, wide enough that sums and products of elements are exact."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind == "f" or value.dtype == np.uint64 else value.astype(np.int64)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        raise DebugError("work items can only be compared")
    return value


def _bits(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: function(_whole(a), _whole(b))


_ARITHMETIC: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divide, "%": _rest,
    "<<": _shift(operator.lshift), ">>": _shift(operator.rshift),
    "&": _bits(operator.and_), "|": _bits(operator.or_), "^": _bits(operator.xor),
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_LEVELS: Final = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_CALLS: Final[dict[str, Callable[[Any], Any]]] = {
    "any": lambda v: bool(np.any(v)), "all": lambda v: bool(np.all(v)), "sum": lambda v: np.sum(_wide(v)),
    "min": np.min, "max": np.max, "abs": lambda v: np.abs(_wide(v)), "count": lambda v: int(np.count_nonzero(v)),
}  # fmt: skip
_WORDS: Final[dict[str, Get]] = {
    "item": lambda scope: scope.items(),
    "local": lambda scope: scope.local_items(),
    "group": lambda scope: scope.thread.group.id,
    "thread": lambda scope: scope.thread.number,
    "lane": lambda scope: np.arange(scope.thread.machine.dispatch.simd),
    "emask": lambda scope: scope.frame.emask,
    "true": lambda _at: True,
    "false": lambda _at: False,
}


def _equal(a: Any, b: Any, scope: FrameCells) -> Any:
    """Return equality; work items are compared lane by lane, and only active lanes are equal to anything."""
    if isinstance(a, list) or isinstance(b, list):
        items, other = (a, b) if isinstance(a, list) else (b, a)
        if not isinstance(other, tuple):
            raise DebugError("a work item can only be compared with three numbers, such as item == (3,0,0)")
        active = scope.frame.emask
        wanted = tuple(other) + (0,) * (3 - len(other))
        return np.array([item == wanted and bool(active >> lane & 1) for lane, item in enumerate(items)])
    if isinstance(a, tuple) or isinstance(b, tuple):
        return bool(a == b)
    return _wide(a) == _wide(b)


class _Reader:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offset = 0
        self.depth = 0
        self.kind = self.word = ""
        self.start = 0  # of the current token
        self.next()

    def next(self) -> None:
        """Go to the next token."""
        match = _TOKEN.match(self.text, self.offset)
        if match is None:
            rest = self.text[self.offset :].strip()
            if rest:
                raise DebugError(f"unexpected character '{rest[0]}' in the expression")
            self.kind = self.word = ""
            self.start = self.offset = len(self.text)
            return
        self.kind = str(match.lastgroup)
        self.word = match[match.lastgroup or 0]
        self.start = match.start(self.kind)
        self.offset = match.end()

    def whole(self) -> _Node:
        node = self.level(0)
        if self.kind:
            raise DebugError(f"'{self.text[self.start :].strip()[:40]}' is left over after the expression")
        return node

    def want(self, sign: str) -> None:
        if self.word != sign or self.kind != "sign":
            raise DebugError(f"expected '{sign}', found " + (f"'{self.word}'" if self.kind else "the end"))
        self.next()

    def level(self, number: int) -> _Node:
        if number == len(_LEVELS):
            return self.prefix()
        if number == 0:
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise DebugError("the expression is nested too deeply")
        left = self.level(number + 1)
        while self.kind == "sign" and self.word in _LEVELS[number]:
            sign = self.word
            self.next()
            left = _join(sign, left.get, self.level(number + 1).get)
        if number == 0:
            self.depth -= 1
        return left

    def prefix(self) -> _Node:
        signs = []
        while self.kind == "sign" and self.word in "-+!~":
            signs.append(self.word)
            self.next()
        node = self.behind(self.primary())
        for sign in reversed(signs):
            node = _apply_sign(sign, node.get)
        return node

    def behind(self, node: _Node) -> _Node:
        while self.kind == "sign" and self.word in ("[", ":"):
            if self.word == ":":
                self.next()
                node = self.cast(node)
                continue
            self.next()
            index = self.level(0).get
            self.want("]")
            node = _element(node, index)
        return node

    def cast(self, node: _Node) -> _Node:
        type_, cells = self.word, node.cells
        if type_ not in TYPES:
            raise DebugError(f"'{type_}' is not a type; expected one of {', '.join(TYPES)}")
        self.next()
        if cells is None:
            raise DebugError(f"only values in memory or registers can be read as {type_}")
        return _of_cells(lambda scope: cells(scope).cast(type_))

    def primary(self) -> _Node:
        kind, word = self.kind, self.word
        if kind == "number":
            self.next()
            value: Any = int(word, 0) if word[:2] in ("0x", "0X") else int(word) if word.isdigit() else float(word)
            return _Node(lambda _at: value)
        if kind == "name":
            self.next()
            return self.parse_name(word)
        if kind == "sign" and word == "(":
            return self.parenthesis()
        raise DebugError("expected a value, found " + (f"'{word}'" if word else "the end"))

    def parenthesis(self) -> _Node:
        self.want("(")
        parts = [self.level(0)]
        while self.kind == "sign" and self.word == ",":
            self.next()
            parts.append(self.level(0))
        self.want(")")
        if len(parts) == 1:
            return parts[0]
        gets = [part.get for part in parts]
        return _Node(lambda scope: tuple(_wide(get(scope)) for get in gets))

    def parse_name(self, name: str) -> _Node:
        if name in _CALLS and self.word == "(":
            call, inner = _CALLS[name], self.parenthesis().get
            return _Node(lambda scope: call(_no_items(inner(scope))))
        if self.kind == "sign" and self.word == "(":
            return self.region(name)
        if name in _WORDS:
            word = _WORDS[name]
            return _Node(
                lambda scope: word(scope) if scope.find(name) is None else scope.cells(name).values(),
                None,
            )
        return _of_cells(lambda scope: scope.cells(name))

    def region(self, name: str) -> _Node:
        match = _REGION.match(self.text, self.start)
        if match is None:
            raise DebugError(f"'{name}' is not a function; expected (row,column)<region> after a variable")
        row, col = int(match[1]), int(match[2])
        shape = None
        if match[3]:
            vert, width, horz = (int(match[n]) for n in (3, 4, 5)) if match[4] else (0, 64, int(match[3]))
            shape = (vert, width, horz)
            if not width:
                raise DebugError("a region must have at least one element in a row")
        self.offset = match.end()
        self.next()
        type_ = ""
        if self.kind == "sign" and self.word == ":":
            self.next()
            type_ = self.word
            if type_ not in TYPES:
                raise DebugError(f"'{type_}' is not a type; expected one of {', '.join(TYPES)}")
            self.next()
        return _of_cells(lambda scope: _region(scope, name, row, col, shape, type_), single=shape is None)


def _region(scope: FrameCells, name: str, row: int, col: int, shape: tuple[int, int, int] | None, type_: str) -> Cells:
    """Return the elements of a region: one per lane of the thread, as far as the variable reaches."""
    cells = scope.cells(name)
    if cells.kind != "variable":
        raise DebugError(f"{name} is not a general variable: it has no rows and columns")
    if type_:
        cells = cells.cast(type_)
    size, count = cells.data.itemsize, cells.data.size
    start = origin(row, col, size, scope.code.layout.grf_bytes) // size
    if shape is None:
        return cells.element(start)
    elements = list_strided_elements(*shape, scope.thread.machine.dispatch.simd)
    inside = [start + e for e in elements if start + e < count]
    if len(inside) < len(elements) and (not inside or start + elements[len(inside) - 1] != inside[-1]):
        raise DebugError(f"the region leaves {name}, which has {count} elements")
    if not inside:
        raise DebugError(f"the region begins at element {start}, but {name} has {count} elements")
    words = f"{name}({row},{col})"
    data = cells.data[inside]
    data.flags.writeable = False
    return Cells(words, "region", cells.type, data, None, None, " ".join(map(str, inside)))


def _no_items(value: Any) -> Any:
    if isinstance(value, list | tuple):
        raise DebugError("work items can only be compared, such as item == (3,0,0)")
    return value


def _element(node: _Node, index: Get) -> _Node:
    def number(scope: FrameCells) -> int:
        value = _wide(index(scope))
        if not isinstance(value, int):
            raise DebugError("an index must be one whole number")
        return value

    if node.cells is not None:
        cells = node.cells
        return _Node(
            lambda scope: cells(scope).value(number(scope)),
            lambda scope: cells(scope).element(number(scope)),
        )

    def get(scope: FrameCells) -> Any:
        values, place = node.get(scope), number(scope)
        if not isinstance(values, np.ndarray | list | tuple):
            raise DebugError("only a value with elements can be indexed")
        if not 0 <= place < len(values):
            raise DebugError(f"index {place} is out of range: there are {len(values)} elements")
        return values[place]

    return _Node(get)


def _join(sign: str, left: Get, right: Get) -> _Node:
    if sign in ("==", "!="):
        if sign == "==":
            return _Node(lambda scope: _equal(left(scope), right(scope), scope))
        return _Node(lambda scope: np.logical_not(_equal(left(scope), right(scope), scope)))
    if sign in ("&&", "||"):
        both = np.logical_and if sign == "&&" else np.logical_or
        return _Node(lambda scope: _both(both, sign, left, right, scope))
    function = _ARITHMETIC[sign]

    def get(scope: FrameCells) -> Any:
        a, b = _wide(left(scope)), _wide(right(scope))
        try:
            if (
                type(a) is int and type(b) is int
            ):  # the common case, in which NumPy's error state would cost more than the operation
                return function(a, b)
            with np.errstate(all="ignore"):
                return function(a, b)
        except (TypeError, OverflowError):
            raise DebugError(f"{sign} does not apply to these values") from None
        except ValueError:
            raise DebugError(f"the two sides of {sign} have different numbers of elements") from None

    return _Node(get)


def _both(function: Callable[[Any, Any], Any], sign: str, left: Get, right: Get, scope: FrameCells) -> Any:
    left_value = _no_items(left(scope))
    if not isinstance(left_value, np.ndarray) and bool(left_value) is (sign == "||"):
        return bool(left_value)
    try:
        combined = function(left_value, _no_items(right(scope)))
    except ValueError:
        raise DebugError(f"the two sides of {sign} have different numbers of elements") from None
    return combined if isinstance(combined, np.ndarray) else bool(combined)


def _apply_sign(sign: str, get: Get) -> _Node:
    if sign == "!":
        return _Node(lambda scope: np.logical_not(_no_items(get(scope))))
    if sign == "~":
        return _Node(lambda scope: ~_whole(_wide(get(scope))))
    return _Node(lambda scope: -_wide(get(scope)) if sign == "-" else _wide(get(scope)))
