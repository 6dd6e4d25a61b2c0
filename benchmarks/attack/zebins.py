"""Zebins (ELF files) with bits, counts and sections changed: read, printed and checked, or refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.attack.core import EXAMPLES, Target, Wrong
from benchmarks.attack.launches import clear
from benchmarks.attack.objects import damage
from visa_lsp.app.assemble import assemble_text
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.zebin import program_data
from visa_lsp.app.zebins import zebin_text
from visa_lsp.sim.launch.config import LaunchError
from visa_lsp.zeinfo.pack import pack_zebin
from visa_lsp.zeinfo.validate import validate
from visa_lsp.zeinfo.zebin import ZebinError, read_zebin

if TYPE_CHECKING:
    import random

_HEADER: Final = 64
_ENTRY: Final = 64
_EDGES: Final = (0, 1, 7, 64, 255, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1)


class Zebins(Target):
    """The example in a zebin of our own, damaged; its section table more than the rest."""

    name = "zebins"
    suffix = ".zebin"

    def __init__(self) -> None:
        text = (EXAMPLES / "mandelbrot.visaasm").read_text("utf-8")
        made = assemble_text(text, "TGLLP").data
        assert made is not None
        info = (EXAMPLES / "mandelbrot.zeinfo.yaml").read_text("utf-8")
        self.bases = [
            pack_zebin("mandelbrot", made, info),
            pack_zebin("é", text.encode()[:3000], info),
            pack_zebin("x", b"", ""),
        ]

    def make(self, draw: random.Random) -> bytes:
        """Return the bytes of a file."""
        base = draw.choice(self.bases)
        data = bytearray(base)
        for _ in range(draw.choice((0, 1, 1, 2, 5))):
            if draw.random() < 0.6:
                # The header, or a field of an entry of the section table at the end.
                at = draw.randrange(4, _HEADER) if draw.random() < 0.4 else len(base) - draw.randrange(1, 6 * _ENTRY)
                size = draw.choice((1, 2, 4, 8))
                value = draw.choice(_EDGES) & (1 << 8 * size) - 1
                data[at : at + size] = value.to_bytes(size, "little")
            else:
                damage(draw, data, draw.choice(self.bases))
        return bytes(data)

    def attempt(self, case: bytes, draw: random.Random) -> str:
        """Read the file, print it, check its ze_info, take the data of a program out of it."""
        try:
            found = read_zebin(case)
        except ZebinError as error:
            clear(str(error))
            return "refused"
        total = sum(len(section.data) for section in found.sections)
        if total > (64 << 20) + 8 * len(case):
            raise Wrong(f"sections of {total} bytes from a file of {len(case)}")
        validate(found.ze_info)
        outcome = "printed"
        try:
            zebin_text("x.zebin", found, None, comments=draw.random() < 0.5, summary=draw.random() < 0.5)
        except UserError as error:
            clear(str(error))
            outcome = "its vISA refused"
        try:
            program_data(case, Path("x.zebin"))
        except LaunchError as error:
            clear(str(error))
        return outcome
