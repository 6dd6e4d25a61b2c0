import pytest
from cursor import DECLARATIONS, analyse_at_cursor

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.folding import folding_ranges
from visa_lsp.ide.features.semantic_tokens import semantic_tokens
from visa_lsp.ide.features.symbols import workspace_symbols

SOURCE = (
    DECLARATIONS
    + 'L1:\n    mov (M1, 8) A(0,0)<1> X(0,0)<0;1,0>\n\n.function "S"\nS:\n    ret (M1, 1)\n// one\n// two\n'
)


def test_workspace_symbols_match_letters_in_order():
    found = workspace_symbols(Analysis.of(SOURCE), "L1")
    assert [(entry.name, holder) for entry, holder in found] == [("L1", "k")]


def test_folds_are_kernels_runs_blocks_and_comments():
    found = {(f.first_line + 1, f.last_line + 1, f.kind.value) for f in folding_ranges(Analysis.of(SOURCE))}
    assert {(3, 9, "region"), (11, 12, "code"), (14, 18, "code"), (17, 18, "comment"), (2, 18, "code")} <= found


PREDEFINED = "/// VISA Predefined Variables\n// .decl V0 v_type=G v_name=%null\n// .decl T5 v_type=T v_name=%scratch\n"


def headers(text: str) -> list[tuple[int, int, str]]:
    """Return the folds that are closed when a text opens, with lines from 1."""
    folds = folding_ranges(Analysis.of(text))
    return [(f.first_line + 1, f.last_line + 1, f.kind.value) for f in folds if f.header]


@pytest.mark.parametrize("above", [0, 1, 250, 255])
def test_the_header_of_a_dump_folds_away(above: int):
    """Wherever its chunks end."""
    decls = "".join(f".decl V{n} v_type=G type=d num_elts=8 align=GRF\n" for n in range(40, 50))
    text = (
        '.version 4.1\n.kernel "k"\n'
        + "// one\n\n" * above
        + PREDEFINED
        + "\n"
        + decls
        + ".input V40 offset=32 size=32\n"
    )
    first = 3 + 2 * above
    assert headers(text + "    ret (M1, 1)\n") == [(first, first + 2, "comment"), (first + 4, first + 13, "region")]


def test_what_is_written_by_hand_is_not_folded_away():
    decls = "".join(f".decl V{n} v_type=G type=d num_elts=8 align=GRF\n" for n in range(40, 49))
    assert (
        headers(DECLARATIONS + decls + "// what follows\n// .decl V8 v_type=G type=d\n\n" + "    ret (M1, 1)\n") == []
    )


def test_tokens_tell_what_names_mean():
    analysis, _ = analyse_at_cursor("(P1) mov.sat (M1, 8) A(0,0)<1> X(0,0)<0;1,0>^\n")
    tokens = list(semantic_tokens(analysis, 10, 10))
    text = analysis.document.line_text(10)
    shown = [(text[t.span.start : t.span.end], t.type, t.modifiers) for t in tokens]
    assert shown[0] == ("P1", "variable", ("predicate",))
    assert shown[1:5] == [
        ("mov", "keyword", ()),
        ("sat", "modifier", ()),
        ("M1", "enumMember", ()),
        ("8", "number", ()),
    ]
    assert shown[5] == ("A", "variable", ("modification",))
    assert next(s for s in shown if s[0] == "X") == ("X", "parameter", ())


def test_tokens_are_in_order_and_do_not_overlap():
    last = (-1, 0)
    for token in semantic_tokens(Analysis.of(SOURCE)):
        assert (token.line, token.span.start) >= last
        last = (token.line, token.span.end)


def test_indirect_operands_in_a_group_have_tokens():
    analysis, _ = analyse_at_cursor("foo (M1, 8) (r[AD(0),16]<8;8,1>:d, A(0,0)<1;1,0>)^\n")
    text = analysis.document.line_text(10)
    shown = [(text[t.span.start : t.span.end], t.type, t.modifiers) for t in semantic_tokens(analysis, 10, 10)]
    assert ("AD", "variable", ("address",)) in shown
    assert ("16", "number", ()) in shown
    assert ("d", "type", ()) in shown
    assert ("A", "variable", ()) in shown
