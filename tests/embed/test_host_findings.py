"""Findings inside of strings: which there are, and at which columns of the host they stand."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from visa_lsp.embed.host_findings import findings
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host, host_of

SOURCES = sorted((Path(__file__).parent / "sources").iterdir())
KERNEL = """
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *d, global float *f) {{
  int x = d[0]; float y = f[0]; uint n = 3;
  {statement}
}}
"""


def found(text, host=Host.OPENCL, extra=()):
    snapshot = HostText.of(text, host)
    shown = findings(snapshot, extra)
    assert all(d.span.end <= len(text) for d in shown)
    return [(d.name, text[d.span.start : d.span.end]) for d in shown]


def of_statement(statement):
    return found(KERNEL.format(statement=statement), Host.OPENCL)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_a_right_source_has_no_finding(path):
    text = path.read_text(encoding="utf-8")
    snapshot = HostText.of(text, host_of(path.name))
    assert snapshot.units
    assert [d for d in findings(snapshot) if d.severity.value != "hint"] == []


def test_three_hundred_names_that_do_not_exist_are_found_each_at_its_column():
    lines = [f'"add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> none{n}(0,0)<1;1,0>\\n"' for n in range(300)]
    random.Random(25).shuffle(lines)
    glue = ["\n      ", " /* é😀 */ ", "\t", "\\\n "]
    body = "".join(line + glue[i % 3] for i, line in enumerate(lines))
    shown = of_statement(f'__asm__ volatile({body} : "+rw"(x));')
    assert shown == [("undeclared-name", f"none{line.split('none')[1].split('(')[0]}") for line in lines]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ('__asm__("addd (M1, 16) %0 %0 %0" : "+rw"(x));', [("unknown-mnemonic", "addd")]),
        (
            '__asm__("add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0>" : "+rw"(x) : "rw"(y));',
            [("mixed-types", "%1(0,0)<1;1,0>")],
        ),
        ('__asm__("add (M1, 16) %[o](0,0)<1> %[o](0,0)<1;1,0>" : [o] "+rw"(x));', [("operand-count", "add")]),
        ('__asm__("goto (M1, 16) nowhere" : : "rw"(x));', [("missing-label", "nowhere")]),
        (
            '__asm__("mov (M1, 16) %0(0,0)<1> " "%%nothing(0,0)<1;1,0>" : "+rw"(x));',
            [("undeclared-name", "%%nothing")],
        ),
        (r'__asm__("mov (M1, 16)\x20%0(0,0)<1> nope(0,0)<1;1,0>" : "+rw"(x));', [("undeclared-name", "nope")]),
        ('__asm__("mov (M1, 17) %0(0,0)<1> 0x1:d" : "+rw"(x));', [("exec-size", "17")]),
        ('__asm__("{\\n.decl t v_type=G type=zz num_elts=16\\n}" : "+rw"(x));', [("unknown-type", "zz")]),
    ],
)
def test_a_fault_is_found_at_its_place(statement, expected):
    shown = of_statement(statement)
    assert [name for name, _ in shown] == [name for name, _ in expected]
    assert [words for _, words in shown] == [words for _, words in expected]


def test_a_message_calls_an_operand_as_the_host_does():
    text = KERNEL.format(
        statement='__asm__("mov (M1, 16) %[out](0,0)<1> %1(3,0)<1;1,0>" : [out] "=rw"(x) : "rw.u"(n));'
    )
    (finding,) = findings(HostText.of(text, Host.OPENCL))
    assert "`%1`" in finding.message
    assert "__asm" not in finding.message


@pytest.mark.parametrize(
    "statement",
    [
        # A type that is not known fits whatever is done with it.
        '__asm__("add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> %1(0,0)<1;1,0>" : "=rw"(y) : "rw"(g(x)));',
        '__asm__("svm_gather.4.1 (M1, 16) %1.0 %0.0" : "=rw"(g(1)) : "rw"(g(2)));',
        '__asm__("shl (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1" : "+rw"(x) : "i"(N));',
        '__asm__("mul (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1" : "+rw"(y) : "i"(1.5f));',
        # A name may come from another function that the compiler puts into this one.
        '__asm__("goto (M1, 16) there");\n}\nvoid other() { __asm__("there:\\nadd (M1, 1) t(0,0)<1> t(0,0)<0;1,0> 0x1:w\\n.decl t v_type=G type=d num_elts=1");',
        # What is in a line that is known in part is not known.
        '__asm__(".decl t v_type=G type=" T " num_elts=16\\nmov (M1, 16) t(0,0)<1> 0x1:d" : : "rw"(x));',
    ],
)
def test_what_is_not_known_makes_no_finding(statement):
    assert of_statement(statement) == []


def test_a_fault_that_no_type_mends_is_found_all_the_same():
    shown = of_statement('__asm__("add (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>" : "=rw"(x) : "rw"(g(x)));')
    assert shown == [("operand-count", "add")]


def test_comments_of_the_host_and_of_the_string_suppress():
    line = '"mov (M1, 16) %0(0,0)<1> nope(0,0)<1;1,0>{}\\n"{}'
    statement = '__asm__({}\n: "+rw"(x));'
    assert of_statement(statement.format(line.format("", " // visa: ignore[undeclared-name]"))) == []
    assert of_statement(statement.format("/* visa: ignore[V101] */ " + line.format("", ""))) == []
    assert of_statement(statement.format(line.format(" // visa: ignore[V101]", ""))) == []
    assert of_statement("// visa: ignore-file[V1]\n" + statement.format(line.format("", ""))) == []
    assert of_statement(statement.format("// visa: ignore[V101]\n" + line.format("", "").replace("nope", "%0"))) == [
        ("useless-suppression", "V101")
    ]
    text = '# visa: asm\nx = "mov (M1, 16) nope(0,0)<1> 0x1:d"  # visa: ignore[V101]\n'
    assert found(text, Host.PYTHON) == []


def test_a_comment_that_a_block_leaves_open_ends_with_the_block():
    statements = '__asm__("/* (M1, 16)"); __asm__("mov (M1, 16) %0(0,0)<1> nope(0,0)<1;1,0>" : "+rw"(x));'
    assert ("undeclared-name", "nope") in of_statement(statements)


def test_a_finding_about_the_flow_between_blocks_is_none():
    text = KERNEL.format(
        statement='__asm__("{\\n.decl t v_type=G type=d num_elts=16\\nmov (M1, 16) t(0,0)<1> 0x1:d\\n}"); __asm__("a:\\ngoto (M1, 16) a");'
    )
    codes = {"V128", "V134", "V135", "V503", "V506"}
    assert found(text, extra=codes) == []
