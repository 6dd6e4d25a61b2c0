"""All findings about a ze_info text and the texts it describes: what the server publishes for either file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.zeinfo.against import disagreements, in_document, in_text
from visa_lsp.zeinfo.validate import validate_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.zeinfo.facts import KernelText
    from visa_lsp.zeinfo.layout import Registers
    from visa_lsp.zeinfo.source import ZeInfoSource


def document_diagnostics(
    source: ZeInfoSource, texts: Sequence[KernelText] = (), platform: Registers | None = None
) -> tuple[Diagnostic, ...]:
    """The findings about the document, alone and against the kernels of ``texts``, in text order."""
    found = (*validate_source(source), *in_document(disagreements(source, texts, platform)))
    return tuple(sorted(found, key=lambda d: (d.span, d.code)))


def text_diagnostics(
    source: ZeInfoSource, path: str, texts: Sequence[KernelText], platform: Registers | None = None
) -> tuple[Diagnostic, ...]:
    """What the document at ``path`` says otherwise than the kernels: findings about their text."""
    if source.root is None or not texts:
        return ()
    found = in_text(disagreements(source, texts, platform), texts[0].path, path)
    return tuple(sorted(found, key=lambda d: (d.span, d.code)))
