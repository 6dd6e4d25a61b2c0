"""Sizes of the data and addresses of a message, by execution size and data shape.

Covers only forms whose size is certain. Bytes are the minimum for the lanes; registers are those of the message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.isa.lsc_codes import DATASIZE, DATASIZES, ELEMS_VALUE, ORDER_PLAIN, parse_data_shape
from visa_lsp.isa.model import Shape, Trait
from visa_lsp.program.message import (
    BlockMessage,
    ElementMessage,
    FenceMessage,
    TexelMessage,
    register_bytes,
    understood_message_of,
)
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import Bound, BoundOperand, Symbol

OWORD_BYTES: Final = 16
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
        and (swapped := _swap_count(bound, operand, word.partition("x")[0])) is not None
    ):
        return swapped
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
    """Yield raw operands with the number of their bytes that the message reads or writes, without gaps between rows."""
    message = understood_message_of(bound.inst) if bound.inst is not None else None
    if message is None or isinstance(message, TexelMessage | FenceMessage) or _is_uncertain(bound, message):
        return
    operands = {operand.slot.name: operand for operand in bound.operands}
    for part in register_bytes(message, 1):
        operand = operands.get(part.field)
        if operand is not None:
            yield operand, part.end


def _is_uncertain(bound: Bound, message: ElementMessage | BlockMessage) -> bool:
    """Return whether the size of a message is not certain, or another rule reports it."""
    if isinstance(message, ElementMessage):
        if message.single and bound.row is not None and bound.row.has(Trait.BLOCK):
            # Compilers read single blocks of 16 bytes into half a register.
            return len(message.elements) * message.size <= OWORD_BYTES
        # A count in the place of channels, or the reverse, is read differently by different tools.
        data = message_data(bound)
        return data is not None and data.elements != len(message.elements)
    if message.is_matrix:
        return message.interleaved or max(message.blocks, message.width, message.height) > _MAX_BLOCK_SIDE
    is_media = bound.row is not None and bound.row.has(Trait.MEDIA)
    return not is_media or message.width > _ROWS[-1][0] or message.height > most_rows(message.width)


def most_rows(width: int) -> int:
    """Return the maximum number of rows of a media block of 1 to 64 bytes a row."""
    return next(rows for widest, rows in _ROWS if width <= widest)


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
