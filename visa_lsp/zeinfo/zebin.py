"""Reads zebins: the ELF files that the GPU's runtime loads, with ze_info, code, data, symbols, relocations and notes.

The only module that knows pyelftools, which is imported when a zebin is read. Does not check contents. Invariant: bytes
that are not a zebin raise a ``ZebinError``, and no size is trusted before the bytes exist.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

MAGIC: Final = b"\x7fELF"
MACHINE: Final = 205  # EM_INTELGT
SECTION_TYPES: Final = {
    0xFF000005: "TOKENS",
    0xFF000009: "SPIR-V",
    0xFF000011: "ZEINFO",
    0xFF000012: "GTPIN",
    0xFF000013: "VISAASM",
    0xFF000014: "MISC",
    0xFF000015: "PISA",
}
NOTE_NAMES: Final = {
    1: "product family", 2: "graphics core family", 3: "target metadata", 4: "zebin version", 5: "vISA ABI version",
    6: "product configuration", 7: "indirect access detection version", 8: "indirect access buffer version",
}  # fmt: skip
RELOCATION_NAMES: Final = {
    0: "R_NONE", 1: "R_SYM_ADDR", 2: "R_SYM_ADDR_32", 3: "R_SYM_ADDR_32_HI", 4: "R_PER_THREAD_PAYLOAD_OFFSET_32",
    5: "R_GLOBAL_IMM_32", 6: "R_SEND", 7: "R_SYM_ADDR_16",
}  # fmt: skip
_OLDER_CONTAINER: Final = "patch-token binary, the container of OpenCL drivers before zebin"
_PATCH_TOKENS: Final = 0xFF000005  # type of a section with a vISA binary
_ZEBIN_TYPE: Final = 0xFF12
_NOBITS: Final = 8
_OWNER: Final = "IntelGT"
_PRODUCT_FAMILY: Final = 1
_MAX_ZEROS: Final = 256 << 20
_ASM_DUMPS: Final = (".visaasm.", ".visaasm")


class ZebinError(Exception):
    """Bytes that are not a readable zebin."""


class Section(Struct, frozen=True):
    """A section; ``type`` is the number in the ELF format. ``data`` of a section without bytes in the file is zeros."""

    name: str
    type: int
    offset: int
    size: int
    flags: int
    data: bytes

    @property
    def type_name(self) -> str:
        """The type as a word."""
        names = {0: "NULL", 1: "PROGBITS", 2: "SYMTAB", 3: "STRTAB", 4: "RELA", 7: "NOTE", 8: "NOBITS", 9: "REL"}
        return names.get(self.type) or SECTION_TYPES.get(self.type) or f"0x{self.type:x}"


class ElfSymbol(Struct, frozen=True):
    """A symbol; ``section`` is a number into ``Zebin.sections``, or -1."""

    name: str
    value: int
    size: int
    section: int
    is_global: bool
    kind: str


class Relocation(Struct, frozen=True):
    """A place in a section for the address of a symbol."""

    section: str
    offset: int
    type: int
    symbol: str
    addend: int = 0


class ElfNote(Struct, frozen=True):
    """An entry of a note section."""

    section: str
    owner: str
    type: int
    data: bytes


class Zebin(Struct, frozen=True):
    """The contents of a zebin. ``ze_info`` is empty if there is none."""

    machine: int
    type: int
    flags: int
    sections: tuple[Section, ...]
    symbols: tuple[ElfSymbol, ...]
    relocations: tuple[Relocation, ...]
    notes: tuple[ElfNote, ...]

    def section(self, name: str) -> Section | None:
        """Return the section with a name."""
        return next((s for s in self.sections if s.name == name), None)

    @property
    def ze_info_bytes(self) -> bytes:
        """The bytes of ``.ze_info``."""
        section = self.section(".ze_info")
        return section.data if section else b""

    @property
    def ze_info(self) -> str:
        """The text of ``.ze_info``."""
        return self.ze_info_bytes.rstrip(b"\0").decode("utf-8", "surrogateescape")

    @property
    def visa(self) -> dict[str, bytes]:
        """Texts and objects of vISA by module name: the sections ``.visaasm.NAME``."""
        return {
            s.name.removeprefix(".visaasm").lstrip(".") or "visa": s.data
            for s in self.sections
            if s.name.startswith(_ASM_DUMPS)
        }

    @property
    def product_family(self) -> int | None:
        """The product number in the note of the file."""
        note = next((n.data for n in self.notes if n.owner == _OWNER and n.type == _PRODUCT_FAMILY), None)
        return int.from_bytes(note[:4], "little") if note else None

    @property
    def container(self) -> str:
        """The kind of this file, in words; it may be another ELF file."""
        if any(section.type == _PATCH_TOKENS for section in self.sections):
            return _OLDER_CONTAINER
        is_zebin = self.machine == MACHINE or self.type == _ZEBIN_TYPE or self.section(".ze_info") is not None
        return "zebin" if is_zebin else "ELF file"

    def without(self, what: str) -> str:
        """Return the message that a part of this file is missing; it names the container if the file is not a zebin."""
        if self.container == "zebin":
            return f"this zebin has {what}"
        return (
            f"not a zebin but {'a ' if self.container.startswith('p') else 'another '}{self.container}: it has {what}"
        )

    def lacks_code(self, kernel: str) -> bool:
        """Return whether a kernel of the ze_info has no native code, although its zebin does not consist of vISA only."""
        codes = self.kernels
        return kernel not in codes and bool(codes or not self.visa)

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the sections with native code."""
        return tuple(s.name.removeprefix(".text.") for s in self.sections if s.name.startswith(".text."))

    def data_symbols(self) -> dict[str, tuple[str, int, int]]:
        """Return the place of each data symbol: its section, offset and size."""
        symbols = {}
        for symbol in self.symbols:
            if 0 <= symbol.section < len(self.sections) and symbol.name:
                name = self.sections[symbol.section].name
                if name.startswith((".data", ".bss", ".const")):
                    symbols[symbol.name] = (name, symbol.value, symbol.size)
        return symbols


def is_elf(data: bytes) -> bool:
    """Return whether bytes begin like an ELF file."""
    return data[:4] == MAGIC


def read_zebin(data: bytes) -> Zebin:
    """Read a zebin from its bytes. Raises ZebinError if they are not an ELF file, or are damaged."""
    if not is_elf(data):
        raise ZebinError("not an ELF file: the first bytes are not 7f 45 4c 46")
    from elftools.elf.elffile import ELFFile

    try:
        file = ELFFile(io.BytesIO(data))
        return _zebin(file, data)
    except ZebinError:
        raise
    except Exception as error:  # noqa: BLE001
        # pyelftools raises many kinds of exceptions for damaged files: assertions, struct and stream errors.
        text = " ".join(str(error).split())
        raise ZebinError(f"a damaged ELF file: {text or type(error).__name__}") from None


def _zebin(file: Any, data: bytes) -> Zebin:
    header = file.header
    if file.num_sections() > 1 << 16:
        raise ZebinError(f"a damaged ELF file: {file.num_sections()} sections")
    machine = struct.unpack_from("<H", data, 18)[0]
    sections = []
    room = _MAX_ZEROS + 4 * len(data)
    for index in range(file.num_sections()):
        section = file.get_section(index)
        room -= section["sh_size"] if index else 0
        if room < 0:
            raise ZebinError("a damaged ELF file: its sections have more bytes than the file can hold")
        sections.append(_section(section, data, index))
    symbols: list[ElfSymbol] = []
    relocations: list[Relocation] = []
    notes: list[ElfNote] = []
    for index, section in enumerate(sections):
        raw = file.get_section(index)
        if section.type == 2:
            symbols += _symbols(raw, len(sections))
        elif section.type in (4, 9):
            target = raw["sh_info"]
            name = sections[target].name if target < len(sections) else ""
            table = file.get_section(raw["sh_link"])
            relocations += _relocations(raw, table, name)
        elif section.type == 7:
            notes += _notes(section)
    kind = header["e_type"]
    number = struct.unpack_from("<H", data, 16)[0] if isinstance(kind, str) else kind
    return Zebin(machine, number, header["e_flags"], tuple(sections), tuple(symbols), tuple(relocations), tuple(notes))


def _section(section: Any, data: bytes, index: int) -> Section:
    header = section.header
    kind = _number(header["sh_type"])
    offset, size = header["sh_offset"], header["sh_size"]
    if kind == _NOBITS:
        content = bytes(size)
    elif index == 0:
        content, size = b"", 0
    else:
        if offset + size > len(data):
            raise ZebinError(f"section {index} ends at byte {offset + size}, but the file has {len(data)} bytes")
        content = data[offset : offset + size]
    return Section(section.name, kind, offset, size, header["sh_flags"], content)


_TYPE_NUMBERS: Final = {
    "SHT_NULL": 0, "SHT_PROGBITS": 1, "SHT_SYMTAB": 2, "SHT_STRTAB": 3, "SHT_RELA": 4, "SHT_NOTE": 7, "SHT_NOBITS": 8,
    "SHT_REL": 9,
}  # fmt: skip


def _number(value: int | str) -> int:
    return value if isinstance(value, int) else _TYPE_NUMBERS.get(value, -1)


def _symbols(table: Any, sections: int) -> Iterator[ElfSymbol]:
    for symbol in table.iter_symbols():
        section_index = symbol["st_shndx"]
        yield ElfSymbol(
            symbol.name,
            symbol["st_value"],
            symbol["st_size"],
            section_index if isinstance(section_index, int) and section_index < sections else -1,
            symbol["st_info"]["bind"] == "STB_GLOBAL",
            str(symbol["st_info"]["type"]).removeprefix("STT_").lower(),
        )


def _relocations(section: Any, table: Any, target: str) -> Iterator[Relocation]:
    for entry in section.iter_relocations():
        symbol = table.get_symbol(entry["r_info_sym"])
        addend = entry["r_addend"] if entry.is_RELA() else 0
        yield Relocation(target, entry["r_offset"], entry["r_info_type"], symbol.name if symbol else "", addend)


def _notes(section: Section) -> Iterator[ElfNote]:
    data, offset = section.data, 0
    while offset + 12 <= len(data):
        name_size, size, kind = struct.unpack_from("<3I", data, offset)
        start = offset + 12 + (name_size + 3 & ~3)
        if start + size > len(data):
            return
        yield ElfNote(
            section.name,
            data[offset + 12 : offset + 12 + name_size].rstrip(b"\0").decode("latin-1"),
            kind,
            data[start : start + size],
        )
        offset = start + (size + 3 & ~3)
