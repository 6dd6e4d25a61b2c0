"""Texts in ``cases/`` with the answers that they get, and small kernels about what a lane has written."""

from __future__ import annotations

from pathlib import Path

import pytest
from each_case import check_each
from planted_faults import HEAD, INDEX, STORE
from tiers import one_of_each

from visa_lsp.app.assemble import program_of_text
from visa_lsp.app.prove.document import ProofOptions, prove_kernel
from visa_lsp.app.prove.element_words import element_at

pytest.importorskip("z3")

CASES = Path(__file__).parent / "cases"
ANSWERS = {
    ("uninit_broadcast", "uninitialised"): {"proved", "refuted"},
    ("shuffle_uninit", "uninitialised"): {"proved", "refuted", "unknown"},
    # The id along y is stored, though no address depends on it.
    ("y_only_in_value", "race"): {"refuted"},
    # Accesses that only rounds beyond 2^31 reach.
    ("trip_over_2_31", "bounds"): None,
    ("private_array", "bounds"): {"proved"},
    ("private_array", "uninitialised"): {"proved"},
    ("private_array_left", "bounds"): {"proved", "refuted"},
    # Rows of a buffer overlap where the matrix is higher than wide.
    ("transpose_bmg", "race"): {"proved", "refuted"},
    ("transpose_bmg", "bounds"): {"proved", "refuted"},
    # The conversion to char is a shift that wraps around in small launches: a negative index.
    ("char_index", "bounds"): {"proved", "refuted"},
    # An array of 132 bytes, in an allocation of 160; groups are one thread, so that the text has no barrier.
    ("behind_array", "bounds"): {"proved", "refuted"},
    ("behind_array", "race"): {"proved", "unknown"},
    # `t[clamp(ix[i], 0, m - 1)]`: a buffer has elements.
    ("clamped", "bounds"): {"proved"},
    # A row for each thread of a group: with groups of one work item, none of the sizes that a host would choose fits.
    ("rows_of_threads", "bounds"): {"unknown"},
    # `y == h - 1 ? i : i + w`: a host starts as many work items as there are rows.
    ("last_row", "bounds"): {"proved"},
    # One buffer of w * h, one of (w // 2) * (h // 2) elements.
    ("halve", "bounds"): {"proved"},
}


def prove(path, text, properties, *assume):
    program = program_of_text(text)
    assert program.module is not None, program.diagnostics
    given = ProofOptions(seconds=20, properties=tuple(properties.split()), assume=assume)
    return prove_kernel(program.module, program.module.kernels[-1], path.name, path, text.encode(), given)


@pytest.mark.parametrize("case", one_of_each(ANSWERS, lambda case: (case[1], str(ANSWERS[case]))), ids=" ".join)
def test_a_text_gets_its_answers(case):
    name, property_, *assume = case
    path, expected = CASES / f"{name}.visaasm", ANSWERS[case]
    results = prove(path, path.read_text(), property_, *assume)
    # A launch may show the fault in some lanes only; which launch Z3 finds is chance.
    found = {one.answer for one in results if "does not have it here" not in (one.reason or "")}
    assert found == expected if expected else found


def test_a_fault_names_the_element_and_the_condition():
    path = CASES / "behind_array.visaasm"
    faults = [fault for one in prove(path, path.read_text(), "bounds") for fault in one.faults]
    assert {(fault["access"], fault["condition"]) for fault in faults} == {
        ("t[0][get_local_id(0) + 2]", "behind_array.cl:8")
    }


def test_small_launches_have_room_for_rows_of_structures():
    path = CASES / "rows_of_structs.visaasm"
    results = prove(path, path.read_text(), "race bounds")
    assert {one.answer for one in results} == {"proved"}
    assert {need.elements for one in results for need in one.needs} == {"n * m", "m"}


def test_a_row_for_each_work_item_is_part_of_a_need():
    """The elements of a work item limit how many of them get to the access; the number of work items is its pitch."""
    path = CASES / "rows_of_all.visaasm"
    needs = {need.buffer: need.elements for one in prove(path, path.read_text(), "bounds") for need in one.needs}
    assert needs == {"base": "3 * global_size", "out": "global_size"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # In elements of the types that a source names.
        ("either_way", {"mark": "global_size", "cost": "global_size"}),
        ("by_argument", {"a": "n", "b": "step + 1"}),
        ("long_rows", {"w": "n * (k + 1)", "a": "n"}),
    ],
)
def test_needs_are_those_that_a_host_would_recognise(name, expected):
    path = CASES / f"{name}.visaasm"
    results = prove(path, path.read_text(), "bounds")
    assert {one.answer for one in results} == {"proved"}
    assert {need.buffer: need.elements for one in results for need in one.needs} == expected


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("tiles", {"local_size_x == 16", "local_size_y == 16"}),
        ("halves", set()),  # each work item adds up two elements: 128 would be wrong
    ],
)
def test_a_kernel_is_proved_for_the_group_size_that_it_is_written_for(name, sizes):
    path = CASES / f"{name}.visaasm"
    results = prove(path, path.read_text(), "race bounds")
    assert {one.answer for one in results} == {"proved"}
    presumed = {words.partition(":")[0] for one in results for words in one.assumptions}
    assert {words for words in presumed if words.startswith("local_size")} == sizes


@pytest.mark.parametrize(
    ("words", "element"),
    [
        ("t[get_local_id(1) + 5][2 * n] and the next 3 elements", "t[20][6] to t[20][9]"),
        ("c[(get_global_id(0) / 4) % n], a float4 of 4 elements", "c[1]"),
        ("c[3]", ""),  # nothing to compute
        ("c[step + 1]", ""),  # of unknown value
        ("in[in]", ""),  # a word of Python's own
    ],
)
def test_an_element_is_that_of_one_work_item(words, element):
    assert element_at(words, {"get_local_id(1)": 15, "get_global_id(0)": 17, "n": 3}) == element


@pytest.mark.full
def test_a_shift_of_words_exceeds_their_bits_in_a_dword():
    path = CASES / "shl_word.visaasm"
    (found,) = prove(path, path.read_text(), "bounds")
    assert found.answer != "proved" or found.needs[0].elements == "262144"


UNWRITTEN = HEAD.removesuffix("    mov (M1, 16) value(0,0)<1> gid(0,0)<1;1,0>\n")
WRITTEN = {
    "under opposite predicates": (
        ("    cmp.lt (M1, 16) P1 lid(0,0)<1;1,0> n(0,0)<0;1,0>\n"
        "    (P1) mov (M1, 16) value(0,0)<1> lid(0,0)<1;1,0>\n    (!P1) mov (M1, 16) value(0,0)<1> gid(0,0)<1;1,0>\n"),
        {"proved"},
    ),
    "under a predicate that changes": (
        ("    cmp.lt (M1, 16) P1 lid(0,0)<1;1,0> n(0,0)<0;1,0>\n"
        "    (P1) mov (M1, 16) value(0,0)<1> lid(0,0)<1;1,0>\n"
        "    cmp.lt (M1, 16) P1 gid(0,0)<1;1,0> n(0,0)<0;1,0>\n"
        "    (!P1) mov (M1, 16) value(0,0)<1> gid(0,0)<1;1,0>\n"),
        {"proved", "unknown"},
    ),
    "under one predicate": (
        "    cmp.lt (M1, 16) P1 lid(0,0)<1;1,0> n(0,0)<0;1,0>\n    (P1) mov (M1, 16) value(0,0)<1> lid(0,0)<1;1,0>\n",
        {"proved", "refuted"},
    ),
    "by its own lane": ("    mov (M1, 16) value(0,0)<1> lid(0,0)<1;1,0>\n", {"proved"}),
    "by another lane": (
        ("    mov (M1, 16) at(0,0)<1> lid(0,0)<1;1,0>\n    mov (M1_NM, 1) step(0,0)<1> at(1,7)<0;1,0>\n"
        "    mov (M1, 16) value(0,0)<1> step(0,0)<0;1,0>\n"),
        {"proved", "refuted"},
    ),
    "by another lane, through a copy of all": (
        ("    mov (M1, 16) at(0,0)<1> lid(0,0)<1;1,0>\n    mov (M1_NM, 16) value(0,0)<1> at(0,0)<1;1,0>\n"
        "    mov (M1_NM, 1) step(0,0)<1> value(1,7)<0;1,0>\n    mov (M1, 16) value(0,0)<1> step(0,0)<0;1,0>\n"),
        {"proved", "refuted", "unknown"},
    ),
    "by all lanes": (
        ("    mov (M1_NM, 16) at(0,0)<1> 0x1:d\n    mov (M1_NM, 1) step(0,0)<1> at(1,7)<0;1,0>\n"
        "    mov (M1, 16) value(0,0)<1> step(0,0)<0;1,0>\n"),
        {"proved"},
    ),
}  # fmt: skip


@pytest.mark.full
def test_each_lane_reads_what_was_written():
    def check(name):
        code, expected = WRITTEN[name]
        text = UNWRITTEN + code + INDEX.format("gid") + STORE.format("y", "at") + "    ret (M1, 1)\n"
        found = {one.answer for one in prove(Path("k.visaasm"), text, "uninitialised")}
        assert found == expected, found

    check_each(WRITTEN, check)


def test_a_full_thread_reads_elements_of_other_lanes():
    code = WRITTEN["by another lane"][0] + INDEX.format("gid") + STORE.format("y", "at") + "    ret (M1, 1)\n"
    found = prove(
        Path("k.visaasm"), HEAD + code, "uninitialised", "local_size == 32", "local_size_y == 1", "local_size_z == 1"
    )
    assert {one.answer for one in found} == {"proved"}
    assert {one.assumptions[0] for one in found} == {"local_size == 32"}


BRANCHES = (
    "    mov (M1_NM, 16) at(0,0)<1> 0x100000:d\n    cmp.gt (M1_NM, 16) P2 n(0,0)<0;1,0> 0x4:d\n"
    "    (!P2) goto (M1, 16) other\n    mov (M1_NM, 16) at(0,0)<1> 0x4:d\n    goto (M1, 16) both\n"
    "other:\n    mov (M1, 16) at(0,0)<1> 0x8:d\nboth:\n"
    "    mov (M1_NM, 1) step(0,0)<1> at(1,7)<0;1,0>\n    mov (M1, 16) at(0,0)<1> step(0,0)<0;1,0>\n"
)


def test_a_branch_may_leave_out_the_lanes_that_the_other_one_writes():
    text = HEAD + BRANCHES + STORE.format("%slm", "at") + "    ret (M1, 1)\n"
    (found,) = prove(Path("k.visaasm"), text, "bounds")
    assert found.answer != "proved"
