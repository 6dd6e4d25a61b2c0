"""``gen`` on texts of 4.2: older forms for an older finalizer, names of platforms, the compiler's own listing without one."""

import json
import os
import shutil

import pytest
from fake_tools import LISTING, fake_tool

from visa_lsp.app.gen.gen_document import Source, finalize_text

OLD, NEW = "BDW, TGLLP, DG2, PVC, PVCXT", "TGLLP, DG2, PVCXT, XE2, XE3, XE3P_CRI, NVL"
TEXT = """\
.version 4.2
.kernel "k"
.decl V33 v_type=G type=ud num_elts=16 align=wordx32
.decl V35 v_type=G type=uq num_elts=16 align=wordx32
.input V35 offset=64 size=128
    lsc_load.ugm (M1, 16)  V33:d8u32  flat[V35]:a64
    svm_block_st.unaligned (4)  V35(0,0)<0;1,0> V33.0
    svm_block_st (4)  V35(0,0)<0;1,0> V33.0
    mov (M1, 16) V33(0,0)<1> 1:ud
"""


@pytest.fixture
def folder(here):
    (here / "k.visaasm").write_text(TEXT)
    return here


@pytest.fixture
def tool(folder):
    """Return a finalizer with these platforms, which keeps its command line and the text that it was given."""

    def make(platforms):
        body = f"""
        if "--help" in sys.argv:
            print("    supported platforms are: {platforms}")
        else:
            write_listing()
            if "-printregusage" in sys.argv:
                open({str(folder / "given")!r}, "w").write(" ".join(sys.argv[1:]) + "\\n" + text)
        """
        return fake_tool(folder / "bin", body, "GenX_IR")

    return make


def given(folder):
    """Return the words that the finalizer was called with, and the instructions of its text."""
    words, *lines = (folder / "given").read_text().splitlines()
    return words.split(), [line.strip() for line in lines if line.strip()[:1] not in (".", "")]


def test_an_older_finalizer_is_given_older_forms(run, folder, tool):
    status, out, err = run("gen", "k.visaasm", "--tool", tool(OLD), "--platform", "dg2")
    assert given(folder)[1] == [
        "lsc_load.ugm (M1, 16)  V33:d8c32  flat[V35]:a64", "svm_block_st (4) V35(0,0)<0;1,0> V33.0",
        "svm_block_st (4)  V35(0,0)<0;1,0> V33.0", "mov (M1, 16) V33(0,0)<1> 1:ud",
    ]  # fmt: skip
    assert status == 0
    assert err == (
        "k.visaasm:6:5: information V924 older-finalizer: the finalizer reads text 4.1 only: 2 lines were rewritten in older "
        "forms, this one as `lsc_load.ugm (M1, 16)  V33:d8c32  flat[V35]:a64`\n"
    )
    assert "d8u32" in out


@pytest.mark.parametrize(
    ("platform", "name"), [("dg2", "DG2"), ("lnl-b0", "XE2"), ("ptl", "XE3"), ("cri", "XE3P_CRI"), ("nvl-p", "NVL")]
)
def test_a_newer_finalizer_is_given_the_text_and_its_own_name_of_the_platform(run, folder, tool, platform, name):
    assert run("gen", "k.visaasm", "--tool", tool(NEW), "--platform", platform)[::2] == (0, "")
    words, lines = given(folder)
    assert words[words.index("-platform") + 1] == name
    assert lines == [line.strip() for line in TEXT.splitlines() if line[0] == " "]


def test_the_dialect_of_a_text_is_told_to_a_newer_finalizer(run, folder, tool):
    (folder / "k.visaasm").write_text(TEXT + '//Build option: "-enableEfficient64b"\n')
    for platforms, is_told in ((NEW, True), (OLD, False)):
        run("gen", "k.visaasm", "--tool", tool(platforms), "--platform", "TGLLP")
        assert ("-enableEfficient64b" in given(folder)[0]) is is_told


def test_a_text_of_4_1_is_given_as_it_is(run, folder, tool):
    (folder / "k.visaasm").write_text(TEXT.replace("4.2", "4.1"))
    assert run("gen", "k.visaasm", "--tool", tool(OLD), "--platform", "dg2")[::2] == (0, "")
    assert given(folder)[1][0] == "lsc_load.ugm (M1, 16)  V33:d8u32  flat[V35]:a64"


def test_the_compiler_has_the_last_word_where_no_finalizer_has_the_platform(folder, tool, monkeypatch):
    source = Source("k.cl: k.visaasm", TEXT, "BMG", device="lnl", simd=16, listing=LISTING)
    with_old = finalize_text(source, tool(OLD), (), 5.0)
    monkeypatch.setenv("PATH", str(folder))
    without = finalize_text(source, None, (), 5.0)
    for document, reason in (
        (with_old, f"the finalizer has no platform BMG (known: {OLD})"),
        (without, "no finalizer found"),
    ):
        assert document.tool == "ocloc"
        assert [f.message for f in document.findings] == [f"{reason}: showing the machine code from the compiler"]
        (kernel,) = document.result.kernels
        assert [(one.line, len(one.instructions)) for one in kernel.lines] == [(5, 1)]


def test_a_dump_has_its_own_machine_code_as_long_as_it_is_as_old(run, folder, tool):
    listing = folder / "k.asm"
    listing.write_text(LISTING)
    (folder / "k.visaasm").write_text(f"{TEXT}//Platform: XE2\n")
    status, out, err = run("gen", "k.visaasm", "--tool", tool(OLD))
    assert (status, out.startswith("kernel k on BMG: 1 Gen instruction")) == (0, True)
    assert "V924" in err
    os.utime(listing, (0, 0))
    status, _, err = run("gen", "k.visaasm", "--tool", tool(OLD))
    assert (status, "there is none, or the text has changed since" in err) == (2, True)


@pytest.mark.skipif(shutil.which("GenX_IR") is None, reason="GenX_IR is not installed: apt-get install libigc-tools")
def test_the_installed_finalizer_takes_the_text_one_way_or_the_other(printed, folder):
    out = printed("gen", "k.visaasm", "--platform", "DG2", "--format", "json")
    assert [line["line"] for line in json.loads(out)["kernels"][0]["lines"]][:3] == [6, 7, 8]
