"""``run --counts`` and ``--profile``: figures of hand-made access patterns against arithmetic, counts against the trace."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.profile import profile_values
from visa_lsp.app.launch.runner import LaunchError, RunOptions, run_text
from visa_lsp.cli.main import main
from visa_lsp.sim.observers.profile import bank_conflicts, distinct_bytes, pieces

EXAMPLES = Path(__file__).parents[2] / "examples"
needs_llvmlite = pytest.mark.skipif(
    find_spec("llvmlite") is None, reason="llvmlite is not installed: pip install '.[jit]'"
)

TEXT = """.version 4.1
.kernel "k"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl value v_type=G type=ud num_elts=16 align=GRF
.decl other v_type=G type=ud num_elts=64 align=GRF
.decl out v_type=T num_elts=1
.decl P1 v_type=P num_elts=16
.input local_id_x offset=32 size=32
.input out offset=64 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    mov (M1, 16) value(0,0)<1> local_id_x(0,0)<1;1,0>
"""
LAUNCH = """groups: [{groups}, 1, 1]
local_size: [16, 1, 1]
args: {{out: {{buffer: {{dtype: uint32, shape: [1024]}}}}}}
"""
END = "    ret (M1, 1)\n"
SCATTER, GATHER = (
    "scatter4_scaled.{0} (M1, 16) {1} 0x0:ud at.0 {2}.0\n",
    "gather4_scaled.{0} (M1, 16) {1} 0x0:ud at.0 {2}.0\n",
)


@pytest.fixture
def examples(here):
    shutil.copytree(EXAMPLES, here, dirs_exist_ok=True)


def profile(code: str, groups: int = 1, **options) -> dict:
    """Return the profile of the kernel of a run."""
    chosen = {"profile": True, "checks": "none"} | options
    report = run_text(
        TEXT + code + END, parse_launch(LAUNCH.format(groups=groups), Path("k.launch.yaml")), RunOptions(**chosen)
    )
    assert report.ok, report.faults
    [kernel] = profile_values(report.profile)["kernels"]
    return kernel


def stride(bytes_: int, start: int = 0) -> str:
    """Addresses `start + lane * bytes_`."""
    return f"    mul (M1, 16) at(0,0)<1> value(0,0)<1;1,0> {bytes_:#x}:uw\n    add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> {start:#x}:ud\n"


@pytest.mark.parametrize(
    ("pattern", "code", "expected"),
    [
        # 16 lanes of 4 bytes: 64 bytes side by side are one cache line.
        ("side by side", stride(4), {"distinct": 64, "cache_lines": 1, "coalescing": 1.0, "broadcasts": 0}),
        # From byte 4 on they reach into the next line.
        ("misaligned", stride(4, 4), {"distinct": 64, "cache_lines": 2, "coalescing": 0.5, "broadcasts": 0}),
        # Every second dword: 124 bytes in two lines.
        ("stride of two", stride(8), {"distinct": 64, "cache_lines": 2, "coalescing": 0.5, "broadcasts": 0}),
        # A line for each lane.
        ("a line each", stride(64), {"distinct": 64, "cache_lines": 16, "coalescing": 1 / 16, "broadcasts": 0}),
        # All lanes ask for one dword.
        ("broadcast", stride(0, 128), {"distinct": 4, "cache_lines": 1, "coalescing": 1 / 16, "broadcasts": 1}),
        # Pairs share a dword: lanes 0 and 1, 2 and 3, ...
        (
            "pairs",
            "    shr (M1, 16) at(0,0)<1> value(0,0)<1;1,0> 0x1:ud\n    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud\n",
            {"distinct": 32, "cache_lines": 1, "coalescing": 0.5, "broadcasts": 0},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value[:20] and "\n" not in value else "",
)
def test_access_patterns_have_the_figures_that_arithmetic_says(pattern, code, expected):
    del pattern
    read = GATHER.format("R", "out", "other")
    [message] = profile(code + "    " + read)["messages"]
    assert message | expected == message
    assert (message["kind"], message["memory"], message["messages"], message["lanes"], message["bytes"]) == (
        "read", "global", 1, 16, 64,
    )  # fmt: skip
    assert (message["bank_conflicts"], message["same_place"]) == (0, 0)


@pytest.mark.parametrize(
    ("code", "conflicts"),
    [
        (stride(4), 0),  # 16 dwords in 16 banks
        (stride(8), 1),  # in 8 banks, two each
        (stride(64), 15),  # all in one bank
        (stride(68), 0),  # padded by a dword: a bank each again
        (stride(0), 0),  # one dword goes to all lanes
    ],
    ids=("side by side", "stride of two", "a row each", "padded", "broadcast"),
)
def test_banks_of_shared_local_memory_conflict_as_arithmetic_says(code, conflicts):
    [message] = profile(code + "    " + SCATTER.format("R", "%slm", "value"))["messages"]
    assert (message["kind"], message["memory"], message["bank_conflicts"]) == ("write", "slm", conflicts)


def test_lanes_of_an_atomic_at_one_place_are_counted():
    atomic = "    dword_atomic.add (M1, 16) out at.0 value.0 %null.0 %null.0\n"
    one, four, each = (
        profile(code + atomic)["messages"][0]
        for code in (
            stride(0),
            "    and (M1, 16) at(0,0)<1> value(0,0)<1;1,0> 0x3:ud\n    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud\n",
            stride(4),
        )
    )
    assert [message["kind"] for message in (one, four, each)] == ["atomic"] * 3
    assert [message["same_place"] for message in (one, four, each)] == [15, 12, 0]


def test_channels_of_a_message_are_one_message():
    [message] = profile(stride(16) + "    " + GATHER.format("RGBA", "out", "other"))["messages"]
    assert (message["messages"], message["lanes"], message["bytes"]) == (1, 16, 256)
    assert (message["cache_lines"], message["coalescing"]) == (4, 1.0)


def test_a_load_whose_result_nothing_reads_is_told():
    twice = stride(4) + "    " + GATHER.format("R", "out", "other") + "    " + GATHER.format("R", "out", "value")
    store = "    " + SCATTER.format("R", "out", "value")
    messages = profile(twice + store)["messages"]
    assert [(message["kind"], message["unused"]) for message in messages] == [
        ("read", True),
        ("read", False),
        ("write", False),
    ]


def test_a_branch_splits_lanes_and_leaves_them_idle():
    code = (
        "    cmp.lt (M1, 16) P1 value(0,0)<1;1,0> 0x4:ud\n"
        "    (!P1) goto (M1, 16) out_of_it\n"
        "    mov (M1, 16) other(0,0)<1> 0x0:ud\n"
        "out_of_it:\n"
        "    mov (M1, 16) other(0,0)<1> 0x1:ud\n"
        "    (P1) mov (M1, 16) other(0,0)<1> 0x2:ud\n"
    )
    kernel = profile(code, groups=3)
    [branch] = kernel["branches"]
    assert branch | {"executions": 3, "splits": 3, "lanes": 48, "taken": 36} == branch
    by_line = {
        line["line"]: (line["executions"], line["active"], line["lanes"], line["idle"]) for line in kernel["lines"]
    }
    first = len(TEXT.splitlines()) + 1
    assert by_line[first + 2] == (3, 12, 48, 0.75), "the lanes that jumped are away"
    assert by_line[first + 4] == (3, 48, 48, 0.0), "they are back at the label"
    assert by_line[first + 5] == (3, 12, 48, 0.75), "a predicate leaves lanes out"


def test_a_uniform_branch_splits_nothing():
    code = "    cmp.lt (M1, 16) P1 value(0,0)<1;1,0> 0x10:ud\n    (P1) goto (M1, 16) behind\nbehind:\n"
    [branch] = profile(code)["branches"]
    assert branch | {"executions": 1, "splits": 0, "lanes": 16, "taken": 16} == branch


LOOP = (
    "    mov (M1, 16) other(0,0)<1> value(0,0)<1;1,0>\n"
    "again:\n"
    "    add (M1, 16) other(0,0)<1> other(0,0)<1;1,0> 0x1:ud\n"
    "    cmp.lt (M1, 16) P1 other(0,0)<1;1,0> 0x12:ud\n"
    "    (P1) goto (M1, 16) again\n"
)


@pytest.mark.parametrize("options", [("--counts", "--engine", "interp"), ("--profile",)])
def test_counts_are_those_of_the_trace(here, capsys, options):
    Path("k.visaasm").write_text(TEXT + LOOP + END)
    Path("k.launch.yaml").write_text(LAUNCH.format(groups=2))
    assert main(["run", "k.visaasm", "--trace", "0,0", "--trace", "1,0", *options, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    traced = Counter(int(line) for line in re.findall(r"^\[\d,0,0\]\.0 #\d+ line (\d+) ", err, re.MULTILINE))
    [kernel] = json.loads(out)["profile"]["kernels"]
    assert {line["line"]: line["executions"] for line in kernel["lines"]} == dict(traced)
    assert kernel["executions"] == sum(traced.values()) == json.loads(out)["instructions"]


def counted(name: str, engine: str) -> tuple[dict, str]:
    path = EXAMPLES / name
    launch = parse_launch(path.with_suffix(".launch.yaml").read_text(), path.with_suffix(".launch.yaml"))
    report = run_text(path.read_text(), launch, RunOptions(path, engine=engine, checks="none", counts=True))
    return profile_values(report.profile), report.engine


@needs_llvmlite
@pytest.mark.parametrize("name", ["saxpy.visaasm", "mandelbrot.visaasm"])
def test_both_engines_count_the_same(name):
    (compiled, engine), (interpreted, _) = counted(name, "jit"), counted(name, "interp")
    assert engine == "jit"
    assert compiled == interpreted


def test_a_profile_goes_with_the_interpreter_and_says_so(printed, examples):
    out = printed("run", "saxpy.visaasm", "--profile")
    assert "  note: --profile uses the interpreter" in out
    assert "  profile of saxpy: 77 instructions, 6.5% of 917 lanes idle\n" in out
    assert "    line 46: the branch splits the lanes in 1 of 7 executions; 10.7% of the lanes take it\n" in out
    words = "7 read messages of global memory, 14.3 lanes each; 400 bytes in 7 cache lines, of which 89.3% is used\n"
    assert f"    line 49: {words}" in out


@needs_llvmlite
def test_a_profile_of_the_compiled_engine_is_refused():
    with pytest.raises(LaunchError, match="needs --engine interp"):
        profile("", engine="jit")


def test_an_object_has_places_instead_of_lines(printed, here):
    Path("k.visaasm").write_text(TEXT + LOOP + END)
    Path("k.launch.yaml").write_text(LAUNCH.format(groups=1))
    assert main(["asm", "k.visaasm"]) == 0
    assert "    instruction 3 " in printed("run", "k.isa", "--counts")


def test_without_the_options_there_is_no_profile(printed, examples):
    assert "profile" not in json.loads(printed("run", "saxpy.visaasm", "--format", "json"))


def test_speedscope_gets_stacks_of_kernel_loops_and_lines(examples, capsys):
    assert (
        main(["run", "saxpy.launch.yaml", "mandelbrot.launch.yaml", "--profile-out", "p.json", "--format", "json"]) == 0
    )
    reports = json.loads(capsys.readouterr().out)
    value = json.loads(Path("p.json").read_text())
    frames = value["shared"]["frames"]
    assert [one["name"] for one in value["profiles"]] == [
        f"{name}.launch.yaml: {kernel}, {what}"
        for name, kernel in (("saxpy", "saxpy"), ("mandelbrot", "mandel"))
        for what in ("executions", "active lanes")
    ]
    for one in value["profiles"]:
        assert one["type"] == "sampled"
        assert len(one["samples"]) == len(one["weights"])
        assert one["endValue"] == sum(one["weights"])
        assert all(0 <= number < len(frames) for stack in one["samples"] for number in stack)
    for report, one in zip(reports, value["profiles"][::2], strict=True):
        assert one["endValue"] == report["instructions"]
    stacks = {tuple(frames[number]["name"] for number in stack) for stack in value["profiles"][2]["samples"]}
    assert any(
        stack[:2] == ("mandel", "loop at line 138") and stack[2].startswith("mul (M1, 16) V0064") for stack in stacks
    )


@pytest.mark.parametrize("target", ["saxpy.visaasm", "saxpy.launch.yaml", "no/folder/p.json", "-"])
def test_a_profile_is_not_written_over_an_input_or_where_nothing_can_be(refused, examples, target):
    before = Path("saxpy.visaasm").read_text(), Path("saxpy.launch.yaml").read_text()
    assert target in refused("run", "saxpy.visaasm", "--profile-out", target)
    assert (Path("saxpy.visaasm").read_text(), Path("saxpy.launch.yaml").read_text()) == before


def test_ranges_are_counted_once_however_they_overlap():
    starts = np.array([0, 2, 10, 10, 60])
    ends = np.array([4, 6, 14, 12, 70])
    assert distinct_bytes(starts, ends) == 6 + 4 + 10
    assert pieces(starts, ends, 64).tolist() == [0, 1]
    assert pieces(starts, ends, 4).tolist() == [0, 1, 2, 3, 15, 16, 17]
    assert bank_conflicts(starts, ends) == 1, "dwords 0 and 16, and 1 and 17, share a bank; seven dwords need one round"
