import pytest
from cursor import analyse_at_cursor, apply_edits

from visa_lsp.ide.features.rename import RenameRefused, prepare_rename, rename
from visa_lsp.sema.lower import resolve_text


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("mov (M1, 8) ^B(0,0)<1> B(0,0)<1;1,0>", "Big", ["alias=<Big, 32>", ".decl Big v_type", "Big(0,0)<1> Big(0,0)<1;1,0>"]),
        ("mov (M1, 1) A(0,0)<1> ^X(0,0)<0;1,0>", "n", [".input n offset", "n(0,0)<0;1,0>"]),
        ("goto (M1, 1) ^L\nL:\nret (M1, 1)", "done_1", ["goto (M1, 1) done_1\ndone_1:"]),
        ('call (M1, 1) ^S\nret (M1, 1)\n.function "S"\nS:\nret (M1, 1)', "sub", ["call (M1, 1) sub", '.function "sub"\nsub:']),
    ],
)  # fmt: skip
def test_rename_keeps_the_program(source, name, expected):
    analysis, offset = analyse_at_cursor(source)
    before = analysis.document.text
    after = apply_edits(before, rename(analysis, offset, name))
    for piece in expected:
        assert piece in after
    old, new = resolve_text(before).module, resolve_text(after).module
    assert old is not None
    assert new is not None
    assert [i.values for i in old.kernels[0].instructions] == [i.values for i in new.kernels[0].instructions]


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        ("mov (M1, 8) ^B(0,0)<1> A(0,0)<1;1,0>", "A", "already a variable"),
        ("mov (M1, 8) ^B(0,0)<1> A(0,0)<1;1,0>", "V7", "predefined"),
        ("mov (M1, 8) ^B(0,0)<1> A(0,0)<1;1,0>", "%r0", "not a valid name"),
        ("mov (M1, 8) ^B(0,0)<1> A(0,0)<1;1,0>", "mad", "keyword of vISA"),
        ("mov (M1, 8) ^B(0,0)<1> A(0,0)<1;1,0>", "r", "keyword of vISA"),
        ("mov (M1, 8) ^%r0(0,0)<1> A(0,0)<1;1,0>", "C", "nothing here can be renamed"),
        ("goto (M1, 1) ^L\nL:\nM:", "M", "already a label"),
        ("^mov (M1, 8) B(0,0)<1> A(0,0)<1;1,0>", "C", "nothing here can be renamed"),
    ],
)
def test_rename_refuses(source, name, reason):
    analysis, offset = analyse_at_cursor(source)
    with pytest.raises(RenameRefused, match=reason):
        rename(analysis, offset, name)


def test_prepare_gives_the_name():
    analysis, offset = analyse_at_cursor("mov (M1, 8) B^(0,0)<1> A(0,0)<1;1,0>")
    found = prepare_rename(analysis, offset)
    assert found is not None
    assert "B" == found[1] == analysis.document.slice(found[0])
    analysis, offset = analyse_at_cursor("mov (M1, 8) %r0^(0,0)<1> A(0,0)<1;1,0>")
    assert prepare_rename(analysis, offset) is None
