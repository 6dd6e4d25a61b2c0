"""``emit`` on a small dump: what the numbers of its variables tell, what they leave open, and how that is settled."""

import pytest
from zeinfo_answers import where

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.cli.main import main
from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts
from visa_lsp.zeinfo.emit.emission import ArgumentHint, EmitError, emit_with_doubts
from visa_lsp.zeinfo.emit.slots import InputSlot
from visa_lsp.zeinfo.emit.structs import struct_parts
from visa_lsp.zeinfo.emit.user_answers import SayError, read_answers
from visa_lsp.zeinfo.read_kernels import read
from visa_lsp.zeinfo.validate import validate

DUMP = """\
.version 4.1
.kernel "k"
.decl V0032 v_type=G type=d num_elts=8 align=hword
.decl V0033 v_type=G type=d num_elts=8 align=hword alias=<%r0, 0>
.decl V0034 v_type=G type=uq num_elts=1 align=qword
.decl V0035 v_type=G type=d num_elts=1 align=dword
.decl V0036 v_type=G type=uq num_elts=1 align=qword
.decl V0037 v_type=G type=d num_elts=8 align=hword
.decl V0038 v_type=G type=d num_elts=8 align=hword alias=<%r0, 0>
.decl V0039 v_type=G type=d num_elts=8 align=hword
.decl V0040 v_type=G type=d num_elts=3 align=dword
.decl V0041 v_type=G type=w num_elts=16 align=hword
.decl V0042 v_type=G type=d num_elts=1 align=dword
.decl V0043 v_type=G type=uq num_elts=16 align=GRF
.decl V0044 v_type=G type=d num_elts=16 align=GRF
.decl V0045 v_type=G type=uq num_elts=16 align=GRF
.input V0041 offset=32 size=32
.input V0039 offset=64 size=32
.input V0036 offset=96 size=8
.input V0034 offset=104 size=8
.input V0035 offset=112 size=4
.input V0040 offset=116 size=12
.kernel_attr Target="3d"
.kernel_attr SimdSize=16
    add (M1_NM, 1) V0042(0,0)<1> V0040(0,0)<0;1,0> V0035(0,0)<0;1,0>
    mov (M1, 16) V0045(0,0)<1> V0034(0,0)<0;1,0>
    svm_gather.4.1 (M1, 16) V0045.0 V0044.0
    add (M1, 16) V0043(0,0)<1> V0036(0,0)<0;1,0> V0042(0,0)<0;1,0>
    svm_scatter.4.1 (M1, 16) V0043.0 V0044.0
    ret (M1, 1)
"""


def doubtful(text: str, hints=None, say=()):
    kernels = kernel_texts(Analysis.of(text, "TGLLP"), "k")
    made = emit_with_doubts([k.kernel for k in kernels], where("TGLLP"), hints and {"k": hints}, read_answers(say))
    assert [d.message for d in validate(made.text)] == []
    (info,) = read(made.text)
    return [(a.arg_type, a.offset, a.arg_index) for a in info.payload], [d.message for d in made.doubts]


def test_order_of_a_dump_is_that_of_its_variables():
    """The buffer that stands first in the payload is the third argument: the first is __constant."""
    payload, doubts = doubtful(DUMP, [ArgumentHint("buffer"), ArgumentHint("value", size=4), ArgumentHint("buffer")])
    assert payload == [
        ("global_id_offset", 0, -1),
        ("local_size", 12, -1),
        ("arg_bypointer", 32, 2),
        ("arg_bypointer", 40, 0),
        ("arg_byvalue", 48, 1),
        ("local_size", 52, -1),
    ]
    assert [d.split(";")[0] for d in doubts] == [
        ".input V0040 (offset=116 size=12) is one of group_count, global_size and local_size"
    ]


def test_what_is_said_is_taken_and_not_doubted():
    payload, doubts = doubtful(
        DUMP, [ArgumentHint("buffer"), ArgumentHint("value", size=4), ArgumentHint("buffer")], ["V0040=group_count"]
    )
    assert payload[-1] == ("group_count", 52, -1)
    assert doubts == []


def test_a_dump_alone_tells_the_order_of_what_the_code_takes():
    payload, doubts = doubtful(DUMP, None, ["V0040=global_size"])
    assert [index for kind, _, index in payload if kind.startswith("arg_")] == [2, 0, 1]
    assert doubts == []


def test_arguments_of_a_dump_by_name():
    hints = {"V0034": ArgumentHint("buffer"), "V0035": ArgumentHint("value"), "V0036": ArgumentHint("buffer")}
    payload, _ = doubtful(DUMP, hints)
    assert [index for kind, _, index in payload if kind.startswith("arg_")] == [2, 0, 1]
    with pytest.raises(EmitError, match="unknown argument 'V0099'"):
        doubtful(DUMP, {**hints, "V0099": ArgumentHint("value")})


def test_arguments_that_a_dump_does_not_have_are_refused():
    for hints, words in (
        (
            [ArgumentHint("buffer"), ArgumentHint("value", size=4)],
            "is the address of a buffer, but the launch file does not give it",
        ),
        ([ArgumentHint("buffer")] * 3 + [ArgumentHint("value", size=4)], "argument 2 has no .input"),
        (
            [ArgumentHint("buffer"), ArgumentHint("value", size=8), ArgumentHint("buffer")],
            "cannot hold argument 1, which has 8 bytes",
        ),
        (
            [ArgumentHint("buffer"), ArgumentHint("value", size=4), ArgumentHint("buffer"), ArgumentHint("local")],
            "argument 3 has no .input",
        ),
    ):
        with pytest.raises(EmitError, match=words.replace("(", ".").replace(")", ".")):
            doubtful(DUMP, hints)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("V0040", "expected NAME=WORDS"),
        ("V0040=globl_size", "did you mean 'global_size'?"),
        ("V0040=blue", "expected a word of arg_type"),
        ("x=constant", "expected the number of an argument"),
        ("private=many", "expected bytes, as private=512"),
        ("sampler(0)=purple", "expected words for a sampler: none, "),
    ],
)
def test_words_that_mean_nothing_are_refused(words, message):
    with pytest.raises(SayError) as error:
        read_answers([words])
    assert message in str(error.value)


def test_saying_something_of_no_input_is_refused():
    with pytest.raises(SayError, match=r"unknown \.input; known inputs: V0034"):
        doubtful(DUMP, None, ["V0099=global_size"])


def test_structs_are_cut_apart_by_their_sizes():
    pieces = [InputSlot(i, f"V{i}", 0, 4 * i, size, type_, 1, i) for i, (type_, size) in enumerate(
        [("d", 4), ("b", 1), ("w", 2), ("f", 4), ("f", 4), ("b", 1), ("b", 1), ("b", 1), ("b", 1)])]  # fmt: skip
    first, second = struct_parts(pieces, [12, 8])
    assert [at for _, at in first.parts] == [0, 4, 6, 8]
    assert [at for _, at in second.parts] == [0, 4, 5, 6, 7]
    assert first.sure
    assert second.sure
    assert struct_parts(pieces, [3, 4]) is None


def test_the_command_warns_and_is_told(tmp_path, capsys):
    (tmp_path / "k.visaasm").write_text(DUMP)
    out = tmp_path / "k.zeinfo.yaml"
    assert main(["zeinfo", "emit", str(tmp_path / "k.visaasm"), "-o", str(out)]) == 0
    warned = capsys.readouterr().err
    assert "k.visaasm:22:8: warning: kernel 'k': .input V0040" in warned
    assert "--say V0040=global_size" in warned
    assert main(["zeinfo", "emit", str(tmp_path / "k.visaasm"), "-o", str(out), "--say", "V0040=global_size"]) == 0
    assert capsys.readouterr().err == ""
    assert "arg_type:        global_size" in out.read_text()
    assert main(["zeinfo", "emit", str(tmp_path / "k.visaasm"), "--say", "V0040=blue"]) == 2


def many_buffers(count: int) -> str:
    """Return a dump whose code takes none of its buffers but one, which it writes."""
    names = [f"V{100 + n:04}" for n in range(count)]
    declared = "".join(f".decl {n} v_type=G type=uq num_elts=1 align=qword\n" for n in names)
    inputs = "".join(f".input {n} offset={96 + 8 * i} size=8\n" for i, n in enumerate(names))
    fillers = "".join(f".decl V{n:04} v_type=G type=d num_elts=1 align=dword\n" for n in range(46, 100))
    head, rest = DUMP.split(".input V0036")
    return (
        head + fillers + declared + inputs + ".input V0035 offset=2000 size=4\n.kernel_attr SimdSize=16\n"
        "    mov (M1_NM, 1) V0042(0,0)<1> V0035(0,0)<0;1,0>\n    ret (M1, 1)\n"
    ) if rest else ""  # fmt: skip


@pytest.mark.parametrize("count", [2, 6, pytest.param(14, marks=pytest.mark.full), 15, 60])
def test_many_buffers_of_unknown_order_are_one_doubt(count):
    hints = [ArgumentHint("buffer")] * count + [ArgumentHint("value", size=4)]
    payload, doubts = doubtful(many_buffers(count), hints)
    assert [index for kind, _, index in payload if kind == "arg_bypointer"] == list(range(count))
    assert len(doubts) == 1
    assert "the text does not contain which buffers are __constant" in doubts[0]
    payload, doubts = doubtful(many_buffers(count), hints, ["0=constant"])
    assert [index for kind, _, index in payload if kind == "arg_bypointer"] == [*range(1, count), 0]
    assert doubts == []
