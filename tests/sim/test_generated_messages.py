"""Every row that moves memory: cases made from its slots, modifiers and shapes, against ``tests/support/model``."""

from __future__ import annotations

import pytest
from tiers import one_of_each

from tests.sim.generator import message_cases, sampler_cases
from tests.sim.generator.counts import prove
from tests.sim.test_generated_lanes import SOME
from tests.support.builders import Builder, final, imm
from tests.support.model import lsc, messages, sampler, typed
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Effect
from visa_lsp.isa.table import TABLE
from visa_lsp.program.model import RawOperand
from visa_lsp.sim.faults import KernelFault

FAMILIES = {"data port": messages.EFFECTS, "load/store controller": lsc.EFFECTS, "images": typed.EFFECTS}
ROWS = [
    pytest.param(family, row, id=f"{family}-{row.mnemonic}")
    for family, effects in FAMILIES.items()
    for row in TABLE.rows
    if isinstance(row.meaning, Effect) and row.meaning.name in effects
]
SAMPLER = [r for r in TABLE.rows if isinstance(r.meaning, Effect) and r.meaning.name in sampler.EFFECTS]


@SOME
@pytest.mark.parametrize(("family", "row"), ROWS)
def test_message_row(family, row, some):
    prove(family, row, message_cases.benches(row, some))


@SOME
@pytest.mark.parametrize("row", one_of_each(SAMPLER, lambda r: r.mnemonic), ids=lambda r: r.mnemonic)
def test_sampler_row(row, some):
    prove("sampler", row, sampler_cases.benches(row, some))


@pytest.mark.parametrize("name", ["gather_scaled", "scatter_scaled"])
def test_eight_bytes_do_not_fit_the_dword_of_a_lane(name):
    b = Builder()
    field = "dst" if name.startswith("gather") else "src"
    b.op(
        name,
        n=3,
        surface=0,
        goff=imm(0, ty.UD),
        off=RawOperand(b.var(ty.UD), 0),
        **{field: RawOperand(b.var(ty.UD, 64), 0)},
    )
    b.ret()
    with pytest.raises(KernelFault, match="1, 2 or 4 bytes"):
        final(b, slm=64)
