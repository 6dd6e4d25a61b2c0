"""The key ``zebin:`` of a launch file: the program's data, its symbols and its ze_info out of the compiler's ELF file.

Knows which sections hold data and which payload argument asks for their address. Invariant: the sections come in the
order of the file, and every symbol lies in one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.sim.launch_config import DataSection, LaunchError
from visa_lsp.zeinfo.zebin import ZebinError, read_zebin

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.zeinfo.zebin import Section, Zebin

_BASES: Final = {".data.const": "const_base", ".data.global": "global_base", ".bss.const": "const_base", ".bss.global": "global_base"}
_DATA: Final = (".data.", ".bss.")
_POINTER_BYTES: Final = {1: 8, 2: 4, 7: 2}


def load_zebin(path: Path) -> Zebin:
    """Read a zebin from a file; a ``LaunchError`` says why it cannot be."""
    try:
        return read_zebin(path.read_bytes())
    except OSError as error:
        raise LaunchError(f"cannot be read: {error.strerror or error}", place=str(path)) from None
    except ZebinError as error:
        raise LaunchError(str(error), place=str(path)) from None


def data_sections(zebin: Zebin) -> tuple[DataSection, ...]:
    """The data that the program's code refers to."""
    found: list[DataSection] = []
    bases: set[str] = set()
    for index, section in enumerate(zebin.sections):
        if not section.name.startswith(_DATA) or not section.data:
            continue
        base = _BASES.get(section.name, "")
        found.append(_section(zebin, index, section, "" if base in bases else base))
        bases.add(base)
    return tuple(found)


def _section(zebin: Zebin, index: int, section: Section, base: str) -> DataSection:
    symbols = {
        s.name: s.value for s in zebin.symbols if s.section == index and s.name and s.value <= section.size
    }
    pointers = tuple(
        (r.offset, r.symbol, _POINTER_BYTES[r.type])
        for r in zebin.relocations
        if r.section == section.name and r.type in _POINTER_BYTES
    )
    return DataSection(section.name, section.data, base, symbols, pointers)
