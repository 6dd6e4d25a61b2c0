"""What a statement says around its template: constraints, numbers, whole operands, the compiler that reads it, other assembly."""

from __future__ import annotations

import pytest

from visa_lsp.embed.host_findings import findings
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host
from visa_lsp.embed.requests import hover
from visa_lsp.isa.platforms import platform_named

MOVE = "mov (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>"
KERNEL = "__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *d) {{ int x = d[0], y; {} }}"


def found(text, host=Host.OPENCL):
    return [(d.name, text[d.span.start : d.span.end]) for d in findings(HostText.of(text, host))]


def of_statement(statement):
    return found(KERNEL.format(statement))


@pytest.mark.parametrize("constraint", ["=r", "=&rw", "=rw.u", "+rw.u", "=m", "=%rw"])
def test_an_output_that_the_compiler_of_opencl_refuses_is_told(constraint):
    shown = of_statement(f'__asm__("{MOVE}" : "{constraint}"(y) : "rw"(x));')
    assert [words for name, words in shown if name == "bad-constraint"] == [f'"{constraint}"']


def test_a_constraint_of_many_lines_is_told_in_one_short_line():
    many = "=m\\n" * 200
    text = KERNEL.format(f'__asm__("{MOVE}" : "{many}"(y) : "rw"(x));')
    (message,) = (d.message for d in findings(HostText.of(text, Host.OPENCL)) if d.name == "bad-constraint")
    assert len(message) < 300
    assert "\n" not in message


@pytest.mark.parametrize("constraint", ["r", "g", "m", "X", "&rw"])
def test_an_input_that_the_compiler_of_opencl_refuses_is_told(constraint):
    assert of_statement(f'__asm__("{MOVE}" : "=rw"(y) : "{constraint}"(x));') == [("bad-constraint", f'"{constraint}"')]


def test_a_number_that_is_read_from_memory_is_none():
    assert of_statement('__asm__("mov (M1, 16) %0(0,0)<1> %1" : "=rw"(y) : "i"(x));') == [("bad-constraint", '"i"')]
    assert of_statement('__asm__("mov (M1, 16) %0(0,0)<1> %1" : "=rw"(y) : "i"(N));') == []


@pytest.mark.parametrize(
    "statement",
    [f'"{MOVE}" : "=rw"(y) : "rw"(x)', f'"{MOVE}" : "+rw"(y) : "0"(x)', f'"{MOVE}" : "=rw"(y) : "rw" "" (x)'],
)
def test_right_constraints_are_silent(statement):
    assert of_statement(f"__asm__({statement});") == []


VECTORS = """
#include <sycl/ext/intel/esimd.hpp>
SYCL_ESIMD_FUNCTION void f(simd<int, 8> a, simd<int, 8> c) {{ int s; vector<unsigned short, 8> m; {} }}
"""


@pytest.mark.parametrize(
    "statement",
    [
        'asm("add (M1, 8) %0 %1 %2" : "=r"(c.data_ref()) : "r"(a.data()), "a"(a));',
        'asm("add (M1, 8) %0 %0 %1" : "+r"(c) : "r"(s));',
        'asm("(%2) mov (M1, 8) %0 %1" : "=r"(c) : "i"(7), "cr"(m));',
        'asm("mov (M1, 8) %0(0,%1)<1> 0x1:d" : "=rw"(c) : "n"(0));',
        'asm("mov (M1, 8) %0(0,0)<1> %1(0,0)<1;1,0>" : "=&rw"(c) : "rw"(a));',
    ],
)
def test_the_vector_compilers_operands_stand_for_whole_ones(statement):
    assert found(VECTORS.format(statement), Host.CPP) == []
    assert (
        found("void f(vector<int, 8> a, vector<int, 8> c) { int s; vector<short, 8> m; " + statement + "}", Host.CM)
        == []
    )


def test_faults_in_a_text_for_the_vector_compiler_are_found():
    assert found(VECTORS.format('asm("mov (M1, 16) %0 %1" : "=r"(c) : "r"(a));'), Host.CPP) == [
        ("region-bounds", "%0"),
        ("region-bounds", "%1"),
    ]
    assert found(VECTORS.format('asm("mov (M1, 8) %0(0,0)<1> 0x1:d" : "=rw"(c) : "P"(1));'), Host.CPP) == [
        ("bad-constraint", '"P"')
    ]


@pytest.mark.parametrize(
    ("line", "operands", "expected"),
    [
        ("lsc_store.ugm (M1, 16) flat[%1]:a64 %0:d%2x%3", '"rw"(x), "rw"(d), "P"(32), "P"(1)', []),
        ("lsc_store.ugm (M1, 16) flat[%1]:a64 %0:d%2x%3", '"rw"(x), "rw"(d), "P"(N), "P"(1)', []),
        ("mov (M1_NM, 1) %0(0,%1)<1> 0x1:d", '"rw"(x), "P"(5)', []),
        ("lsc_store.ugm (M1, 16) flat[%1]:a64 %0:d%2", '"rw"(x), "rw"(d), "P"(33)', [("lsc-data-shape", "d%2")]),
    ],
)
def test_a_bare_number_stands_inside_of_words(line, operands, expected):
    assert of_statement(f'__asm__("{line}" : : {operands});') == expected


def test_a_number_of_the_statement_makes_labels_of_its_own():
    loop = "again%=:\\nadd (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> 0x1:d\\ngoto (M1, 16) again%=\\n"
    assert of_statement(f'__asm__("{loop}" : "+rw"(x)); __asm__("{loop}" : "+rw"(x));') == []
    text = KERNEL.format('__asm__("goto (M1, 16) nowhere%=\\n" : "+rw"(x));')
    (finding,) = findings(HostText.of(text, Host.OPENCL))
    assert "`nowhere%=`" in finding.message


def test_no_words_of_this_program_are_shown_for_an_operand_inside_of_a_word():
    text = KERNEL.format('__asm__("mov (M1, 16) foo%0(0,0)<1> %0(0,0)<1;1,0>" : "+rw"(x));')
    snapshot = HostText.of(text, Host.OPENCL)
    assert [(d.code, "`foo%0`" in d.message) for d in findings(snapshot)] == [("V101", True)]
    page = hover(snapshot, text.index("foo%0") + 1)
    assert page is None or "__asm" not in page.markdown


WIDE = """
__attribute__((intel_reqd_sub_group_size(8))) kernel void k(global uint *in) {{ uint v; __asm__("{}" : "=rw"(v) : "rw"(in)); }}
"""


@pytest.mark.parametrize("message", ["(M1, 32) %0:d32", "(M1, 16) %0:d32", "(M1, 8) %0:d32x4", "(M1, 8) %0:d64"])
def test_a_message_wider_than_the_sub_group_is_an_error(message):
    from visa_lsp.isa.platforms import platform_named

    text = WIDE.format(f"lsc_load.ugm {message} flat[%1]:a64")
    shown = findings(HostText.of(text, Host.OPENCL, platform_named("DG2")))
    assert {(d.name, d.severity.value) for d in shown} == {("payload-size", "error")}
    text = WIDE.format("lsc_load.ugm (M1, 8) %0:d32 flat[%1]:a64")
    assert findings(HostText.of(text, Host.OPENCL, platform_named("DG2"))) == ()


@pytest.mark.parametrize(
    "body",
    [
        '{ /* c */ asm(A #op B : "=rw"(y) : "rw"(x)); }',
        '{ asm(A \\\n /* c */ \\\n #op B : "=rw"(y) : "rw"(x)); }',
        '{ asm(A /* c\n d */ #op B : "=rw"(y) : "rw"(x)); } // e',
        '{ asm(A \\\r\n #op B /* c */ : "=rw"(y) \\\r\n : /* d */ "rw"(x)); }',
    ],
)
def test_a_macro_with_comments_and_splices_keeps_its_operands(body):
    line = '"mov (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>\\n"'
    body = body.replace(" B", ' " (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0> 0x1:d\\n"').replace("A", line)
    after = 'void f() { int q; asm("bad (M1, 16) %0(0,0)<1> 0x1:d" : "=rw"(q)); }'
    text = f"#define D(op) {body}\n{after}\n"
    assert [b.operands[0].constraint for u in HostText.of(text, Host.CPP).units for b in u.source.blocks] == ["=rw"] * 2
    assert found(text, Host.CPP) == [("unknown-mnemonic", "bad")]


@pytest.mark.parametrize(
    "statement",
    [
        'asm volatile("lsc_fence.ugm.evict.systm\\n" ::: "memory");',
        'asm("lsc_fence.ugm.evikt.gpu");',
        'asm volatile("nbarrier.signal");',
        'asm("lsc_fense.ugm.none.gpu" ::: "memory");',
    ],
)
def test_a_statement_of_cpp_without_operands_is_read_by_its_words(statement):
    assert len(found(f"inline void f() {{ {statement} }}", Host.CPP)) == 1


@pytest.mark.parametrize(
    "statement", ['asm("mfence" ::: "memory");', 'asm("nop");', 'asm("barrier");', 'asm("bar.sync 0;");']
)
def test_other_statements_without_operands_are_left_alone(statement):
    assert found(f"inline void f() {{ {statement} }}", Host.CPP) == []


BAD = "add (M1, 16) $0(0,0)<1> $1(0,0)<1;1,0> $2(0,0)<1;1"


@pytest.mark.parametrize(
    "call",
    [
        'f("T", "=rw,rw,rw", [x])',
        'f(asm="T", constraints="=rw,rw,rw", args=[x])',
        'f("T", constraints="=rw,rw,rw", args=[x])',
        'f(constraints=("=rw,rw,rw"), asm="""\n  T\n  """)',
        'A = "T"\nf(A, "=rw,rw,rw", [x])',
        'C = "=rw,rw,rw"\nf("T", C, [x])',
        'A = ("add (M1, 16) $0(0,0)<1> "\n "$1(0,0)<1;1,0> $2(0,0)<1;1")\nC = "=rw," + "rw,rw"\ndef g():\n  f(asm=A, constraints=C)',
        'f("add (M1, 16) $0(0,0)<1> $1(0,0)<1;1,0> " + "$2(0,0)<1;1", "=rw,rw,rw", [x])',
        'f(f"T", "=rw,rw,rw", [x])',
        'A: str = textwrap.dedent("""\n T\n""")\nf(A.strip(), "=rw,rw,rw", [x])',
    ],
)
def test_a_template_of_python_is_read_in_every_form_of_call(call):
    text = "import asm\n" + call.replace("T", BAD).replace("f(", "tl.inline_asm_elementwise(")
    assert found(text, Host.PYTHON) == [("syntax-error", "$2(0,0)<1;1")]


def test_ptx_that_triton_is_given_gets_a_remark():
    text = 'x = core.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=t)\n'
    (finding,) = findings(HostText.of(text, Host.PYTHON))
    assert (finding.name, finding.severity.value) == ("other-assembly", "information")
    assert "vISA" in finding.message
    right = 'x = core.inline_asm_elementwise("mov (M1_NM, 1) $0(0,0)<1> %sr0(0,0)<0;1,0>", "=rw", [], dtype=t)\n'
    assert found(right, Host.PYTHON) == []


def test_calls_in_llvm_ir_and_in_mlir_are_read():
    text = (
        '; call void asm "bad (M1, 16) $0", "rw"(i32 1)\n'
        '%1 = call i32 asm "ad (M1, 16) $0(0,0)<1> $1(0,0)<1;1,0> $2(0,0)<0;1,0>", "=rw,rw,rw.u"(i32 %a, i32 7)\n'
        'call void asm sideeffect "lsc_load_block2d.ugm (M1, 1) %null:d$1.$2x$3nn flat[$0+(0,0)]", "rw.u,P,P,P"(ptr %a, i32 16, i32 32, i32 8)\n'
        '%2 = tail call <4 x i32> asm "mov (M1, 16) $0(3,0)<1> 0x1:d\\0Amov (M1, 16) $0(3,0)<1> no(0,0)<1;1,0>", "=rw"()\n'
        'call void asm "movl $0, %eax", "r"(i32 %a)\n'
    )
    assert found(text, Host.LLVM) == [("unknown-mnemonic", "ad"), ("undeclared-name", "no")]
    text = '%0 = llvm.inline_asm has_side_effects asm_dialect = att "ad (M1, 16) $0(0,0)<1> $1(0,0)<1;1,0>", "=rw,rw" %a : (f32) -> f32\n'
    assert found(text, Host.MLIR) == [("unknown-mnemonic", "ad")]


def test_an_edited_text_of_llvm_ir_says_what_a_fresh_one_says():
    text = 'call void asm "mov (M1, 16) $0(0,0)<1> 0x1:d", "rw"(i32 %a)\n'
    host = HostText.of(text, Host.LLVM)
    for at, new in ((0, "; "), (len(text) + 2, text), (2 + text.index("0x1"), "no(0,0)<1;1,0> "), (0, "\n")):
        host = host.edit(host.document.edit(at, at, new))
        assert host.visa_text == HostText.of(host.document.text, Host.LLVM).visa_text


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ('import cl\nS = """\n__kernel void k(global int *d) { int x;\n  __asm__("ad (M1, 16) %0(0,0)<1> 0x1:d\\\\n" : "=rw"(x)); }"""', Host.PYTHON),
        ("S = '__kernel void k(global int *d) { int x; __asm__(\"ad (M1, 16) %0(0,0)<1> 0x1:d\" : \"=rw\"(x)); }'", Host.PYTHON),
        ('auto s = R"x(kernel void k(global int *d) { int x; asm("ad (M1, 16) %0(0,0)<1> 0x1:d\\n" : "=rw"(x)); })x";', Host.CPP),
        ('auto s = "kernel void k(global int *d) { int x;\\n" /* a */\n  "asm(\\"ad (M1, 16) %0(0,0)<1> 0x1:d\\" : \\"=rw\\"(x)); }";', Host.CPP),
    ],
)  # fmt: skip
def test_opencl_in_a_string_of_another_language_is_read(text, host):
    assert found(text, host) == [("unknown-mnemonic", "ad")]
    whole = HostText.of(text, host)
    edited = whole.edit(whole.document.edit(text.index("ad (") + 2, text.index("ad (") + 2, "d"))
    assert findings(edited) == findings(HostText.of(edited.document.text, host)) != ()
    assert found(text.replace("kernel void", "void").replace("__kernel", ""), host) == []


@pytest.mark.parametrize(
    ("size", "platform", "wrong"),
    [
        ("8", "PVC", True), ("8", "BMG", True), ("8", "DG2", False), ("16", "PVC", False), ("32", "BMG", False),
        ("8", None, False), ("64", None, True), ("4", "TGLLP", True), ("SG", "BMG", True), ("SG", "MTL", False), ("OTHER", "BMG", False),
    ],
)  # fmt: skip
def test_a_required_size_that_the_platform_lacks_is_found_at_the_attribute(size, platform, wrong):
    statement = f'__asm__("{MOVE}" : "=rw"(y) : "rw"(x));'
    text = "#define SG (8)\n" + KERNEL.format(statement).replace("size(16)", f"size({size})")
    host = HostText.of(text, Host.OPENCL, platform_named(platform) if platform else None)
    shown = [text[d.span.start : d.span.end] for d in findings(host) if d.name == "sub-group-size"]
    assert shown == [f"intel_reqd_sub_group_size({size})"] * wrong
