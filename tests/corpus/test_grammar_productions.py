"""One line per production of the public grammar (``visa/CISA.y``) and per alternative of its lexer (``visa/CISA.l``).

The list was made by going through both files rule by rule; the lines are our own. Each one is read without a problem,
has a meaning, and reads back from its printed form as the same instruction.
"""

from __future__ import annotations

from each_case import check_each
from msgspec.structs import replace
from productions import DIRECTIVES, FRAME, PRODUCTIONS
from productions_messages import MESSAGES

from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.operand_text import instruction
from visa_lsp.program.text_form import names_of
from visa_lsp.sema.bind import bind
from visa_lsp.sema.lower import HARMLESS, lower, resolve_text
from visa_lsp.syntax.document import Document

LINES = [(name, line) for name, lines in (PRODUCTIONS | MESSAGES).items() for line in lines]
_TAIL = 'L1:\nL2:\n    ret (M1, 1)\n.function "sub"\nsub:\n    ret (M1, 1)\n'


def _bound(line: str):
    text = f"{FRAME}    {line}\n{_TAIL}"
    bound = bind(Document.parse(text), platform_named("CRI"))
    at = FRAME.count("\n")
    found = [b for b in bound.bodies[0].code if b.line == at]
    return bound, [p for p in bound.problems if p.place.line == at], found


def test_a_line_of_each_production_is_understood_and_reads_back():
    check_each(LINES, _understood_and_read_back)


def _understood_and_read_back(case: tuple[str, str]):
    _, line = case
    bound, problems, found = _bound(line)
    assert not [p for p in problems if p.kind not in HARMLESS], problems
    inst = found[0].inst
    assert inst is not None
    kernel = lower(bound).kernels[0]
    names = replace(names_of(kernel, platform_named("CRI")), v42=True)
    printed = instruction(names, inst)
    _, problems, again = _bound(printed)
    assert not [p for p in problems if p.kind not in HARMLESS], (printed, problems)
    assert again[0].inst == inst, printed


def test_a_directive_of_each_production_is_understood():
    check_each(DIRECTIVES, _understood)


def _understood(line: str):
    text = f"{FRAME}{line}\n    mov (M1, 1) VU(0,0)<1> 0x1:ud\n"
    if line.startswith((".kernel k2", ".global")):
        text = f"{FRAME}    ret (M1, 1)\n{line}\n    ret (M1, 1)\n"
    result = resolve_text(text, "CRI")
    if line.startswith(".parameter"):  # the lexer of text 4.2 has no such word
        assert [p.kind for p in result.bound.problems] == ["unread-input"]
        return
    assert [p for p in result.bound.problems if p.kind not in HARMLESS] == []
    assert result.module is not None
