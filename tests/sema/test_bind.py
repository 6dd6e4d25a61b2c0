"""Binding and lowering: numbering, scopes, directives, attributes, constant expressions, what has no meaning."""

from __future__ import annotations

import pytest

from visa_lsp.program.model import General, Immediate
from visa_lsp.sema.lower import resolve_text

HEAD = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=16 align=GRF
.decl V33 v_type=G type=ud num_elts=3 align=GRF
.decl P1 v_type=P num_elts=16
.decl T6 v_type=T num_elts=1
"""


def kernel(lines: str, platform: str = "TGLLP"):
    result = resolve_text(HEAD + lines, platform)
    assert result.module is not None, result.bound.problems
    return result.module.kernels[0]


def kinds(lines: str) -> list[str]:
    return [p.kind for p in resolve_text(HEAD + lines, "TGLLP").bound.problems]


EXPRESSIONS = (
    ("1+2*3", 7),
    ("(1+2)*3", 9),
    ("7/2", 3),
    ("-7/2", -3),
    ("-7%3", -1),
    ("1<<4", 16),
    ("-16>>2", -4),
    ("-1>>>60", 15),
    ("6&3|8", 2),  # `&` binds weaker than `|`
    ("5^1|2", 6),
    ("1 ? 2 : 3", 2),
    ("0 ? 2 : 1 ? 4 : 5", 4),
    ("1==1", 1),
    ("3!=3", 0),
    ("2<=1", 0),
    ("!5", 0),
    ("~0", -1),
    ("%sizeof(GRF)", 32),
    ("%sizeof V33", 12),
    ("%sizeof(uq)", 8),
    ("0x7fffffffffffffff+1", -(1 << 63)),
    ("6 ^ 3 | 8", 13),
    ("010", 10),
    ("1 << 65", 2),
)


@pytest.mark.parametrize(("text", "value"), EXPRESSIONS)
def test_constant_expressions_have_the_finalizers_values(text: str, value: int):
    inst = kernel(f"    mov (M1, 1) V32(0,0)<1> ({text}):d\n").instructions[0]
    assert inst.get("src0") == Immediate(inst.get("src0").type, value & 0xFFFFFFFF)


def test_the_register_size_is_the_platforms():
    inst = kernel("    mov (M1, 1) V32(0,0)<1> (%sizeof(GRF)):d\n", "PVCXT").instructions[0]
    assert inst.get("src0").bits == 64


@pytest.mark.parametrize("text", ["1/0", "%sizeof(nothing)", "1%0"])
def test_an_expression_without_a_value_is_a_problem(text: str):
    assert kinds(f"    mov (M1, 1) V32(0,0)<1> ({text}):d\n") == ["bad-expression"]


def test_labels_are_numbered_by_first_mention_and_strings_by_the_text():
    found = kernel(
        "    goto (M1, 1) later\nfirst:\n    faddr foo V33(0,0)<1>\n    faddr foo V33(0,0)<1>\nlater:\n    ret (M1, 1)\n"
    )
    assert [found.string(label.name_index) for label in found.labels] == ["later", "first"]
    assert found.strings[-6:] == ("T6", "later", "first", "foo", "foo", "Target")


def test_a_scope_may_shadow_and_ends_with_its_brace():
    text = "{\n.decl V32 v_type=G type=f num_elts=8\n    mov (M1, 1) V32(0,0)<1> 0x0:f\n}\n    mov (M1, 1) V32(0,0)<1> 0x0:d\n"
    inner, outer = kernel(text).instructions
    assert isinstance(inner.get("dst"), General)
    assert (inner.get("dst").var, outer.get("dst").var) == (34, 32)
    assert kinds("{\n.decl X v_type=G type=d num_elts=8\n}\n    mov (M1, 1) X(0,0)<1> 0x0:d\n") == ["undeclared-name"]


def test_inputs_with_and_without_their_numbers():
    found = kernel(
        ".input V32 offset=(32+32) size=64\n.parameter V33 size=12\n.implicit_UNDEFINED_4 V33 offset=96 size=12\n.implicit_UNDEFINED_4 V33 offset=96\n"
    )
    assert [(i.kind, i.id, i.offset, i.size) for i in found.inputs] == [
        (0, 32, 64, 64),
        (0, 33, 0, 12),
        (0x20, 33, 96, 12),
        (0, 33, 96, 12),  # GenX_IR 1.0.12504.6 writes no origin where the size is missing
    ]
    assert kernel(".implicit_LOCAL_SIZE V33 offset=32 size=12\n").inputs[0].kind == 0x28
    assert kernel(".input T6 offset=32 size=4\n").inputs[0].kind == 2
    assert kinds(".input P1 offset=32 size=4\n") == ["bad-input"]


ATTRIBUTES = (
    ('.kernel_attr Target="cm"', "Target", 1, b"\x00"),
    ('.kernel_attr Target="3d"', "Target", 1, b"\x01"),
    (".kernel_attr SimdSize=16", "SimdSize", 4, b"\x10\0\0\0"),
    (".kernel_attr ArgSize=-1", "ArgSize", 4, b"\xff\xff\xff\xff"),
    (".kernel_attr NoBarrier", "NoBarrier", 0, b""),
    (".kernel_attr NoBarrier=", "NoBarrier", 0, b""),
    (".kernel_attr OutputAsmPath=1", "OutputAsmPath", 4, b"\x01\0\0\0"),
    (".kernel_attr Entry", "Entry", 0, b""),
    (".kernel_attr Entry=7", "Entry", 4, b"\x01\0\0\0"),
    ('.kernel_attr Entry="ab"', "Entry", 2, b"\x01\0"),
    ('.kernel_attr SimdSize="ab"', "SimdSize", 2, b"ab"),
    (".kernel_attr Unknown=3", "Unknown", 4, bytes(4)),
    ('.kernel_attr Unknown="abc"', "Unknown", 3, bytes(3)),
    ('.kernel_attr Entry="a b"', "Entry", 3, b""),
    ('.kernel_attr AsmName="x.asm"', "OutputAsmPath", 5, b"x.asm"),
)  # fmt: skip


@pytest.mark.parametrize(("line", "name", "size", "data"), ATTRIBUTES)
def test_kernel_attributes_are_stored_as_the_tool_stores_them(line: str, name: str, size: int, data: bytes):
    found = kernel(line + "\n")
    attribute = found.attribute(name)
    assert (attribute.size, attribute.data) == (size, data)
    assert (found.string(found.attributes[-1].name_index) == "Target") is True


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("    frob (M1, 1)", "unknown-mnemonic"),
        ("    add.foo (M1, 1) V32(0,0)<1> V32(0,0)<0;1,0> 0x1:d", "unknown-modifier"),
        ("    dword_atomic (M1, 8) T6 V33.0 V33.0 %null.0 %null.0", "missing-modifier"),
        ("    add (M1, 1) V32(0,0)<1> V32(0,0)<0;1,0>", "operand-count"),
        ("    add (M1, 1) V32(0,0)<1> V32(0,0)<0;1,0> T6", "operand-class"),
        ("    add (M1, 3) V32(0,0)<1> V32(0,0)<0;1,0> 0x1:d", "exec-size"),
        ("    add V32(0,0)<1> V32(0,0)<0;1,0> 0x1:d", "missing-exec"),
        ("    barrier (M1, 1)", "unexpected-exec"),
        ("    (P1) barrier", "not-predicable"),
        ("    (V32) mov (M1, 1) V32(0,0)<1> 0x1:d", "bad-predicate"),
        ("    mov (M9, 1) V32(0,0)<1> 0x1:d", "unknown-mask"),
        ("    mov (M1, 1) V32(0,0)<3> 0x1:d", "region-value"),
        ("    mov (M1, 1) V32(0,0)<1;1,0> 0x1:d", "region-form"),
        ("    mov (M1, 1) V32(0,0)<1> V32(0,0)<;1,0>", "region-form"),
        ("    mov (M1, 1) V32(0,0)<1> V32<0;1,0>", "missing-origin"),
        ("    mov (M1, 1) V32(0,0)<1> V32(0,0)", "missing-region"),
        ("    mov (M1, 1) V32(0,0)<1> 0x1:x", "unknown-type"),
        ("    mov (M1, 1) V32(0,0)<1> 1.5:d", "immediate-form"),
        ("    rt_write_3d (M1, 8) T6 V32.0 V32.0", "operand-count"),
        ("    oword_ld (4) T6[1] 0x0:ud V32.0", "operand-class"),
        ("    raw_sendg.ugm (M1, 16) V32.0 128 V32.0/1 V32.0/1 0x0:ud 0x0:ud 0x1", "operand-class"),
        ("    lsc_load.ugm (M1, 1) V32:d32 bti(0x4)", "address-items"),
        ("    lsc_load.ugm (M1, 1) V32:d32 flat[V33+(1,2)]:a32", "address-items"),
        ("    mov (M1, 1) V32(0,0)<1> 0x1:d {Foo}", "syntax"),
        ("    goto (M1, 1) nowhere", "missing-label"),
        ('    fcall (M1, 1) "a b" 1 1', "quoted-name"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_a_name(line: str, kind: str):
    assert kind in kinds(line + "\n")
    assert resolve_text(HEAD + line + "\n").module is None


def test_a_render_target_message_takes_what_its_flags_ask_for():
    found = kernel("    rt_write_3d.<A><RTI> (M1, 8) T6 %null.0 0x1:uw V32.0 V32.0 V32.0 V32.0 V32.0\n").instructions[0]
    assert len(found.get("operands")) == 7
    assert kinds("    rt_write_3d.<A><RTI> (M1, 8) T6 %null.0 V32.0 V32.0 V32.0 V32.0 V32.0 V32.0\n") == [
        "operand-class"
    ]
