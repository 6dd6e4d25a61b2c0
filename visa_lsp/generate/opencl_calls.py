"""The table of OpenCL's functions in ``docs/exec.md``, from the table of the layer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from visa_lsp.generate.page_part import table, with_part

FILE: Final = "docs/exec.md"
LAYER: Final = Path(__file__).parents[1] / "opencl" / "layer.c"
_ENTRY: Final = re.compile(r"\b(DIVERT|EXTENSION|REFUSE|ORDER|HOST)\((cl\w+)")
_KINDS: Final = {
    "DIVERT": "done by visa-lsp",
    "EXTENSION": "functions of extensions, done by visa-lsp",
    "ORDER": "done by the host; watched, because it may order launches",
    "HOST": "done by the host",
    "REFUSE": "refused, with a line in the report",
}


def generate_files(root: Path) -> dict[str, str]:
    """Return the page with a row for each kind of function."""
    functions: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for kind, name in _ENTRY.findall(LAYER.read_text(encoding="utf-8")):
        functions[kind].append(name)
    rows = ((_KINDS[kind], ", ".join(f"`{name}`" for name in sorted(names))) for kind, names in functions.items())
    return with_part(root, FILE, table(("who", "functions"), rows))
