"""The elements that instructions access, as expressions of OpenCL: ``in[w * get_global_id(1) + get_global_id(0)]``.

A source line with several accesses of one buffer does not say which of them has the fault. Knows terms, and names of
arguments and local arrays. Invariant: an access whose place depends on anything but ids, sizes and arguments, or is not a
whole number of elements, has no words.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.prove.assume import element_size, name_of, sum_words, vector_type
from visa_lsp.app.prove.global_ids import GlobalIds
from visa_lsp.app.prove.needs import loads_of
from visa_lsp.app.prove.payload import AXES
from visa_lsp.app.prove.spaces import BUFFER, SHARED
from visa_lsp.app.prove.terms import Sum, signed_constant, without_wraps
from visa_lsp.program.elements import cl_element, element_bytes
from visa_lsp.sim.launch.layout import Geometry

if TYPE_CHECKING:
    from visa_lsp.app.prove.spaces import ItemAccess
    from visa_lsp.app.prove.terms import Atom
    from visa_lsp.app.prove.walk import Walker
    from visa_lsp.program.payload import Record

_MAX_SUMMANDS: Final = 6
_MAX_ELEMENTS: Final = 4  # of one instruction
_THREAD: Final = re.compile(r"group \((\d+), (\d+), (\d+)\), thread (\d+)")
_NEXT: Final = re.compile(r" and the next (?:(\d+) elements|element)$")
_SEPARATOR: Final = re.compile(r", (?!an? )")  # between elements; a type follows the other commas
_INDEX: Final = re.compile(r"\[([^\[\]]+)\]")
_OPERATORS: Final = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


class _UnnamedError(Exception):
    """A term that depends on more than ids, sizes and arguments."""


class ElementWords:
    """Words for the elements that the instructions of a kernel access."""

    def __init__(self, walker: Walker) -> None:
        self.info, self._loaded, symbols = walker.info, walker.loaded, walker.symbols
        self._simd, self._grf = walker.simd, walker.platform.grf_bytes
        self._ids = GlobalIds(symbols, range(len(AXES)), walker.lane)
        named = {
            "get_global_id": dict(enumerate(self._ids.ids)),
            "get_local_id": dict(enumerate(symbols.ids)),
            "get_group_id": dict(enumerate(symbols.groups)),
            "get_local_size": dict(enumerate(symbols.local)),
            "get_num_groups": dict(enumerate(symbols.counts)),
            "get_global_offset": dict(enumerate(symbols.offsets)),
        }
        self._names = {
            atom: f"{function}({axis})" for function, terms in named.items() for axis, term in terms.items()
            for atom, _ in term.factors
        }  # fmt: skip
        self._names |= {
            atom: f"get_global_size({axis})"
            for axis in range(len(AXES))
            for atom, _ in symbols.totals(axis).factors
            if atom.is_product
        }
        self._global_ids = [
            (item.factors[0][0], offset.factors[0][0])
            for item, offset in zip(self._ids.ids, symbols.offsets, strict=True)
            if item.factors and offset.factors
        ]
        self._names |= {
            term.factors[0][0]: name_of(walker.info, index)
            for index, term in symbols.values.items()
            if len(term.factors) == 1 and not term.constant
        }
        self._of_line: dict[int, list[ItemAccess]] = {}
        for access in walker.accesses:
            self._of_line.setdefault(access.line, []).append(access)

    def of_line(self, line: int) -> str:
        """Return the elements that the instruction at a line, from 1, accesses; empty if there are no words for one."""
        try:
            words = dict.fromkeys(self._element(access) for access in self._of_line.get(line, ()))
        except _UnnamedError:
            return ""
        return ", ".join(words) if len(words) <= _MAX_ELEMENTS else ""

    def at(self, words: str, item: Mapping[str, Any], sizes: Mapping[str, int]) -> str:
        """Return the elements that words are for a work item, given as in JSON, of a launch with some sizes and arguments."""
        values = dict(sizes)
        for axis in range(len(AXES)):
            own, local = item["global"][axis], item["local"][axis]
            values |= {f"get_global_id({axis})": own, f"get_local_id({axis})": local}
            values[f"get_group_id({axis})"] = (own - local) // sizes.get(f"get_local_size({axis})", 1)
        elements = [element_at(one, values) for one in _SEPARATOR.split(words)]
        return ", ".join(elements) if all(elements) else ""

    def find_item(self, words: str, element: str, other: str, sizes: Mapping[str, int]) -> dict[str, Any] | None:
        """Return the work item of the other party, given as in JSON, for which words are an element; None if there is none.

        ``other`` has the words of a run for its group and thread.
        """
        party = _THREAD.match(other)
        if party is None:
            return None
        group, thread = (int(party[1]), int(party[2]), int(party[3])), int(party[4])

        def triple(word: str, default: int) -> tuple[int, int, int]:
            x, y, z = (sizes.get(f"{word}({axis})", default) for axis in range(len(AXES)))
            return x, y, z

        groups, local_size, offset = (
            triple("get_num_groups", 1),
            triple("get_local_size", 1),
            triple("get_global_offset", 0),
        )
        geometry = Geometry(self._simd, self._grf, groups, local_size, offset, self.info.env.walk_order)
        for lane in range(self._simd):
            ids = geometry.item(group, thread, lane)
            item = {"lane": lane, "global": list(ids[0]), "local": list(ids[1])} if ids is not None else None
            if item is not None and self.at(words, item, sizes) == element:
                return item
        return None

    def contents_of_line(self, line: int) -> str:
        """Return the value from memory, or from an array in registers, that leads the access at a line; empty without one."""
        for atom in loads_of(*[access.offset for access in self._of_line.get(line, ())]):
            element = self._loaded.get(atom)
            if element is not None and element.space[0] == BUFFER:
                return f"what `{name_of(self.info, element.space[1])}` holds"
            return f"{atom.why} at line {atom.line}"
        return ""

    def _element(self, access: ItemAccess) -> str:
        whole = self._ids.rewrite(access, weakly=True)
        offset = (whole or access).offset
        kind, index = access.space
        if kind == BUFFER or (kind == SHARED and index >= 0):
            vector = vector_type(self.info, index)
            unit = element_size(self.info, index)
            record = self.info.record_of(index)
            if record is not None:
                return self._field(name_of(self.info, index), record, offset, access.size)
            words = f"{name_of(self.info, index)}[{self._index(offset, unit)}]"
            if vector:
                words += f", a {vector} of {unit // element_bytes(cl_element(vector))} elements"
            return words + _and_next(access.size // unit - 1)
        array = self.info.local_array_at(offset.constant)
        if kind != SHARED or array is None:
            raise _UnnamedError
        indices: list[str] = []
        rest = offset + -array.start
        for axis in range(len(array.shape)):
            pitch = prod(array.shape[axis + 1 :]) * array.item_bytes
            row = [
                (atom, factor) for atom, factor in rest.factors if axis == len(array.shape) - 1 or factor % pitch == 0
            ]
            part = Sum(tuple(row), rest.constant // pitch * pitch)
            rest -= part
            indices.append(f"[{self._index(part, pitch)}]")
        if rest.factors or rest.constant:
            raise _UnnamedError
        return f"{array.name}{''.join(indices)}" + _and_next(access.size // array.item_bytes - 1)

    def _field(self, name: str, record: Record, offset: Sum, size: int) -> str:
        """Return a field of an element of a structure, or the element."""
        start = without_wraps(offset).constant % record.size
        words = f"{name}[{self._index(offset - start, record.size)}]"
        field = record.field_at(start, size)
        if field is None and start:
            raise _UnnamedError
        return f"{words}.{field.name}" if field is not None else words

    def _index(self, offset: Sum, item_bytes: int) -> str:
        term = without_wraps(offset)
        if term.constant % item_bytes or any(factor % item_bytes for _, factor in term.factors):
            raise _UnnamedError
        return self._sum(term.divide(item_bytes, term.constant // item_bytes))

    def _sum(self, term: Sum) -> str:
        factors = self._from_offsets(without_wraps(term))
        summands: list[tuple[str, int]] = []
        for atom, factor in list(factors.items()):
            whole = atom.parts[0] * (-factor // atom.divisor) if atom.divisor else None
            if whole is None or factor % atom.divisor or whole.constant or whole.limits()[0] < 0:
                continue
            parts = self._from_offsets(whole)
            if all(factors.get(part) == own for part, own in parts.items()):
                for part in (atom, *parts):
                    del factors[part]
                summands.append((f"{self._factor(atom.parts[0])} % {atom.divisor}", -factor // atom.divisor))
        summands += [(self._product(atom), factor) for atom, factor in factors.items() if factor]
        if len(summands) > _MAX_SUMMANDS:
            raise _UnnamedError
        return sum_words(summands, signed_constant(term.constant))

    def _from_offsets(self, term: Sum) -> dict[Atom, int]:
        """Return the factors of a term, in which an id counts from the offset of the launch on."""
        factors = dict(term.factors)
        for item, offset in self._global_ids:
            if item in factors:
                factors[offset] = factors.get(offset, 0) - factors[item]
        return {atom: factor for atom, factor in factors.items() if factor}

    def _product(self, atom: Atom) -> str:
        name = self._names.get(atom)
        if name is not None:
            return name
        is_quotient = atom.divisor and atom.low >= 0  # `/` of a negative number rounds otherwise
        if not is_quotient and not atom.name.startswith("product"):
            raise _UnnamedError
        parts = [self._factor(part) for part in atom.parts]
        return f"({parts[0]} / {atom.divisor})" if atom.divisor else " * ".join(parts)

    def _factor(self, term: Sum) -> str:
        words = self._sum(term)
        return f"({words})" if " " in words else words


def element_at(words: str, values: Mapping[str, int]) -> str:
    """Return the element that words are in one work item: ``t[20][0]`` of ``t[get_local_id(1) + 5][get_local_id(0)]``.

    Of several elements in a row, the first and the last. ``values`` has those of ids, sizes and arguments, by their words.
    Empty if one is missing, or there is nothing to compute.
    """
    element_words, comma, _ = words.partition(",")
    following = None if comma else _NEXT.search(element_words)
    element_words = _NEXT.sub("", element_words)
    try:
        numbers = [_value_of(ast.parse(index, mode="eval").body, values) for index in _INDEX.findall(element_words)]
    except (SyntaxError, KeyError, ZeroDivisionError):
        return ""
    turn = iter(numbers)
    element = _INDEX.sub(lambda _: f"[{next(turn)}]", element_words)
    if element == element_words:
        return ""
    if following is None:
        return element
    last = f"{element[: element.rindex('[')]}[{numbers[-1] + int(following[1] or 1)}]"
    return f"{element} {'to' if following[1] else 'and'} {last}"


def _value_of(node: ast.expr, values: Mapping[str, int]) -> int:
    """Return the value of an index. Raises KeyError for what has none, ZeroDivisionError."""
    match node:
        case ast.Constant(int() as value):
            return value
        case ast.UnaryOp(ast.USub(), operand):
            return -_value_of(operand, values)
        case ast.BinOp(left, op, right):
            return int(_OPERATORS[type(op)](_value_of(left, values), _value_of(right, values)))
    return values[ast.unparse(node)]


def _and_next(count: int) -> str:
    """Return words for the elements behind the first one that an instruction accesses for a work item."""
    return f" and the next {'element' if count == 1 else f'{count} elements'}" if count > 0 else ""
