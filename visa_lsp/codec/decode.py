"""Decodes bytes to a ``Module``: ``object_reader`` reads the declarations, the fields of the table's rows define the instructions.

Rows that share an opcode are distinguished by their constant fields. Whatever the bytes are, the outcome is a module or a
``CodecError``; time and memory stay proportional to the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from visa_lsp.codec.body_limits import BodyLimits
from visa_lsp.codec.errors import CodecError
from visa_lsp.codec.instruction_reader import InstructionReader
from visa_lsp.codec.object_reader import read_body, read_header
from visa_lsp.isa.table import TABLE
from visa_lsp.program.model import GenBinary, Module

if TYPE_CHECKING:
    from visa_lsp.codec.records import BodyEntry
    from visa_lsp.isa.table import InstructionTable
    from visa_lsp.program.model import Kernel


def decode(data: bytes, table: InstructionTable = TABLE) -> Module:
    """Return the module of an object of version 3.0 to 4.x.

    Raises CodecError, with byte offset and field, if the bytes are not an object; never raises anything else.
    """
    data = bytes(data)
    header = read_header(data)
    reader = InstructionReader(table, header.layout.version)
    binaries = _BinaryReader(data)

    def body(entry: BodyEntry) -> Kernel:
        object_body = read_body(data, header, entry)
        kernel = object_body.kernel
        limits = BodyLimits(len(kernel.labels), len(kernel.strings)) if header.layout.is_strict else None
        instructions = reader.read_all(data, object_body.code_start, object_body.code_end, entry.path, limits)
        return replace(kernel, instructions=instructions, gen_binaries=binaries.read(entry))

    kernels = tuple(body(entry) for entry in header.kernels)
    functions = tuple(body(entry) for entry in header.functions)
    return Module(header.layout.version, kernels, header.variables, functions)


class _BinaryReader:
    """Copies Gen binaries out of the file, each range once."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.left = len(data)
        self.binaries: dict[tuple[int, int], bytes] = {}

    def read(self, entry: BodyEntry) -> tuple[GenBinary, ...]:
        places = entry.binaries
        if len(places) == 1 and places[0].platform == 0 and places[0].size == 0:
            return ()  # the entry of a kernel without a Gen binary
        return tuple(GenBinary(p.platform, self._slice(p.offset, p.size, entry)) for p in places)

    def _slice(self, offset: int, size: int, entry: BodyEntry) -> bytes:
        binary = self.binaries.get((offset, size))
        if binary is None:
            self.left -= size
            if self.left < 0:
                raise CodecError("the sizes of the Gen binaries add up to more than the file", offset, entry.path)
            binary = self.binaries[offset, size] = self.data[offset : offset + size]
        return binary
