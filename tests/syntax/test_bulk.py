"""What bulk work says of a line is what the grammar says of it, whatever character stands in it."""

import itertools

from each_case import each_of

from visa_lsp.syntax.bulk import facts_of
from visa_lsp.syntax.parse import parse_line
from visa_lsp.syntax.tree import BodyDirective, Decl, InputDecl, KernelAttr, Label, Scope, Version

LINES = [
    '.kernel "k"', '.global_function "g"', '.function "f"', ".version 4.1", ".kernel_attr SimdSize=8", "{", "}", "  L0:", "L0 :",
    ".input V40 offset=32 size=4", ".decl V40", ".decl V40 v_type=G type=d num_elts=8", "mov (M1, 8) V1(0,0)<1> 0x1:d",
]  # fmt: skip


@each_of(itertools.product(LINES, "\x00\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2028"), repr)
def test_a_character_anywhere_in_a_line(case: tuple[str, str]):
    line, char = case
    for at in range(len(line) + 1):
        code = line[:at] + char + line[at:]
        facts, statement = facts_of("\n" + code), parse_line(code)
        declared = isinstance(statement, Decl) and statement.name is not None
        directive = isinstance(statement, BodyDirective | Version | InputDecl | KernelAttr | Scope | Decl)
        assert facts.labels == ((statement.name.text,) if isinstance(statement, Label) else ()), code
        assert facts.decls == ((statement.name.text,) if declared and not facts.specials else ()), code
        assert facts.opens_body == (isinstance(statement, BodyDirective) and not statement.opens_subroutine), code
        assert facts.specials or facts.decls or facts.braced or not directive, code
