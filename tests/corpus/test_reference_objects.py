"""Texts of ``dev/``, all of them in the tier `full`, with their reference objects: same bytes, same text, same bytes again."""

from __future__ import annotations

import pytest
from corpus import at_least, code_lines, read, reference_texts
from tiers import first

from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.text_form import module_text
from visa_lsp.sema.lower import resolve_text


@pytest.mark.corpus
@pytest.mark.parametrize("every", first(1, [4, 1]))
def test_asm_equals_the_reference_and_dis_equals_the_text(every: int):
    texts = reference_texts()[::every]
    differ, wording, round_trip = [], [], []
    for path in texts:
        platform = path.parent.name
        text = read(path)
        reference = path.with_suffix(".isa").read_bytes()
        result = resolve_text(text, platform)
        if result.module is None or encode(result.module) != reference:
            differ.append(path.name)
        printed = module_text(decode(reference), platform_named(platform))
        if code_lines(printed) != code_lines(text):
            wording.append(path.name)
        again = resolve_text(printed, platform)
        if again.module is None or encode(again.module) != reference:
            round_trip.append(path.name)
    total = len(texts)
    print(
        f"\nasm == reference object: {total - len(differ)} of {total}; dis == text: {total - len(wording)} of {total};"
        f" asm(dis) == object: {total - len(round_trip)} of {total}"
    )
    assert not differ
    assert not wording
    assert not round_trip
    assert total >= at_least(80, 384) // every
