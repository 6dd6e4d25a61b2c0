"""Sizes of the data and addresses of a message, by execution size and data shape.

Covers only forms whose size is certain. Bytes are the minimum for the lanes; registers are those of the message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.checks.support.facts import exec_control
from visa_lsp.isa.lsc_codes import DATASIZE, DATASIZES, ELEMS_VALUE, ORDER_PLAIN, parse_block_shape, parse_data_shape
from visa_lsp.isa.model import Shape, Trait
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import Bound, BoundOperand, Symbol

_ADDRESS_BYTES: Final = {"a16": 2, "a32": 4, "a64": 8}
_ROWS: Final = ((4, 64), (8, 32), (16, 16), (32, 8), (64, 4))  # of a media block: widest in bytes, most rows
_MAX_BLOCK_SIDE: Final = 1024  # wider than any matrix; another rule reports wider operands


class Data(Struct, frozen=True):
    """The data of a load/store message: ``elements`` of ``size`` bytes per lane, or in all when transposed."""

    operand: BoundOperand
    size: int
    elements: int
    transposed: bool

    def registers(self, lanes: int, grf: int) -> int:
        """Return the number of registers that the message moves."""
        if self.transposed:
            return max(1, self.size * self.elements // grf)
        return self.elements * max(1, self.size * lanes // grf)


def message_data(bound: Bound, *, newest: bool = False) -> Data | None:
    """Return the data of a load/store message with a shape; None for other instructions.

    Channels and counts share a code, which the finalizer of text 4.2 reads in the way of the message.
    """
    operand = next((o for o in bound.operands if o.slot.shape is Shape.LSC_DATA), None)
    if operand is None or not isinstance(operand.node, tree.Ref) or operand.node.suffix is None:
        return None
    word, dot, channels = operand.node.suffix.text.partition(".")
    if (
        newest
        and word.partition("x")[0] in DATASIZE
        and (found := _swap_count(bound, operand, word.partition("x")[0])) is not None
    ):
        return found
    if dot:
        return Data(operand, _register_bytes(word), len(channels), transposed=False) if word in DATASIZE else None
    size, _, count = word.partition("x")
    transposed = count.endswith("t")
    count = count.rstrip("nt")
    if size not in DATASIZE or not (count.isdecimal() or not count):
        return None
    bytes_ = DATASIZES[DATASIZE[size]].memory_bytes if transposed else _register_bytes(size)
    return Data(operand, bytes_, int(count or 1), transposed)


def _swap_count(bound: Bound, operand: BoundOperand, size: str) -> Data | None:
    """Return the data of a message with channels for which the text gives a count, or the reverse."""
    shape = (
        parse_data_shape(operand.node.suffix.text)
        if isinstance(operand.node, tree.Ref) and operand.node.suffix
        else None
    )
    if shape is None or shape.order != ORDER_PLAIN or bound.row is None:
        return None
    if bound.row.has(Trait.CHANNELS):
        return Data(operand, _register_bytes(size), (shape.elems or shape.chmask or 0).bit_count(), transposed=False)
    return Data(operand, _register_bytes(size), ELEMS_VALUE.get(shape.elems or shape.chmask or 0, 0), transposed=False)


def _register_bytes(word: str) -> int:
    return DATASIZES[DATASIZE[word]].register_bytes


def needed(bound: Bound) -> Iterator[tuple[BoundOperand, int]]:
    """Yield raw operands with the number of their bytes that the message reads or writes."""
    control, row = exec_control(bound), bound.row
    if bound.inst is None or row is None:
        return
    if row.has(Trait.MEDIA):
        yield from _rectangle(bound)
    if control is None:
        return
    lanes = control.exec_size
    data = message_data(bound)
    if data is not None:
        yield data.operand, data.size * data.elements * (1 if data.transposed else lanes)
        for operand in bound.operands:
            node = operand.node
            if operand.slot.shape is Shape.LSC_PAYLOAD:
                yield operand, data.size * lanes
            elif isinstance(node, tree.AddressRef) and len(node.items) == 1 and node.suffix is not None:
                yield operand, _ADDRESS_BYTES.get(node.suffix.text, 0) * (1 if data.transposed else lanes)
    for operand in bound.operands:
        if operand.slot.per_channel and isinstance(bound.statement, tree.Instruction):
            yield operand, operand.slot.lane_bytes * lanes * len(bound.statement.words[-1].text)
        elif operand.slot.lane_bytes:
            yield operand, operand.slot.lane_bytes * lanes
        elif operand.slot.shape is Shape.LSC_DATA_2D:
            yield from _matrix(operand)
        elif row.has(Trait.BLOCK) and operand.slot.shape is Shape.RAW and lanes > 1:
            # Compilers read single blocks of 16 bytes into half a register.
            yield operand, 16 * lanes


def most_rows(width: int) -> int:
    """Return the maximum number of rows of a media block of 1 to 64 bytes a row."""
    return next(rows for widest, rows in _ROWS if width <= widest)


def _rectangle(bound: Bound) -> Iterator[tuple[BoundOperand, int]]:
    """Yield the bytes of a media block, whose rows lie at powers of two of at least a dword; none if it is too large."""
    data = next(o for o in bound.operands if o.slot.shape is Shape.RAW)
    block = next((o.value for o in bound.operands if o.slot.name == "width,height"), None)
    match block:
        case (int() as width, int() as height) if 1 <= width <= 64 and 1 <= height <= most_rows(width):
            yield data, max(4, 1 << (width - 1).bit_length()) * (height - 1) + width


def _matrix(data: BoundOperand) -> Iterator[tuple[BoundOperand, int]]:
    """Yield the bytes of the blocks of a matrix: rows, or columns where it is transposed, lie at powers of two."""
    suffix = data.node.suffix if isinstance(data.node, tree.Ref) else None
    shape = parse_block_shape(suffix.text) if suffix is not None else None
    if shape is None or shape.datasize not in DATASIZES:
        return
    width, height = (shape.width, shape.height) if shape.order == ORDER_PLAIN else (shape.height, shape.width)
    if shape.vnni == 0 and all(0 < number <= _MAX_BLOCK_SIDE for number in (shape.blocks, width, height)):
        row = 1 << (width - 1).bit_length()
        size = DATASIZES[shape.datasize].memory_bytes
        yield data, ((shape.blocks - 1) * row * height + row * (height - 1) + width) * size


def storage(symbol: Symbol) -> tuple[Symbol, int]:
    """Return the variable at the end of a chain of aliases, as the finalizer walks it, and the total offset."""
    offset, seen = 0, set[int]()
    while symbol.alias is not None and id(symbol) not in seen:
        seen.add(id(symbol))
        offset += symbol.alias[1]
        if symbol.alias[0].predefined:
            break
        symbol = symbol.alias[0]
    return symbol, offset
