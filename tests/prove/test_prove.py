"""What is proved of small kernels, what is refuted by a launch, and what stays unknown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from each_case import check_each

from visa_lsp.app.assemble import program_of_text
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.runner import run_launch
from visa_lsp.app.prove.document import ProofOptions, ProofResult, prove_data, prove_kernel, with_shown_lines
from visa_lsp.app.prove.terms import Level, SumPool, at_most, number
from visa_lsp.cli.main import main

pytest.importorskip("z3")
EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = (EXAMPLES / "saxpy.visaasm").read_text()
STORE = "    scatter4_scaled.R (M1, 16) {0} 0x0:ud {1}.0 value.0\n"
HEAD = """.version 4.1
.kernel "k"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl global_id_offset v_type=G type=ud num_elts=3 align=GRF
.decl local_size v_type=G type=ud num_elts=3 align=dword
.decl n v_type=G type=d num_elts=1 align=dword
.decl y v_type=T num_elts=1
.decl base v_type=G type=d num_elts=1 align=dword
.decl step v_type=G type=d num_elts=1 align=dword
.decl lid v_type=G type=d num_elts=16 align=GRF
.decl gid v_type=G type=d num_elts=16 align=GRF
.decl at v_type=G type=d num_elts=16 align=GRF
.decl value v_type=G type=d num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.input local_id_x offset=32 size=32
.input global_id_offset offset=64 size=12
.input local_size offset=76 size=12
.input n offset=88 size=4
.input y offset=92 size=4
.kernel_attr SLMSize=4
.kernel_attr SimdSize=16
    mul (M1_NM, 1) base(0,0)<1> local_size(0,0)<0;1,0> %r0(0,1)<0;1,0>
    mov (M1, 16) lid(0,0)<1> local_id_x(0,0)<1;1,0>
    add (M1, 16) gid(0,0)<1> lid(0,0)<1;1,0> base(0,0)<0;1,0>
    mov (M1, 16) value(0,0)<1> gid(0,0)<1;1,0>
"""
INDEX = "    shl (M1, 16) at(0,0)<1> {0}(0,0)<1;1,0> 0x2:d\n"


def answers(code, **options):
    text = code if code.startswith(".version") else HEAD + code + "    ret (M1, 1)\n"
    program = program_of_text(text)
    assert program.module is not None, program.diagnostics
    path = Path("k.visaasm")
    given = ProofOptions(**{"seconds": 20, "properties": ("race", "bounds", "divergence"), **options})
    return prove_kernel(program.module, program.module.kernels[0], "k.visaasm", path, text.encode(), given)


def words(code, **options):
    return sorted({f"{one.property} {one.answer}" for one in answers(code, **options)})


def test_a_guarded_kernel_is_proved_with_its_contract():
    found = answers(SAXPY)
    assert {one.answer for one in found} == {"proved"}
    assumed = {one for result in found for one in result.assumptions}
    assert "y has at least 4 * n bytes" in assumed
    assert not any("wrap" in one for one in assumed)


def test_a_counterexample_is_a_launch_that_runs_to_the_fault():
    wrong = SAXPY.replace("cmp.lt (M1, 16) P1", "cmp.le (M1, 16) P1")
    refuted = [one for one in answers(wrong, properties=("bounds",)) if one.answer == "refuted"]
    assert len(refuted) == 3
    launch = parse_launch(refuted[0].launch, Path("k.launch.yaml"))
    report = run_launch(launch, RunOptions(Path("k.visaasm"), "TGLLP"), wrong.encode())
    assert {fault.kind.value for fault in report.faults} == {"out-of-bounds"}


SHARED = INDEX.format("lid") + STORE.format("%slm", "at") + "    fence_local.E\n"
BARRIER = "    barrier\n"
NEXT = """    xor (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x4:d
    gather4_scaled.R (M1, 16) %slm 0x0:ud at.0 value.0
"""
CASES = {
    "every item its own element": (INDEX.format("gid") + STORE.format("y", "at"), ["bounds proved", "race proved"]),
    "two items one element": (
        "    asr (M1, 16) gid(0,0)<1> gid(0,0)<1;1,0> 0x1:d\n" + INDEX.format("gid") + STORE.format("y", "at"),
        ["bounds proved", "race refuted"],
    ),
    "groups share elements": (INDEX.format("lid") + STORE.format("y", "at"), ["bounds proved", "race refuted"]),
    "before the first element": (
        "    add (M1, 16) gid(0,0)<1> gid(0,0)<1;1,0> -0x1:d\n" + INDEX.format("gid") + STORE.format("y", "at"),
        ["bounds refuted", "race proved"],
    ),
    "a barrier between": (SHARED + BARRIER + NEXT, ["bounds proved", "divergence proved", "race proved"]),
    "no barrier between": (SHARED + NEXT, ["bounds proved", "race refuted"]),
    "a barrier for some": (
        "    cmp.lt (M1, 16) P1 lid(0,0)<1;1,0> 0x10:d\n    (!P1) goto (M1, 16) out\n" + BARRIER + "out:\n",
        ["divergence refuted"],
    ),
    "a loop over elements in strides": (
        "    mov (M1_NM, 1) step(0,0)<1> 0x0:d\nagain:\n"
        "    add (M1, 16) gid(0,0)<1> lid(0,0)<1;1,0> step(0,0)<0;1,0>\n"
        + INDEX.format("gid") + STORE.format("%slm", "at")
        + "    add (M1_NM, 1) step(0,0)<1> step(0,0)<0;1,0> 0x40:d\n"
        "    cmp.lt (M1_NM, 16) P1 step(0,0)<0;1,0> 0x100:d\n    (P1) goto (M1, 16) again\n",
        ["bounds proved", "race refuted"],
    ),
    "an address from memory": (
        INDEX.format("gid") + "    gather4_scaled.R (M1, 16) y 0x0:ud at.0 at.0\n" + STORE.format("%slm", "at"),
        ["bounds proved", "bounds unknown", "race proved", "race refuted"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_small_kernels(name):
    code, expected = CASES[name]
    assert words(code) == expected


def test_assumptions_narrow_the_launches():
    code = INDEX.format("lid") + STORE.format("y", "at")
    assert words(code, properties=("race",), assume=("groups == 1",)) == ["race proved"]
    assert words(code, properties=("race",), assume=("groups < 1",)) == ["race unknown"]


def test_a_wrong_assumption_is_refused_with_its_reason():
    def check(case):
        text, why = case
        with pytest.raises(UserError, match=why):
            answers(INDEX.format("lid"), assume=(text,))

    cases = [
        ("n", "comparison"),
        ("m < 3", "unknown name"),
        ("n // n > 1", "positive"),
        ("len(n) > 1", "no buffer"),
        ("n <", "comparison"),
    ]
    check_each(cases, check)


def test_an_argument_may_have_the_name_of_a_size():
    code = (
        "    cmp.lt (M1, 16) P1 gid(0,0)<1;1,0> n(0,0)<0;1,0>\n    (!P1) goto (M1, 16) out\n"
        + INDEX.format("gid")
        + STORE.format("y", "at")
        + "out:\n"
    )
    text = HEAD.replace(".decl n ", ".decl groups_x ").replace(".input n ", ".input groups_x ") + code.replace(
        " n(", " groups_x("
    )
    found = answers(text + "    ret (M1, 1)\n", properties=("bounds",))
    assert [one.answer for one in found] == ["proved"]
    assert "y has at least 4 * groups_x bytes" in found[0].assumptions


def test_registers_that_nothing_wrote():
    code = "    add (M1, 16) at(0,0)<1> step(0,0)<0;1,0> gid(0,0)<1;1,0>\n"
    found = answers(code, properties=("uninitialised",))
    assert {one.line for one in found if one.answer != "proved"} == {HEAD.count("\n") + 1}


def test_the_command_prints_json_and_says_by_its_status(tmp_path, capsys):
    path = tmp_path / "k.visaasm"
    path.write_text(HEAD + INDEX.format("gid") + STORE.format("y", "at") + "    ret (M1, 1)\n")
    assert main(["prove", str(path), "--property", "race", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["results"]
    assert one["property"], one["answer"] == ("race", "proved")
    assert {"path", "line", "assumptions"} < one.keys()
    assert main(["prove", str(path), "--property", "rase"]) == 2
    assert "did you mean 'race'" in capsys.readouterr().err


def test_written_launches_run_from_their_folder_with_the_options_of_their_first_line(tmp_path, capsys):
    path = tmp_path / "my k.visaasm"
    path.write_text(HEAD + SHARED + NEXT + "    ret (M1, 1)\n")
    assert main(["prove", str(path), "--property", "race", "--launches", str(tmp_path / "found")]) == 1
    for launch in sorted((tmp_path / "found").iterdir()):
        first = launch.read_text().splitlines()[0]
        options = first.removeprefix("# run with ").split() if first.startswith("#") else []
        assert main(["run", str(launch), *options]) == 1
        assert "fault: data-race" in capsys.readouterr().out


def test_a_line_is_refuted_by_a_launch_that_has_the_fault_at_this_line_only():
    found = with_shown_lines(
        [
            ProofResult("bounds", "k", 7, "refuted", launch="a"),
            ProofResult("bounds", "k", 8, "refuted", launch="a"),
            ProofResult("bounds", "k", 9, "unknown", reason="unclear"),
            ProofResult("race", "k", 7, "proved"),
        ],
        {("bounds", "a"): {7}, ("bounds", "b"): {9}},
    )
    assert [(one.answer, one.launch) for one in found] == [
        ("refuted", "a"),
        ("unknown", None),
        ("refuted", "b"),
        ("proved", None),
    ]
    assert found[1].reason == "the launch that has the fault at line 7 does not have it here"


def test_a_kernel_without_instructions_has_nothing_to_prove(tmp_path, capsys):
    path = tmp_path / "k.visaasm"
    path.write_text('.version 4.1\n.kernel "k"\n.kernel_attr SimdSize=16\n')
    assert main(["prove", str(path)]) == 0
    assert "k.visaasm: nothing to prove" in capsys.readouterr().out
    path.write_text("")
    assert main(["prove", str(path)]) == 1
    assert capsys.readouterr().out == ""


def test_a_guard_that_is_off_by_one_is_no_proof_by_larger_buffers():
    code = (
        "    cmp.le (M1, 16) P1 gid(0,0)<1;1,0> n(0,0)<0;1,0>\n    (!P1) goto (M1, 16) out\n"
        "    mul (M1, 16) at(0,0)<1> gid(0,0)<1;1,0> n(0,0)<0;1,0>\n"
        + INDEX.format("at")
        + STORE.format("y", "at")
        + "out:\n"
    )
    assert words(code, properties=("bounds",)) == ["bounds refuted"]


def test_without_the_extra_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setattr("visa_lsp.app.prove.document.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"visa-lsp\[prove\]"):
        prove_data("k.visaasm", None, b"", ProofOptions())


def test_halves_of_addresses_add_up():
    pool = SumPool()
    at = pool.wrapped(pool.symbol("i", Level.ITEM, 0, 1 << 40), 32, signed=True)
    pointer = pool.symbol("pointer", Level.LAUNCH, 0, 1 << 47)
    low, high = pool.quotient(pointer, 1), pool.quotient(pointer, 1 << 32)
    low = pool.wrapped(low, 32, signed=False)
    low_sum = low + pool.wrapped(at * 4, 32, signed=False)
    carry = pool.quotient(low_sum, 1 << 32)
    sign = pool.quotient(at, 1 << 32)
    top = pool.quotient(pool.wrapped(at, 32, signed=False), 1 << 30)
    high_sum = high + sign * 4 + top + carry
    whole = low_sum - carry * (1 << 32) + high_sum * (1 << 32)
    assert whole == pointer + at * 4


def test_comparisons_of_bounds_are_decided_early():
    pool = SumPool()
    small = pool.symbol("a", Level.ITEM, 0, 7)
    assert at_most(small, 7).word == "true"
    assert at_most(number(8), small).word == "false"
    assert pool.quotient(small, 8) == number(0)
