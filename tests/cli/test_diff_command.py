"""The command ``diff``: exit statuses, formats, folders, hostile input."""

import functools
import json
import re
from pathlib import Path

import pytest
from corpus import OWN
from jsonschema import Draft202012Validator
from tiers import first

from visa_lsp.cli.main import main

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "compare.schema.json").read_text(encoding="utf-8"))

TEXT = """\
.version 4.1
.kernel "k"
.decl A1 v_type=G type=d num_elts=16 align=GRF
.decl A2 v_type=G type=d num_elts=16 align=GRF
.kernel_attr SimdSize=16
    mov (M1, 16) A2(0,0)<1> A1(0,0)<1;1,0>
    add (M1, 16) A2(0,0)<1> A2(0,0)<1;1,0> 0x1:d
there:
    ret (M1, 1)
"""
SAME = TEXT.replace("A1", "one").replace("there", "label_9").replace("0x1:d", "1:d   // one more")
OTHER = SAME.replace("1:d ", "2:d ")


@pytest.fixture
def file(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return written


@pytest.fixture
def told(run):
    """Compare; gives exit status, standard output and standard error."""
    return functools.partial(run, "diff")


def test_texts_that_differ_in_names_and_comments_are_the_same(told, file):
    status, out, err = told(file("a.visaasm", TEXT), file("b.visaasm", SAME))
    assert (status, err) == (0, "")
    assert "kernel k: same, 2 names differ" in out


def test_a_difference_is_told_with_its_lines(told, file):
    status, out, err = told(file("a.visaasm", TEXT), file("b.visaasm", OTHER))
    assert (status, err) == (1, "")
    assert "kernel k: 1 difference, 2 names differ" in out
    assert re.search(r"~ a 7 +b 7 +add: src1 0x1:d -> 0x2:d\n", out)
    assert re.search(r"instructions +3\n", out)
    assert re.search(r"GRF rows +\d+\n", out)


def test_declarations_that_differ_alike_and_inputs_that_lie_elsewhere_are_a_line_each(told, file):
    head, inputs = ".kernel k\n", ".input A1 offset={}\n.input A2 offset={}\n"
    a = TEXT.replace(head, head, 1).replace(".kernel_attr", inputs.format(64, 128) + ".kernel_attr", 1)
    b = TEXT.replace(".kernel_attr", inputs.format(96, 160) + ".kernel_attr", 1).replace("align=GRF", "align=2GRF")
    assert ".input A1 offset=64" in a
    _, out, _ = told(file("a.visaasm", a), file("b.visaasm", b))
    assert "  ~ a 5 ...       b 5 ...       2 inputs: A1 offset 64 -> 96, A2 offset 128 -> 160\n" in out
    assert re.search(r"~ a \d+ ... +b \d+ ... +2 declarations: A1, A2: align GRF -> GRFx2\n", out), out


def test_attributes_of_a_declaration_are_compared(told, file):
    other = TEXT.replace("align=GRF", "align=GRF attrs={Output}", 1)
    _, out, _ = told(file("a.visaasm", TEXT), file("b.visaasm", other))
    assert "declaration A1: attrs none -> {Output}\n" in out


def test_registers_of_both_sides_stand_side_by_side(printed, told, file):
    large = TEXT.replace("num_elts=16", "num_elts=32")
    rows = {}
    for name, text in (("a.visaasm", TEXT), ("b.visaasm", large)):
        path = file(name, text)
        rows[name] = json.loads(printed("stats", path, "--platform", "TGLLP", "--format", "json"))["kernels"][0][
            "pressure"
        ]["max"]
    _, out, _ = told(file("a.visaasm", TEXT), file("b.visaasm", large), "--platform", "TGLLP")
    assert rows["a.visaasm"] < rows["b.visaasm"]
    assert re.search(rf"GRF rows +{rows['a.visaasm']} -> {rows['b.visaasm']}\n", out)
    assert "bytes per row" not in out


def test_json_has_these_keys_and_no_others(told, file):
    status, out, _ = told(file("a.visaasm", TEXT), file("b.visaasm", OTHER), "--format", "json")
    assert status == 1
    assert json.loads(out) == {
        "kernels": [
            {
                "name": "k",
                "same": False,
                "renamed": 2,
                "changes": [{"kind": "change", "a": [7, 7], "b": [7, 7], "what": "add: src1 0x1:d -> 0x2:d"}],
            }
        ]
    }


@pytest.mark.parametrize("same", first(1, ["maths", "."]))
def test_reports_are_as_the_schema_says(told, tmp_path, same):
    validator = Draft202012Validator(SCHEMA)
    Draft202012Validator.check_schema(SCHEMA)
    run = OWN / "run" / "TGLLP"
    texts = sorted(run.glob("*/*.visaasm"))
    changed = tmp_path / texts[0].name
    changed.write_text(texts[0].read_text(encoding="utf-8").replace("(M1, 16)", "(M1, 8)", 1), encoding="utf-8")
    pairs = [(run / "maths", run / "vecs"), (run / same, run / same), (texts[0], changed)]
    kinds = set()
    for a, b in pairs:
        _, out, _ = told(str(a), str(b), "--format", "json")
        report = json.loads(out)
        validator.validate(report)
        kinds |= {change["kind"] for kernel in report["kernels"] for change in kernel["changes"]}
    assert {"insert", "delete", "change"} <= kinds


def test_an_object_is_told_by_the_lines_of_its_text(told, file, capsys):
    a, b = file("a.visaasm", TEXT), file("b.visaasm", OTHER)
    assert main(["asm", a, b]) == 0
    objects = [a.replace(".visaasm", ".isa"), b.replace(".visaasm", ".isa")]
    assert told(a, objects[0])[0] == 0
    assert main(["dis", objects[0]]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(n for n, line in enumerate(lines, 1) if "add (M1" in line)
    status, out, _ = told(*objects, "--format", "json")
    (change,) = json.loads(out)["kernels"][0]["changes"]
    assert (status, change["a"], change["b"]) == (1, [at, at], [at, at])


def test_folders_are_compared_file_by_file_and_then_by_kernel(told, file, tmp_path):
    file("a/x/one.visaasm", TEXT)
    file("b/x/one.visaasm", SAME)
    file("a/two.visaasm", TEXT.replace('"k"', '"m"'))
    file("b/zwei.visaasm", OTHER.replace('"k"', '"m"'))
    file(
        "b/new.visaasm",
        TEXT.replace('"k"', '"n"').replace("    mov", "    barrier\n    barrier\n    barrier\n    barrier\n    mov"),
    )
    status, out, err = told(str(tmp_path / "a"), str(tmp_path / "b"), "--format", "json")
    assert (status, err) == (1, "")
    found = {
        kernel["name"]: (kernel["same"], [name and Path(name).name for name in kernel["files"]])
        for kernel in json.loads(out)["kernels"]
    }
    assert found == {
        "k": (True, ["one.visaasm", "one.visaasm"]),
        "m": (False, ["two.visaasm", "zwei.visaasm"]),
        "n": (False, [None, "new.visaasm"]),
    }
    status, out, _ = told(str(tmp_path / "a"), str(tmp_path / "b"))
    assert "3 kernels and functions in 3 pairs of files, 1 the same" in out
    assert "one.visaasm" not in out


def test_the_page_shows_every_text_escaped_and_loads_nothing(told, file, tmp_path):
    hostile = TEXT.replace('"k"', '"<script>alert(1)</script>&"').replace(
        "    add", "    // <img src=x onerror=alert(1)>\n    add"
    )
    page = tmp_path / "diff.html"
    status, out, _ = told(
        file("a.visaasm", hostile), file("b<b>.visaasm", hostile.replace("0x1:d", "0x3:d")),
        "--format", "html", "-o", str(page),
    )  # fmt: skip
    text = page.read_text(encoding="utf-8")
    assert (status, out) == (1, "")
    assert text.count("<script>") == 1
    assert "<img" not in text
    assert "b<b>" not in text
    assert not re.search(r"""(?:src|href)\s*=|https?:|@import|url\(""", text.replace("&lt;img src=x", ""))
    assert "0x<mark>" in text or "<mark>0x1</mark>" in text
    assert "prefers-color-scheme: dark" in text


def test_a_text_with_errors_cannot_be_compared(told, file):
    bad = file("bad.visaasm", TEXT.replace("add (M1, 16) A2", "add (M1, 16) A7"))
    status, out, err = told(file("a.visaasm", TEXT), bad)
    assert (status, out) == (2, "")
    assert re.search(r"bad\.visaasm:7:18: error V\d+ undeclared-name", err)


def test_one_unreadable_file_of_a_folder_does_not_hide_the_others(told, file, tmp_path):
    for side in "ab":
        file(f"{side}/good.visaasm", TEXT)
        file(f"{side}/bad.visaasm", "nothing of ours")
    status, out, err = told(str(tmp_path / "a"), str(tmp_path / "b"), "--format", "json")
    assert status == 2
    assert [kernel["name"] for kernel in json.loads(out)["kernels"]] == ["k"]
    assert "bad.visaasm" in err


def test_standard_input_is_one_of_the_two(file, told):
    status, out, _ = told(file("a.visaasm", TEXT), "-", "--stdin-filename", "typed", stdin=OTHER.encode())
    assert (status, "b: typed" in out) == (1, True)


def test_colours_are_for_terminals_and_for_those_who_ask(told, file):
    a, b = file("a.visaasm", TEXT), file("b.visaasm", OTHER)
    assert "\033[" not in told(a, b)[1]
    assert "\033[33m  ~ a 7" in told(a, b, "--color", "always")[1]
