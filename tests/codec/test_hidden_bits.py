"""Bits that compilers set in objects and that text 4.1 has no word for: a comment says them, and they come back."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from visa_lsp.app.assemble import assemble_text
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.program.text_form import module_text
from visa_lsp.sema.lower import program_of, resolve_text
from visa_lsp.syntax.document import Document

HEAD = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=uq num_elts=16 align=GRF
.decl V33 v_type=G type=ud num_elts=128 align=GRF
.decl T6 v_type=T num_elts=1
.decl S0 v_type=S num_elts=1
"""
RAW = "raw_sendsc.1.0.1 (M1, 8) 0x0:ud 0x0:ud V32.0 %null.0 V33.0"


@pytest.mark.parametrize(
    ("line", "values", "comment"),
    [
        ("svm_block_ld (4) V32(0,0)<0;1,0> V33.0", {"alignment": 1}, "n|=0x80"),
        ("svm_block_st (1) V32(0,0)<0;1,0> V33.0", {"alignment": 1}, "n|=0x80"),
        ("fence_sw", {"mask": 0xA1}, "mask|=0x21"),
        ("fence_sw", {"mask": 0xFF}, "mask|=0x7f"),
        ("oword_ld (4) T6 0x0:ud V33.0", {"mod_byte": 1}, "mod_byte|=0x1"),
        ("oword_ld_unaligned (4) T6 0x0:ud V33.0", {"mod_byte": 1}, "mod_byte|=0x1"),
        ("gather.4 (M1, 8) T6 0x0:ud V33.0 V33.0", {"mod_byte": 1}, "mod_byte|=0x1"),
        (RAW, {"ffid": 5}, "ffid|=0x5"),
        ("sample_lz.RGBA (M1, 8) 0x0:uw S0 T6 V33.0 V33.0", {"op": 0x719}, "op|=0x600"),
    ],
)
@pytest.mark.parametrize("comments", [True, False])
def test_text_and_object_say_the_same(line: str, values: dict[str, int], comment: str, comments: bool) -> None:
    made = resolve_text(HEAD + f"    {line}\n", "DG2")
    assert made.module is not None, made.bound.problems
    (kernel,) = made.module.kernels
    one = kernel.instructions[-1]
    if "op" in values:  # the row has its own number
        values = {"op": int(one.get("op")) | values["op"] & 0x600}
    new = tuple(values.get(field.name, value) for field, value in zip(one.row.fields, one.values, strict=True))
    data = encode(replace(made.module, kernels=(replace(kernel, instructions=(replace(one, values=new),)),)))
    assert data != encode(made.module)
    text = module_text(decode(data), comments=comments)
    assert text.count(f"// object bits: {comment}\n") == 1
    again = program_of(Document.parse(text))
    assert again is not None
    assert encode(again) == data
    assert assemble_text(text).data == data


def test_other_bits_in_the_comment_are_ignored() -> None:
    line = "    svm_block_ld (4) V32(0,0)<0;1,0> V33.0"
    plain = assemble_text(HEAD + line).data
    for comment in ("n|=0x40", "block|=0x80", "n=0x80", "n|=80"):
        assert assemble_text(f"{HEAD}{line} // object bits: {comment}").data == plain


@pytest.mark.parametrize(("word", "bit"), [("", 0x80), (".unaligned", 0x80), (".aligned", 0)])
def test_a_block_without_a_word_is_unaligned_in_text_4_2(word: str, bit: int) -> None:
    text = HEAD.replace("4.1", "4.2") + f"    svm_block_ld{word} (4) V32(0,0)<0;1,0> V33.0\n"
    data = assemble_text(text).data
    assert data is not None
    (inst,) = decode(data).kernels[0].instructions
    assert inst.get("alignment") == bool(bit)
    assert bytes((0x4E, 1, 2 | bit)) in data
