"""Lines are read by parsimonious and by nothing else, once for each shape; however deep and long they are."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from each_case import check_each
from parsimonious.grammar import Grammar
from work import calls_of

import visa_lsp
from visa_lsp.syntax.nodes import BLANK, Node, grammar, parse_node
from visa_lsp.syntax.parse import Parser

PACKAGE = Path(visa_lsp.__file__).parent


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the lines that parsimonious was given."""
    grammar()  # the grammar's own language is read by parsimonious too
    lines: list[str] = []
    parse = Grammar.parse

    def counted(self: Grammar, text: str, pos: int = 0):
        lines.append(text)
        return parse(self, text, pos)

    monkeypatch.setattr(Grammar, "parse", counted)
    return lines


def test_parsimonious_reads_a_line_of_a_new_shape_and_no_line_of_a_known_one(read: list[str]):
    parser = Parser()
    lines = [f"add (M1, 16) V{i}(0,0)<1> V{i + 1}(0,0)<1;1,0> {i}:d" for i in range(9)]
    assert [parser.line(line) for line in lines] == [Parser().line(line) for line in lines]
    assert read == [*lines[:2], *lines], "here two lines, and each by a parser of its own"
    parser.line("add (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0> V3(0,0)<1;1,0>")
    parser.line("L1:")
    parser.line("this is ( no line")
    assert read[len(lines) + 2 :] == [
        "add (M1, 16) V1(0,0)<1> V2(0,0)<1;1,0> V3(0,0)<1;1,0>", "L1:", "this is ( no line"
    ]  # fmt: skip
    assert parser.full_parses == 5


def test_nothing_of_ours_reads_by_rules_of_the_grammar():
    """One module has the library, whose expressions it does not look into; the others that have the file want its words or its age."""
    library, text = set(), set()
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "parsimonious" not in source and "syntax.grammar" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("parsimonious"):
                library |= {(path.name, f"{node.module}.{name.name}") for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module == "visa_lsp.syntax.grammar":
                text |= {(path.name, name.name) for name in node.names}
            elif isinstance(node, ast.Import):
                library |= {(path.name, name.name) for name in node.names if name.name.startswith("parsimonious")}
    assert library == {
        ("nodes.py", "parsimonious.exceptions.ParseError"),
        ("nodes.py", "parsimonious.grammar.Grammar"),
        ("nodes.py", "parsimonious.nodes.Node"),
    }
    assert {name for name, what in text if what == "grammar_text"} == {"nodes.py", "special_words.py"}


def test_what_has_no_name_and_blanks_are_left_out():
    def of(node: Node) -> Iterator[Node]:
        yield node
        for part in node.parts:
            yield from of(part)

    line = "  (!P1) add.sat (M1, 16)  V1( 0, 0 )<1> 0x1:d "
    found = parse_node(line)
    assert found is not None
    names = [node.name for node in of(found)]
    assert {"", BLANK}.isdisjoint(names)
    assert names[:5] == ["line", "statement", "instruction", "predicate", "pname"]
    assert (found.text, found.parts[0].text) == (line, line.strip())
    assert parse_node("") is None


# As deep as a line may be, of what parsimonious takes the most calls for.
DEEPEST = {
    "parentheses": "(" * 60 + "1" + ")" * 60,
    "signs": "-" * 60 + "1",
    "sums": "(1&1^1|1==1<1<<1+1*" * 59 + "1" + ")" * 59,  # the sign counts
    "choices": "(1?2:" * 30 + "1" + ")" * 30,
    "signs before parentheses": "-(" * 30 + "1" + ")" * 30,
}


@pytest.mark.parametrize("kind", DEEPEST)
@pytest.mark.parametrize("calls", [0, 500, 700])
def test_the_deepest_line_is_read_wherever_the_parser_is_called(kind: str, calls: int):
    def at(depth: int):
        return Parser().line(f"mov (M1, 1) V1(0,0)<1> {DEEPEST[kind]}:d") if depth == 0 else at(depth - 1)

    usual = sys.getrecursionlimit()
    assert at(calls).errors == ()
    assert sys.getrecursionlimit() == usual


def test_a_deeper_line_is_refused():
    (problem,) = Parser().line(f"mov (M1, 1) V1(0,0)<1> ({DEEPEST['parentheses']}):d").errors
    assert problem.message.startswith("this is nested deeper than 60;")


def test_threads_read_deep_lines_side_by_side():
    wrong: list[object] = []

    def read_some():
        for count in range(2, 4):
            statement = Parser().full(f"mov (M1, 1) V1(0,0)<{count}> {DEEPEST['sums']}:d")
            wrong.extend(statement.errors)

    usual = sys.getrecursionlimit()
    threads = [Thread(target=read_some) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sys.getrecursionlimit() == usual


@pytest.mark.parametrize("head", ["", "mov (M1, 16) ", "mov (M1, 16) (", "mov (M1, 16) flat[", ".decl V1 "])
def test_what_a_line_takes_grows_as_it_does(head: str):
    grammar()

    def check(token: str):
        once, twice = (calls_of(lambda count=count: parse_node(head + token * count)) for count in (12, 24))
        assert twice < 2.2 * once + 500, (once, twice)

    tokens = [
        "V1(0,0)<", "<", "(", ")", "1 ", "1+", "1&", "1?1:", '"', '"a', "V1[1]", "(V1,", "flat[V1+1,", ".a", "%sizeof(a) ", "L1,", "[",
        "attrs={a=1,", "-", "\u00e9", "\x1c", "(-)", "r[",
    ]  # fmt: skip
    check_each(tokens, check, repr)
