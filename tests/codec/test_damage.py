"""Damage that has a form but no text: refused with its place, or printed so that the text has the same bytes."""

from __future__ import annotations

import pytest
from codec_builders import read, small_kernel, write
from msgspec.structs import replace

from visa_lsp.app.assemble import assemble_text
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.isa.operands import SCALAR_REGION, OperandModifier, Region
from visa_lsp.isa.types import TF32, UB, ExecControl
from visa_lsp.program.model import (
    AddressOf,
    Attribute,
    General,
    Immediate,
    Input,
    Inst,
    LabelEntry,
    Module,
    PredicateOperand,
    RawOperand,
    State,
    StateVariable,
    Variable,
)
from visa_lsp.program.text_form import module_text
from visa_lsp.sema.lower import resolve_text

OLD = (3, 8)
HEAD = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=ud num_elts=32 align=GRF
.decl V33 v_type=G type=ud num_elts=32 align=GRF
.decl A0 v_type=A num_elts=8
.decl P1 v_type=P num_elts=16
.decl T6 v_type=T num_elts=1
"""


def module_of(line: str) -> Module:
    module = resolve_text(HEAD + line + "\n", "PVCXT").module
    assert module is not None
    return module


def inst(line: str) -> Inst:
    return module_of(line).kernels[0].instructions[-1]


def changed(one: Inst, **values: object) -> bytes:
    """Return the record of an instruction with other values in some fields."""
    return write(
        replace(one, values=tuple(values.get(f.name, v) for f, v in zip(one.row.fields, one.values, strict=True)))
    )


MOV = "    mov (M1, 16) V32(0,0)<1> V33(0,0)<1;1,0>"
LOAD = "    lsc_load.ugm (M1, 16) V32:d32 flat[V33]:a32"
STRIDED = "    lsc_load_strided.ugm (M1, 16) V32:d32 flat[V33,0x4]:a32"


@pytest.mark.parametrize(
    ("region", "said"),
    [
        (Region(1, None, 1), "region 0x0202 has a vertical stride and no width"),
        (Region(0, None, 0), "region 0x0101 has a vertical stride and no width"),
        (Region(1, 1, None), "region 0x0022 has no horizontal stride"),
        (Region(None, None, None), "region 0x0000 has no horizontal stride"),
    ],
)
def test_a_region_that_no_text_says(region: Region, said: str) -> None:
    with pytest.raises(CodecError, match=said):
        read(changed(inst(MOV), dst=General(32, 0, 0, region)))


@pytest.mark.parametrize(
    ("line", "values", "said"),
    [
        (MOV, {"src0": General(33, 0, 0, Region(1, 1, 0), OperandModifier.SAT)}, "cannot be saturated, but is"),
        (MOV, {"src0": PredicateOperand(1)}, r"\(M1, 16\) where there can only be \(M1_NM, 1\)"),
        ("L:\n    jmp (M1, 1) L", {"exec": ExecControl(16)}, r"\(M1, 16\) where there can only be \(M1, 1\)"),
        ("    nbarrier.wait 0x0:ud", {"count": General(33, 0, 0, SCALAR_REGION)}, "differs from the operand before it"),
        ("    lifetime.start V32", {"prop": 0x40}, "64 has bits without meaning"),
        ("    lifetime.start V32", {"prop": 0x30}, "48 has bits without meaning"),
        (LOAD, {"surface": Immediate(UB, 0)}, "a number of type ub, but the text can express ud only"),
        (LOAD, {"surface": General(33, 0, 0, Region(1, 1, 0))}, "no text can express it"),
        (LOAD, {"surface": PredicateOperand(1)}, "no text can express it"),
        (LOAD, {"surface": State(False, 6, 1)}, "no text can express it"),
        (LOAD, {"order": 3}, "order: code 3 has no meaning"),
        (LOAD, {"datasize": 0}, "datasize: code 0 has no meaning"),
        (LOAD, {"elems": 16}, "elems: code 16 has no meaning"),
        (LOAD, {"elems": 15, "chmask": 15, "order": 2}, "order: a mask cannot be transposed"),
        (LOAD, {"chmask": 2}, "2 contradicts the data shape, which has 1"),
        (LOAD, {"addrsize": 9}, "addrsize: code 9 has no meaning"),
        (STRIDED, {"unused": 1}, "unused: code 1 has no meaning"),
    ],
)
def test_a_value_that_no_text_says(line: str, values: dict[str, object], said: str) -> None:
    one = inst(line)
    assert read(write(one)) == (one,)
    with pytest.raises(CodecError, match=said):
        read(changed(one, **values))


def test_a_number_is_not_shown_as_the_word_of_another() -> None:
    """The word of size 4 is code 2: code 4 has none."""
    module = module_of("    gather.4 (M1, 16) T6 0x0:ud V32.0 V33.0")
    (kernel,) = module.kernels
    one = kernel.instructions[-1]
    assert "gather.4 " in module_text(module)
    odd = replace(
        one, values=tuple(4 if f.name == "eltsize" else v for f, v in zip(one.row.fields, one.values, strict=True))
    )
    text = module_text(replace(module, kernels=(replace(kernel, instructions=(odd,)),)))
    assert "gather.code4 " in text
    assert assemble_text(text).data is None


def test_a_null_register_with_an_offset_is_shown() -> None:
    module = module_of("    lsc_load_quad.tgm (M1, 16) V32:d32.x bti(T6)[V33]:a32")
    (kernel,) = module.kernels
    one = kernel.instructions[-1]
    values = tuple(RawOperand(0, 32) if f.name == "r" else v for f, v in zip(one.row.fields, one.values, strict=True))
    odd = replace(module, kernels=(replace(kernel, instructions=(replace(one, values=values),)),))
    assert "%null.32" in module_text(odd)


@pytest.mark.parametrize("label", [1, 0xFFFF])
def test_a_label_that_the_body_does_not_have(label: int) -> None:
    module = module_of("L0:\n    jmp (M1, 1) L0")
    (kernel,) = module.kernels
    jump = replace(kernel.instructions[1], values=(*kernel.instructions[1].values[:-1], label))
    data = encode(replace(module, kernels=(replace(kernel, instructions=(kernel.instructions[0], jump)),)))
    with pytest.raises(CodecError, match=rf"instructions\[1\]\.\w+: there is no label {label}; there are 1"):
        decode(data)
    assert decode(older(data)).kernels[0].instructions[1].values[-1] == label


def older(data: bytes) -> bytes:
    """Return the object as one of version 3.8, which has the same layout."""
    return data[:4] + bytes(OLD) + data[6:]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            {"variables": (Variable(99, UB, 0, 1),)},
            r"variables\[0\].name_index: there is no string 99; there are",
        ),
        ({"predicates": (StateVariable(99, 1),)}, r"predicates\[0\].name_index: there is no string 99"),
        ({"labels": (LabelEntry(99, 0),)}, r"labels\[0\].name_index: there is no string 99"),
        ({"variables": (Variable(1, UB, 0, 1, alias_scope=1),)}, r"variables\[0\].alias_scope: alias scope 1: only 0"),
        ({"inputs": (Input(4, 32, 32, 4),)}, r"inputs\[0\].kind: class 4 of an input is not 0 to 2"),
    ],
)
def test_a_declaration_that_no_text_says(parts: dict[str, object], said: str) -> None:
    data = encode(Module(kernels=(small_kernel(instructions=(), **parts),)))
    with pytest.raises(CodecError, match=said):
        decode(data)
    decode(older(data))


@pytest.mark.parametrize("name", ["a b", "Target\n.kernel_attr NumGRF=1\n//", "1", ".x", "\udc80"])
@pytest.mark.parametrize("version", [(4, 1), OLD])
def test_an_attribute_is_named_by_a_word(name: str, version: tuple[int, int]) -> None:
    """Any other name would be no text, or further lines of it."""
    kernel = small_kernel()
    odd = replace(kernel, strings=(*kernel.strings, name), attributes=(Attribute(len(kernel.strings), 0, b""),))
    data = encode(Module(kernels=(odd,)))
    with pytest.raises(CodecError, match=r"attributes\[0\].name_index: .* is not the name of an attribute"):
        decode(data[:4] + bytes(version) + data[6:])


@pytest.mark.parametrize("name", ["/////////", "a b", '"', "x\n.kernel y", ""])
def test_a_subroutine_may_have_any_name(name: str) -> None:
    quoted = '"' + name.replace('"', '\\"').replace("\n", "\\x0a") + '"'
    first = assemble_text(f'.version 4.1\n.kernel "k"\n.function {quoted}\n    ret (M1, 1)\n')
    assert first.data is not None
    second = assemble_text(module_text(decode(first.data)))
    assert second.data == first.data


@pytest.mark.parametrize(
    ("name", "data", "shown", "is_taken"),
    [
        ("Target", b"\1", '"3d"', True),
        ("Target", b"\0", '"cm"', True),
        ("Target", b"\5", '"\\x05"', False),
        ("Target", b"\5\0\0\0", "5", True),
        ("NoBarrier", b"\1\0\0\0", "1", True),
        ("NoBarrier", b"\5\0\0\0", "1", True),
        ("NoBarrier", b"a", "1", True),
    ],
)
def test_an_attribute_is_shown_as_what_it_is(name: str, data: bytes, shown: str, is_taken: bool) -> None:
    module = module_of("    ret (M1, 1)")
    (kernel,) = module.kernels
    attribute = Attribute(len(kernel.strings), len(data), data)
    odd = replace(kernel, strings=(*kernel.strings, name), attributes=(attribute,))
    text = module_text(replace(module, kernels=(odd,)))
    assert f".kernel_attr {name}={shown}\n" in text
    made = assemble_text(text).data
    assert (made is not None) == is_taken
    if made is not None:
        assert f".kernel_attr {name}={shown}\n" in module_text(decode(made))


def test_a_mask_of_any_message_comes_back() -> None:
    text = HEAD + LOAD.replace("V32:d32", "V32:d32.xyzw") + "\n"
    module = resolve_text(text, "PVCXT").module
    assert module is not None
    again = resolve_text(module_text(decode(encode(module))), "PVCXT").module
    assert again is not None
    assert encode(again) == encode(module)


@pytest.mark.parametrize(("col", "size"), [(7, 32), (8, 64), (15, 64), (16, 32), (255, 32)])
def test_an_address_behind_every_row_shows_no_size(col: int, size: int) -> None:
    module = module_of("    mov (M1, 1) A0(0)<1> &V33[32]")
    one = module.kernels[0].instructions[0]
    odd = decode(encode(module).replace(write(one), changed(one, src0=AddressOf(33, 0, col))))
    text = module_text(odd)
    assert f"// GRF size: {size} bytes" in text
    made = assemble_text(text).data
    assert made is not None
    assert module_text(decode(made)) == text


@pytest.mark.parametrize(
    ("line", "field", "value", "shown"),
    [
        (MOV, "src0", General(90, 0, 0, Region(1, 1, 0)), "V90_(0,0)"),
        (MOV, "src0", General(91, 0, 0, Region(1, 1, 0)), "V91(0,0)"),
        ("    lifetime.start P1", "var", 90, "P90_"),
        ("    lifetime.start P1", "var", 91, "P91"),
    ],
)
def test_what_is_absent_has_no_name_of_another(line: str, field: str, value: object, shown: str) -> None:
    head = HEAD + ".decl V90 v_type=G type=ud num_elts=32 align=GRF\n.decl P90 v_type=P num_elts=16\n"
    module = resolve_text(head + line + "\n", "PVCXT").module
    assert module is not None
    data = encode(module)
    one = module.kernels[0].instructions[0]
    odd = data.replace(write(one), changed(one, **{field: value}))
    text = module_text(decode(odd), comments=False)
    assert text.endswith(f" {shown}\n") or f" {shown}<" in text
    assert assemble_text(text).data is None


def test_a_label_that_nothing_names_changes_no_attribute() -> None:
    """The text cannot have it: so whether Target is said does not depend on it."""
    module = decode(encode(module_of("L0:\n    ret (M1, 1)")))
    (kernel,) = module.kernels
    text = module_text(replace(module, kernels=(replace(kernel, instructions=()),)))
    made = assemble_text(text).data
    assert made is not None
    assert module_text(decode(made)) == text


def test_an_alias_of_nothing_is_shown() -> None:
    module = module_of("    ret (M1, 1)")
    (kernel,) = module.kernels
    odd = replace(kernel, variables=(replace(kernel.variables[0], alias_offset=4), *kernel.variables[1:]))
    text = module_text(replace(module, kernels=(odd,)))
    assert "alias=<%null, 4>" in text
    assert assemble_text(text).data is None


def test_a_type_of_text_4_2_is_not_written() -> None:
    """No reader of objects knows its code."""
    with pytest.raises(CodecError, match=r"the type tf32 is of text 4\.2 and has no code in an object"):
        changed(inst(MOV), src0=Immediate(TF32, 0))
