"""Messages that are recorded instead of carried out: their payload, what they leave, and when nothing is sent.

Rows that are carried out have generated cases (``test_generated_lanes``, ``_messages``, ``_flow``).
"""

from __future__ import annotations

import numpy as np
from each_case import check_each

from tests.support.builders import Builder, final, imm
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Unmodelled
from visa_lsp.isa.model import FieldKind, Role
from visa_lsp.isa.operands import Region
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import General, Inst, RawOperand, State

ROOM = 256  # dwords of every variable: more than any message moves


def ran(b, initial=None, lanes=0xFFFF):
    """Run one thread and return its registers, and the messages that it has sent."""
    b.ret()
    read = final(b, initial, lanes=lanes)
    result = read.machine.finish()
    assert result.faults == ()
    return read, result.sent


def bind(b, index):
    """Point a new surface variable at a binding table index."""
    s = b.surface()
    b.op("movs", "M1_NM,1", dst=State(False, s, 0), src0=imm(index, ty.UD))
    return s


def made(row):
    """Return a kernel around an instruction of a row: every operand is a variable of its own, or a surface."""
    b = Builder(platform=max(row.platforms, key=lambda n: n in ("TGLLP", "PVCXT", "BMG")))
    surface = bind(b, 0)

    def value(field):
        match field.kind:
            case FieldKind.EXEC:
                return ExecControl(min(row.exec_sizes, key=lambda size: abs(size - 16)))
            case FieldKind.PREDICATE:
                return None
            case FieldKind.VECTOR:
                slot = next((s for s in row.slots if field.name in s.name.split(",")), None)
                writes = slot is not None and slot.role is Role.WRITE
                return General(b.var(ty.UD, ROOM), 0, 0, Region(None, None, 1) if writes else Region(1, 1, 0))
            case FieldKind.RAW:
                return RawOperand(b.var(ty.UD, ROOM), 0)
            case FieldKind.SURFACE:
                return surface
            case FieldKind.VECTORS:
                return (RawOperand(b.var(ty.UD, ROOM), 0), b.src(b.var(ty.UD, ROOM)))
        return field.const or 0

    b.instructions.append(Inst(row, tuple(map(value, row.fields)), len(b.instructions)))
    return b


def test_every_row_without_a_model_is_recorded():
    def check(row):
        _, sent = ran(made(row))
        assert [(one.mnemonic, one.reason) for one in sent] == [(row.mnemonic, row.meaning.reason)]

    check_each((row for row in TABLE.rows if isinstance(row.meaning, Unmodelled)), check, lambda row: str(row.key))


def test_a_recorded_message_has_its_place_and_the_reason():
    b = Builder()
    b.op("avs", "M1,16")
    _, (sent,) = ran(b)
    assert (sent.mnemonic, sent.kernel, sent.instruction, sent.line, sent.count) == ("avs", "k", 0, 0, 1)
    assert sent.reason == "the adaptive video scaler's filters are not documented"


def test_a_recorded_message_has_its_payload_and_clears_its_destination():
    b = Builder()
    uni, out, surface = b.var(ty.UB, 96), b.var(ty.UB, 32), bind(b, 7)
    for _ in range(2):
        b.op(
            "vme_sic",
            "M1_NM,1",
            uni=RawOperand(uni, 0),
            sic=RawOperand(uni, 32),
            surface=surface,
            out=RawOperand(out, 0),
        )
    read, (first, second) = ran(b, {uni: np.arange(96, dtype=np.uint8), out: np.full(32, 9, np.uint8)})
    assert read(out).tolist() == [0] * 32
    assert (first.mnemonic, first.reason, first.count) == ("vme_sic", "the motion estimation unit is not modelled", 1)
    assert dict(first.payload) == {
        "uni": bytes(range(96)), "sic": bytes(range(32, 96)), "surface": (7).to_bytes(4, "little")
    }  # fmt: skip
    assert second.instruction == first.instruction + 1


def test_a_message_that_ends_the_thread_does_so():
    b = Builder()
    data, out = b.var(ty.UD, 8), b.var(ty.UD, 8)
    b.op("raw_sends_eot", "M1_NM,8", nsrc0=1, src0=RawOperand(data, 0), desc=imm(3, ty.UD), exdesc=imm(0x27, ty.UD))
    b.op("mov", "M1_NM,8", dst=b.dst(out), src0=imm(1, ty.UD))
    read, (sent,) = ran(b, {data: np.arange(8, dtype=np.uint32)})
    payload = dict(sent.payload)
    assert payload["src0"] == np.arange(8, dtype=np.uint32).tobytes()
    assert payload["desc"][:4] == (3).to_bytes(4, "little")
    assert read(out).tolist() == [0] * 8


def test_without_an_active_lane_nothing_is_sent():
    b = Builder()
    b.op("rt_write_3d", "M5,16", surface=bind(b, 0), operands=(RawOperand(b.var(ty.F, 64), 0),))
    assert ran(b, lanes=0xFF)[1] == ()
