"""Decoded machine code of small texts, kept as JSON of iga64 so that the tests need neither it nor a finalizer.

``python tests/eu/machine_fixtures.py`` makes the files again, with GenX_IR and the iga64 of 2026 beside ``VISA_LSP_TEST_OCLOC``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from visa_lsp.app.gen.gen_document import finalize_text, read_input
from visa_lsp.eu.decode import decode
from visa_lsp.isa.platforms import platform_named
from visa_lsp.toolchain.finalize import SECONDS
from visa_lsp.toolchain.iga import assemble, disassemble, find_iga

CASES = Path(__file__).parent / "cases"
EXAMPLES = Path(__file__).parents[2] / "examples"
TEXTS = {
    "bfnw.DG2": CASES / "bfnw.visaasm",
    "saxpy.TGLLP": EXAMPLES / "saxpy.visaasm",
    "average.DG2": EXAMPLES / "average.visaasm",
    "stuck.TGLLP": CASES / "stuck.visaasm",
}


def read_case(name):
    """Return the machine code of a fixture: the text's name and the platform, ``saxpy.TGLLP``."""
    document = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    platform = platform_named(name.rpartition(".")[2])
    return decode(name.partition(".")[0], document["elements"], document["texts"], platform.grf_bytes)


def make_fixtures():
    """Write the fixtures."""
    command = find_iga(None, (os.environ["VISA_LSP_TEST_OCLOC"],))
    for name, text in TEXTS.items():
        platform = name.rpartition(".")[2]
        source = read_input(str(text), None, platform)
        (kernel,) = finalize_text(source, None, (), SECONDS, str(text)).result.kernels
        listing = "\n".join(line.text for line in kernel.listing.lines)
        found = disassemble(command, assemble(command, listing, platform), platform)
        lines = [json.dumps(element, separators=(",", ":")) for element in found.elements]
        texts = json.dumps(found.texts, indent=0)
        (CASES / f"{name}.json").write_text(
            '{"elements": [\n' + ",\n".join(lines) + f'\n],\n"texts": {texts}}}\n', encoding="utf-8"
        )


if __name__ == "__main__":
    make_fixtures()
