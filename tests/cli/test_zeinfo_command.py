"""``visa-lsp zeinfo``, ``asm --zebin`` and ``dis`` of a zebin: reports, files and exit statuses."""

import json
from pathlib import Path

import pytest

from visa_lsp.cli.check.formats.table import FORMATS
from visa_lsp.cli.main import main
from visa_lsp.zeinfo.zebin import read_zebin

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCUMENT = "version: '1.14'\nkernels:\n  - name: saxpy\n    execution_env: {grf_count: 128, simd_size: 16}\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in EXAMPLES.glob("saxpy.*"):
        Path(path.name).write_text(path.read_text())


def test_emit_then_check(capsys):
    assert main(["zeinfo", "emit", "saxpy.visaasm", "-o", "saxpy.zeinfo.yaml"]) == 0
    assert main(["zeinfo", "check", "saxpy.zeinfo.yaml"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["run", "saxpy.visaasm", "--engine", "interp"]) == 0


def test_emit_writes_to_standard_output(capsys):
    assert main(["zeinfo", "emit", "saxpy.visaasm"]) == 0
    assert capsys.readouterr().out.startswith("---\nversion:         '1.20'\nkernels:\n  - name:            saxpy\n")


def test_check_names_the_place_in_the_text(capsys):
    Path("saxpy.zeinfo.yaml").write_text(DOCUMENT.replace("simd_size: 16", "simd_size: 8"))
    assert main(["zeinfo", "check", "saxpy.zeinfo.yaml", "--format", "json", "--platform", "TGLLP"]) == 1
    found = json.loads(capsys.readouterr().out)
    simd = next(f for f in found if f["code"] == "V721")
    assert (simd["line"], simd["column"], simd["message"]) == (4, 48, "simd_size is 8, but the kernel has SimdSize=16")
    text = Path("saxpy.visaasm").read_text().splitlines()
    main(["zeinfo", "check", "saxpy.zeinfo.yaml", "--format", "full", "--platform", "TGLLP"])
    line = next(n for n, words in enumerate(text, 1) if "SimdSize" in words)
    assert f"--> saxpy.visaasm:{line}:14\n" in capsys.readouterr().out
    assert {f["code"] for f in found} == {"V721", "V727"}


def test_check_alone(capsys):
    Path("saxpy.zeinfo.yaml").write_text(DOCUMENT.replace("simd_size: 16", "simd_size: 8"))
    assert main(["zeinfo", "check", "--no-text", "saxpy.zeinfo.yaml"]) == 0
    assert capsys.readouterr().out == ""


def test_check_with_a_text_by_name(capsys):
    Path("other.yaml").write_text(DOCUMENT.replace("saxpy", "saxpi"))
    assert main(["zeinfo", "check", "other.yaml", "--text", "saxpy.visaasm", "--format", "concise"]) == 1
    assert capsys.readouterr().out == (
        "other.yaml:3:11: error V720 ze-info-no-such-kernel: the document has no kernel 'saxpy'; it has 'saxpi'\n"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_check_in_every_format(form, capsys):
    Path("bad.yaml").write_text("version: 1.14\n")
    assert main(["zeinfo", "check", "bad.yaml", "--format", form]) == 1
    assert "V701" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["zeinfo"], "required"),
        (["zeinfo", "chek", "x"], "chek"),
        (["zeinfo", "check", "no.yaml"], "no.yaml"),
        (["zeinfo", "check", "saxpy.visaasm", "--text", "no.visaasm"], ""),
        (["zeinfo", "emit", "no.visaasm"], "no.visaasm"),
        (["zeinfo", "emit", "saxpy.visaasm", "--launch", "no.yaml"], "no.yaml"),
        (["zeinfo", "emit", "saxpy.visaasm", "--platform", "nothing"], "unknown platform"),
        (["dis", "broken.zebin"], "damaged ELF file"),
    ],
)
def test_wrong_usage_is_status_two(argv, words, capsys):
    Path("broken.zebin").write_bytes(b"\x7fELF" + bytes(30))
    assert main(argv) in ((1, 2) if "--text" in argv else (2,))
    assert words in capsys.readouterr().err


def test_emit_of_a_broken_text_is_status_one(capsys):
    Path("bad.visaasm").write_text('.version 4.1\n.kernel "k"\n    mov (M1, 16) x(0,0)<1> 0x0:ud\n    ret (M1, 1)\n')
    assert main(["zeinfo", "emit", "bad.visaasm"]) == 1
    assert capsys.readouterr().out == ""


def test_emit_says_which_input_is_at_fault(capsys):
    text = Path("saxpy.visaasm").read_text().replace("local_id_x offset=32", "local_id_x offset=128")
    Path("bad.visaasm").write_text(text)
    assert main(["zeinfo", "emit", "bad.visaasm"]) == 1
    line = text[: text.index(".input local_id_x")].count("\n") + 1
    assert capsys.readouterr().err.startswith(f"bad.visaasm:{line}:8: error: kernel 'saxpy': .input local_id_x")


def test_zebin_round_trip(capsys):
    assert main(["asm", "--zebin", "saxpy.visaasm"]) == 0
    zebin = read_zebin(Path("saxpy.zebin").read_bytes())
    assert main(["asm", "saxpy.visaasm"]) == 0
    assert zebin.visa == {"saxpy": Path("saxpy.isa").read_bytes()}
    assert main(["zeinfo", "check", "saxpy.zebin"]) == 0
    assert main(["dis", "saxpy.zebin", "-o", "out"]) == 0
    assert Path("out/saxpy.isa").read_bytes() == Path("saxpy.isa").read_bytes()
    assert Path("out/saxpy.zeinfo.yaml").read_bytes() == zebin.ze_info_bytes
    assert '.kernel "saxpy"' in Path("out/saxpy.visaasm").read_text()
    capsys.readouterr()
    assert main(["dis", "saxpy.zebin"]) == 0
    out = capsys.readouterr().out
    assert "section  1 .visaasm.saxpy" in out
    assert "== .ze_info ==" in out
    assert '.kernel "saxpy"' in out
    assert main(["dis", "--summary", "saxpy.zebin"]) == 0
    assert "==" not in capsys.readouterr().out


def test_asm_takes_the_ze_info_beside_the_text():
    Path("saxpy.zeinfo.yaml").write_text(DOCUMENT)
    assert main(["asm", "--zebin", "saxpy.visaasm", "-o", "x.zebin"]) == 0
    assert read_zebin(Path("x.zebin").read_bytes()).ze_info == DOCUMENT
