"""The commands ``asm`` and ``dis``: files, standard streams, exit status, the summary of a fat object."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from visa_lsp.cli.main import main
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.program.model import GenBinary
from visa_lsp.sema.lower import resolve_text

TEXT = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=16 align=GRF
.decl T6 v_type=T num_elts=1
.input V32 offset=64 size=64
.kernel_attr SimdSize=16
.kernel_attr Target="3d"
    add (M1, 16) V32(0,0)<1> V32(0,0)<1;1,0> 0x7:d
    ret (M1, 1)
"""
pytestmark = pytest.mark.usefixtures("here")
BROKEN = TEXT.replace("0x7:d", "V99(0,0)<1;1,0>")


def test_asm_writes_the_object_beside_the_text_and_dis_prints_it(run, tmp_path):
    (tmp_path / "k.visaasm").write_text(TEXT)
    assert run("asm", "k.visaasm", "--platform", "TGLLP")[0] == 0
    data = (tmp_path / "k.isa").read_bytes()
    assert data == encode(resolve_text(TEXT, "TGLLP").module)
    status, out, err = run("dis", "k.isa")
    assert (status, err) == (0, "")
    assert "    add (M1, 16) V32(0,0)<1> V32(0,0)<1;1,0> 0x7:d" in out
    assert "/// VISA Predefined Variables" in out
    assert run("dis", "k.isa", "-o", "again.visaasm", "--no-comments")[0] == 0
    assert b"//" not in (tmp_path / "again.visaasm").read_bytes()
    assert run("asm", "again.visaasm", "-o", "again.isa")[0] == 0
    assert (tmp_path / "again.isa").read_bytes() == data


def test_asm_with_an_error_writes_nothing_and_says_where(refused, tmp_path):
    (tmp_path / "b.visaasm").write_text(BROKEN)
    err = refused("asm", "b.visaasm", status=1)
    assert "b.visaasm:8:" in err
    assert "error V101 undeclared-name" in err
    assert not (tmp_path / "b.isa").exists()


def test_asm_heeds_suppression_comments_but_makes_no_object_of_a_suppressed_error(refused, run, tmp_path):
    (tmp_path / "b.visaasm").write_text(BROKEN.replace("<1;1,0>\n", "<1;1,0> // visa: ignore[V101]\n"))
    err = refused("asm", "b.visaasm", status=1)
    [error] = [line for line in err.splitlines() if " error " in line]
    assert error.startswith("b.visaasm:8:")
    assert "(suppressed " in error
    assert not (tmp_path / "b.isa").exists()
    (tmp_path / "w.visaasm").write_text(TEXT.replace("0x7:d", "0x7:d // visa: ignore[V127]"))
    assert run("asm", "w.visaasm") == (0, "", "")
    (tmp_path / "u.visaasm").write_text(TEXT.replace("    ret (M1, 1)", "    ret (M1, 1) // visa: ignore"))
    assert "warning V009 useless-suppression" in run("asm", "u.visaasm")[2]


def test_asm_of_a_form_without_object_names_the_line(refused, tmp_path):
    text = (
        TEXT.replace(".version 4.1", ".version 4.2")
        .replace("type=d", "type=f")
        .replace("add", "tanh")
        .replace(" 0x7:d", "")
    )
    (tmp_path / "t.visaasm").write_text(text)
    err = refused("asm", "t.visaasm", status=1)
    assert "t.visaasm:8:" in err
    assert "no-object-form" in err


def test_asm_names_the_part_of_a_line_that_no_object_can_hold(refused, tmp_path):
    text = TEXT.replace(".version 4.1", ".version 4.2").replace(
        "    ret", "    ifcall.uniform (M1, 16) V32(0,0)<0;1,0> 0 4\n    ret"
    )
    (tmp_path / "t.visaasm").write_text(text)
    err = refused("asm", "t.visaasm", status=1)
    assert "cannot hold this line: `uniform`: it is 1; an object can hold only 0" in err


def test_several_texts_at_once(run, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.visaasm").write_text(TEXT)
    assert run("asm", "a.visaasm", "b.visaasm")[0] == 0
    assert (tmp_path / "a.isa").read_bytes() == (tmp_path / "b.isa").read_bytes()
    assert run("asm", "a.visaasm", "b.visaasm", "-o", "c.isa")[0] == 2


def test_the_summary_lists_what_is_in_a_fat_object(printed, tmp_path):
    module = resolve_text(TEXT, "TGLLP").module
    fat = replace(module, kernels=(replace(module.kernels[0], gen_binaries=(GenBinary(12, b"\x01" * 96),)),))
    (tmp_path / "fat.isa").write_bytes(encode(fat))
    assert decode(encode(fat)).kernels[0].gen_binaries[0].data == b"\x01" * 96
    out = printed("dis", "--summary", "fat.isa")
    for part in ("kernel k:", "1 variables", "1 surfaces", "attribute SimdSize = 16", "input V32: general, offset 64, 64 bytes",
                 "Gen binary for TGLLP: 96 bytes"):  # fmt: skip
        assert part in out


def test_several_bodies_of_one_text_share_an_object(printed, run, tmp_path):
    text = TEXT + '.global_function "f g"\n.decl V32 v_type=G type=f num_elts=8 align=GRF\n    fret (M1, 1)\n'
    (tmp_path / "two.visaasm").write_text(text)
    assert run("asm", "two.visaasm")[0] == 0
    module = decode((tmp_path / "two.isa").read_bytes())
    assert [k.name for k in module.bodies] == ["k", "f g"]
    out = printed("dis", "two.isa")
    assert '.global_function "f g"' in out


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("lsc_load_quad.ugml.wt.wb (M8, 2) %null:d32.xy ss(V)[2*V+8]:a32", "V620"),
        ("svm_block_ld.aligned (4) Q(0,0)<0;1,0> V.0", ""),
        ("svm_block_ld (4) Q(0,0)<0;1,0> V.0", ""),
    ],
)
def test_asm_says_what_the_object_s_own_text_cannot_repeat(line, code, tmp_path, capsys):
    path = tmp_path / "k.visaasm"
    declared = ".decl V v_type=G type=ud num_elts=128 align=32word\n.decl Q v_type=G type=uq num_elts=1\n"
    path.write_text(f'.version 4.2\n.kernel "k"\n{declared}    {line}\n    ret (M1, 1)\n')
    assert main(["asm", str(path)]) == 0
    said = [text for text in capsys.readouterr().err.splitlines() if "V290" in text]
    assert len(said) == bool(code)
    if code:
        assert said[0].startswith(
            f"{path}:5:5: warning V290 no-object-form: the text of the object (version 4.1) has an error here ({code})"
        )
    assert main(["dis", str(path.with_suffix(".isa")), "-o", str(path)]) == 0
    assert main(["asm", str(path)]) == bool(code)


def test_json_tells_each_input_and_what_came_of_it(printed, run, tmp_path):
    (tmp_path / "k.visaasm").write_text(TEXT)
    (tmp_path / "broken.visaasm").write_text(BROKEN)
    status, out, _ = run("asm", "k.visaasm", "broken.visaasm", "missing.visaasm", "--format", "json")
    good, broken, missing = json.loads(out)
    assert (status, good["input"], good["output"]) == (2, "k.visaasm", "k.isa")
    assert [found["code"] for found in good["findings"]] == ["V127"]
    assert (broken["output"], [found["code"] for found in broken["findings"]]) == (None, ["V127", "V101"])
    assert missing["error"].startswith("missing.visaasm: ")
    out = printed("dis", "k.isa", "missing.isa", "--format", "json", status=2)
    assert [set(one) for one in json.loads(out)] == [{"input", "text"}, {"input", "error"}]
    assert json.loads(out)[0]["text"] == run("dis", "k.isa")[1]
    assert json.loads(run("dis", "k.isa", "-o", "o.visaasm", "--format", "json")[1]) == [
        {"input": "k.isa", "output": "o.visaasm"}
    ]


def test_explain_has_a_page_for_each_word_as_json(run):
    status, out, _ = run("explain", "mad", "data-race", "--format", "json")
    assert (status, [one["word"] for one in json.loads(out)]) == (0, ["mad", "data-race"])
    assert json.loads(out)[0]["text"].startswith("# mad\n")
