import pytest
from cursor import analyse_at_cursor

from visa_lsp.ide.features.definition import definition, type_definition


def check(find, source: str) -> str | None:
    """Return the line that an answer points at, with the name between brackets."""
    analysis, offset = analyse_at_cursor(source)
    found = find(analysis, offset)
    if found is None:
        return None
    document = analysis.document
    line, column = document.position(found.name.start)
    text = document.line_text(line)
    assert document.slice(found.line) == text
    width = found.name.end - found.name.start
    return f"{text[:column]}[{text[column : column + width]}]{text[column + width :]}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("mov (M1, 8) ^B(0,0)<1> A(0,0)<1;1,0>", ".decl [B] v_type=G type=d num_elts=16 align=GRF alias=<A, 0>"),
        ("mov (M1, 8) B^(0,0)<1> A(0,0)<1;1,0>", ".decl [B] v_type=G type=d num_elts=16 align=GRF alias=<A, 0>"),
        (".decl C v_type=G type=d num_elts=1 alias=<^X, 0>", ".decl [X] v_type=G type=ud num_elts=1 align=dword"),
        (".input ^B offset=64", ".decl [B] v_type=G type=d num_elts=16 align=GRF alias=<A, 0>"),
        ("(^P1) goto (M1, 16) L\nL:", ".decl [P1] v_type=P num_elts=16"),
        ("goto (M1, 16) ^L\nret (M1, 1)\nL:", "[L]:"),
        ('call (M1, 1) ^S\nret (M1, 1)\n.function "S"\nS:', '.function "[S]"'),
        ("mov (M1, 8) r[^AD(0),0]<1>:d A(0,0)<1;1,0>", ".decl [AD] v_type=A num_elts=4"),
        ("fcall (M1, 1) ^k 0 0", '.kernel "[k]"'),
        ("mov (M1, 8) ^%r0(0,0)<1> A(0,0)<1;1,0>", None),
        ("^mov (M1, 8) A(0,0)<1> A(0,0)<1;1,0>", None),
        ("goto (M1, 16) ^NOWHERE", None),
        ("// ^A", None),
    ],
)
def test_definition(source, expected):
    assert expected == check(definition, source)


def test_definition_in_a_scope_is_the_inner_declaration():
    found = check(definition, "{\n.decl A v_type=G type=d num_elts=1\nmov (M1, 1) ^A(0,0)<1> X(0,0)<0;1,0>\n}")
    assert found == ".decl [A] v_type=G type=d num_elts=1"


def test_type_definition_follows_the_alias_chain():
    expected = ".decl [A] v_type=G type=f num_elts=16 align=GRF"
    assert expected == check(type_definition, "mov (M1, 8) ^W(0,0)<1> A(0,0)<1;1,0>")
