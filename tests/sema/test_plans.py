"""What is worked out once per row: it is what the row says, and binding does not change it."""

from __future__ import annotations

from each_case import each_of

from visa_lsp.isa.model import Shape
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.bind import bind
from visa_lsp.sema.plans import fill_slots, plan_of, wording_of
from visa_lsp.syntax.document import Document

HEAD = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
"""


@each_of(TABLE.rows, lambda row: str(row.key))
def test_slots_are_filled_in_order(row):
    required = [slot for slot in row.slots if not slot.optional and slot.shape not in (Shape.RAWS, Shape.VECTORS)]
    for count in range(len(row.slots) + 3):
        taken, missing = fill_slots(row, count)
        order = [row.slots.index(slot) for slot in taken]
        assert order == sorted(order)
        assert len(taken) <= count
        if missing:
            assert len(taken) == count
        else:
            assert set(map(id, required)) <= set(map(id, taken))


@each_of(TABLE.rows, lambda row: str(row.key))
def test_every_field_has_a_value_from_the_start(row):
    assert tuple(wording_of(row, ()).values) == plan_of(row).names == tuple(row.index)


def test_binding_changes_nothing_that_is_shared():
    lines = """    (P1) add.sat (M5, 8) V32(0,0)<1> V32(0,0)<1;1,0> 0x7:d
    add (M1, 16) V32(0,0)<1> V32(0,0)<1;1,0> 0x1:d
    mov (M1, 1) V32(0,0)<1> P1
    bfn.xd8 (M1, 16) V32(0,0)<1> V32(0,0)<1;1,0> V32(0,0)<1;1,0> V32(0,0)<1;1,0>
    jmp (M1, 16) away
    and (M1, 16) P1 P1 P1
    lsc_load.ugm (M1, 16) V32:d32 flat[V32]:a32
    add.nonsense (M1, 16) V32(0,0)<1>
away:
"""
    first, second = (bind(Document.parse(HEAD + text)) for text in (lines, lines + lines.replace("away", "back")))
    shorter = first.bodies[0].code
    again = second.bodies[0].code
    assert [b.inst for b in shorter] == [b.inst for b in again[: len(shorter)]]
    assert [b.inst and b.inst.values for b in shorter[:4]] == [
        b.inst and b.inst.values for b in again[len(shorter) : len(shorter) + 4]
    ]
