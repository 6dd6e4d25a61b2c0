"""The tree of rows that shows a stopped thread: scopes, variables with their aliases, elements.

Knows cells and no protocol; the caller pages the rows. Invariant: a row is made, and its elements are read, only on demand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.debug.cells import Cells, DebugError, FrameCells, text_of, texts_of
from visa_lsp.sim.faults import KernelFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.debug.debugger import Debugger
    from visa_lsp.debug.places import VariableShape
    from visa_lsp.debug.stops import Activation

SCOPES: Final = ("Variables", "Predicates", "Addresses", "Predefined", "Masks", "Arguments", "Surfaces", "SLM")
_HEAD: Final = 64  # elements that a row shows at most


@dataclass(slots=True, eq=False)
class Row:
    """A line of the tree: ``find`` returns its ``count`` elements; ``rows`` are its children by name.

    ``where`` is the place of its cells.
    """

    name: str
    value: str
    type: str = ""
    count: int = 0
    find: Callable[[], Cells] | None = None
    where: tuple[Any, int] | None = None
    rows: list[Row] = field(default_factory=list)
    changed: bool = False
    expression: str = ""  # evaluates to the row's value


def rows_of(debugger: Debugger, activation: Activation, scope: str, style: str = "") -> list[Row]:
    """Return the rows of a scope. ``style`` is the number format of ``cells.format_number``."""
    rows = _Rows(debugger, activation, style)
    makers: dict[str, Callable[[], Iterator[Row]]] = {
        "Variables": rows.variables, "Predicates": rows.predicates, "Addresses": rows.addresses,
        "Predefined": rows.list_predefined, "Masks": rows.masks, "Arguments": rows.arguments, "Surfaces": rows.surfaces,
        "SLM": rows.slm,
    }  # fmt: skip
    return list(makers[scope]())


def row_of(name: str, cells: Cells, style: str = "", *, changed: bool = False) -> Row:
    """Return the row of elements; a single one is shown as itself, the lanes of a predicate always as several."""
    is_single = cells.data.size == 1 and cells.kind != "predicate"
    head = cells if cells.data.size <= _HEAD else None
    values = (head or cells).values()[:_HEAD]
    text = text_of(values[0] if is_single else values, style)
    if head is None:
        text = f"{text[:-1]}, ...]"
    count = "" if is_single else f" x {cells.data.size}"
    note = f" ({cells.note})" if cells.note else ""
    return Row(
        name,
        text,
        f"{cells.type}{count}{note}",
        0 if is_single else cells.data.size,
        lambda: cells,
        cells.where,
        [],
        changed,
        name,
    )


def elements(row: Row, start: int, count: int, style: str = "") -> list[Row]:
    """Return elements of a row as separate rows."""
    if not row.count or row.find is None:
        return []
    cells = row.find()
    texts = texts_of(cells.values()[start : start + count if count else None], style)
    said = row.expression
    return [Row(f"[{n}]", text, cells.type, expression=said and f"{said}[{n}]") for n, text in enumerate(texts, start)]


class _Rows:
    def __init__(self, debugger: Debugger, activation: Activation, style: str) -> None:
        self.debugger = debugger
        self.activation = activation
        self.style = style
        self.cells: FrameCells = debugger.cells(activation)
        self.before = debugger.before(activation.frame)

    def _row(self, cells: Cells) -> Row:
        changed = False
        if self.before and cells.where is not None and cells.where[0] == "grf":
            start = cells.where[1]
            changed = self.before[start : start + cells.data.nbytes] != cells.data.tobytes()
        return row_of(cells.name, cells, self.style, changed=changed)

    def variables(self) -> Iterator[Row]:
        """Return the declared variables; aliases are children of their base."""
        shapes: dict[int, VariableShape] = {}
        for number in self.cells.body.declared:
            try:
                shapes[number] = self.cells.shape(number)
            except KernelFault as fault:
                yield Row(self.cells.names.general[number], fault.message)
        registers = self.activation.frame.regs.tobytes()
        rows_by_number = {number: self._variable(number, shape, registers) for number, shape in shapes.items()}
        beneath: set[int] = set()
        for number, shape in shapes.items():
            if shape.root != number and shape.root in rows_by_number:
                rows_by_number[shape.root].rows.append(rows_by_number[number])
                beneath.add(number)
        yield from (row for number, row in rows_by_number.items() if number not in beneath)

    def _variable(self, number: int, shape: VariableShape, registers: bytes) -> Row:
        """Return the row of a variable; its text is cached between stops, because there can be thousands and few change."""
        raw, kept = registers[shape.start : shape.end], self.cells.body.rows
        cached = kept.get((number, self.style))
        if cached is None or cached[0] != raw:
            row = row_of(shape.name, self.cells.variable(number), self.style)
            cached = kept[number, self.style] = raw, row.value, row.type, row.count
        _, value, type_, count = cached
        changed = bool(self.before) and self.before[shape.start : shape.end] != raw
        find = partial(self.cells.variable, number)
        return Row(shape.name, value, type_, count, find, ("grf", shape.start), [], changed, shape.name)

    def list_predefined(self) -> Iterator[Row]:
        """Yield the predefined variables, except the null variable, which has no value."""
        kernel = self.cells.code.kernel
        for number in self.cells.names.general:
            if number and kernel.variable(number) is None:
                yield self._row(self.cells.variable(number))

    def predicates(self) -> Iterator[Row]:
        """Return the predicates by lane."""
        for number in range(1, len(self.cells.code.kernel.predicates) + 1):
            yield self._row(self.cells.predicate(number))

    def addresses(self) -> Iterator[Row]:
        """Return address variables as byte numbers, with the variable at that byte."""
        for number in range(len(self.cells.code.kernel.addresses)):
            yield self._row(self.cells.address(number))

    def masks(self) -> Iterator[Row]:
        """Return the active lanes, the masks of thread and subroutine at their start, and the waiting lanes."""
        frame, thread = self.activation.frame, self.activation.thread
        masks = {"active": frame.emask, "call mask": frame.call_mask, "dispatched": thread.dispatch_mask}
        masks |= {f"waiting at {self._where(pc)}": lanes for pc, lanes in sorted(frame.waiting.items())}
        for depth, (back, active, *_) in enumerate(reversed(frame.calls), 1):
            masks[f"caller {depth}, goes on at {self._where(back)}"] = active
        for name, lanes in masks.items():
            row = self._row(self.cells.mask(name, lanes))
            row.expression = ""  # only the mask of active lanes has a name in expressions: emask, a number
            yield row

    def _where(self, pc: int) -> str:
        body = self.debugger.places.of(self.activation.frame.code.kernel)
        return f"line {body.place(pc).line + 1}" if pc < len(body.line_of) else "the end"

    def arguments(self) -> Iterator[Row]:
        """Yield the arguments of the launch, buffers with their contents."""
        for key, argument in self.cells.arguments.items():
            row = row_of(argument.title, self.cells.argument(key), self.style)
            row.expression = argument.name or f"arg{key}"
            yield row

    def surfaces(self) -> Iterator[Row]:
        """Return the surface variables, and the memory bound to them."""
        for number, name in self.cells.names.surface.items():
            value = self.cells.surface_value(number)
            try:
                row = row_of(name, self.cells.surface(number), self.style)
            except DebugError as error:
                row = Row(name, str(error))
            row.type = f"{row.type}, holds {value}" if row.type else f"holds {value}"
            yield row

    def slm(self) -> Iterator[Row]:
        """Yield the shared local memory of the group as dwords."""
        cells = self.cells.slm()
        if cells.data.size:
            yield row_of("slm", cells, self.style)
