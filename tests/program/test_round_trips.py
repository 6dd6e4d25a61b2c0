"""Any program built from the table survives object -> model -> object, object -> text -> object and text -> object -> text."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import DECLARATIONS, ROWS, SKELETON, instructions, lsc_lines, module_of, modules

from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.packed import pack, unpack
from visa_lsp.program.text_form import module_text
from visa_lsp.sema.lower import resolve_text

PLATFORM = platform_named("TGLLP")
BUDGET = settings(
    deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def check(module) -> None:
    data = encode(module)
    assert decode(data) == module
    assert unpack(pack(module)) == module
    text = module_text(module, PLATFORM)
    result = resolve_text(text, "TGLLP")
    assert result.module is not None, (text.splitlines()[-1:], result.bound.problems)
    assert result.module == module, text
    assert encode(result.module) == data
    assert module_text(result.module, PLATFORM) == text


@settings(BUDGET, max_examples=30)
@given(modules())
def test_any_program_survives(module):
    check(module)


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r.mnemonic}-{r.opcode:02x}")
@settings(BUDGET, max_examples=2)
@given(data=st.data())
def test_every_row_survives(row, data):
    pool = list(SKELETON.strings[:-1])
    inst = data.draw(instructions(row, pool))
    check(module_of(pool, [*SKELETON.instructions, inst]))


@settings(BUDGET, max_examples=40)
@given(lsc_lines())
def test_load_store_lines_survive(line):
    result = resolve_text(DECLARATIONS.replace("    ret (M1, 1)", f"    {line}"), "TGLLP")
    assert result.module is not None, result.bound.problems
    check(result.module)
