"""The sizes of a launch by default: how long a buffer is meant to be, how many groups there are, what a second launch has."""

from __future__ import annotations

import shutil
from pathlib import Path

from corpus import place
from each_case import each_of

from visa_lsp.app.launch.count_values import CountArguments
from visa_lsp.app.launch.defaults import DefaultSizes, default_argument, fit_count
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.proposal import propose_run
from visa_lsp.app.launch.ready_run import run_ready
from visa_lsp.app.launch.runner import ready
from visa_lsp.cli.main import main
from visa_lsp.program.payload import ArgumentInfo, ExecutionEnv, KernelInfo

BUGS = Path(__file__).with_name("three_bugs")
FLAT, ODD, PLANE, SIDES = (128,), (111, 128), (27, 32, 1024), (29, 43, 32, 48, 1536)


@each_of(
    [
        (128, FLAT, 128), (129, FLAT, 128), (256, FLAT, 256), (3 * 129, FLAT, 3 * 128), (128 * 128 + 1, FLAT, 128 * 128),
        (112, ODD, 111), (111, ODD, 111), (128, ODD, 128), (256, ODD, 256), (27 * 27 + 1, PLANE, 27 * 27),
        (1025, PLANE, 1024), (33 * 32, PLANE, 1024), (28 * 27 + 1, PLANE, 27 * 27), (2048, PLANE, 2048), (5, FLAT, 5), (49, PLANE, 49), (225, PLANE, 225), (7, (), 7),
        (29 * 43, SIDES, 29 * 43), (42 * 43 + 29, SIDES, 29 * 43), (31 * 32, SIDES, 31 * 32), (43 * 29 + 43, SIDES, 29 * 43),
    ]
)  # fmt: skip
def test_a_buffer_ends_before_one_element_too_many(case):
    reached, extents, expected = case
    assert fit_count(reached, extents) == expected


@each_of([(1280, 1280), (1281, 1280), (1300, 1280), (1600, 1280), (3 * 320 + 19 * 20 + 16, 1280), (1263, 1263)])
def test_a_volume_ends_before_one_row_or_plane_too_many(case):
    reached, expected = case
    assert fit_count(reached, (16, 20, 4, 1280), (4,)) == expected


def test_a_number_close_to_a_multiple_is_one_too_many_only_with_other_counts_too():
    assert [fit_count(162, (10, 8, 80), has_lines=has_lines) for has_lines in (True, False)] == [160, 162]


def test_a_single_side_is_the_length_of_rows():
    """A transposition of square matrices in a launch of 32 x 48 work items."""
    assert fit_count(47 * 48 + 32, (48, 32)) == 48 * 32
    assert fit_count(47 * 48 + 32, (48, 32), has_one_side=True) == 47 * 48 + 32
    assert fit_count(64 * 65 + 64, (65, 64), has_one_side=True) == 64 * 65 + 64  # also a row more than 64 * 65


def proposal_of(text, quick=None):
    path = Path("k.visaasm")
    return propose_run(text, RunOptions(path.absolute()), path.with_suffix(".launch.yaml").absolute(), quick).proposal


def saxpy():
    source = place("run/TGLLP/axpy")
    shutil.copy(source / "axpy.zeinfo.yaml", ".")
    return (source / "saxpy.visaasm").read_text()


def test_a_guard_that_is_wrong_shows_where_counts_are_no_multiple(here):
    text = saxpy()
    good = proposal_of(text)
    assert (good.template["groups"], good.even.written, good.uneven.written != good.written) == (
        [3, 1, 1],
        good.written,
        True,
    )
    assert "argument 3 (n): 79, not a multiple of the group size, as int32" in good.uneven.assumed
    bad = proposal_of(text.replace("cmp.lt", "cmp.le").replace("cmp.ge", "cmp.gt"))
    assert bad.written == bad.uneven.written
    assert any("a buffer of 79 float32: 0, 1, 2, ...; a trial run reaches 80" in words for words in bad.assumed)


def test_what_is_given_is_kept(here):
    made = proposal_of(saxpy(), {"groups": [2, 1, 1], "args": [None, None, 2.5, 40]})
    assert (made.template["groups"], made.uneven) == ([2, 1, 1], None)
    assert made.template["arguments"][0]["launch"]["buffer"]["shape"] == [40]


def test_values_repeat_only_where_two_work_items_update_one_element(here):
    assert "cycle" not in proposal_of(saxpy()).written.text
    shutil.copy(BUGS / "three_bugs.zeinfo.yaml", ".")
    assert "cycle" in proposal_of((BUGS / "histogram.visaasm").read_text()).written.text


def test_a_race_within_a_thread_is_a_note_that_names_the_option(here):
    shutil.copy(BUGS / "three_bugs.zeinfo.yaml", ".")
    text = (BUGS / "reverse.visaasm").read_text().replace("0xfc:w", "0x7c:w")  # 31 - l
    path = Path("k.visaasm").absolute()
    for checks, notes, is_ok in (("all", 1, True), ("none", 0, True), ("all,item-races", 0, False)):
        options = RunOptions(path, checks=checks, engine="interp")
        made = propose_run(text, options, path.with_suffix(".launch.yaml"), {"local_size": [32, 1, 1]})
        report = run_ready(ready(made.module, made.proposal.read(path), options, made.notes, made.sources))
        assert (len(report.findings), report.ok) == (notes, is_ok), checks
        assert all("--checks all,item-races" in note.message for note in report.findings)
        assert report.buffers[0].array[:3].tolist() == [31, 30, 29]  # memory is as if nothing had run before


def test_a_launch_file_needs_no_launch_file(here, capsys):
    Path("k.launch.yaml").write_text("kernel: k\n")
    assert main(["run", "--init", "k.launch.yaml"]) == 2
    assert "k.launch.yaml: --init expects a text, an object or OpenCL C" in capsys.readouterr().err
    Path("k.visaasm").write_text(saxpy())
    assert main(["run", "--kernel", "saxpy", "k.visaasm"]) == 2
    assert "--kernel takes OpenCL C only" in capsys.readouterr().err


LINE = DefaultSizes((32, 1, 1), (3, 1, 1))
TALL, WIDE = DefaultSizes((16, 16, 1), (2, 3, 1)), DefaultSizes((16, 16, 1), (3, 4, 1))
ROOMY = DefaultSizes((16, 16, 1), (2, 3, 1), wide_rows=True)
VOLUME = DefaultSizes((8, 4, 2), (3, 7, 3))


@each_of([(TALL, 1), (ROOMY, ROOMY.items)])
def test_an_integer_may_be_the_distance_of_planes(case):
    sizes, value = case
    info = KernelInfo("k", ExecutionEnv(16), arguments=(ArgumentInfo(0, "sc", "long;8"),))
    assert default_argument(info, 0, sizes).launch == {"value": value, "dtype": "int64"}


def test_a_vector_of_counts_has_the_numbers_of_work_items():
    names = ("dim", "dims", "offset")
    info = KernelInfo(
        "k", ExecutionEnv(16), arguments=tuple([ArgumentInfo(n, name, "int2;8") for n, name in enumerate(names)])
    )
    assert [default_argument(info, n, TALL).launch["values"] for n in range(len(names))] == [
        [32, 48], [32, 48], [1, 1],
    ]  # fmt: skip


def test_the_distance_of_rows_is_a_count():
    names = ("lda", "ldc", "ld", "stride", "old", "load")
    info = KernelInfo(
        "k", ExecutionEnv(16), arguments=tuple([ArgumentInfo(n, name, "int;4") for n, name in enumerate(names)])
    )
    assert [LINE.has_count(info, index) for index in range(len(names))] == [True, True, True, True, False, False]


@each_of(
    [
        ({1: "n"}, [{1}], LINE, {1: 96}, {1: 79}),
        ({1: "rows", 2: "cols"}, [{1}], LINE, {1: 96, 2: 80}, {1: 79, 2: 89}),
        ({1: "w", 2: "h"}, [{1, 2}], LINE, {1: 12, 2: 8}, {1: 7, 2: 13}),
        ({1: "w", 2: "h"}, [{1}, {2}], TALL, {1: 32, 2: 48}, {1: 29, 2: 19}),
        ({1: "w", 2: "h"}, [{1}, {2}], WIDE, {1: 48, 2: 64}, {1: 43, 2: 23}),
        ({1: "h", 2: "w", 3: "pitch"}, [{1}, {2}], WIDE, {1: 64, 2: 48, 3: 56}, {1: 23, 2: 43, 3: 47}),
        ({1: "lda", 2: "ldc", 3: "k"}, [], ROOMY, {1: 520, 2: 528, 3: 32}, {1: 521, 2: 523, 3: 32}),
        ({1: "a", 2: "b"}, [], TALL, {1: 32, 2: 48}, {1: 32, 2: 48}),  # exactly covered
        ({1: "n"}, [{1}], WIDE, {1: 64}, {1: 43}),
        ({1: "nx", 2: "ny", 3: "nz"}, [{1}, {2}, {3}], VOLUME, {1: 24, 2: 28, 3: 6}, {1: 19, 2: 11, 3: 3}),
    ]
)
def test_the_counts_of_a_launch_differ_and_vary_as_primes_where_the_kernel_compares_them(case):
    names, guards, sizes, even, uneven = case
    counts = CountArguments(names, tuple(map(frozenset, guards)))
    assert (counts.even(sizes).counts, counts.uneven(sizes).counts) == (even, uneven)
