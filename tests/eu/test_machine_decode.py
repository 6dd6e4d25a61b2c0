"""Decoded instructions: operands, scoreboard words, the bytes that each touches."""

import json

import pytest
from machine_fixtures import CASES, read_case

from visa_lsp.eu.decode import DecodeError, decode
from visa_lsp.eu.model import Direct, Payload, Wait
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.toolchain.iga import find_iga
from visa_lsp.toolchain.process import ToolError


@pytest.fixture(scope="module")
def code():
    return read_case("saxpy.TGLLP")


def find(code, op):
    return next(inst for inst in code.instructions if inst.op == op)


def test_a_mad_has_three_sources_and_touches_their_registers(code):
    inst = find(code, "mad")
    assert (inst.lanes, inst.dst.type.name) == (16, "f")
    assert [isinstance(source, Direct) for source in inst.sources] == [True] * 3
    (start, end), *_ = inst.writes
    assert (inst.dst.start, 64) == (start, end - start)


def test_a_message_reads_its_address_and_data_and_has_a_token(code):
    stores = [inst for inst in code.instructions if inst.is_message and inst.sources[1].registers == 2]
    (store,) = stores
    address, data = store.sources[:2]
    assert isinstance(address, Payload)
    assert isinstance(data, Payload)
    assert (data.start, data.start + 64) in store.reads
    assert address.registers is None  # the descriptor in a0.0 has it
    assert store.wait.use == "set"


def test_scoreboard_words_are_read():
    code = read_case("bfnw.DG2")
    waits = {str(inst.wait) for inst in code.instructions}
    assert {"A@1,$0", "$1.dst", "$3.src"} <= waits
    assert Wait((("A", 1),)) == code.instructions[0].wait


def test_positions_count_compacted_instructions_as_eight_bytes(code):
    steps = {b.pc - a.pc for a, b in zip(code.instructions, code.instructions[1:], strict=False)}
    assert {8, 16} == steps


def test_n_is_a_complement_in_logic_and_a_negation_elsewhere():
    source = {"kind": "RD", "reg": {"rn": "r", "r": 4}, "rgn": {"v": 1, "w": 1, "h": 0}, "type": "d", "mods": "n"}
    dst = {"kind": "RD", "reg": {"rn": "r", "r": 2}, "rgn": {"h": 1}, "type": "d"}
    elements = [
        {"kind": "I", "id": n, "op": op, "es": 8, "dst": dst, "srcs": [source, source]}
        for n, op in enumerate(("add", "and"))
    ]
    first, second = decode("k", elements, (), 32).instructions
    assert [first.sources[0].modifier, second.sources[0].modifier] == [OperandModifier.NEG, OperandModifier.NOT]


def test_dpas_touches_the_rows_of_its_matrices():
    operands = [
        {"kind": "RD", "reg": {"rn": "r", "r": r}, "type": t} for r, t in ((35, "f"), (35, "f"), (25, "bf"), (16, "s4"))
    ]
    (inst,) = decode(
        "k",
        [{"kind": "I", "op": "dpas", "subop": "8x4", "es": 16, "dst": operands[0], "srcs": operands[1:]}],
        (),
        64,
    ).instructions
    assert inst.subop == "8x4.bf.s4"
    assert inst.writes == ((35 * 64, 39 * 64),)
    assert inst.reads == ((35 * 64, 39 * 64), (25 * 64, 33 * 64), (16 * 64, 18 * 64))


@pytest.mark.parametrize("broken", [{"op": None}, {"dst": {"kind": "RD"}}, {"srcs": [{"kind": "LB", "target": "L9"}]}])
def test_elements_of_another_form_are_refused(broken):
    elements = json.loads((CASES / "saxpy.TGLLP.json").read_text(encoding="utf-8"))["elements"]
    bad = {key: value for key, value in {**elements[1], **broken}.items() if value is not None}
    with pytest.raises(DecodeError, match="unexpected JSON"):
        decode("k", [bad], (), 32)


def test_a_missing_assembler_is_named_with_advice():
    with pytest.raises(ToolError, match="libigc2-tools"):
        find_iga("no-such-iga64")
