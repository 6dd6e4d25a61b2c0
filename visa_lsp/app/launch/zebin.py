"""A zebin for a launch: its ze_info text, and the program's data with its symbols and relocations.

Converts results of the reader in ``zeinfo`` to values of ``sim``. Invariant: only sections that a launch places in memory
are read, never code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.isa.platforms import Platform, platform_of_product
from visa_lsp.program.elements import MAX_BUFFER_BYTES
from visa_lsp.sim.launch.config import DataSection, LaunchError
from visa_lsp.zeinfo.zebin import Zebin, ZebinError, read_zebin

if TYPE_CHECKING:
    from pathlib import Path


# Sections with data of the program, and the payload argument for the address of each.
_BASES: Final = {
    ".data.const": "const_base",
    ".data.global": "global_base",
    ".data.const.string": "",
    ".rodata": "",
    ".bss.const": "const_base",
    ".bss.global": "global_base",
}
_ZEROS: Final = (".bss.const", ".bss.global")
_ADDRESS_BYTES: Final = {1: 8, 2: 4}  # relocation types: the whole address, its low half


def program_data(data: bytes, path: Path) -> tuple[str, tuple[DataSection, ...]]:
    """Return the ze_info text of a zebin and its data sections.

    Raises LaunchError if the bytes are not a zebin, or a data section is larger than a buffer may be (1 GiB).
    """
    zebin = _read(data, path)
    sections = []
    symbols = zebin.data_symbols()
    for section in zebin.sections:
        if not section.name.startswith((".data", ".rodata", ".bss")):
            continue
        if section.size > MAX_BUFFER_BYTES:
            raise LaunchError(f"section {section.name} has {section.size} bytes, more than 1 GiB", place=str(path))
        pointers = tuple(
            (r.offset, r.symbol, _ADDRESS_BYTES[r.type])
            for r in zebin.relocations
            if r.section == section.name and r.type in _ADDRESS_BYTES
        )
        places = {name: offset for name, (home, offset, _) in symbols.items() if home == section.name}
        # The base is that of the data with contents, or of the zeros if there are no others (the 2026 compiler).
        other = zebin.section(section.name.replace(".bss", ".data")) if section.name in _ZEROS else None
        base = _BASES.get(section.name, "") if other is None else ""
        sections.append(DataSection(section.name, section.data, base, places, pointers))
    return zebin.ze_info, tuple(sections)


def platform_of(data: bytes, path: Path) -> Platform | None:
    """Return the platform of a zebin; None if it is missing or unknown.

    Raises LaunchError if the bytes are not a zebin.
    """
    family = _read(data, path).product_family
    return None if family is None else platform_of_product(family)


def _read(data: bytes, path: Path) -> Zebin:
    try:
        return read_zebin(data)
    except ZebinError as error:
        raise LaunchError(f"cannot read the zebin: {error}", place=str(path)) from None
