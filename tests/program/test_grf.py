"""Which size of a GRF row an object shows, and that its text assembles to its bytes again without a platform."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from visa_lsp.app.assemble import assemble_text
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.grf import grf_in_comment, grf_of
from visa_lsp.program.model import AddressOf, GenBinary
from visa_lsp.program.text_form import module_text
from visa_lsp.sema.lower import resolve_text

HEAD = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=ud num_elts=ROW align=GRF
.decl V33 v_type=G type=ud num_elts=ROW align=GRF alias=<%r0, 0>
.decl V34 v_type=G type=ud num_elts=64 align=GRF
.decl A0 v_type=A num_elts=8
"""
CODE = """    addr_add (M1, 1) A0(0)<1> &V34[64] 0x4:uw
    addr_add (M1, 1) A0(1)<1> &V34[36] 0x4:uw
    ret (M1, 1)
"""


def text_of(platform: str, *lines: str) -> str:
    row = platform_named(platform).grf_bytes // 4
    return HEAD.replace("ROW", str(row)) + "".join(f"{line}\n" for line in lines) + CODE


LONG_ROWS = {
    "an element behind byte 31": ["    mov (M1, 1) V32(0,0)<1> V34(0,8)<0;1,0>"],
    "an element of two bytes": [
        ".decl V35 v_type=G type=w num_elts=64 align=GRF",
        "    mov (M1, 1) V35(0,16)<1> V35(1,0)<0;1,0>",
    ],
    "local ids": [".kernel_attr SimdSize=16", ".kernel_attr PerThreadInputSize=192"],
    "where a dump's inputs begin": [".input V34 offset=64 size=256"],
}


@pytest.mark.parametrize("why", LONG_ROWS)
@pytest.mark.parametrize("comments", [True, False])
def test_rows_of_64_bytes_are_found(why, comments):
    data = assemble_text(text_of("PVC", *LONG_ROWS[why]), "PVC").data
    module = decode(data)
    assert grf_of(module).bytes == 64
    text = module_text(module, comments=comments)
    assert "&V34[64]" in text
    assert ("// GRF size: 64 bytes (" in text) is comments
    assert assemble_text(text).data == data
    assert encode(resolve_text(text).module) == data
    assert encode(resolve_text(text, "PVC").module) == data


@pytest.mark.parametrize(
    "lines",
    [[], [".kernel_attr SimdSize=16", ".kernel_attr PerThreadInputSize=96"], [".input V34 offset=32 size=256"]],
    ids=["nothing shown", "local ids", "inputs"],
)
def test_rows_of_32_bytes_are_the_default(lines):
    data = assemble_text(text_of("TGLLP", *lines), "TGLLP").data
    size = grf_of(decode(data))
    assert (size.bytes, size.certain) == (32, bool(lines))
    text = module_text(decode(data))
    assert f"// GRF size: 32 bytes ({size.reason})" in text
    assert ("assumed" in text) is (not lines)
    assert assemble_text(text).data == data


def test_what_only_an_object_shows_is_said_to_the_assembler():
    """An address may lie behind byte 31 of a row: the text has its bytes as one number."""
    module = decode(assemble_text(text_of("PVC").replace("&V34[36]", "&V34[40]"), "PVC").data)
    assert any(isinstance(v, AddressOf) and v.col * 4 >= 32 for i in module.kernels[0].instructions for v in i.values)
    data = encode(module)
    for comments in (True, False):
        text = module_text(decode(data), comments=comments)
        assert grf_in_comment(text) == 64
        assert assemble_text(text).data == data


def test_the_platform_of_a_gen_binary_counts():
    module = decode(assemble_text(text_of("PVC").replace("[36]", "[8]"), "PVC").data)
    binary = GenBinary(platform_named("PVCXT").number, b"native")
    fat = replace(module, kernels=(replace(module.kernels[0], gen_binaries=(binary,)),))
    text = module_text(fat)
    assert "// GRF size: 64 bytes (its Gen binary is for PVCXT)" in text
    assert assemble_text(text).data == encode(module)


@pytest.mark.parametrize("platform", ["TGLLP", "PVCXT"])
@pytest.mark.parametrize("why", [*LONG_ROWS, None])
def test_a_platform_that_is_named_counts_and_is_said(platform, why):
    data = assemble_text(text_of("TGLLP", *LONG_ROWS.get(why, [])), "TGLLP").data
    text = module_text(decode(data), platform_named(platform))
    assert f"// GRF size: {platform_named(platform).grf_bytes} bytes ({platform})" in text
    assert assemble_text(text).data == data
    assert assemble_text(text, platform).data == data


def test_only_a_text_with_addresses_says_a_size():
    source = text_of("PVC", *LONG_ROWS["an element behind byte 31"])
    for old in ("[64]", "[36]"):
        source = source.replace(old, "")
    data = assemble_text(source, "PVC").data
    assert "GRF size" not in module_text(decode(data))


def test_a_comment_inside_of_a_kernel_says_nothing():
    text = text_of("TGLLP")
    assert grf_in_comment(text.replace(CODE, "// GRF size: 64 bytes\n" + CODE)) is None
    assert grf_in_comment("  // GRF size: 64 bytes, as said\n" + text) == 64
