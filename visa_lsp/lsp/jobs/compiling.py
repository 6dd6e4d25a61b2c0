"""Compiles OpenCL C for the language server: the texts of its kernels, their figures, and the messages of the compiler.

Starts the compiler, so that the server requests it in trusted workspaces only. Writes nothing. Invariant: a mistake in
the source, a missing compiler or a wrong option gives an answer, not an exception.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from visa_lsp.app.compile.build import Build, build_source, device_of, read_source
from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.external_tools import settings_for
from visa_lsp.app.gen.printing import figures_of, findings_json
from visa_lsp.app.suggestions import seconds_of
from visa_lsp.toolchain.ocloc import SECONDS, CompiledText

if TYPE_CHECKING:
    from visa_lsp.lsp.jobs.model import Result, Stop


def compile_source(path: str, options: dict[str, Any], stop: Stop) -> Result:
    """Compile the file of a source for one device; ``stop`` ends the compiler.

    Options: ``device`` (else the settings' platform), ``options`` (for the source), ``tool`` (a path), ``timeout`` (seconds).
    If the compiler refuses the source, there are ``findings`` instead of ``kernels``.
    """
    try:
        source = read_source(path)
        device = device_of(options.get("device") or None, options.get("platform") or settings_for(path).platform)
        seconds = SECONDS if options.get("timeout") is None else seconds_of(str(options["timeout"]))
        build = build_source(
            source, device, options.get("options") or "", options.get("tool") or None, seconds, lambda: stop.asked
        )
    except (UserError, OSError, ValueError) as error:
        return {"ok": False, "error": str(error)}
    return {
        "ok": True,
        "path": path,
        "device": build.device,
        "platform": build.platform,
        "kernels": [_kernel(build, text) for text in build.texts if text.is_kernel],
        "findings": findings_json(build.findings, "ocloc"),
    }


def _kernel(build: Build, text: CompiledText) -> Result:
    return {
        "name": printable(text.name),
        "simd": text.simd,
        "figures": f"{build.device} SIMD{text.simd}: {figures_of(text.listing)}",
        "text": printable(text.text),
    }
