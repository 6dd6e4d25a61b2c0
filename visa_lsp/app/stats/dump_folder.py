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


def files_beside(dump: DumpFigures) -> DumpFiles:
    """Return the files of a dump's folder that describe its kernel: the text with the dump's name, else one with its kernel."""
    path = Path(dump.path)
    finder = Beside()
    own = [text for text in (path.with_suffix(ending) for ending in TEXTS) if text.is_file()]
    text = next(iter(own or finder.texts_of(dump.name, path)), None)
    document = finder.description(dump.name, path, simd_size=dump.simd)
    return DumpFiles(text, document.path if document is not None else None)


def find_undeclared_spills(dumps: Sequence[DumpFigures]) -> Iterator[ReportedFinding]:
    """Yield a finding for each dump that spills although the ze_info of its folder says that its kernel does not.

    A spilling dump is ignored if another dump of the same kernel and width has no spills, because the compiler rejected it.
    """
    clean = {_attempt(dump) for dump in dumps if not dump.spill_bytes}
    finder = Beside()
    for dump in dumps:
        if not dump.spill_bytes or _attempt(dump) in clean or not Path(dump.path).is_file():
            continue
        document = finder.description(dump.name, Path(dump.path), simd_size=dump.simd)
        if document is None or document.simd_size not in (0, dump.simd) or _may_spill(document.text, dump.name):
            continue
        text = decode_text(read_bytes(dump.path))
        line = next((index for index, words in enumerate(text.splitlines()) if words.startswith("//.spill size")), 0)
        message = f"'{dump.name}' spills {dump.spill_bytes} bytes, but {document.path.name} says that it spills nothing"
        yield from convert_findings(dump.path, text, (ToolFinding(UNDECLARED_SPILL, line, message),))


def _attempt(dump: DumpFigures) -> tuple[Path, str, int]:
    return Path(dump.path).parent, dump.name, dump.simd


def _may_spill(ze_info: str, name: str) -> bool:
    """Return whether the ze_info of a kernel has memory for spills."""
    kernel = next(
        (entry for entry in entries(ZeInfoSource.of(ze_info).root, "kernels") if word_of(entry, "name") == name), None
    )
    buffers = entries(kernel, "per_thread_memory_buffers")
    return bool(number(child(kernel, "execution_env"), "spill_size")) or any(
        word_of(buffer, "usage") in _SPILLING and number(buffer, "size") for buffer in buffers
    )
