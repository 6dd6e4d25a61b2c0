"""``forms.tsv`` on every platform: the verdict and the bytes of the finalizer, apart from the exceptions named here."""

from __future__ import annotations

from collections import Counter

import pytest
from corpus import HAS_MORE, Form, at_least, code_of_lines, forms, frame_form

from visa_lsp.app.assemble import assemble_text
from visa_lsp.codec.encode import encode
from visa_lsp.sema.lower import resolve_text

_XE_HP = ("XeHP_SDV", "DG2")

# (form begins with, platforms or None for all, why we differ on purpose).
BYTES = (
    (
        "sample4_po_c.A",
        _XE_HP,
        "on these two the tool writes the mask 8 where every other sample4 has the channel number 3",
    ),
)
VERDICTS = (
    (
        "lsc_read_state_info.tgm VU bti(0x4)[VU2]",
        None,
        "brackets are the form of text 4.2, which this tool cannot read; it is understood, with a warning",
    ),
    (
        "cmp.GT",
        None,
        "the upper-case relation is the seed's: understood, with a warning and a fix",
    ),
    (
        "sample.RGB (8) T6 S0",
        ("SKL", "TGLLP", "XeHP_SDV", "DG2"),
        "surface before sampler is the seed's order: understood, with a warning and a fix; the tool takes T6 for a sampler",
    ),
    ("sample.RGBA (16) T6 S0", None, "as above"),
    ("sample_unorm.RGBA.16-full T6 S0", None, "as above"),
)


def exception(table: tuple, form: Form) -> str | None:
    return next(
        (why for text, where, why in table if form.text.startswith(text) and (where is None or form.platform in where)),
        None,
    )


@pytest.mark.corpus
def test_the_bytes_of_every_accepted_form_are_those_of_the_finalizer():
    count: Counter[str] = Counter()
    wrong = []
    for form in forms():
        if not form.code or form.status not in (0, -11):  # a tool that crashes has written its object before
            continue
        text, lines = frame_form(form.text, form.root)
        result = resolve_text(text, form.platform)
        code = None
        if result.module is not None:
            code = code_of_lines(encode(result.module), result.module.bodies[0], lines)
        if exception(BYTES, form):
            count["exceptions"] += 1
            # An exception that no longer differs has to leave the table.
            assert code != form.code, form
        elif code == form.code:
            count["equal"] += 1
        else:
            wrong.append(
                (
                    form.platform,
                    form.text,
                    form.code.hex(),
                    code and code.hex(),
                    [p.kind for p in result.bound.problems],
                )
            )
    print(f"\nforms: {dict(count)}")
    assert not wrong
    assert count["equal"] >= at_least(450, 1000)


@pytest.mark.corpus
@pytest.mark.parametrize("accepted", [False, pytest.param(True, marks=pytest.mark.full)])
def test_the_verdict_on_every_form_is_that_of_the_finalizer(accepted: bool):
    count: Counter[str] = Counter()
    wrong = []
    for form in forms():
        if (form.status == 0) != accepted:
            continue
        if form.crashes:
            count["crashes of the tool"] += 1
            continue
        text, _ = frame_form(form.text, form.root)
        result = assemble_text(text, form.platform)
        agrees = (result.data is not None) == (form.status == 0)
        if exception(VERDICTS, form):
            count["exceptions"] += 1
        elif agrees:
            count["agree"] += 1
        else:
            findings = [f"{d.code} {d.message}" for d in result.diagnostics]
            wrong.append((form.platform, form.text, form.status, form.message, findings))
    print(f"\nforms: {dict(count)}")
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.corpus
@pytest.mark.skipif(not HAS_MORE, reason="the forms of the exceptions are of the corpus beside the repository")
@pytest.mark.parametrize("table", [BYTES, VERDICTS])
def test_every_exception_is_about_a_form_that_exists(table):
    for text, where, _ in table:
        assert any(f.text.startswith(text) and (where is None or f.platform in where) for f in forms()), text
