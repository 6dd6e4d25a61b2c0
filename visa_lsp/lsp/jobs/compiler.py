"""Findings of the OpenCL compiler, for the language server, equal to those of ``visa-lsp compile``.

Starts ``ocloc``, so that the server requests it in trusted workspaces only. Compiles the text in the editor.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from visa_lsp.app.compile.build import BuildSource, build_source, device_of
from visa_lsp.app.errors import UserError
from visa_lsp.app.external_tools import settings_for, tool_for
from visa_lsp.app.inputs import STDIN
from visa_lsp.text import encode_text
from visa_lsp.toolchain.find_tools import OCLOC

if TYPE_CHECKING:
    from visa_lsp.lsp.jobs.model import Result, Stop


def compiler_check(text: str, path: str | None, options: dict[str, Any], stop: Stop) -> Result:
    """Compile a text; ``stop`` ends the compiler. Options: ``device`` or ``platform``, ``tool`` (a path), ``options``.

    ``findings`` have lines and columns from 1, columns in characters.
    """
    try:
        device = device_of(options.get("device"), options.get("platform"))
        tool = tool_for(OCLOC, options.get("tool"), settings_for(path or STDIN))
        words = options.get("options") or ""
        if path is not None and '"' not in path:
            # The text is compiled from a file elsewhere, but its includes are found beside its own file.
            words = f'{words} -I "{Path(path).parent}"'.strip()
        source = BuildSource(path or "untitled.cl", encode_text(text), text, is_file=False)
        build = build_source(source, device, words, tool, stop=lambda: stop.asked)
    except (UserError, OSError, ValueError) as error:
        return {"ok": False, "error": str(error)}
    findings = [
        {
            "line": f.place.line, "column": f.place.column, "end_line": f.place.end_line, "end_column": f.place.end_column,
            "severity": f.severity.value, "code": f.code, "message": f.message,
        }
        for f in build.findings
    ]  # fmt: skip
    return {"ok": True, "device": device, "compiled": build.program is not None, "findings": findings}
