import pytest
from cursor import analyse_at_cursor

from visa_lsp.ide.features.signature import signature_help


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("mad (M1, 8) ^", "dst"),
        ("mad (M1, 8) A(0,0)<1> ^", "src0"),
        ("mad (M1, 8) A(0,0)<1> A(0,^", "src0"),
        ("mad (M1, 8) A(0,0)<1> A(0,0)<1;1,0> 0x1:^d", "src1"),
        ("(P1) mad.sat (M1, 8) A(0,0)<1> A(0,0)<1;1,0> A(0,0)<1;1,0> ^", "src2"),
        ("goto (M1, 1) ^", "label"),
    ],
)
def test_the_operand_at_the_cursor_is_marked(source, name):
    found = signature_help(*analyse_at_cursor(source))
    assert found is not None
    assert found.parameter is not None
    signature = found.signatures[found.active]
    span = signature.parameters[found.parameter].span
    assert name == signature.label[span.start : span.end]


@pytest.mark.parametrize("source", ["^", "// mad (M1, 8) ^", ".decl ^", "bogus (M1, 8) ^", "mad.^"])
def test_no_signature_outside_instructions(source):
    assert signature_help(*analyse_at_cursor(source)) is None


def test_behind_the_last_operand_nothing_is_marked():
    found = signature_help(*analyse_at_cursor("not (M1, 8) A(0,0)<1> A(0,0)<1;1,0> ^"))
    assert found is not None
    assert found.parameter is None
