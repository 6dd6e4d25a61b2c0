"""Messages of the finalizer and the rules that report the same mistake."""

import pytest
from each_case import check_each

from visa_lsp.app.rule_registry import by_word
from visa_lsp.toolchain import meanings
from visa_lsp.toolchain.complaints import complaints_in
from visa_lsp.toolchain.meanings import meaning_of

MESSAGES = {
    "V0999: unbound identifier": "V101",
    "undefined label: NOWHERE": "V103",
    "V0033: variable redeclaration": "V102",
    "foo: invalid align value": "V113",
    "V38's type(bool) is not legal": "V112",
    "input V34 = [64, 68) intersects with V35 = [64, 68)": "V123",
    "invalid execution size": "V209",
    "vISA instruction has illegal combination of execution size and mask": "V219",
    "vISA instruction not supported on this platform": "V220",
    "horizontal Stride should not be 0 for a destination operand": "V302",
    "src Region Width must be 0, 1, 2, 4, 8 or 16": "V301",
    "arithmetic instructions that use single or double precision or half float types must use the same type for all": "V402",
    "all operands of logic instructions must be of integral type! opnd 0 has float type 7": "V401",
    "mad does not support saturation on integer types": "V224",
    "not allowed to write to a read only variable": "V217",
    "raw operand should be GRF-aligned: Raw offset is 4": "V601",
    "MEDIA_LD/MEDIA_ST block width must be in the range [1, 32]: 128": "V603",
    "incorrect caching options, platform requires 2 (l1-l3) caching options": "V620",
    "AppendVISALscTypedInst: unknown error (internal line: 3613)": "V609",
    "f_CVT must have either UB(actually BF8) dst or src": "V237",
    "lexical error: hex literal too long": "V005",
    "syntax error, unexpected NEWLINE, expecting LPAREN": "V001",
}


def test_each_message_has_its_first_rule():
    check_each(MESSAGES, lambda message: _is(MESSAGES[message], message))


def _is(code, message):
    found = meaning_of(message)
    assert found is not None
    assert found.rules[0] == code, found


def test_syntax_errors_are_told_without_names_of_tokens():
    words = "the line has the end of the line where ( or a name is expected"
    assert meaning_of("syntax error, unexpected NEWLINE, expecting LPAREN or IDENT").words == words
    assert meaning_of("syntax error, unexpected invalid token").words == "the line has invalid token where it cannot be"
    assert meaning_of("syntax error, unexpected FOO, expecting end of file").words.endswith(
        "where the end of the text is expected"
    )


def test_a_message_that_no_row_knows_has_no_meaning():
    assert meaning_of("the moon is made of cheese") is None


def test_every_rule_of_the_table_exists():
    codes = {code for _, meaning in meanings._ROWS for code in meaning.rules} | set(
        meaning_of("syntax error, unexpected X").rules
    )
    assert codes <= by_word().keys()


@pytest.mark.parametrize("number", ["", "                          /// $3"])
def test_a_complaint_has_the_instruction_as_the_finalizer_prints_it(number):
    block = (
        "/---------!!!INSTRUCTION ERROR FOUND!!!---\\\nError in CISA routine with name: e\n"
        "                  Error Message: Raw operand should be GRF-aligned: Raw offset is 4\n"
        f"          Violating Instruction:     gather4_scaled.R (M1, 16) T6 0x0:ud V0036.4 V0033.0{number}\n\\---------/\n"
    )
    (one,) = complaints_in("", block)
    assert (one.instruction, one.number) == (
        "gather4_scaled.R (M1, 16) T6 0x0:ud V0036.4 V0033.0",
        3 if number else None,
    )
