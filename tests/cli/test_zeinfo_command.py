"""``visa-lsp zeinfo``, ``asm --zebin`` and ``dis`` of a zebin: reports, files and exit statuses."""

import json
import struct
from pathlib import Path

import pytest

from visa_lsp.app.check.formats.table import FORMATS
from visa_lsp.cli.main import main
from visa_lsp.zeinfo.zebin import read_zebin

EXAMPLES = Path(__file__).parents[2] / "examples"
DOCUMENT = "version: '1.14'\nkernels:\n  - name: saxpy\n    execution_env: {grf_count: 128, simd_size: 16}\n"


@pytest.fixture(autouse=True)
def _folder(here):
    for path in EXAMPLES.glob("saxpy.*"):
        Path(path.name).write_text(path.read_text())


def test_emit_then_check(printed):
    assert main(["zeinfo", "emit", "saxpy.visaasm", "-o", "saxpy.zeinfo.yaml"]) == 0
    assert printed("zeinfo", "check", "saxpy.zeinfo.yaml") == ""
    assert main(["run", "saxpy.visaasm", "--engine", "interp"]) == 0


def test_emit_writes_to_standard_output(printed):
    assert printed("zeinfo", "emit", "saxpy.visaasm").startswith(
        "---\nversion:         '1.20'\nkernels:\n  - name:            saxpy\n"
    )


def test_check_names_the_place_in_the_text(printed, capsys):
    Path("saxpy.zeinfo.yaml").write_text(DOCUMENT.replace("simd_size: 16", "simd_size: 8"))
    found = json.loads(
        printed("zeinfo", "check", "saxpy.zeinfo.yaml", "--format", "json", "--platform", "TGLLP", status=1)
    )
    simd = next(f for f in found if f["code"] == "V721")
    assert (simd["line"], simd["column"]) == (4, 48)
    text = Path("saxpy.visaasm").read_text().splitlines()
    main(["zeinfo", "check", "saxpy.zeinfo.yaml", "--format", "full", "--platform", "TGLLP"])
    line = next(n for n, words in enumerate(text, 1) if "SimdSize" in words)
    assert f"--> saxpy.visaasm:{line}:14\n" in capsys.readouterr().out
    assert {f["code"] for f in found} == {"V721", "V727"}


def test_check_alone(printed):
    Path("saxpy.zeinfo.yaml").write_text(DOCUMENT.replace("simd_size: 16", "simd_size: 8"))
    assert printed("zeinfo", "check", "--no-text", "saxpy.zeinfo.yaml") == ""


def test_check_with_a_text_by_name(printed):
    Path("other.yaml").write_text(DOCUMENT.replace("saxpy", "saxpi"))
    assert printed(
        "zeinfo", "check", "other.yaml", "--text", "saxpy.visaasm", "--format", "concise", status=1
    ).startswith("other.yaml:3:11: error V720 ze-info-no-such-kernel: ")


@pytest.mark.parametrize("form", FORMATS)
def test_check_in_every_format(printed, form):
    Path("bad.yaml").write_text("version: 1.14\n")
    assert "V701" in printed("zeinfo", "check", "bad.yaml", "--format", form, status=1)


def test_emit_of_a_broken_text_is_status_one(printed):
    Path("bad.visaasm").write_text('.version 4.1\n.kernel "k"\n    mov (M1, 16) x(0,0)<1> 0x0:ud\n    ret (M1, 1)\n')
    assert printed("zeinfo", "emit", "bad.visaasm", status=1) == ""


def test_emit_says_which_input_is_at_fault(capsys):
    text = Path("saxpy.visaasm").read_text().replace("local_id_x offset=32", "local_id_x offset=128")
    Path("bad.visaasm").write_text(text)
    assert main(["zeinfo", "emit", "bad.visaasm"]) == 1
    line = text[: text.index(".input local_id_x")].count("\n") + 1
    assert capsys.readouterr().err.startswith(f"bad.visaasm:{line}:8: error: kernel 'saxpy': .input local_id_x")


def test_zebin_round_trip(printed, capsys):
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
    out = printed("dis", "saxpy.zebin")
    assert "section  1 .visaasm.saxpy" in out
    assert "== .ze_info ==" in out
    assert '.kernel "saxpy"' in out
    assert "==" not in printed("dis", "--summary", "saxpy.zebin")


def test_asm_takes_the_ze_info_beside_the_text():
    Path("saxpy.zeinfo.yaml").write_text(DOCUMENT)
    assert main(["asm", "--zebin", "saxpy.visaasm", "-o", "x.zebin"]) == 0
    assert read_zebin(Path("x.zebin").read_bytes()).ze_info == DOCUMENT


def elf(sections: dict[str, tuple[int, bytes]], *, machine: int = 205, kind: int = 1) -> bytes:
    """Return the smallest ELF file with these sections: a type and bytes for each name."""
    sections = {"": (0, b""), **sections, ".names": (3, b"")}
    names, places = b"", []
    for name in sections:
        places.append(len(names))
        names += name.encode() + b"\0"
    sections[".names"] = (3, names)
    body, table = b"", b""
    for place, (type_, data) in zip(places, sections.values(), strict=True):
        table += struct.pack("<IIQQQQIIQQ", place, type_, 0, 0, 64 + len(body), len(data), 0, 0, 1, 0)
        body += data
    head = (
        b"\x7fELF\2\1\1"
        + bytes(9)
        + struct.pack(
            "<HHIQQQIHHHHHH", kind, machine, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(sections), len(sections) - 1
        )
    )
    return head + body + table


ZE_INFO = b"version: '1.14'\nkernels:\n  - name: k\n    execution_env: {grf_count: 128, simd_size: 16}\n"
CODE = {".text.k": (1, b"code")}


@pytest.mark.parametrize(
    ("others", "found"),
    [
        (CODE, []),
        ({}, ["V731"]),
        ({".text.other": (1, b"code")}, ["V731"]),
        ({".visaasm.k": (0xFF000013, b".version 4.1\n")}, []),
        ({".visaasm.k": (0xFF000013, b".version 4.1\n"), ".text.other": (1, b"code")}, ["V731"]),
    ],
)
def test_a_kernel_of_a_zebin_has_code(printed, others, found, capsys):
    Path("x.zebin").write_bytes(elf({".ze_info": (0xFF000011, ZE_INFO), **others}))
    assert main(["zeinfo", "check", "--no-text", "--format", "json", "x.zebin"]) == bool(found)
    assert [f["code"] for f in json.loads(capsys.readouterr().out)] == found
    assert ("kernel k: no code: missing section .text.k" in printed("dis", "--summary", "x.zebin")) == bool(found)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (elf({"Device Binary": (0xFF000005, b"CTNI")}, machine=0, kind=0xFF04), "patch-token binary"),
        (elf({".text": (1, b"x86")}, machine=62), "another ELF file"),
    ],
)
def test_another_container_is_not_called_a_zebin(printed, refused, data, what, capsys):
    Path("x.bin").write_bytes(data)
    assert what in refused("zeinfo", "check", "x.bin")
    assert printed("dis", "x.bin").startswith(f"x.bin: {what.removeprefix('another ')}")
    assert main(["run", "x.bin"]) != 0
    assert ("patch-token" in capsys.readouterr().err) == what.startswith("patch")


def test_a_bare_patch_token_binary_is_named(capsys):
    Path("x.bin").write_bytes(b"CTNI" + bytes(60))
    for command in (["dis"], ["zeinfo", "check"], ["check"], ["run"]):
        assert main([*command, "x.bin"]) != 0
        assert "patch-token binary" in capsys.readouterr().err


@pytest.mark.parametrize(("platform", "status"), [("DG2", 0), ("PVC", 1), ("BMG", 1), ("CRI", 1)])
def test_eight_lanes_need_short_registers(platform, status, capsys):
    text = ZE_INFO.decode().replace("simd_size: 16", "simd_size: 8")
    Path("k.zeinfo.yaml").write_text(text)
    assert main(["zeinfo", "check", "--no-text", "--platform", platform, "k.zeinfo.yaml"]) == status
    assert ("V710" in capsys.readouterr().out) == bool(status)


def test_reserved_registers_are_no_arguments(printed, capsys):
    text = """.version 4.1
.kernel "host"
.kernel_attr SimdSize=16
.decl A v_type=G type=uq num_elts=1 align=qword
.decl C v_type=G type=ud num_elts=128
WORD C offset=1024 size=512
.input A offset=128 size=8
    ret (M1, 1)
"""
    for word in (".implicit_PSEUDO_INPUT", ".implicit_UNDEFINED_4", ".implicit_UNDEFINED_16"):
        Path("t.visaasm").write_text(text.replace("WORD", word))
        main(["asm", "t.visaasm", "-o", "t.isa"])
        for path in ("t.visaasm", "t.isa"):
            capsys.readouterr()
            out = printed("zeinfo", "emit", path)
            assert out.count("arg_type:") == 1
            assert main(["run", path, "--engine", "interp"]) == 0
