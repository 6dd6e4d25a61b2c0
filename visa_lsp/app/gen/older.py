"""Adapts texts of 4.2 to an older finalizer: its names of platforms, and lines in the forms of text 4.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import structs

from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.isa.platforms import platform_named, since
from visa_lsp.program.operand_text import instruction
from visa_lsp.program.text_form import names_of
from visa_lsp.sema.lower import program_of
from visa_lsp.toolchain.finalize import ToolFinding
from visa_lsp.toolchain.rules import OLDER_FINALIZER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.isa.model import Instruction
    from visa_lsp.syntax.document import Document

EFFICIENT: Final = "-enableEfficient64b"  # build option of a text that selects the dialect of the finalizer
_NEWEST: Final = since("BMG")


def name_for(platform: str, platforms: Sequence[str]) -> str | None:
    """Return the finalizer's name of a platform (``XE2`` for ``BMG``); None if it does not list the platform."""
    if platform in platforms:
        return platform
    return next((n for n in platforms if (p := platform_named(n)) is not None and p.name == platform), None)


def reads_newest(platforms: Sequence[str]) -> bool:
    """Return whether a finalizer with these platforms reads text 4.2, which came with Xe2."""
    return any(platform.name in _NEWEST for name in platforms if (platform := platform_named(name)) is not None)


def _has_newer_word(row: Instruction, code: str) -> bool:
    """Return whether a line has a modifier that text 4.1 lacks; the printer omits default modifiers."""
    return any(f".{word}" in code for m in row.modifiers if m.newest is not None for word in m.words)


def in_older_forms(
    document: Document, platform: str, codes: Sequence[str]
) -> tuple[list[str], tuple[ToolFinding, ...]]:
    """Return the lines of a text of 4.2 with instructions in the forms of text 4.1 if possible, and a finding about them.

    If the text has an object, the older form is the form in the object, which lacks operands that only text 4.2 has.
    """
    out, chosen = list(codes), platform_named(platform)
    module = program_of(document, chosen)
    if module is None or chosen is None:
        return out, ()
    try:
        carried = decode(encode(module))
    except CodecError:
        carried = module
    changed: list[int] = []
    for body, older in zip(module.bodies, carried.bodies, strict=True):
        names = names_of(body, chosen)
        newer = structs.replace(names, v42=True)
        for inst, again in zip(body.instructions, older.instructions, strict=True):
            form = instruction(names, again)
            if inst.line < 0 or inst.row.opens_label:
                continue
            if form != instruction(newer, inst) or _has_newer_word(inst.row, out[inst.line]):
                out[inst.line] = form
                changed.append(inst.line)
    if not changed:
        return out, ()
    lines = "1 line was" if len(changed) == 1 else f"{len(changed)} lines were"
    words = f"the finalizer reads text 4.1 only: {lines} rewritten in older forms, this one as `{out[changed[0]]}`"
    return out, (ToolFinding(OLDER_FINALIZER, changed[0], words),)
