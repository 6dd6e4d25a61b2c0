"""The files beside a native dump: the vISA and ze_info of its kernel, and contradictions to them. Reads files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.external_tools import convert_findings
from visa_lsp.app.inputs import read_bytes
from visa_lsp.companions import Beside
from visa_lsp.program.suffixes import TEXTS
from visa_lsp.text import decode_text
from visa_lsp.toolchain.finalize import ToolFinding
from visa_lsp.toolchain.rules import UNDECLARED_SPILL
from visa_lsp.zeinfo.kernels import child, entries, number, word_of
from visa_lsp.zeinfo.source import ZeInfoSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.check.report import ReportedFinding
    from visa_lsp.app.stats.dumps import DumpFigures

_SPILLING: Final = ("spill_fill_space", "single_space")


class DumpFiles(Struct, frozen=True):
    """The text and the ze_info of the kernel of a dump; None if the folder has none."""

    visa: Path | None
    ze_info: Path | None


def files_beside(one: DumpFigures) -> DumpFiles:
    """Return the files of a dump's folder that describe its kernel: the text with the dump's name, else one with its kernel."""
    path = Path(one.path)
    finder = Beside()
    own = [text for text in (path.with_suffix(ending) for ending in TEXTS) if text.is_file()]
    text = next(iter(own or finder.texts_of(one.name, path)), None)
    document = finder.description(one.name, path, simd_size=one.simd)
    return DumpFiles(text, document.path if document is not None else None)


def find_undeclared_spills(dumps: Sequence[DumpFigures]) -> Iterator[ReportedFinding]:
    """Yield a finding for each dump that spills although the ze_info of its folder says that its kernel does not.

    A spilling dump is ignored if another dump of the same kernel and width has no spills, because the compiler rejected it.
    """
    clean = {_attempt(one) for one in dumps if not one.spill_bytes}
    finder = Beside()
    for one in dumps:
        if not one.spill_bytes or _attempt(one) in clean or not Path(one.path).is_file():
            continue
        document = finder.description(one.name, Path(one.path), simd_size=one.simd)
        if document is None or document.simd_size not in (0, one.simd) or _may_spill(document.text, one.name):
            continue
        text = decode_text(read_bytes(one.path))
        line = next((at for at, words in enumerate(text.splitlines()) if words.startswith("//.spill size")), 0)
        message = f"'{one.name}' spills {one.spill_bytes} bytes, but {document.path.name} says that it spills nothing"
        yield from convert_findings(one.path, text, (ToolFinding(UNDECLARED_SPILL, line, message),))


def _attempt(one: DumpFigures) -> tuple[Path, str, int]:
    return Path(one.path).parent, one.name, one.simd


def _may_spill(ze_info: str, name: str) -> bool:
    """Return whether the ze_info of a kernel has memory for spills."""
    kernel = next(
        (one for one in entries(ZeInfoSource.of(ze_info).root, "kernels") if word_of(one, "name") == name), None
    )
    buffers = entries(kernel, "per_thread_memory_buffers")
    return bool(number(child(kernel, "execution_env"), "spill_size")) or any(
        word_of(buffer, "usage") in _SPILLING and number(buffer, "size") for buffer in buffers
    )
