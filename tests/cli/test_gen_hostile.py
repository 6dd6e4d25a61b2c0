"""``gen`` with texts that want to hurt, and the form of its JSON on real ones."""

import itertools
import json
import random
import shutil

import pytest
from corpus import OWN
from fake_tools import fake_tool
from msgspec import Struct, convert
from tiers import first

needs_finalizer = pytest.mark.skipif(
    shutil.which("GenX_IR") is None, reason="GenX_IR is not installed: apt-get install libigc-tools"
)
SAXPY = (OWN.parents[1] / "examples" / "saxpy.visaasm").read_text()
ATTRIBUTE = ".kernel_attr SimdSize=16\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder of its own for the command, and one for the temporary folders of the tool."""
    (tmp_path / "here").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path / "here"


def _spellings(target):
    """Lines that name a file to write, spelt at random: blanks, tabs, comments and joined lines between the words, letters of any case."""
    pick = random.Random(1)
    between = ["", " ", "\t", " /* x */ ", " /* \n */ ", " \\\n", " // y\\\n", "\v", "\f", "\u00a0", "\r"]
    for head, name in itertools.product(
        (".kernel_attr", ".KERNEL_ATTR", ".kernel_attr A=1 .kernel_attr"),
        ("OutputAsmPath", "AsmName", "outputasmpath", "OUTPUTASMPATH"),
    ):
        for _ in range(4):
            one, two, three, four = (pick.choice(between) for _ in range(4))
            quote = pick.choice('"""\'')
            yield f"{pick.choice(between)}{head}{one or ' '}{name}{two}={three}{quote}{target}{quote}{four}"
    yield f'// .kernel_attr OutputAsmPath="{target}"'
    yield f'.kernel_attr Note=".kernel_attr OutputAsmPath={target}"'
    yield f'.kernel_attr Note="\\" OutputAsmPath="{target}"'
    yield f'/* " */ .kernel_attr OutputAsmPath="{target}" /* " */'


@pytest.mark.full
@needs_finalizer
def test_no_spelling_of_the_file_to_write_is_obeyed(run, folder):
    """Whether the finalizer takes a spelling or refuses it: nothing is written but our report."""
    obeyed = []
    for number, line in enumerate(_spellings(f"{folder}/evil.asm")):
        (folder / "k.visaasm").write_text(SAXPY.replace(ATTRIBUTE, f"{ATTRIBUTE}{line}\n"), newline="")
        status, _, _ = run("gen", "k.visaasm", "--platform", "TGLLP", "-o", "out.txt")
        assert status in (0, 1), line
        if {path.name for path in folder.parent.rglob("*")} - {"here", "tmp", "k.visaasm", "out.txt"}:
            obeyed.append((number, line))
    assert obeyed == []


def test_bytes_that_are_no_utf_8_leave_the_report_readable(run, folder):
    tool = fake_tool(
        folder.parent / "bin", 'assert b"\\xe9\\xff" in open("text.visaasm", "rb").read(); write_listing()'
    )
    text = b'.version 4.1\n// caf\xe9 \x00\n.kernel "k\xe9\xff"\n    mov (M1, 8) V33(0,0)<1> 0x1:d\n'
    (folder / "k.visaasm").write_bytes(text.replace(b" \x00", b""))
    for form in ("text", "json"):
        status, _, err = run(
            "gen", "k.visaasm", "--tool", tool, "--format", form, "-o", f"out.{form}", "--html", "out.html"
        )
        assert (status, err) == (0, "")
        (folder / f"out.{form}").read_bytes().decode("utf-8")
    (folder / "out.html").read_bytes().decode("utf-8")
    assert json.loads((folder / "out.json").read_text())["kernels"][0]["name"] == "k\ufffd\ufffd"


@pytest.mark.parametrize("count", first(1, [3_000, 50_000]))
def test_a_text_of_many_lines_and_a_listing_of_many_more(printed, folder, count):
    body = "".join(f"    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x{n:x}:d\n" for n in range(count))
    (folder / "k.visaasm").write_text(
        f'.version 4.1\n.kernel "k"\n.decl V33 v_type=G type=d num_elts=8 align=GRF\n{body}'
    )
    tool = fake_tool(
        folder.parent / "bin",
        f"""
        write_listing()
        with open(names[0], "a") as out:
            out.writelines(f"        add (8|M0)  r3.0<1>:d  r3.0<8;8,1>:d  0x1:d {{{{@1}}}} // ${{n // 2}}\\n" for n in range({2 * count}))
        """,
    )
    out = printed("gen", "k.visaasm", "--tool", tool, "--format", "json")
    (kernel,) = json.loads(out)["kernels"]
    assert [line["line"] for line in kernel["lines"]] == list(range(4, count + 4))
    assert {len(line["gen"]) for line in kernel["lines"][1:]} == {2}


@needs_finalizer
def test_kernels_of_one_name_have_each_their_own_lines(printed, folder):
    again = SAXPY[SAXPY.index(".kernel") :]
    (folder / "k.visaasm").write_text(SAXPY + "\n" + again)
    out = printed("gen", "k.visaasm", "--platform", "TGLLP", "--format", "json")
    one, two = json.loads(out)["kernels"]
    assert one["name"] == two["name"] == "saxpy"
    moved = len(SAXPY.split("\n")) - SAXPY[: SAXPY.index(".kernel")].count("\n")
    assert [line["line"] + moved for line in one["lines"]] == [line["line"] for line in two["lines"]]
    assert [line["gen"] for line in one["lines"]] == [line["gen"] for line in two["lines"]]


# ---- the form of the JSON: keys as they are to be, and what may stand behind each ----


class Line(Struct, forbid_unknown_fields=True):
    line: int
    pressure: int | None
    gen: list[str]


class Kernel(Struct, forbid_unknown_fields=True):
    name: str
    gen_instructions: int
    spill_bytes: int
    bank_conflicts: int | None
    max_pressure: int | None
    registers: dict[str, str]
    lines: list[Line]


class Form(Struct, forbid_unknown_fields=True):
    platform: str
    tool: str
    kernels: list[Kernel]


@needs_finalizer
@pytest.mark.parametrize("platform", ["TGLLP", "DG2", "PVCXT", "SKL"])
def test_json_of_real_texts_has_the_form_of_the_contract(run, folder, platform):
    texts = sorted((OWN / "dev" / platform).glob("*.visaasm"))[::5]
    if not texts:
        pytest.skip(f"the corpus has no text of {platform}")
    finished = 0
    for path in texts:
        _, out, _ = run("gen", str(path), "--platform", platform, "--format", "json")
        answer = json.loads(out)
        answer.pop("findings", None)
        convert(answer, Form)
        lines = len(path.read_text().split("\n"))
        for kernel in answer["kernels"]:
            finished += 1
            assert kernel["gen_instructions"] == sum(len(line["gen"]) for line in kernel["lines"])
            assert all(1 <= line["line"] <= lines for line in kernel["lines"])
            assert [line["line"] for line in kernel["lines"]] == sorted({line["line"] for line in kernel["lines"]})
    assert finished
