"""Writes a zebin: ze_info and a vISA object (or text) in an ELF file for the GPU's machine.

The file has no native code; it contains a program for tools that read vISA, in the sections that compilers use. Knows
the ELF64 layout (little endian), but not the contents of sections. Invariant: ``zebin.read_zebin`` returns the same
bytes, and ``readelf -a`` accepts the file.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from visa_lsp.text import encode_text
from visa_lsp.zeinfo.zebin import MACHINE

ZEINFO: Final = 0xFF000011
VISAASM: Final = 0xFF000013
_NOTE: Final = 7
_SYMTAB: Final = 2
_STRTAB: Final = 3
_REL: Final = 1  # e_type of a relocatable file
_HEADER_BYTES: Final = 64
_ENTRY_BYTES: Final = 64
_SYMBOL_BYTES: Final = 24
_ZEBIN_VERSION: Final = b"1.20\0"
_NOTE_VERSION: Final = 4


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    type: int
    data: bytes
    link: int = 0
    info: int = 0
    align: int = 1
    entry: int = 0


def pack_zebin(name: str, visa: bytes, ze_info: str) -> bytes:
    """Return the bytes of a zebin with one vISA module and a ze_info text."""
    return write_elf(
        [
            _Section(f".visaasm.{name}", VISAASM, visa, align=8),
            _Section(".ze_info", ZEINFO, encode_text(ze_info)),
            _Section(".note.intelgt.compat", _NOTE, _note(_NOTE_VERSION, _ZEBIN_VERSION), align=4),
        ]
    )


def write_elf(sections: list[_Section]) -> bytes:
    """Return an ELF file of these sections, with a symbol table for the first and a string table."""
    names = ["", *(s.name for s in sections), ".symtab", ".strtab"]
    strings, offsets = _strings(names)
    # The null symbol, and one for the first section, so that the table is not empty.
    symbols = bytes(_SYMBOL_BYTES) + struct.pack("<IBBHQQ", 0, 3, 0, 1, 0, 0)
    table = len(sections) + 2
    all_sections = [
        *sections,
        _Section(".symtab", _SYMTAB, symbols, link=table, info=2, align=8, entry=_SYMBOL_BYTES),
        _Section(".strtab", _STRTAB, strings),
    ]
    body = bytearray(_HEADER_BYTES)
    headers = [bytes(_ENTRY_BYTES)]
    for section in all_sections:
        body += bytes(-len(body) % section.align)
        headers.append(
            struct.pack(
                "<IIQQQQIIQQ", offsets[section.name], section.type, 0, 0, len(body), len(section.data), section.link,
                section.info, section.align, section.entry,
            )
        )  # fmt: skip
        body += section.data
    body += bytes(-len(body) % 8)
    ident = b"\x7fELF" + bytes((2, 1, 1, 0, 1)) + bytes(7)
    body[:_HEADER_BYTES] = ident + struct.pack(
        "<HHIQQQIHHHHHH", _REL, MACHINE, 1, 0, 0, len(body), 0, _HEADER_BYTES, 0, 0, _ENTRY_BYTES, len(headers), table
    )
    return bytes(body) + b"".join(headers)


def _strings(names: list[str]) -> tuple[bytes, dict[str, int]]:
    data = bytearray()
    offsets: dict[str, int] = {}
    for name in names:
        if name not in offsets:
            offsets[name] = len(data)
            data += encode_text(name) + b"\0"
    return bytes(data), offsets


def _note(kind: int, data: bytes) -> bytes:
    owner = b"IntelGT\0"
    return struct.pack("<3I", len(owner), len(data), kind) + owner + data + bytes(-len(data) % 4)
