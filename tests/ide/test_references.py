from cursor import analyse_at_cursor

from visa_lsp.ide.features.references import ReferenceKind, highlights, references


def shown(analysis, found) -> list[tuple[int, str, str]]:
    document = analysis.document
    return [(document.position(o.span.start)[0] + 1, document.slice(o.span), o.use.value) for o in found]


SOURCE = "mov (M1, 8) ^B(0,0)<1> A(0,0)<1;1,0>\nadd (M1, 8) X(0,0)<1> B(0,0)<0;1,0> 1:d"


def test_references_go_through_aliases():
    analysis, offset = analyse_at_cursor(SOURCE)
    assert shown(analysis, references(analysis, offset)) == [
        (3, "A", "declared"), (4, "B", "declared"), (4, "A", "named"), (5, "W", "declared"), (5, "B", "named"),
        (11, "B", "written"), (11, "A", "read"), (12, "B", "read"),
    ]  # fmt: skip


def test_highlights_are_about_the_one_name():
    analysis, offset = analyse_at_cursor(SOURCE)
    expected = [(4, "B", "declared"), (5, "B", "named"), (11, "B", "written"), (12, "B", "read")]
    assert expected == shown(analysis, highlights(analysis, offset))


def test_references_without_the_declaration():
    analysis, offset = analyse_at_cursor("goto (M1, 1) ^L\nL:\n(P1) goto (M1, 8) L")
    found = references(analysis, offset, declarations=False)
    assert shown(analysis, found) == [(11, "L", "named"), (13, "L", "named")]


def test_subroutine_is_found_without_its_quotes():
    analysis, offset = analyse_at_cursor('call (M1, 1) ^S\nret (M1, 1)\n.function "S"\nS:\nret (M1, 1)')
    assert shown(analysis, highlights(analysis, offset)) == [
        (11, "S", "named"),
        (13, "S", "declared"),
        (14, "S", "named"),
    ]


def test_function_is_found_by_its_calls():
    analysis, offset = analyse_at_cursor("fcall (M1, 1) ^k 0 0")
    assert shown(analysis, references(analysis, offset)) == [(2, "k", "declared"), (11, "k", "named")]


def test_nothing_is_found_on_a_mnemonic():
    analysis, offset = analyse_at_cursor("^mov (M1, 8) A(0,0)<1> A(0,0)<1;1,0>")
    assert references(analysis, offset) == ()
    assert ReferenceKind.READ.value == "read"
