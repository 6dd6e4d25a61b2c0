"""The cache controls of a message cannot be combined, or their number is wrong.

A load takes `.uc.uc`, `.uc.ca`, `.ca.uc`, `.ca.ca`, `.st.uc`, `.st.ca` or `.ri.ca`; a store `.uc.uc`, `.uc.wb`,
`.wb.wb`, `.wt.uc`, `.wt.wb`, `.st.uc` or `.st.wb`; an atomic `.uc.uc` or `.uc.wb`; a message to images or to `.ugml`
none. `.df.df` means the same as no controls.

Text 4.2: from BMG on a load takes `.uc.cc`, `.ca.cc` and `.ri.ri` too, and messages to images and to `.ugml` take the
same controls as other messages. In a text of Efficient64b (CRI and later) there are three controls, for L1, L2 and L3;
in all others there are two. Two in Efficient64b are a warning: the compiler accepts them in inline assembly, where it
adds `.uc`, and refuses a file with them.

Why: the hardware has codes for these combinations only; the finalizer rejects the text without giving a reason.

Example:

    lsc_store.ugm.wb.uc (M1, 16) flat[V39]:a64 V33:d32

Instead:

    lsc_store.ugm.wb.wb (M1, 16) flat[V39]:a64 V33:d32

Authority: all pairs tried on the finalizer 1.0.12504 for DG2 and PVCXT; for text 4.2 all
pairs and triples tried on the finalizer of August 2026 for DG2, PVCXT, BMG, PTL, CRI and Nova Lake; what inline assembly takes,
on the compiler of 2026 for CRI and Nova Lake.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import words
from visa_lsp.isa.lsc_codes import CACHE, CACHE_PAIRS, CACHE_PAIRS_XE2, CACHE_TEXT, CACHE_TRIPLES, SFID_UGML
from visa_lsp.isa.model import Dialect, Instruction, Role, Shape, Trait
from visa_lsp.isa.platforms import since
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V620", "cache-control", ERROR, __doc__)
_HAVING: Final = since("DG2")
_XE2: Final = since("BMG")
_NUMBERS: Final = {2: "two (L1 and L3)", 3: "three (L1, L2 and L3)"}


def _pairs(row: Instruction) -> tuple[str, tuple[str, ...]]:
    """Return the kind of the message, and its legal pairs of cache controls."""
    if any(s.shape in (Shape.LSC_ADDRESS_TYPED, Shape.LSC_SURFACE) for s in row.slots):
        return "a message to images", ()
    reads = any(slot.role is Role.WRITE for slot in row.slots)
    what = "an atomic" if row.has(Trait.ATOMIC) else "a load" if reads else "a store"
    return what, CACHE_PAIRS[what]


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    inst, node = bound.inst, bound.statement
    if ctx.dialect is Dialect.V42 and bound.row is not None and isinstance(node, tree.Instruction):
        yield from _newest(ctx, bound, bound.row, node)
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
    yield ctx.report(
        RULE, Place(bound.line, span), f"`.{pair}` is not a valid pair of cache controls; {what} takes {takes}"
    )


def _newest(ctx: CheckContext, bound: Bound, row: Instruction, node: tree.Instruction) -> Iterator[Diagnostic]:
    """Check the controls of a message of text 4.2, whose dialect fixes their number."""
    controls = [word for word in node.words[1:] if word.text in CACHE]
    platform = ctx.platform
    if not controls:
        return
    place = Place(bound.line, Span(controls[0].span.start, controls[-1].span.end))
    text = ".".join(word.text for word in controls)
    if platform is None or platform.name not in _HAVING:
        if len(controls) == 1:
            yield ctx.report(RULE, place, f"`.{text}` is a single cache control; expected {words(_NUMBERS.values())}")
        return
    number = 3 if platform.efficient64b else 2
    if len(controls) != number:
        dialect = "a text of Efficient64b" if platform.efficient64b else f"a text for {platform.name}"
        message = f"{dialect} has {_NUMBERS[number]} cache controls, not {len(controls)}: `.{text}`"
        # The compiler refuses two controls in a file, but accepts them in inline assembly and prints three.
        is_completed = (number, len(controls)) == (3, 2)
        yield ctx.report(
            RULE,
            place,
            f"{message} (in inline assembly the compiler adds `.uc`)" if is_completed else message,
            severity=WARNING if is_completed else None,
        )
        return
    what = "an atomic" if row.has(Trait.ATOMIC) else "a store" if row.has(Trait.WRITES) else "a load"
    legal = (CACHE_TRIPLES if platform.efficient64b else CACHE_PAIRS_XE2)[what]
    if platform.name not in _XE2:
        of_image = any(slot.shape is Shape.LSC_ADDRESS_TYPED for slot in row.slots)
        of_ugml = any(word.text == "ugml" for word in node.words[1:])
        legal = () if of_image or of_ugml else CACHE_PAIRS[what]
        what = "a message to images" if of_image else "a message to `.ugml`" if of_ugml else what
    if text not in legal and set(text.split(".")) != {"df"}:
        takes = words(f"`.{p}`" for p in legal) if legal else "no cache controls"
        yield ctx.report(
            RULE,
            place,
            f"`.{text}` is not a valid combination of cache controls on {platform.name}; {what} takes {takes}",
        )


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: row.family == "lsc" and row.has_field("l1"))
