"""The platforms in the setting of the VS Code extension, in its ``package.json``; the rest of that file is written by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.platforms import PLATFORMS

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "vscode-extension/package.json"
_NONE: Final = "Report only what every platform forbids"


def generate_files(root: Path) -> dict[str, str]:
    """Return the file with the platforms of the table."""
    package = json.loads((root / FILE).read_text(encoding="utf-8"))
    setting = package["contributes"]["configuration"]["properties"]["visa.platform"]
    setting["enum"] = ["", *(p.name for p in PLATFORMS)]
    setting["enumDescriptions"] = [_NONE, *(p.doc for p in PLATFORMS)]
    return {FILE: json.dumps(package, indent=2, ensure_ascii=False) + "\n"}
