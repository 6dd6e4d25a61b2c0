"""Numbers of thousands of digits are findings like any other, not failures of Python's converter."""

from visa_lsp.analysis.analysis import Analysis


def test_very_long_numbers_are_found_and_survived():
    text = (
        '.version 4.1\n.kernel "k"\n'
        f".decl V40 v_type=G type=d num_elts={'9' * 6000}\n"
        f"    mov (M1, 1) V40(0,0)<1> {'1' * 5000}:d\n"
        f"    mov (M1, 1) V{'7' * 5000}(0,0)<1> 0x{'f' * 5000}:d\n"
        "    ret (M1, 1)\n"
    )
    codes = {d.code for d in Analysis.of(text).full_diagnostics}
    assert codes >= {"V101", "V114"}
    assert codes == {d.code for d in Analysis.of(text + "\n" * 80).diagnostics}
