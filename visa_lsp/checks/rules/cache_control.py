"""The two cache controls of a message do not go together.

A load takes `.uc.uc`, `.uc.ca`, `.ca.uc`, `.ca.ca`, `.st.uc`, `.st.ca` or `.ri.ca`; a store `.uc.uc`, `.uc.wb`, `.wb.wb`, `.wt.uc`,
`.wt.wb`, `.st.uc` or `.st.wb`; an atomic `.uc.uc` or `.uc.wb`; a message to images or to `.ugml` none. `.df.df` is as good as nothing.

Why: the hardware has a code for these pairs only; the finalizer rejects the text, without saying why.

Example:

    lsc_store.ugm.wb.uc (M1, 16) flat[V39]:a64 V33:d32

Instead:

    lsc_store.ugm.wb.wb (M1, 16) flat[V39]:a64 V33:d32

Authority: all pairs tried on the finalizer 1.0.12504 for DG2 and PVCXT. Text 4.2 is not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import words
from visa_lsp.isa.lsc_codes import CACHE, CACHE_TEXT, SFID_UGML
from visa_lsp.isa.model import Dialect, Role, Shape, Trait
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.isa.model import Instruction

RULE = rule("V620", "cache-control", ERROR, __doc__)
_LOAD: Final = ("uc.uc", "uc.ca", "ca.uc", "ca.ca", "st.uc", "st.ca", "ri.ca")
_STORE: Final = ("uc.uc", "uc.wb", "wb.wb", "wt.uc", "wt.wb", "st.uc", "st.wb")
_ATOMIC: Final = ("uc.uc", "uc.wb")


def _pairs(row: Instruction) -> tuple[str, tuple[str, ...]]:
    """What the message is, and the pairs that it may have."""
    if any(s.shape in (Shape.LSC_ADDRESS_TYPED, Shape.LSC_SURFACE) for s in row.slots):
        return "a message to images", ()
    if row.has(Trait.ATOMIC):
        return "an atomic", _ATOMIC
    return ("a load", _LOAD) if any(s.role is Role.WRITE for s in row.slots) else ("a store", _STORE)


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    inst, node = bound.inst, bound.statement
    if ctx.dialect is not Dialect.V41 or inst is None or bound.row is None or not isinstance(node, tree.Instruction):
        return
    l1, l3 = inst.get("l1"), inst.get("l3")
    if not isinstance(l1, int) or not isinstance(l3, int) or (l1 == l3 == 0):
        return
    pair = f"{CACHE_TEXT.get(l1)}.{CACHE_TEXT.get(l3)}"
    what, legal = _pairs(bound.row)
    if inst.get("sfid") == SFID_UGML:
        what, legal = "a message to `.ugml`", ()
    if pair in legal:
        return
    controls = [w.span for w in node.words if w.text in CACHE]
    span = Span(controls[0].start, controls[-1].end) if controls else node.words[0].span
    takes = words(f"`.{p}`" for p in legal) if legal else "no cache controls"
    yield ctx.report(RULE, Place(bound.line, span), f"`.{pair}` is no pair of cache controls; {what} takes {takes}")


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: row.family == "lsc" and row.has_field("l1"))
