"""Rename of a variable, label, subroutine or function, everywhere it is named; or the reason for refusing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Edit
from visa_lsp.ide.features.references import references
from visa_lsp.ide.index.focus import focus_at, focus_on_name
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.ide.index.token_at import TokenContext, spot_at
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.model import SymbolKind
from visa_lsp.sema.predefined_symbols import is_taken

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.text import Span

# Definitions of labels allow more characters, but some uses of labels do not.
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words with another meaning at the position of an operand.
_RESERVED: Final = frozenset({"r", "flat", "bti", "bss", "ss", "surf", "arg"})


class RenameRefused(ValueError):  # noqa: N818 - an answer to the user, in words
    """The rename would change the meaning of the text."""


def prepare_rename(analysis: Analysis, offset: int) -> tuple[Span, str] | None:
    """Return the renamable name at an offset, or None."""
    spot = spot_at(focus_on_name(analysis, offset), offset)
    if spot is None or not _may(spot):
        return None
    return spot.span, spot.token.text


def _may(spot: TokenContext) -> bool:
    if spot.token.kind is TokenKind.FUNCTION:
        return True
    symbol = spot.symbol
    return symbol is not None and not symbol.predefined and symbol.place is not None


def rename(analysis: Analysis, offset: int, new_name: str) -> tuple[Edit, ...]:
    """Return the edits of a rename. RenameRefused says why it cannot be done."""
    # Lines with the new name are bound too, because it may be taken.
    spot = spot_at(focus_at(analysis, offset, uses=bool(new_name), names={new_name}), offset)
    if spot is None or not _may(spot):
        raise RenameRefused("nothing here can be renamed")
    _check(analysis, spot, new_name)
    return tuple(Edit(o.span, new_name) for o in references(analysis, offset, aliases=False))


def _check(analysis: Analysis, spot: TokenContext, name: str) -> None:
    if name == spot.token.text:
        return
    if spot.token.kind is TokenKind.FUNCTION:
        if not name or '"' in name or "\\" in name:
            raise RenameRefused(f"`{name}` cannot be the name of a function")
        if any(g.name == name for g in index_of(analysis.document).groups):
            raise RenameRefused(f"there is already a kernel or function `{name}`")
        return
    symbol, body = spot.symbol, spot.body
    assert symbol is not None
    assert body is not None
    label = symbol.kind in (SymbolKind.LABEL, SymbolKind.SUBROUTINE)
    if not NAME.fullmatch(name):
        raise RenameRefused(f"`{name}` is not a valid name of a {symbol.kind.value}")
    if name in TABLE.by_mnemonic or name in _RESERVED:
        raise RenameRefused(f"`{name}` is a keyword of vISA")
    if label:
        if name in body.labels:
            raise RenameRefused(f"there is already a label `{name}` in this kernel")
        return
    if is_taken(name):
        raise RenameRefused(f"`{name}` is predefined")
    # Any variable of that name in the kernel may hide, or be hidden by, the new one.
    if any(s.name == name for s in body.symbols):
        raise RenameRefused(f"there is already a variable `{name}` in this kernel")
