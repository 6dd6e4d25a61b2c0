from time import process_time

import pytest
from cursor import DECLARATIONS, analyse_at_cursor

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.completion import ItemKind, documentation, offers
from visa_lsp.isa.table import TABLE


def labels(source: str) -> list[str]:
    analysis, offset = analyse_at_cursor(source)
    return [item.label for item in offers(analysis, offset)[0]]


@pytest.mark.parametrize(
    ("source", "has", "has_not"),
    [
        ("m^", {"mad", "mov", "goto", ".decl"}, {"A", "label"}),
        ("    ^", {"mad", ".input"}, {"P1"}),
        ("(P1) ^", {"goto", "add"}, {"P1"}),
        ("(^", {"P1"}, {"A", "mad"}),
        ("(!^", {"P1"}, {"A", "mad"}),
        (".^", {".decl", ".kernel_attr"}, {"mad"}),
        ("cmp.^", {"lt", "ge"}, {"sat"}),
        ("add.^", {"sat"}, {"lt"}),
        ("add (^", {"M1", "M5_NM"}, {"16"}),
        ("add (M1, ^", {"1", "16", "32"}, {"M1"}),
        ("add (M1, 16) ^", {"A", "B", "%r0"}, {"P1", "0x0:f", "T6"}),
        ("add (M1, 16) A(0,0)<1> ^", {"A", "X", "0.0:f"}, {"P1", "T6", "%null"}),
        ("add (M1, 16) A(0,0)<1> B(0,0)<^", {"1;1,0", "0;1,0"}, {"A"}),
        ("add (M1, 16) A(0,0)<^", {"1", "2"}, {"1;1,0"}),
        ("add (M1, 16) A(0,0)<1> B(0,0)<1;1,0> 0x1:^", {"d", "f"}, {"A"}),
        ("goto (M1, 1) ^\nL1:\nL2:", {"L1", "L2"}, {"A"}),
        ("movs (M1_NM, 1) ^", {"T6"}, {"P1"}),
        (".decl Y ^", {"v_type=", "num_elts="}, {"A"}),
        (".decl Y v_type=G ^", {"type="}, {"v_type="}),
        (".decl Y v_type=^", {"G", "P"}, {"ud"}),
        (".decl Y v_type=G type=^", {"ud", "df"}, {"v", "bool"}),
        (".decl Y v_type=G type=d num_elts=1 align=^", {"GRF", "hword"}, {"ud"}),
        (".decl Y v_type=G type=d num_elts=1 alias=<^", {"A", "%r0"}, {"P1"}),
        (".decl Y v_type=G type=d num_elts=1 attrs={^", {"Output"}, {"SimdSize"}),
        (".kernel_attr ^", {"SimdSize", "Target"}, {"Output"}),
        (".kernel_attr SimdSize=^", {"8", "16", "32"}, {"Target"}),
        (".input ^", {"A", "T6"}, {"P1", "%r0"}),
        (".input A ^", {"offset=", "size="}, {"A"}),
        ("// m^", set(), {"mad"}),
        ("/* m^", set(), {"mad"}),
    ],
)  # fmt: skip
def test_completion_offers_what_may_stand_here(source, has, has_not):
    found = set(labels(source))
    assert has <= found
    assert not has_not & found


@pytest.mark.parametrize("head", ["", "    mov (M1, 8) ", ".decl "])
def test_a_line_that_is_too_long_to_be_read_takes_no_time(head):
    started = process_time()
    assert labels(head + "a" * 300_000 + " ^") == []
    assert process_time() - started < 5


def test_variables_of_the_right_type_come_first():
    found = labels("bfrev (M1, 8) ^")
    assert found.index("X") < found.index("A")


def test_the_choice_replaces_what_is_written():
    analysis, offset = analyse_at_cursor("mov (M1, 8) A(0,0)<1> %r^")
    item = next(i for i in offers(analysis, offset)[0] if i.label == "%r0")
    assert analysis.document.slice(item.span) == "%r"
    assert item.insert == "%r0(${1:0},${2:0})<${3:1;1,0}>"


def test_snippet_of_an_instruction_has_all_its_operands():
    analysis, offset = analyse_at_cursor("mad^")
    item = next(i for i in offers(analysis, offset)[0] if i.label == "mad")
    assert item.insert == "mad (${1:M1}, ${2:16}) ${3:dst} ${4:src0} ${5:src1} ${6:src2}"
    assert TABLE.by_mnemonic["mad"][0].summary in documentation(analysis, ItemKind.MNEMONIC, "mad", 3)
    assert "alias of" in documentation(analysis, ItemKind.VARIABLE, "B", 3)


def test_completion_never_fails_on_any_offset():
    source = (
        DECLARATIONS
        + "(!P1.any) add.sat (M1, 8) A(0,0)<2> (-)B(0,1)<0;1,0> r[AD(0),4]<8;8,1>:d // x\n.decl \n.kernel_attr X=\n\tbad ((< 0x:\n"
    )
    analysis = Analysis.of(source)
    for offset in range(len(source) + 1):
        offers(analysis, offset)
