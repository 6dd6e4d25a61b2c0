"""What counts for the finalizer's ``$N``, and the copy that it is given: it names no file but ours."""

import pytest

from visa_lsp.toolchain.text_bodies import bodies_of, listing_name, make_guarded_copy

TEXT = """\
.version 4.1
// a comment
.kernel "first"
.decl V1 v_type=G type=d num_elts=8 align=GRF
.kernel_attr Target="cm"
_main_0:
    FILE "a.cl"
    LOC 3
    /* not this one
    mov (M1, 8) V1(0,0)<1> 0x1:d */
{
.decl V2 v_type=G type=d num_elts=8 align=GRF
    lifetime.start V2
    mov (M1, 8) V2(0,0)<1> 0x8:d}

    // nor this
last:}
    ret (M1, 1)
.global_function "second"
    fret (M1, 1)
"""

MOVE = "mov (M1, 1) V1(0,0)<1> 0x1:ud"
# Lines, and which of them count: probed with GenX_IR 1.0.12504.6, where the number of a branch behind them told.
SUBROUTINES = [
    (['.function "f"', "f:"], [1]),
    (['.function "f"', "", "f:"], [2]),
    (['.function "f"', MOVE, "f:"], [2, 1]),
    (["f:", '.function "f"'], [0, 1]),
    ([".function f", "f:", "f:"], [2]),
    (['.function "f"', "g:"], [0, 1]),
    (['.function "a b"'], [0]),
    (['.function "f"', '.function "g"', "g:", "f:"], [3, 2]),
    (['.function "f"', "{", ".decl Q v_type=P num_elts=16", "f:", "}"], [3]),
    (['.funcdecl "x"', "x:"], [1]),
    (['.file "a"', ".loc 1", "LOC 2", 'FILE "b"'], [0, 1, 2, 3]),
    (["{", MOVE, f"{MOVE} }}"], [1, 2]),
]


def test_labels_marks_and_instructions_count_from_each_body_on(codes_of):
    first, second = bodies_of(codes_of(TEXT))
    assert (first.name, first.is_kernel, second.name, second.is_kernel) == ("first", True, "second", False)
    counted = [TEXT.split("\n")[line].strip() for line in first.counted]
    assert counted == [
        "_main_0:", 'FILE "a.cl"', "LOC 3", "lifetime.start V2", "mov (M1, 8) V2(0,0)<1> 0x8:d}", "last:}", "ret (M1, 1)",
    ]  # fmt: skip
    assert [TEXT.split("\n")[line].strip() for line in second.counted] == ["fret (M1, 1)"]


@pytest.mark.parametrize(("lines", "counted"), SUBROUTINES)
def test_a_subroutine_counts_once_at_its_label_and_marks_count_in_both_spellings(lines, counted):
    (body,) = bodies_of(['.kernel "k"', *lines])
    assert [line - 1 for line in body.counted] == counted


def test_a_number_beyond_the_body_is_its_last_line(codes_of):
    first, _ = bodies_of(codes_of(TEXT))
    assert first.line_of(10**8) == first.counted[-1]
    (empty,) = bodies_of(['.kernel "k"'])
    assert empty.line_of(0) == 0


def test_a_text_without_bodies_has_none():
    assert bodies_of([]) == ()
    assert bodies_of(["mov", ".decl"]) == ()


def test_each_body_gets_a_file_and_lines_are_found_again(codes_of):
    codes = codes_of(TEXT)
    bodies = bodies_of(codes)
    copy = make_guarded_copy(codes, bodies)
    lines = copy.text.split("\n")
    for number, body in enumerate(bodies):
        at = lines.index(f'.kernel_attr OutputAsmPath="{listing_name(number)}"')
        assert lines[at - 1].startswith(".kernel" if body.is_kernel else ".global_function")
        assert copy.lines[at] == body.line
    for at, line in enumerate(copy.lines):
        if "OutputAsmPath" not in lines[at]:
            assert lines[at] == codes[line]


def test_a_copy_of_one_body_has_no_other(codes_of):
    codes = codes_of(TEXT)
    copy = make_guarded_copy(codes, bodies_of(codes), 1)
    assert "first" not in copy.text
    assert '"second"' in copy.text
    assert copy.text.startswith(".version 4.1\n")


# Every spelling that GenX_IR 1.0.12504.6 was seen to take, and some that others might.
@pytest.mark.parametrize(
    "line",
    [
        '.kernel_attr OutputAsmPath="/tmp/evil.asm"',
        '.kernel_attr AsmName="../evil.asm"',
        '  .kernel_attr   OutputAsmPath  =  "evil/a.asm"',
        ".kernel_attr\tOutputAsmPath\t=\t'evil.asm'",
        '.kernel_attr /* c */ OutputAsmPath /* d */ = /* e */ "evil.asm"',
        '.kernel_attr /* \n */ OutputAsmPath="evil.asm"',
        '/* x */ .kernel_attr AsmName="evil.asm" // y',
        '.kernel_attr Target="cm" .kernel_attr OutputAsmPath="evil.asm"',
        '.kernel_attr A="/*" OutputAsmPath="evil.asm"',
        '.kernel_attr \\\nOutputAsmPath="evil.asm"',
        '.kernel_attr OutputAsmPath \\\n = "evil.asm"',
        '.kernel_attr \\  // joined\nAsmName="evil.asm"',
    ],
)
def test_the_copy_has_no_file_that_the_text_names(codes_of, line):
    codes = codes_of(f'.version 4.1\n.kernel "k"\n{line}\n    ret (M1, 1)\n')
    text = make_guarded_copy(codes, bodies_of(codes)).text
    assert "\\\n" not in text
    said = [one for one in text.split("\n") if ".kernel_attr" in one and ("AsmPath" in one or "AsmName" in one)]
    assert said == ['.kernel_attr OutputAsmPath="0.asm"']
