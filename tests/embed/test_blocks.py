"""Which strings of a host are vISA, and what their operands are."""

from __future__ import annotations

import pytest

from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host
from visa_lsp.embed.literals import HOLE


def blocks(text, host=Host.OPENCL):
    return [b for unit in HostText.of(text, host).units for b in unit.source.blocks]


@pytest.mark.parametrize(
    "statement",
    [
        'asm("mov (M1, 1) %0 %1" : "=rw"(x) : "rw"(y));',
        '__asm volatile("mov (M1, 1) %0 %1" : "=rw"(x) : "rw"(y));',
        '__asm__ __volatile__ inline("mov (M1, 1) %0 %1" : "=rw"(x) : "rw"(y) : "memory");',
        '__asm__ goto("mov (M1, 1) %0 %1" : "=rw"(x) : "rw"(y) : : out);',
        '__asm__("mov " /* a */ "(M1, 1)" // b\n " %0 %1" : "=rw" (x) : "rw" ( y ));',
        '__asm__(u8R"(mov (M1, 1) %0 %1)" : "=rw"(x) : "rw"(y));',
        '__asm__("mov (M1, 1)\\\n %0 %1" : "=rw"(x) : "rw"(y));',
    ],
)
def test_every_form_of_the_statement_is_found(statement):
    (block,) = blocks(f"void f() {{ int x, y; {statement} }}")
    assert block.text == "mov (M1, 1) %0 %1"
    assert [(o.number, o.constraint, o.expression) for o in block.operands] == [(0, "=rw", "x"), (1, "rw", "y")]
    assert [o.written for o in block.operands] == [True, False]


def test_operands_have_names_and_any_expression():
    (block,) = blocks('void f() { asm("a" : [d] "+rw"(p[g(1, 2)]) : [s] "rw.u"((int)(x, y)), "i"(1 ? 2 : 3)); }')
    assert [(o.name, o.kind, o.expression) for o in block.operands] == [
        ("d", "rw", "p[g(1, 2)]"),
        ("s", "rw.u", "(int)(x, y)"),
        ("", "i", "1 ? 2 : 3"),
    ]
    assert [o.is_uniform for o in block.operands] == [False, True, False]


def test_the_first_branch_of_a_conditional_is_read():
    text = 'asm(\n#if 0\n"a"\n#elif X\n"(M1, 1) b"\n#else\n"c"\n#endif\n"d"\n : : "rw"(x));'
    assert [b.text for b in blocks(f"void f() {{ {text} }}")] == ["(M1, 1) bd"]


def test_a_macro_of_strings_counts_as_its_strings_and_any_other_as_not_known():
    text = '#define A "16" ")"\n#define B(x) " " x\nvoid f() { asm("mov (M1, " A B("%0") C(1) :: "rw"(x)); }'
    (block,) = blocks(text)
    assert block.text.startswith("mov (M1, 16) %0" + HOLE)


def test_statements_in_comments_strings_and_names_are_none():
    assert not blocks(
        '// asm("mov (M1, 1)");\n/* asm("mov (M1, 1)"); */ char *s = "asm(\\"mov (M1, 1)\\")"; int my_asm(int);'
    )


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ('void f() { asm volatile("" ::: "memory"); asm("nop"); }', Host.CPP),
        ('void f() { asm("mov %%eax, %0" : "=r"(x) : "0"(x) : "cc"); asm("rdtsc" : "=a"(lo), "=d"(hi)); }', Host.C),
        ('void f() { asm("add.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b)); }', Host.CPP),
        ('void f() { __asm__("v_mov_b32 %0, %1" : "=v"(d) : "v"(a)); __asm__("s_barrier"); }', Host.OPENCL),
        ('label: asm("1: jmp 1b");', Host.C),
        ("void asm_f(); int asm;", Host.C),
        ("asm volatile", Host.C),
        ("asm(", Host.C),
        ('register int x asm("r0");', Host.C),
    ],
)
def test_assembly_of_other_processors_is_left_alone(text, host):
    assert blocks(text, host) == []


def test_a_label_alone_is_visa_where_its_function_has_visa():
    text = 'void f() { asm("add (M1, 1) %0 %0 %0" : "+rw"(x)); asm("done:"); }\nvoid g() { asm("done:"); }'
    assert [b.text for b in blocks(text, Host.CPP)] == ["add (M1, 1) %0 %0 %0", "done:"]


def test_a_comment_marks_the_string_behind_it():
    text = '// visa: asm\nconst char *s = "mov (M1, " "16)\\n"; const char *t = "mov";\n/* visa: asm */ f(R"(x)");'
    assert [b.text for b in blocks(text, Host.CPP)] == ["mov (M1, 16)\n", "x"]
    assert [b.text for b in blocks("# visa: asm\nx = f'{{ {y}'\nz = 'asm'\n", Host.PYTHON)] == ["{ " + HOLE]


def test_a_mark_before_a_statement_says_what_it_is_and_makes_no_other_block():
    statement = 'asm("ret (M1, 1)" ::: "memory"); asm("nop"); }'
    (block,) = blocks(f"void f() {{ // visa: asm\n {statement}", Host.CPP)
    assert (block.text, block.asked) == ("ret (M1, 1)", True)
    (lone,) = blocks('void f() { // visa: asm\n asm("xorl %0, %0" : "=r"(x)); }', Host.CPP)
    assert lone.asked
    assert [o.constraint for o in lone.operands] == ["=r"]


def test_a_python_call_that_names_constraints_has_a_template():
    text = 'x = asm("""mov (M1, 16) $0(0,0)<1>\n""" "b", "=rw,rw.u,i", [y])\nz = f("a", "rwx")\nw = f("(M1, 1)")'
    (block,) = blocks(text, Host.PYTHON)
    assert block.text == "mov (M1, 16) $0(0,0)<1>\nb"
    assert [o.kind for o in block.operands] == ["rw", "rw.u", "i"]


def test_a_python_template_may_be_empty():
    (block,) = blocks('x = inline_asm(asm="", constraints="=rw,rw", args=[y])', Host.PYTHON)
    assert (block.text, [o.kind for o in block.operands]) == ("", ["rw", "rw"])


def test_a_python_template_continues_where_a_name_is_appended_to():
    text = 'def f(x):\n  s = "a\\n"\n  s += "b\\n" "c\\n"\n  if x:\n    s += "d"\n  return inline_asm(s, "=rw,rw")\n'
    (block,) = blocks(text, Host.PYTHON)
    assert block.text == f"a\nb\nc\n{HOLE}"


def test_functions_have_their_widths_and_blocks_of_one_function_are_one_body():
    text = """
    __attribute__((intel_reqd_sub_group_size(8))) kernel void a() { asm("add (M1, 8)"); asm("mul (M1, 8)"); }
    void b() { asm("add (M1, 8)"); }
    void c() { q.submit([=](item i) [[sycl::reqd_sub_group_size(32)]] { asm("add (M1, 32)"); }); }
    """
    units = HostText.of(text, Host.CPP).units
    assert [(u.source.name, u.source.width, len(u.source.blocks)) for u in units] == [
        ("a", 8, 2),
        ("b", 0, 1),
        ("c", 32, 1),
    ]


@pytest.mark.parametrize(
    ("statements", "text"),
    [
        (
            'auto s = ".decl v{0} v_type=G type={0}\\n" "mov {{M1}}\\n";',
            f".decl v{HOLE} v_type=G type={HOLE}\nmov {{M1}}\n",
        ),
        ('auto s = ".decl v attrs={Output} RET:d{width:>2}{}\\n";', f".decl v attrs={{Output}} RET:d{HOLE}{HOLE}\n"),
        ('std::string s = std::string("a\\n") + "b " + n + " c\\n" + f(1, 2);', f"a\nb {HOLE} c\n{HOLE}"),
        ('std::string s;\n s = "a\\n"\n "b\\n";\n s += "c\\n"; s.append("d\\n"); t += "e";', "a\nb\nc\nd\n"),
        ('auto s = // visa: asm\n "a\\n" "b\\n";\n s += "c\\n";', "a\nb\nc\n"),
        ('os << "a " << x << "b\\n";', f"a {HOLE}b\n"),
        ('f("a"s, "b"); g("c");', "a"),
        ('f(std::string("a").c_str(), "b");', "a"),
        ('s = x ? "a" : "b";', "a"),
        ('const char *s = "a" OTHER "b";', f"a{HOLE}b"),
        ('int n; f(); s = "a";', ""),
    ],
)
def test_a_marked_string_may_be_a_template_or_joined_or_assigned_later(statements, text):
    found = blocks(f"void k() {{ // visa: asm\n  {statements} }}", Host.CPP)
    assert "".join(block.text for block in found) == text


@pytest.mark.parametrize(
    ("statements", "text"),
    [
        ('InlineAsm::get(f, "mov (M1, 16) $0 " "$1", "=rw,rw", true);', "mov (M1, 16) $0 $1"),
        ('std::string s = "mov (M1, 16) " "$0 $1"; create(b, s, /* kinds */ "=rw,rw");', "mov (M1, 16) $0 $1"),
        ('std::string s("mov (M1, 16) $0 $1\\n"); s += "ret"; g(s, "=rw,rw");', "mov (M1, 16) $0 $1\nret"),
        ('g(kMove, "=rw,rw");', "mov (M1, 1) $0 $1"),
        ('std::string s = "mov (M1, 16) $0 $1"; if (c) s += "ret"; g(s, "=rw,rw");', None),
        ('kMove += "ret"; g(kMove, "=rw,rw");', None),
        ('printf("%s", "=rw"); fopen("mov (M1, 16) $0 $1", "rw"); g("mov.b32 $0, $1;", "=rw,rw");', None),
    ],
)
def test_a_call_of_cpp_that_names_constraints_has_a_template(statements, text):
    constant = 'constexpr StringLiteral kMove = "mov (M1, 1) $0 $1";\n'
    found = blocks(f"{constant}void f(bool c) {{ {statements} }}", Host.CPP)
    assert [block.text for block in found] == ([] if text is None else [text])
    assert all([o.kind for o in block.operands] == ["rw", "rw"] for block in found)
