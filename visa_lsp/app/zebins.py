"""Prints and extracts zebins for ``dis``.

Invariant: an extracted file has the bytes of its section; an object is also extracted as text.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from visa_lsp.app.errors import UserError, printable, reason
from visa_lsp.app.inputs import OBJECT_MAGIC, decode_object
from visa_lsp.app.output_files import check_output, write_file
from visa_lsp.program.text_form import module_text
from visa_lsp.text import encode_text
from visa_lsp.zeinfo.zebin import NOTE_NAMES, RELOCATION_NAMES, ElfNote, Zebin, ZebinError, read_zebin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.isa.platforms import Platform


def zebin_of(name: str, data: bytes) -> Zebin:
    """Parse a zebin. Raises UserError if the bytes are not a zebin."""
    try:
        return read_zebin(data)
    except ZebinError as error:
        raise UserError(f"{name}: {error}") from None


def zebin_text(name: str, zebin: Zebin, platform: Platform | None, *, comments: bool, summary: bool) -> str:
    """Return the output of ``dis``: the lists, then ze_info and every vISA module as text."""
    parts = ["\n".join(_lists(name, zebin)) + "\n"]
    if not summary:
        if zebin.ze_info_bytes:
            parts.append(_with_title(".ze_info", zebin.ze_info))
        for module, data in zebin.visa.items():
            parts.append(_with_title(f".visaasm.{module}", visa_text(name, data, platform, comments=comments)))
    return "".join(parts)


def extract_zebin(name: str, zebin: Zebin, folder: str, platform: Platform | None, *, comments: bool) -> list[str]:
    """Write ze_info and vISA into a folder and return the files written.

    Raises UserError if the folder or a file cannot be written, or the zebin has neither ze_info nor vISA.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise UserError(f"{folder}: {reason(error)}") from None
    stem = Path(name).stem.strip("<>") or "zebin"
    files: dict[str, bytes] = {}
    if zebin.ze_info_bytes:
        files[f"{stem}.zeinfo.yaml"] = zebin.ze_info_bytes
    for module, data in zebin.visa.items():
        safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in module)
        if data.startswith(OBJECT_MAGIC):
            files[f"{safe}.isa"] = data
        files[f"{safe}.visaasm"] = encode_text(visa_text(name, data, platform, comments=comments))
    if not files:
        raise UserError(f"{name}: {zebin.without('neither ze_info nor vISA')}")
    for file in files:
        check_output(str(target / file), [name])
    for file, data in files.items():
        write_file(str(target / file), data, is_default=True)
    return [str(target / file) for file in files]


def _with_title(title: str, text: str) -> str:
    return f"\n== {title} ==\n{text}" + ("" if text.endswith("\n") else "\n")


def visa_text(name: str, data: bytes, platform: Platform | None, *, comments: bool) -> str:
    """Return a module of a zebin as text. Raises UserError if it is an unreadable object."""
    if not data.startswith(OBJECT_MAGIC):
        return data.rstrip(b"\0").decode("utf-8", "surrogateescape")
    return module_text(decode_object(name, data), platform, comments=comments)


def _lists(name: str, zebin: Zebin) -> Iterator[str]:
    from visa_lsp.companions import list_kernels  # loads the YAML reader, which an object does not need

    yield f"{name}: {zebin.container}, {len(zebin.sections)} sections, machine {zebin.machine}"
    for index, section in enumerate(zebin.sections):
        if index:
            yield f"  section {index:2} {printable(section.name):<32} {section.type_name:<9} {section.size:7} bytes at 0x{section.offset:x}"
    for kernel in list_kernels(zebin.ze_info) if zebin.ze_info_bytes else ():
        if zebin.lacks_code(kernel):
            yield f"  kernel {printable(kernel)}: no code: missing section .text.{printable(kernel)}"
    for symbol in zebin.symbols:
        if symbol.name:
            where = zebin.sections[symbol.section].name if symbol.section > 0 else "undefined"
            scope = "global" if symbol.is_global else "local"
            yield f"  symbol {printable(symbol.name)}: {scope} {symbol.kind}, {symbol.size} bytes at {printable(where)}+0x{symbol.value:x}"
    for entry in zebin.relocations:
        kind = RELOCATION_NAMES.get(entry.type, str(entry.type))
        yield f"  relocation {printable(entry.section)}+0x{entry.offset:x}: {kind} {printable(entry.symbol)}"
    for note in zebin.notes:
        if note.owner:
            yield f"  note {printable(note.owner)} {NOTE_NAMES.get(note.type, str(note.type))}: {_note(note)}"


def _note(note: ElfNote) -> str:
    if note.type in (4, 5) and note.data.rstrip(b"\0").isascii():
        return printable(note.data.rstrip(b"\0").decode("latin-1"))
    return f"0x{int.from_bytes(note.data, 'little'):x}" if len(note.data) <= 8 else note.data.hex()
