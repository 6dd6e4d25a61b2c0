"""Bits that no instruction converts: of ``bfrev`` between float and integer types, and of floats that ``sel`` copies."""

from __future__ import annotations

import numpy as np
import pytest

import visa_lsp
from visa_lsp.codec.encode import encode
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sema.lower import program_of
from visa_lsp.syntax.document import Document

TEXT = """.version 4.1
.kernel "k"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl x v_type=G type=SRC num_elts=16 align=GRF
.decl y v_type=G type=DST num_elts=16 align=GRF
.decl a v_type=T num_elts=1
.decl out v_type=T num_elts=1
.input local_id_x offset=32 size=32
.input a offset=64 size=4
.input out offset=68 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    mov (M1, 16) at(0,0)<1> local_id_x(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
    gather4_scaled.R (M1, 16) a 0x0:ud at.0 x.0
    bfrev (M1, 16) y(0,0)<1> x(0,0)<1;1,0>
    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 y.0
    ret (M1, 1)
"""
BITS = [0, 1, 0x3F800000, 0x7FC00001, 0x80000000, 0xFFFFFFFF, 0x7F800001, 12345678, *range(8)]


@pytest.mark.parametrize(
    ("source", "target"), [("f", "ud"), ("ud", "f"), ("f", "f"), ("f", "d"), ("d", "f"), ("d", "ud")]
)
def test_bits_are_reversed_and_not_converted(source, target):
    text = TEXT.replace("SRC", source).replace("DST", target)
    # Only an object may have the float types: a text with them is refused.
    data = encode(program_of(Document.parse(text), platform_named("TGLLP")))
    out = np.zeros(16, np.uint32)
    result = (
        visa_lsp.load(data)
        .kernels["k"]
        .launch(groups=1, local_size=16, args={"a": np.array(BITS, np.uint32), "out": out})
    )
    assert result.ok, result
    np.testing.assert_array_equal(out, [int(f"{bits:032b}"[::-1], 2) for bits in BITS])


@pytest.mark.parametrize("engine", ["interp", "jit"])
def test_sel_copies_a_float_without_modifier_whatever_the_other_source_is(engine):
    text = (
        TEXT.replace("SRC", "f")
        .replace("DST", "f")
        .replace(".kernel_attr Target", ".decl P1 v_type=P num_elts=16\n.kernel_attr Target")
    )
    steps = """    mov (M1, 16) y(0,0)<1> x(0,0)<1;1,0>
    cmp.lt (M1, 16) P1 x(0,0)<1;1,0> 0x0:f
    (P1) sel (M1, 16) y(0,0)<1> (abs)x(0,0)<1;1,0> y(0,0)<1;1,0>
"""
    text = text.replace("    bfrev (M1, 16) y(0,0)<1> x(0,0)<1;1,0>\n", steps)
    smallest, negative = 0x00000001, 0xBF800000
    out = np.zeros(16, np.uint32)
    bits = np.array([smallest, negative] * 8, np.uint32)
    kernel = visa_lsp.load(text.encode(), platform="TGLLP").kernels["k"]
    result = kernel.launch(groups=1, local_size=16, args={"a": bits, "out": out}, engine=engine)
    assert result.ok, result
    # The modes flush denormals: a value that is computed is 0, one that is copied stays.
    np.testing.assert_array_equal(out, [smallest, negative & 0x7FFFFFFF] * 8)
