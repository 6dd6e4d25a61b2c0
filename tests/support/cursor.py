"""Marked sources: ``^`` is the cursor; it is not a token of the language, so it may be anywhere."""

from __future__ import annotations

from visa_lsp.analysis.analysis import Analysis

DECLARATIONS = """\
.version 4.1
.kernel "k"
.decl A v_type=G type=f num_elts=16 align=GRF
.decl B v_type=G type=d num_elts=16 align=GRF alias=<A, 0>
.decl W v_type=G type=w num_elts=16 align=GRF alias=<B, 32>
.decl X v_type=G type=ud num_elts=1 align=dword
.decl P1 v_type=P num_elts=16
.decl AD v_type=A num_elts=4
.decl T6 v_type=T num_elts=1
.input X offset=32 size=4
"""


def analyse_at_cursor(source: str, declarations: str = DECLARATIONS) -> tuple[Analysis, int]:
    """Return the analysis of a source behind the usual declarations, and the offset of its cursor."""
    text = declarations + source
    offset = text.index("^")
    return Analysis.of(text[:offset] + text[offset + 1 :]), offset


def apply_edits(text: str, edits) -> str:
    """Return a text with edits applied, last first."""
    for edit in sorted(edits, key=lambda e: e.span, reverse=True):
        text = text[: edit.span.start] + edit.new_text + text[edit.span.end :]
    return text
