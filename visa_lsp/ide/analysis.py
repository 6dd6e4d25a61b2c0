"""One snapshot of a text with everything that is known of it, each part made when it is first asked for.

An ``Analysis`` never changes; an edit makes a new one from ``document.edit``. It does no input or output. What only long
texts need is loaded for the first of them: it is a tenth of what checking a short one takes.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final

from visa_lsp.checks import run_checks
from visa_lsp.checks.context import CheckContext, dialect_of
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sema.bind import bind
from visa_lsp.syntax.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.ide.incremental import TextState
    from visa_lsp.isa.model import Dialect
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.sema.model import BoundModule

# Shorter texts are bound and checked whole: that costs a few milliseconds.
SHORT_TEXT: Final = 60
_STATE: Final = "findings"


class Analysis:
    """Lazy views of one document. ``platform`` None means that nothing names one."""

    def __init__(self, document: Document, platform: Platform | None = None) -> None:
        self.document = document
        self.platform = platform

    @staticmethod
    def of(text: str, platform: str | None = None, *, once: bool = False) -> Analysis:
        """An analysis of a whole text for a platform by name.

        Of a text that is looked at ``once`` it is not kept which names stand where: an edit of it would take longer.
        """
        document = Document.parse(text)
        if once and document.line_count >= SHORT_TEXT:
            document.lineage[import_module("visa_lsp.ide.judged_body").IDS] = None
        return Analysis(document, platform_named(platform) if platform else None)

    def edited(self, start: int, end: int, new_text: str) -> Analysis:
        """The analysis of the text with ``[start, end)`` replaced."""
        return Analysis(self.document.edit(start, end, new_text), self.platform)

    @cached_property
    def bound(self) -> BoundModule:
        """Symbols, references, bound instructions, problems."""
        return bind(self.document, self.platform)

    @property
    def dialect(self) -> Dialect:
        """The dialect of the text."""
        return dialect_of(self.bound)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings, in text order: the one function behind ``--check``, push and pull diagnostics.

        Long texts go the short way, which gives the same as ``full_diagnostics``.
        """
        return self.full_diagnostics if self.document.line_count < SHORT_TEXT else self.quick_diagnostics()

    @cached_property
    def full_diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings by binding and checking every line: the authority on what ``diagnostics`` is."""
        return tuple(run_checks(CheckContext(self.document, self.bound, self.platform, self.dialect)))

    def quick_diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings by looking only at what changed and at lines that may have one."""
        key = (_STATE, self.platform)
        # A state that an exception left half-way is not used again.
        state: TextState | None = self.document.lineage.pop(key, None)  # type: ignore[assignment]
        if state is None:
            state = import_module("visa_lsp.ide.incremental").TextState(self.platform)
        found = state.update(self.document)
        self.document.lineage[key] = state
        return found

    def prepare(self) -> Iterator[None]:
        """Steps that make the findings of the next edits ready to be looked for."""
        state: TextState | None = self.document.lineage.get((_STATE, self.platform))  # type: ignore[assignment]
        for body in state.bodies if state is not None else ():
            yield from body.prepare()
