"""Compiles OpenCL C for the language server: the texts of its kernels, their figures, and the findings of the compiler.

Starts the compiler, so that the server requests it in trusted workspaces only. Writes into the client's own folder only.
Invariant: a mistake in the source, a missing compiler or a wrong option gives an answer, not an exception.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from visa_lsp.app.check.formats.data import range_of
from visa_lsp.app.compile.build import Build, BuildSource, build_source, device_of, read_source
from visa_lsp.app.compile.outputs import file_name, write_program
from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.external_tools import settings_for, tool_for
from visa_lsp.app.gen.printing import figures_of, findings_json
from visa_lsp.app.inputs import STDIN
from visa_lsp.app.suggestions import seconds_of
from visa_lsp.text import encode_text
from visa_lsp.toolchain.find_tools import OCLOC
from visa_lsp.toolchain.ocloc import SECONDS, CompiledText

if TYPE_CHECKING:
    from visa_lsp.lsp.jobs.model import Result, Stop


def compile_source(path: str, options: dict[str, Any], stop: Stop) -> Result:
    """Compile the file of a source for one device; ``stop`` ends the compiler.

    Options: ``device`` (else the settings' platform), ``options`` (for the source), ``tool`` (a path), ``timeout`` (seconds),
    ``folder`` (of the client's: the program is written below it, and each kernel has the ``path`` of its text).
    If the compiler refuses the source, there are ``findings`` instead of ``kernels``.
    """
    try:
        source = read_source(path)
        device = device_of(options.get("device") or None, options.get("platform") or settings_for(path).platform)
        seconds = SECONDS if options.get("timeout") is None else seconds_of(str(options["timeout"]))
        build = build_source(
            source, device, options.get("options") or "", options.get("tool") or None, seconds, lambda: stop.asked
        )
        folder = _write(build, path, options.get("folder"))
    except (UserError, OSError, ValueError) as error:
        return {"ok": False, "error": str(error)}
    return {
        "ok": True,
        "path": path,
        "device": build.device,
        "platform": build.platform,
        "kernels": [_kernel(build, text, folder) for text in build.texts if text.is_kernel],
        "findings": findings_json(build.findings, "ocloc"),
    }


def _write(build: Build, path: str, folder: str | None) -> Path | None:
    """Write a program into the folder of its source and platform, whose name tells the server the platform of its texts."""
    if folder is None or build.program is None:
        return None
    target = Path(folder) / sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16] / build.platform
    write_program(build, target)
    return target


def _kernel(build: Build, text: CompiledText, folder: Path | None) -> Result:
    written = {} if folder is None else {"path": str(folder / f"{file_name(text.name)}.visaasm")}
    return {
        "name": printable(text.name),
        "simd": text.simd,
        "figures": f"{build.device} SIMD{text.simd}: {figures_of(text.listing)}",
        "text": printable(text.text),
        **written,
    }


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
        {**range_of(f.place), "severity": f.severity.value, "code": f.code, "message": f.message}
        for f in build.findings
    ]
    return {"ok": True, "device": device, "compiled": build.program is not None, "findings": findings}
