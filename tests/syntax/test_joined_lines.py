"""A statement that goes on in the next line: one statement, found alike in a text that was edited and in a fresh one."""

from __future__ import annotations

import random

import pytest
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.syntax.document import Document
from visa_lsp.syntax.tree import Instruction

HEAD = '.version 4.2\n.kernel "k"\n.decl W0 v_type=G type=d num_elts=64 align=GRF\n.decl W1 v_type=G \\\n type=d num_elts=64\n'
PLAIN = "    mov (M1, 16) W0(0,0)<1> W1(0,0)<1;1,0>\n"
PIECES = (
    "    mov (M1, 16) W0(0,0)<1> ", "W1(0,0)<1;1,0>\n", " \\\n", " \\\r\n", "/*", "*/", "\n", "L:\n", "//x\n", "\r", "foo",
    "    mov (M1, 16) W0(0,0)<1> W1(0,0)<1;1,0> // c\n", ".decl W2 v_type=G type=d num_elts=64\n",
    PLAIN * 100, '.kernel "x"\n', '*/.kernel "x" \\\n',
)  # fmt: skip


@pytest.mark.parametrize("between", [" \\\n ", "\t\\\r\n", " /* x\n */ ", " /*\n\n x */", " /* \\\n */ \\\n"])
@pytest.mark.parametrize("more", [0, 2500])
def test_a_statement_goes_on(between, more):
    text = f"{HEAD}    mov (M1, 16) W0(0,0)<1>{between}W9(0,0)<1;1,0>\n{PLAIN * more}    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    for found in (() if more else (analysis.full_diagnostics,)) + (analysis.incremental_diagnostics(),):
        assert [(d.code, text[d.span.start : d.span.end]) for d in found if d.severity.value == "error"] == [
            ("V101", "W9")
        ]


@pytest.mark.parametrize("tail", ["", " // x \\", " /* x\n\n*/", " /* x", " \\x"])
def test_a_line_ends_where_nothing_follows_its_comment(tail):
    document = Document.parse(f"{HEAD}    mov (M1, 16) W0(0,0)<1> W1(0,0)<1;1,0>{tail}\n    ret (M1, 1)\n")
    at = next(line for line, node in document.statements() if isinstance(node, Instruction))
    assert document.code(at).startswith("    mov (M1, 16) W0(0,0)<1> W1(0,0)<1;1,0>")
    assert "ret" not in document.code(at)


@pytest.mark.parametrize("seed", first(4, range(60)))
def test_edited_text_equals_fresh_text(seed):
    pick = random.Random(seed)
    text = HEAD + "".join(pick.choice(PIECES) for _ in range(pick.choice((3, 30, 300))))
    analysis = Analysis.of(text)
    for _ in range(5):
        start = max(0, text.find("\n", pick.randint(0, len(text)))) + pick.choice((0, 0, 1, 9))
        end = min(len(text), start + pick.choice((0, 1, 5, 50, 40000)))
        new = "".join(pick.choice(PIECES) for _ in range(pick.choice((0, 1, 2, 30))))
        analysis, text = analysis.edit(start, end, new), text[:start] + new + text[end:]
        fresh = Analysis.of(text)
        assert list(analysis.document.codes()) == list(fresh.document.codes())
        assert list(analysis.document.statements()) == list(fresh.document.statements())
        if len(text) < 9000:
            assert analysis.diagnostics == fresh.diagnostics == fresh.full_diagnostics


def test_a_statement_may_have_any_number_of_lines():
    """Each line is read once, however long the statement; its text is one line of code, before and after an edit."""
    long = Document.parse(HEAD + "    mov (M1, 16) \\\n" * 3000 + "W0(0,0)<1> W1(0,0)<1;1,0>\n    ret (M1, 1)\n")
    assert [line for line, code in long.codes() if code][-2:] == [5, 3006]
    at = long.line_start(1000) + 4
    edited = long.edit(at, at + 3, "")
    assert list(edited.codes()) == list(Document.parse(edited.text).codes())
