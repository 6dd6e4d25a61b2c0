"""``visa-lsp why``: the causes of values, by small kernels whose causes are known."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from corpus import OWN

from benchmarks.why import mutants_of
from visa_lsp.app.compare_runs.programs import program_at
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.unit import job_at
from visa_lsp.app.why import recording
from visa_lsp.app.why.answer import SHOWN_NODES, WhyQuestion
from visa_lsp.app.why.answer import answer as answer_job
from visa_lsp.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
HEAD = """\
.version 4.1
.kernel "k"
.decl y v_type=T num_elts=1
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl a v_type=G type=d num_elts=16 align=GRF
.decl b v_type=G type=d num_elts=16 align=GRF
.decl c v_type=G type=d num_elts=16 align=GRF
.decl f v_type=G type=f num_elts=16 align=GRF
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.decl A0 v_type=A num_elts=1
.input local_id_x offset=32 size=32
.input y offset=64 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    shl (M1, 16) at(0,0)<1> local_id_x(0,0)<1;1,0> 0x2:ud
"""
TAIL = """
    scatter4_scaled.R (M1, 16) y 0x0:ud at.0 a.0
    ret (M1, 1)
"""
LAUNCH = """\
platform: TGLLP
groups: [1]
local_size: [16]
args:
  y: {buffer: {dtype: int32, shape: [16], init: zeros}}
"""


def answer(path, value=None, fault=None, launch=None, against=None, most=SHOWN_NODES):
    reference = program_at(str(against)) if against is not None else None
    return answer_job(WhyQuestion(value, fault, most), job_at(str(path), launch, RunOptions()), reference)


@pytest.fixture
def ask(tmp_path):
    """Return a function that writes a kernel with a body and asks for an element of ``y``."""

    def answered(body, value="y[3]", launch=LAUNCH, against=None):
        for name, text in (("k", body), ("ref", against)):
            if text is not None:
                (tmp_path / f"{name}.visaasm").write_text(HEAD + text + TAIL)
        (tmp_path / "k.launch.yaml").write_text(launch)
        reference = tmp_path / "ref.visaasm" if against is not None else None
        return answer(tmp_path / "k.visaasm", value, against=reference)

    return answered


def texts(report):
    return [node.text for node in report.nodes]


def test_the_nodes_of_a_value_are_nearest_first_and_name_their_causes():
    report = answer(EXAMPLES / "saxpy.visaasm", "y[37]")
    store, mad, *_ = report.nodes
    assert (report.value, report.is_now) == ("y[37]", 93.5)
    assert (store.group, store.thread, store.lane, store.values) == ((2, 0, 0), 0, 5, {"y[37]": 93.5})
    assert mad.reads == {"a": 2.5, "x_value": 37.0, "y_value": 1.0}
    assert [node.distance for node in report.nodes if node.kind == "instruction"] == sorted(
        node.distance for node in report.nodes if node.kind == "instruction"
    )
    by_id = {node.id: node for node in report.nodes}
    goto = next(node for node in report.nodes if "goto" in node.text)
    assert goto.id in mad.causes
    assert [by_id[cause].text.split()[0] for cause in goto.causes] == ["cmp.lt"]
    given = {node.text.split(":")[0]: node.values for node in report.nodes if node.kind in ("input", "memory")}
    assert given["x"] == {"x[37]": 37.0}
    assert given["y"] == {"y[37]": 1.0}
    assert given["n"] == {"n": 100}


def test_both_parties_of_a_race_are_named():
    report = answer(EXAMPLES / "average.visaasm", "x[15]")
    parties = {(node.group, node.text.split(".")[0]) for node in report.nodes if node.races}
    assert parties == {((0, 0, 0), "gather4_scaled"), ((1, 0, 0), "scatter4_scaled")}


def test_a_lane_has_only_its_own_causes(ask):
    """A select, a masked write, an address register, and a flag that nothing uses."""
    report = ask(
        """
    mov (M1, 16) b(0,0)<1> 0x7:d
    mov (M1, 16) c(0,0)<1> 0x9:d
    cmp.lt (M1, 16) P1 at(0,0)<1;1,0> 0x8:ud
    (P1) sel (M1, 16) a(0,0)<1> b(0,0)<1;1,0> c(0,0)<1;1,0>
    """,
    )
    assert any("0x9:d" in text for text in texts(report))
    assert not any("0x7:d" in text for text in texts(report))
    report = ask(
        """
    mov (M1, 16) a(0,0)<1> 0x7:d
    mov (M1_NM, 1) a(0,3)<1> 0x9:d
    mov (M1_NM, 1) a(0,4)<1> 0x5:d
    """,
    )
    assert report.is_now == 9
    assert any("0x9:d" in text for text in texts(report))
    assert not any("0x7:d" in text or "0x5:d" in text for text in texts(report))
    report = ask(
        """
    mov (M1, 16) a(0,0)<1> 0x7:d
    mov (M1, 16) b(0,0)<1> 0x9:d
    addr_add (M1_NM, 1) A0(0)<1> &a 0x0:uw
    mov (M1, 16) r[A0(0),0]<1>:d b(0,0)<1;1,0>
    """,
    )
    said = texts(report)
    assert any("r[A0" in text for text in said)
    assert any("addr_add" in text for text in said)
    assert not any("0x7:d" in text for text in said)


def test_a_difference_is_traced_to_the_instruction_that_made_it(ask):
    good = """
    mov (M1, 16) b(0,0)<1> 0x7:d
    add (M1, 16) c(0,0)<1> b(0,0)<1;1,0> 0x2:d
    mul (M1, 16) a(0,0)<1> c(0,0)<1;1,0> b(0,0)<1;1,0>
    """
    for wrong, first in (
        (good.replace("0x2:d", "0x3:d"), "add"),
        (good.replace("add (M1, 16) c(0,0)", "add (M1, 16) b(0,0)"), "mul"),
        (good.replace("mul (M1, 16)", "mul (M1_NM, 2)"), "mul"),
    ):
        report = ask(wrong, against=good)
        assert report.expected == 63
        assert report.nodes[0].is_first
        assert report.nodes[0].text.split()[0] == first
    moved = ask(good.replace("add (M1, 16) c(0,0)", "add (M1, 16) b(0,0)"), against=good)
    assert "add" in [text.split()[0] for text in texts(moved)[:4]]  # its value reaches another step
    same = ask(good, against=good)
    assert same.notes == ["the reference run gives the same value"]


def test_a_store_that_only_the_reference_executes_leads_to_the_branch(ask):
    good = """
    mov (M1, 16) a(0,0)<1> 0x7:d
    cmp.lt (M1, 16) P1 at(0,0)<1;1,0> 0x40:ud
    (!P1) goto (M1, 16) done
    add (M1, 16) a(0,0)<1> a(0,0)<1;1,0> 0x1:d
done:
    """
    report = ask(good.replace("0x40:ud", "0x4:ud"), against=good)
    assert report.nodes[0].text.startswith("cmp.lt")
    assert report.nodes[0].reference == {"P1": 1}
    missing = [node.text.split()[0] for node in report.nodes if node.kind == "missing"]
    assert missing == ["add"]


def test_a_deleted_instruction_is_named_by_what_the_reference_executed(ask):
    """Also if its like stands beside it, and if nothing else wrote what it wrote."""
    good = """
    add (M1, 16) b(0,0)<1> at(0,0)<1;1,0> 0x2:d
    add (M1, 16) c(0,0)<1> b(0,0)<1;1,0> 0x3:d
    add (M1, 16) a(0,0)<1> c(0,0)<1;1,0> b(0,0)<1;1,0>
    """
    for number in (1, 2, 3):
        lines = good.splitlines()
        (deleted,) = (lines.pop(number),)
        first = ask("\n".join(lines), against=good).nodes[0]
        assert (first.kind, first.text) == ("missing", deleted.strip())


def test_a_large_launch_records_only_the_group_that_wrote_the_value(monkeypatch):
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(recording, "MAX_WHOLE_STEPS", 10)
    whole = answer(EXAMPLES / "saxpy.visaasm", "y[37]")
    assert whole.notes == ["recorded groups, by number: 2"]
    assert [node.text.split()[0] for node in whole.nodes[:2]] == ["scatter4_scaled.R", "mad"]
    assert whole.nodes[0].values == {"y[37]": 93.5}


def test_a_failed_expectation_and_a_fault_are_where_it_begins(tmp_path):
    for path in EXAMPLES.glob("saxpy.*"):
        shutil.copy(path, tmp_path)
    launch = tmp_path / "saxpy.launch.yaml"
    launch.write_text(launch.read_text().replace("8.5, 11,", "8.5, 12,", 1))
    report = answer(tmp_path / "saxpy.visaasm")
    assert (report.value, report.is_now, report.expected) == ("y[4]", 11.0, 12.0)
    fault = answer(EXAMPLES / "average.visaasm", fault=1)
    assert fault.value.startswith("out-of-bounds")
    assert fault.nodes[0].text.startswith("gather4_scaled.R")
    with pytest.raises(UserError, match="has 2 faults"):
        answer(EXAMPLES / "average.visaasm", fault=9)


def test_the_command_prints_text_json_and_a_page(refused, capsys, tmp_path):
    path = str(EXAMPLES / "saxpy.visaasm")
    assert main(["why", path, "--value", "y[37]", "--format", "json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert set(value) == {"value", "now", "nodes"}
    assert {"path", "line", "lane", "thread", "group", "text", "values", "causes"} <= set(value["nodes"][0])
    ids = {node["id"] for node in value["nodes"]}
    assert all(set(node["causes"]) <= ids for node in value["nodes"])
    assert main(["why", path, "--value", "y[37]", "--max-nodes", "1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("y[37] = 93.5\n#1 ")
    assert "more nodes" in out
    page = tmp_path / "why.html"
    assert main(["why", path, "--value", "y[37]", "--format", "html", "-o", str(page)]) == 0
    assert "scatter4_scaled.R (M1, 16)" in page.read_text()
    assert "<1;1,0>" not in page.read_text()
    for words, message in (
        ([path, "--value", "z[1]"], "no buffer is called 'z'; buffers: x, y"),
        ([path, "--value", "y[100]"], "the last is 99"),
        ([path, "--value", "y[1, 2]"], "expected one number"),
        ([path, "--value", "y["], "expected NAME[INDEX]"),
        ([path], "no expectation fails and there is no fault"),
        (["none.visaasm", "--value", "y[1]"], "no such file"),
    ):
        assert message in refused("why", *words)


def test_an_expected_value_is_not_repeated(capsys, tmp_path):
    kernel = tmp_path / "saxpy.visaasm"
    shutil.copy(EXAMPLES / "saxpy.visaasm", kernel)
    launch = (EXAMPLES / "saxpy.launch.yaml").read_text()
    (tmp_path / "saxpy.launch.yaml").write_text(launch.replace("248.5]", "0]"))
    assert main(["why", str(kernel), "--value", "y[3]", "--max-nodes", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "y[3] = 8.5, as expected"
    assert main(["why", str(kernel), "--value", "y[99]", "--max-nodes", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "y[99] = 248.5, expected 0.0"


def test_a_huge_number_is_refused_by_its_digits(refused):
    assert "--max-nodes: expected a number of at most 17 digits, got 30" in refused(
        "why", "k.visaasm", "--max-nodes", "9" * 30
    )


@pytest.mark.full
def test_planted_changes_of_a_real_kernel_are_among_the_first_nodes(tmp_path):
    """As the benchmark does for 300 of them."""
    found = list(mutants_of(OWN / "run" / "TGLLP" / "axpy" / "saxpy.visaasm", 3, random.Random(1), tmp_path))
    assert len(found) == 3
    assert all(0 < one.rank <= 10 for one in found), found


def test_causes_cross_threads_calls_and_barriers():
    """A sum over shared local memory has causes in each thread; a recursive function in each of its activations."""
    total = answer(OWN / "run" / "TGLLP" / "folds" / "total.visaasm", "1[0]", most=400)
    assert {node.thread for node in total.nodes if node.kind == "instruction"} > {0}
    assert not any(node.kind == "undefined" for node in total.nodes)
    climb = answer(OWN / "run" / "TGLLP" / "deep" / "climb.visaasm", "0[1]", most=400)
    assert {node.kernel for node in climb.nodes if node.kind == "instruction"} > {"climb"}
    assert not any(node.kind == "undefined" for node in climb.nodes)


def test_what_is_alike_is_one_node_with_its_source_line(ask):
    """An unrolled sum over shared local memory, of one source line."""
    add = "    add (M1, 16) f(0,0)<1> f(0,0)<1;1,0> 0x3fc00000:f\n"
    report = ask(
        '    FILE "k.cl"\n    mov (M1, 16) f(0,0)<1> 0x0:f\n'
        + f"    LOC 7\n{add}" * 9
        + "    LOC 8\n    scatter4_scaled.R (M1, 16) %slm 0x0:ud at.0 f.0\n"
        + "    .decl bits v_type=G type=ud num_elts=16 alias=<f, 0>\n"
        + "    gather4_scaled.R (M1, 16) %slm 0x0:ud at.0 bits.0\n    mov (M1, 16) a(0,0)<1> f(0,0)<1;1,0>\n"
    )
    (store,) = [node for node in report.nodes if "%slm" in node.text and node.text.startswith("scatter")]
    assert list(store.values.values()) == [13.5]
    (load,) = [node for node in report.nodes if node.text.startswith("gather")]
    assert load.values == {"bits": 13.5}  # as the alias that instructions read has it
    assert store.source == "k.cl:8"
    (add,) = [node for node in report.nodes if node.text.startswith("add")]
    assert (add.alike, add.times, add.source) == (8, 9, "k.cl:7")


def test_many_nodes_without_source_lines_are_folded_by_operation(ask):
    add, words = (
        "    add (M1, 16) f(0,0)<1> f(0,0)<1;1,0> 0x3fc00000:f\n",
        "    add (M1, 16) a(0,0)<1> a(0,0)<1;1,0> 0x1:d\n",
    )
    begin, end = "    mov (M1, 16) f(0,0)<1> 0x0:f\n", "    mov (M1, 16) a(0,0)<1> f(0,0)<1;1,0>\n"
    report = ask(begin + add * 60 + end + words * 10)
    assert [(node.alike, node.values) for node in report.nodes if node.text.startswith("add")] == [
        (9, {"a": 100}),
        (59, {"f": 90.0}),
    ]
    assert len(ask(begin + add * 9 + end).nodes) > 9


def test_a_long_group_is_recorded_from_its_last_instructions_on(monkeypatch, tmp_path):
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(recording, "MAX_WHOLE_STEPS", 10)
    monkeypatch.setattr(recording, "WINDOW", 100)
    launch = tmp_path / "long.launch.yaml"
    launch.write_text(LAUNCH.replace("args:\n", "args:\n  n: {value: 9000}\n"))
    path = Path(__file__).parents[2] / "benchmarks" / "kernels" / "long_loop.visaasm"
    report = answer(path, "y[5]", launch=str(launch))
    assert "of group 0 at most the last 100 of " in report.notes[0]
    assert any("written before the recorded instructions" in text for text in texts(report))
    add = next(node for node in report.nodes if node.text.startswith("add (M1, 16) sum"))
    assert add.times > 3
