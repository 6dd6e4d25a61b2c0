"""The views of a zebin in an editor: its lists, its ze_info, and its vISA as text.

Invariant: an unreadable part is reported as such and leaves the other parts intact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from visa_lsp.app.errors import UserError, printable
from visa_lsp.app.zebins import visa_text, zebin_of
from visa_lsp.isa.platforms import Platform, platform_named
from visa_lsp.safe_io import MAX_OBJECT_BYTES, read_file

if TYPE_CHECKING:
    from visa_lsp.lsp.jobs.model import Result
    from visa_lsp.zeinfo.zebin import Zebin


def parts(path: str, platform: str | None) -> Result:
    """Return the parts of a zebin: ``sections``, ``kernels``, ``zeInfo`` (a text), ``modules`` (vISA as texts)."""
    try:
        data = read_file(path, MAX_OBJECT_BYTES)
        zebin = zebin_of(path, data)
    except UserError as error:
        return {"ok": False, "error": str(error)}
    except (OSError, ValueError) as error:
        return {"ok": False, "error": f"{path}: {getattr(error, 'strerror', None) or error}"}
    kernels, problem = _kernels(zebin)
    chosen = platform_named(platform) if platform else None
    return {
        "ok": True,
        "bytes": len(data),
        "sections": [
            {"name": printable(s.name), "type": s.type_name, "bytes": s.size, "offset": s.offset}
            for s in zebin.sections[1:]
        ],
        "kernels": kernels,
        "zeInfo": zebin.ze_info.encode("utf-8", "replace").decode("utf-8"),
        "zeInfoProblem": problem,
        "modules": [{"name": printable(name), **_module(path, visa, chosen)} for name, visa in zebin.visa.items()],
    }


def _kernels(zebin: Zebin) -> tuple[list[dict[str, Any]], str]:
    """Return the kernels that ze_info names, then those with code only; and the error in ze_info, if any."""
    from visa_lsp.zeinfo.read_kernels import ZeInfoError, read

    code = {s.name.removeprefix(".text."): s.size for s in zebin.sections if s.name.startswith(".text.")}
    problem, infos = "", []
    if zebin.ze_info_bytes:
        try:
            infos = read(zebin.ze_info)
        except ZeInfoError as error:
            problem = f"ze_info:{error}"
    kernels: list[dict[str, Any]] = [
        {
            "name": printable(info.name),
            "simd": info.env.simd_size,
            "registers": info.env.grf_count,
            "arguments": info.argument_count,
            "bytes": code.get(info.name),
        }
        for info in infos
    ]
    named = {info.name for info in infos}
    kernels += [{"name": printable(name), "bytes": size} for name, size in code.items() if name not in named]
    return kernels, problem


def _module(path: str, visa: bytes, platform: Platform | None) -> dict[str, str]:
    try:
        text = visa_text(path, visa, platform, comments=True)
    except UserError as error:
        return {"text": "", "error": str(error)}
    return {"text": text.encode("utf-8", "replace").decode("utf-8"), "error": ""}
