"""Converts a block to a kernel: each operand is a buffer, loaded into its variable before the block and stored after it.

Creates the text and describes the operands, but runs nothing. A buffer has the order of the registers: the elements of
a vector one after the other, each for all lanes. Invariant: if the size of an operand or a part of the block is
unknown, there is no text, but a message with the reason.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from visa_lsp.embed.block_text import BEGINS, ENDS, BlockRefused, BlockText, block_text, blocks_of
from visa_lsp.embed.blocks import GENERAL
from visa_lsp.isa.model import Shape, Trait
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import TYPE_BY_NAME
from visa_lsp.program.elements import element_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.embed.host_text import HostText
    from visa_lsp.embed.units import OperandName

_EXECUTES: Final = re.compile(r"\(\s*M([1-8])(?:_NM)?\s*,\s*(\d{1,2})\s*\)")
_WIDTHS: Final = (8, 16, 32)
_DECLARED: Final = re.compile(
    r"\s*\.decl\s+(?P<name>\S+)\s+v_type=G\s+type=(?P<type>\w+)\s+num_elts=(?P<count>\d+)\s+align=GRF"
)
_OWORD: Final = 16  # bytes
_MAX_OWORDS: Final = 8  # of one message
_FIRST_ARGUMENT: Final = 64  # bytes: the start of the payload that all threads share
_WORD: Final = re.compile(r"\w+")


class BlockOperand(Struct, frozen=True, rename={"written_as": "operand"}):
    """An operand of a runnable block: its name in the strings, its variable, its buffer.

    It has ``elements`` for each of ``lanes``. ``read``: the block starts with the contents of the buffer; ``written``:
    the block's result is stored in the buffer.
    """

    written_as: str
    constraint: str
    expression: str
    name: str
    buffer: str
    type: str
    lanes: int
    elements: int
    read: bool
    written: bool

    @property
    def bytes(self) -> int:
        """The size of the operand."""
        return self.lanes * self.elements * TYPE_BY_NAME[self.type].size

    @property
    def buffer_elements(self) -> int:
        """The size of the buffer: whole owords."""
        return -(-self.bytes // _OWORD) * _OWORD // TYPE_BY_NAME[self.type].size

    @property
    def is_padded(self) -> bool:
        """True if the buffer has elements outside of the operand; they are loaded, so that storing them is not a fault."""
        return self.buffer_elements > self.lanes * self.elements

    def by_lane(self, values: list[Any]) -> list[Any]:
        """Return the content of a buffer: a list for each lane, or a plain value if a lane has only one."""
        rows = [values[n * self.lanes : (n + 1) * self.lanes] for n in range(self.elements)]
        return list(rows[0]) if self.elements == 1 else [list(of_lane) for of_lane in zip(*rows, strict=True)]


class RunnableBlock(Struct, frozen=True):
    """A block as a kernel: its text, its operands, the launch as an object with the keys of a launch file."""

    number: int
    text: str
    operands: tuple[BlockOperand, ...]
    launch: dict[str, Any]


def runnable_block(host: HostText, number: int, called: str) -> RunnableBlock:
    """Return a block of a host as a kernel; ``called`` is the name of the host in its head.

    Raises BlockRefused with the reason.
    """
    width = _width(host, number)
    block = block_text(host, number, called, width)
    _refuse_what_is_unknown(block)
    line = host.document.position(block.span.start)[0] + 1
    _, _, above = block.text[: block.body.start].removesuffix(BEGINS).partition("\n")
    declared = {match["name"]: match for match in map(_DECLARED.match, above.split("\n")) if match is not None}
    taken = set(_WORD.findall(block.text))
    operands = []
    for name, operand in block.unit.operands.items():
        buffer, of_vectors = _free(f"{name}_buffer", taken), block.block.is_of_vectors
        run_operand = _operand(operand, declared[name], buffer, width, of_vectors=of_vectors)
        operands.append(run_operand)
        if run_operand.is_padded:
            old = declared[name][0]
            above = above.replace(old, old.replace(f"={declared[name]['count']} ", f"={run_operand.buffer_elements} "))
    head = f"// {called}, line {line}: the block as a separate kernel, with a buffer for each operand\n{above}"
    text = (
        head
        + "".join(_buffers(operands))
        + "".join(line for o in operands if o.read or o.is_padded for line in _moves(o, store=False))
        + block.lines
        + "".join(line for o in operands if o.written for line in _moves(o, store=True))
        + block.text[block.body.end :].removeprefix(ENDS)
    )
    args = {o.buffer: {"buffer": _contents(o)} for o in operands}
    launch: dict[str, Any] = {"groups": [1, 1, 1], "local_size": [width, 1, 1], "args": args}
    return RunnableBlock(block.number, text, tuple(operands), launch)


def _width(host: HostText, number: int) -> int:
    """Return the number of lanes: the function's width, else the width of the block's widest instruction."""
    blocks = blocks_of(host)
    if not 0 <= number < len(blocks):
        return _WIDTHS[0]
    _, unit, block = blocks[number]
    # Each later mask begins four lanes further.
    widest = max((4 * (int(hit[1]) - 1) + int(hit[2]) for hit in _EXECUTES.finditer(block.text)), default=1)
    return unit.source.width or next((w for w in _WIDTHS if w >= widest), _WIDTHS[-1])


def _refuse_what_is_unknown(block: BlockText) -> None:
    unit = block.unit
    if block.block.labels:
        raise BlockRefused("the block is not run: it may jump to a label of the host")
    for operand in block.block.operands:
        if (
            operand.is_immediate
            and unit.source.facts[0][operand.number].value is None
            and _is_used(block, operand.number)
        ):
            words = f"the number `{operand.expression}` of operand {operand.number} is not known here"
            raise BlockRefused(f"the block is not run: {words}; write it as a number")
    if unit.broken:
        raise BlockRefused(
            "the block is not run: a part of its text comes from a macro or a value that is not known here"
        )
    for name in unit.operands.values():
        kind = name.operand.kind
        if kind.isdigit():
            raise BlockRefused(f"the block is not run: `{name.written}` shares its register with operand {kind}")
        if name.operand.constraint is not None and not kind.startswith(GENERAL):
            raise BlockRefused(
                f"the block is not run: `{name.written}` has the constraint `{kind}`, expected one of a general variable"
            )
        if not unit.is_typed(name):
            expression = f" ({' '.join(name.operand.expression.split())})" if name.operand.expression else ""
            words = f"the type of `{name.written}`{expression} is not known here, so that it has no size"
            raise BlockRefused(f"the block is not run: {words}; declare it in this file with a type of OpenCL or SYCL")


def _is_used(block: BlockText, number: int) -> bool:
    """Return whether the template has an operand."""
    operand = block.block.operands[number]
    return re.search(rf"%(?:{number}(?!\d)|\[{re.escape(operand.name or '?')}\])", block.block.text) is not None


def _operand(name: OperandName, declared: re.Match[str], buffer: str, width: int, *, of_vectors: bool) -> BlockOperand:
    operand = name.operand
    lanes = 1 if operand.is_uniform or of_vectors else width
    constraint = operand.constraint or ""
    type_ = TYPE_BY_NAME[declared["type"]].name
    return BlockOperand(
        name.written, constraint, operand.expression, declared["name"], buffer, type_, lanes,
        int(declared["count"]) // lanes, not operand.written or "+" in constraint, operand.written,
    )  # fmt: skip


def _free(wanted: str, taken: set[str]) -> str:
    while wanted in taken:
        wanted += "_"
    taken.add(wanted)
    return wanted


def _buffers(operands: list[BlockOperand]) -> Iterator[str]:
    """Yield the declarations of the buffers, and their places in the payload."""
    yield from (f".decl {o.buffer} v_type=T num_elts=1\n" for o in operands)
    for number, operand in enumerate(operands):
        yield f".input {operand.buffer} offset={_FIRST_ARGUMENT + 4 * number} size=4\n"


def _moves(operand: BlockOperand, *, store: bool) -> Iterator[str]:
    """Yield the messages that load or store a whole operand."""
    row = next(
        r for r in TABLE.rows
        if r.has(Trait.BLOCK) and r.slots[0].shape is Shape.SURFACE and r.has(Trait.WRITES) is store
    )  # fmt: skip
    done, owords = 0, -(-operand.bytes // _OWORD)
    while done < owords:
        size = next(n for n in (_MAX_OWORDS, 4, 2, 1) if done + n <= owords)
        yield f"{row.mnemonic} ({size}) {operand.buffer} 0x{done:x}:ud {operand.name}.{done * _OWORD}\n"
        done += size


def _contents(operand: BlockOperand) -> dict[str, Any]:
    """Return the initial content of a buffer; that of a read operand counts up, so that lanes differ."""
    dtype = element_of(TYPE_BY_NAME[operand.type])
    shape = [operand.elements, operand.lanes] if operand.elements > 1 else [operand.lanes]
    if operand.is_padded:
        shape = [operand.buffer_elements]
    return {"dtype": dtype, "shape": shape, "init": "arange" if operand.read else "zeros"}
