"""The editor on ze_info: hover, completion, definition both ways, symbols, byte ranges."""

import re

import pytest

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.hover import hover
from visa_lsp.ide.features.inlay_hints import HintKind, inlay_hints
from visa_lsp.ide.index.focus import header_of
from visa_lsp.ide.zeinfo.described_inputs import (
    HeldArgument,
    arguments_in,
    inputs_told,
    kernel_at,
    place_in_document,
    simd_size_of,
)
from visa_lsp.ide.zeinfo.info_document import InfoDocument
from visa_lsp.ide.zeinfo.input_words import labels, pages

TEXT = """\
.version 4.1
.kernel "k"
.decl ids v_type=G type=uw num_elts=16 align=GRF
.decl p v_type=G type=uq num_elts=1 align=qword
.decl n v_type=G type=d num_elts=1 align=dword
.input ids offset=32 size=32
.input p offset=64 size=8
.input n offset=72 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    ret (M1, 1)
"""
DOCUMENT = """\
version: '1.20'
kernels:
  - name: k
    execution_env:
      grf_count: 128
      simd_size: 16
      thread_scheduling_mode: age_based
    payload_arguments:
      - arg_type: arg_bypointer
        offset: 0
        size: 8
        arg_index: 0
        addrmode: stateless
        addrspace: global
      - arg_type: arg_byvalue
        offset: 8
        size: 4
        arg_index: 1
    per_thread_payload_arguments:
      - {arg_type: local_id, offset: 0, size: 32}
"""
ANALYSIS = Analysis.of(TEXT, "TGLLP")
INFO = InfoDocument(DOCUMENT, (("k.visaasm", ANALYSIS),))


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("grf_count", ("**grf_count** (ExecutionEnv)", "Required.", "a whole number of 32 bits")),
        ("age_based", ("`age_based`: The oldest ready thread", "Since version 1.10.")),
        ("payload_arguments", ("a list of PayloadArgument", "Optional.")),
        ("offset: 8", ("Lies at bytes 72 to 75 of the registers: `.input n`",)),
        ("stateless", ("`stateless`: By address", "Present when arg_type is arg_bypointer")),
        ("local_id", ("`local_id`: Local ids of every lane",)),
        ("version", ("quoted",)),
    ],
)
def test_hover_tells_the_table(at, words):
    found = INFO.hover(DOCUMENT.index(at) + 1)
    assert found is not None
    assert all(word in found.markdown for word in words), found.markdown
    assert DOCUMENT[found.span.start : found.span.end].startswith(at.split(":")[0])


def test_hover_is_silent_between_things_and_on_broken_texts():
    assert INFO.hover(len(DOCUMENT)) is None
    assert InfoDocument("a: [1").hover(0) is None


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("^", {"version", "kernels"}, {"name"}),
        ("version: '1.14'\n^", {"kernels", "functions"}, {"version"}),
        ("kernels:\n  - ^", {"name", "execution_env"}, {"version"}),
        ("kernels:\n  - name: k\n    ^", {"execution_env", "payload_arguments"}, {"name", "grf_count"}),
        (
            "kernels:\n  - name: k\n    execution_env:\n      simd_size: 8\n      ^",
            {"grf_count"},
            {"simd_size", "name"},
        ),
        (
            "kernels:\n  - name: k\n    execution_env:\n      ^\n      simd_size: 8\n",
            {"grf_count"},
            {"simd_size", "name"},
        ),
        ("kernels:\n- name: k\n  execution_env:\n    gr^", {"grf_count"}, {"kernels"}),
        (
            "kernels:\n  - payload_arguments:\n      - arg_type: local_size\n        ^",
            {"offset", "size"},
            {"arg_type", "name"},
        ),
        ("kernels:\n  - payload_arguments:\n      - arg_type: local_size\n      - ^", {"arg_type"}, {"name"}),
        ("kernels:\n  - payload_arguments:\n      - arg_type: ^", {"local_size", "arg_byvalue"}, {"offset"}),
        ("kernels:\n  - payload_arguments:\n      - addrmode: st^", {"stateful", "slm"}, {"shared_local_memory"}),
        ("kernels:\n  - execution_env:\n      has_dpas: ^", {"true", "false"}, set()),
        ("kernels:\n  - execution_env:\n      simd_size: ^", {"8", "16", "32"}, set()),
        ("kernels:\n  - execution_env:\n      broken [\n      ^", {"grf_count"}, set()),
        ("kernels_misc_info:\n  - name: k\n    args_info:\n      - index: 0\n        ^", {"type_name"}, {"index"}),
        ("nonsense:\n  - ^", set(), {"name", "version"}),
    ],
)
def test_completion_knows_the_map(text, wanted, unwanted):
    offset = text.index("^")
    labels = {c.label for c in InfoDocument(text.replace("^", "")).completions(offset)}
    assert wanted <= labels
    assert not unwanted & labels


def test_completion_replaces_the_word():
    text = "kernels:\n  - execution_env:\n      simd_si"
    found = next(c for c in InfoDocument(text).completions(len(text)) if c.label == "simd_size")
    assert (
        text[: found.span.start] + found.insert + text[found.span.end :]
        == "kernels:\n  - execution_env:\n      simd_size: "
    )


@pytest.mark.parametrize(
    ("at", "target"), [("arg_byvalue", "n"), ("offset: 0\n", "p"), ("size: 4", "n"), ("k\n", '"k"')]
)
def test_definition_goes_to_the_input(at, target):
    found = INFO.definition(DOCUMENT.index(at) + 1 - (at == "k\n"))
    assert found is not None
    path, span = found
    assert path == "k.visaasm"
    assert TEXT[span.start : span.end] == target


@pytest.mark.parametrize(
    ("at", "target"),
    [(".input n", "arg_byvalue"), (".input p", "arg_bypointer"), (".input ids", "local_id"), ('"k"', "k")],
)
def test_definition_goes_back_to_the_argument(at, target):
    span = place_in_document(DOCUMENT, ANALYSIS, TEXT.index(at) + len(at) - 1)
    assert span is not None
    words = DOCUMENT[span.start : span.end]
    assert words in (target, "arg_type")
    assert target in DOCUMENT[span.start : span.start + 40]


def test_definition_has_no_answer_elsewhere():
    assert INFO.definition(0) is None
    assert InfoDocument(DOCUMENT).definition(DOCUMENT.index("arg_byvalue")) is None
    assert place_in_document(DOCUMENT, ANALYSIS, TEXT.index("ret")) is None


def test_symbols_are_kernels_and_their_parts():
    (kernel,) = INFO.symbols()
    assert (kernel.name, kernel.kind) == ("k", "kernel")
    assert [(c.name, c.detail) for c in kernel.children] == [
        ("execution_env", "SIMD16, 128 GRFs"),
        ("payload_arguments", "2"),
        ("per_thread_payload_arguments", "1"),
    ]
    assert [c.name for c in kernel.children[1].children] == ["arg_bypointer", "arg_byvalue"]
    assert kernel.children[1].children[1].detail == "argument 1, 4 bytes at 8"
    assert all(kernel.whole.start <= c.whole.start <= c.whole.end <= kernel.whole.end for c in kernel.children)


def test_byte_ranges_stand_behind_the_sizes():
    assert [(DOCUMENT[:at].rsplit("\n", 1)[1].strip(), label) for at, label in INFO.hints()] == [
        ("size: 8", "bytes 64..71, .input p"),
        ("size: 4", "bytes 72..75, .input n"),
    ]


MISC = """\
kernels_misc_info:
  - name: k
    args_info:
      - {index: 0, name: out, address_qualifier: __global, access_qualifier: NONE, type_name: 'float*;8', type_qualifiers: NONE}
      - {index: 1, name: n, address_qualifier: __private, access_qualifier: NONE, type_name: 'int;4', type_qualifiers: NONE}
"""


def test_inputs_are_told_with_the_names_and_types_of_their_arguments():
    analysis = Analysis.of(TEXT, "TGLLP")
    told = arguments_in(inputs_told(DOCUMENT + MISC, analysis, "k"))
    assert told == {
        "p": HeldArgument(0, "out", "float*", "__global", "arg_bypointer", 0, 8),
        "n": HeldArgument(1, "n", "int", "__private", "arg_byvalue", 8, 4),
    }
    untold = arguments_in(inputs_told(DOCUMENT, analysis, "k"))
    assert {name: (a.index, a.name, a.type_name) for name, a in untold.items()} == {"p": (0, "", ""), "n": (1, "", "")}
    assert inputs_told(DOCUMENT, analysis, "other") == {}
    assert (simd_size_of(analysis, "k"), simd_size_of(analysis, "other")) == (16, 0)
    places = [TEXT.index('"k"') + 1, TEXT.index("p offset"), TEXT.index("ret")]
    assert [kernel_at(analysis, offset) for offset in places] == ["k", "k", None]


def told(analysis: Analysis, document: str = DOCUMENT + MISC) -> dict[str, tuple[HeldArgument, ...]]:
    return inputs_told(document, header_of(analysis, "k"), "k")


def test_what_an_input_holds_is_said_beside_it_and_in_its_page():
    analysis = Analysis.of(TEXT, "TGLLP")
    assert labels(told(analysis)) == {"ids": "local_id x", "p": "out: __global float*", "n": "n: int"}
    shown = pages(told(analysis), "k.zeinfo.yaml")
    assert shown["p"] == (
        "argument 0, **out**: `__global float*`, `arg_bypointer`, payload offset 0, 8 bytes — by `k.zeinfo.yaml`"
    )
    assert shown["ids"].startswith("`local_id x`, filled by the runtime, ")
    assert labels(told(analysis, DOCUMENT)) == {"ids": "local_id x", "p": "argument 0", "n": "argument 1"}


@pytest.mark.parametrize("padding", [0, 300])
def test_what_an_input_holds_is_known_whatever_is_wrong_in_the_code(padding: int):
    analysis = Analysis.of(TEXT + "    movv (M1, 8) nowhere\n" * (1 + padding), "TGLLP")
    assert set(told(analysis)) == {"ids", "p", "n"}
    assert inputs_told(DOCUMENT, header_of(analysis, "other"), "other") == {}


def test_facts_about_an_argument_name_it():
    more = DOCUMENT.replace("arg_byvalue", "buffer_offset")
    assert labels(told(Analysis.of(TEXT, "TGLLP"), more + MISC))["n"] == "buffer_offset of n"


def test_names_of_arguments_break_no_line_and_make_no_markdown():
    odd = MISC.replace("name: out,", 'name: "[x](command:a) \\n\\u202e**b**' + "y" * 300 + '",')
    found = told(Analysis.of(TEXT, "TGLLP"), DOCUMENT + odd)
    assert "\n" not in labels(found)["p"]
    assert "\u202e" not in labels(found)["p"]
    assert len(labels(found)["p"]) < 100
    shown = pages(found, "[x](command:b)")["p"]
    assert "[x](command" not in re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", shown)


def test_arguments_stand_beside_inputs_and_their_declarations():
    analysis = Analysis.of(TEXT, "TGLLP")
    lines = analysis.document.text.split("\n")
    hints = inlay_hints(analysis, 0, 100, (HintKind.ARGUMENT,), lambda _kernel: labels(told(analysis)))
    assert {(lines[h.line].split()[0], lines[h.line].split()[1], h.text) for h in hints} == {
        (word, name, text) for word in (".decl", ".input") for name, text in labels(told(analysis)).items()
    }
    assert all(h.column == len(lines[h.line].split("//")[0].rstrip()) for h in hints)


def test_hover_of_an_input_tells_its_argument():
    analysis = Analysis.of(TEXT, "TGLLP")
    for needle in (".decl p", ".input p"):
        found = hover(
            analysis, TEXT.index(needle) + len(needle) - 1, lambda _kernel: pages(told(analysis), "k.ze_info")
        )
        assert found is not None
        assert "argument 0, **out**: `__global float*`" in found.markdown, needle
