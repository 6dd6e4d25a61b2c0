"""vISA that macros with arguments make is expanded, checked at its place, and counted where it cannot be read."""

from pathlib import Path

import pytest

from visa_lsp.cli.main import main
from visa_lsp.embed.host_findings import findings, unread_lines
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host

SOURCES = Path(__file__).parent / "macro_sources"
MOV = "mov (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>"
# Definitions, the statements of a kernel with `r` and `i`, and the part of the source where `movv` is reported.
FORMS = {
    "a line with an argument": (
        '#define LINE(T) "movv (M1, 16) %0(0,0)<1> " T "\\n"',
        '__asm__(LINE("%1(0,0)<1;1,0>") : "=rw"(r) : "rw"(i));', "LINE("),
    "an instruction as the argument": (
        '#define OP(o) o " (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>\\n"',
        '__asm__(OP("movv") : "=rw"(r) : "rw"(i));', "OP("),
    "stringized": (
        '#define S(x) #x\n#define OP(o, n) S(o) " (M1, " #n ") %0(0,0)<1> %1(0,0)<1;1,0>\\n"',
        '__asm__(OP(movv, 16) : "=rw"(r) : "rw"(i));', "OP("),
    "pasted": (
        '#define N16 "16"\n#define OP(n) "movv (M1, " N##n ") %0(0,0)<1> %1(0,0)<1;1,0>\\n"',
        '__asm__(OP(16) : "=rw"(r) : "rw"(i));', "OP("),
    "nested": (
        '#define A(x) "movv (M1, 16) " x\n#define B(x, y) A(x) y "\\n"\n#define C B("%0(0,0)<1> ", "%1(0,0)<1;1,0>")',
        '__asm__(C : "=rw"(r) : "rw"(i));', "C"),
    "a variable number of arguments": (
        '#define LINE(...) #__VA_ARGS__ "\\n"',
        '__asm__(LINE(movv (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>) : "=rw"(r) : "rw"(i));', "LINE("),
    "a statement in a macro": (
        '#define OP(o, d, s) __asm__ volatile(o " (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>\\n" : "=rw"(d) : "rw"(s))',
        'OP("mov", r, i); OP("movv", r, i);', 'OP("movv"'),
    "a wrapper around the template": (
        "#define ASM(t, ...) __asm__ volatile(t : __VA_ARGS__)",
        'ASM("mov (M1, 16) %0(0,0)<1> 0x1:d\\n" "movv (M1, 16) %0(0,0)<1> 0x1:d\\n", "=rw"(r));', "movv"),
    "operands in a macro": (
        '#define OPS(d, s) : "=rw"(d) : "rw"(s)',
        f'__asm__("{MOV}\\n" "movv (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>" OPS(r, i));', "movv"),
    "brackets in a macro": (
        '#define ARGS(o) (o " (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>\\n" : "=rw"(r) : "rw"(i))',
        '__asm__ volatile ARGS("movv");', "ARGS("),
    "a macro that calls it": (
        '#define OP(o) __asm__(o " (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>\\n" : "=rw"(r) : "rw"(i))\n#define TWO OP("mov"); OP("movv")',
        "TWO;", "TWO"),
}  # fmt: skip


def source(definitions, statements):
    return (
        f"{definitions}\n__attribute__((intel_reqd_sub_group_size(16)))\nkernel void k(global int *o) {{\n"
        f"  int i = get_global_id(0), r;\n  {statements}\n  o[i] = r;\n}}\n"
    )


def shown(text, host=Host.OPENCL):
    return [(d.name, d.span.start) for d in findings(HostText.of(text, host)) if d.severity.value != "hint"]


@pytest.mark.parametrize("form", FORMS)
def test_what_a_macro_makes_is_checked_at_its_call(form):
    definitions, statements, place = FORMS[form]
    text = source(definitions, statements)
    wrong = [(name, start) for name, start in shown(text) if name == "unknown-mnemonic"]
    assert wrong == [("unknown-mnemonic", text.rindex(place))]
    right = text.replace("movv", "mov")
    assert shown(right) == []
    assert unread_lines(HostText.of(right, Host.OPENCL)) == (0, 0)


@pytest.mark.parametrize("form", FORMS)
def test_edits_of_macros_and_calls_are_as_read_anew(form):
    definitions, statements, _ = FORMS[form]
    text = source(definitions, statements) + source("", f'__asm__("{MOV}" : "=rw"(r) : "rw"(i));').replace(" k(", " l(")
    host = HostText.of(text, Host.OPENCL)
    for old in (statements, "movv", "o[i] = r;", definitions.split("\n")[0]):
        for new in ("", old):
            at = host.document.text.index(old) if old in host.document.text else text.index(old)
            end = at + (len(old) if not new else 0)
            host = host.edit(host.document.edit(at, end, new))
            fresh = HostText.of(host.document.text, Host.OPENCL)
            assert [(d.span, d.code, d.message) for d in findings(host)] == [
                (d.span, d.code, d.message) for d in findings(fresh)
            ]
            assert unread_lines(host) == unread_lines(fresh)
            assert host.visa_text == fresh.visa_text


@pytest.mark.parametrize(
    ("definitions", "template", "unread"),
    [
        ("", "FROM_A_HEADER(x)", (1, 1)),
        ("", f'"{MOV}\\n" UNKNOWN "\\n" "{MOV}\\n" OTHER', (2, 1)),
        ("#define T(x) T(x) x", 'T("a")', (1, 1)),
        ("#if A\n#define T(x) x\n#else\n#define T(x) x x\n#endif", f'T("{MOV}")', (1, 1)),
        ("\n".join(f"#define M{n}(x) M{n + 1}(x) M{n + 1}(x)" for n in range(40)), 'M0("a")', (1, 1)),
        ("#define T(x) x", "T(" * 200 + '"a"' + ")" * 200, (1, 1)),
    ],
)
def test_what_cannot_be_read_is_counted(definitions, template, unread):
    text = source(definitions, f'__asm__({template} : "=rw"(r) : "rw"(i));')
    assert unread_lines(HostText.of(text, Host.OPENCL)) == unread
    assert shown(text) == []


def test_the_command_says_what_it_did_not_read(here, capsys):
    Path("k.cl").write_text(source("", '__asm__(A "\\n" B : "=rw"(r) : "rw"(i)); __asm__(C : "=rw"(r) : "rw"(i));'))
    assert main(["check", "--embedded", "k.cl", "--format", "concise"]) == 0
    assert capsys.readouterr().err == "visa-lsp: k.cl: 3 lines of 2 statements were not checked\n"
    assert main(["check", "--embedded", "k.cl", "--error-on-unread", "--format", "json"]) == 1
    assert capsys.readouterr().out.strip() == "[]"


def test_a_definition_and_its_calls_report_a_mistake_once():
    macro = '#define OP(o) __asm__(o " (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>\\n" "movv (M1, 16) %0(0,0)<1> 0x1:d\\n" : "=rw"(r) : "rw"(i))'
    text = source(macro, 'OP("mov"); OP("mov");')
    assert shown(text) == [("unknown-mnemonic", text.index("movv"))]


def test_the_cases(capsys):
    assert main(["check", "--embedded", "--format", "concise", *map(str, sorted(SOURCES.iterdir()))]) == 1
    out, err = capsys.readouterr()
    assert [line.split(": ", 1)[1] for line in out.splitlines()] == [
        "error V201 unknown-mnemonic: unknown instruction `movv`; did you mean `mov`?",
        "error V101 undeclared-name: `q` is not declared",
        "error V101 undeclared-name: `paxX` is not declared; did you mean `paX`?",
    ]
    assert err == ""
