"""The compiler's verdict on blocks of vISA, and ours: what it accepts has no error here, what is a fault to it is one here."""

from __future__ import annotations

from pathlib import Path

import pytest
from finalizer import accepts, why_missing
from tiers import first

from visa_lsp.diagnostics import has_errors
from visa_lsp.embed.host_findings import findings
from visa_lsp.embed.host_text import HostText
from visa_lsp.embed.languages import Host

pytestmark = pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "there is a compiler")
SOURCES = Path(__file__).parent / "sources"
DEVICE = {"operands.cl": "tgllp", "strings.cl": "tgllp", "matrix.cl": "pvc", "manners.cl": "pvc"}
HEAD = """
__attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *d, global float *f, uint n) {
  const size_t tid = get_global_id(0);
  int x = d[tid]; float y = f[tid];
  __asm__ volatile("""
TAIL = """ : "+rw"(x), "+rw"(y) : "rw"(&d[tid]), "rw.u"(n), "i"(5));
  d[tid] = x; f[tid] = y;
}
"""
RIGHT = (
    '"add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %4\\n"',
    '"mov (M1, 16) %1(0,0)<1> %0(0,0)<1;1,0>\\n"',
    '"mov (M1_NM, 1) %0(0,0)<1> %3(0,0)<0;1,0>"',
    '"add.sat (M1, 16) %1(0,0)<1> (-)%1(0,0)<1;1,0> (abs)%1(0,0)<1;1,0>"',
    '"{\\n.decl p v_type=P num_elts=16\\ncmp.lt (M1, 16) p %0(0,0)<1;1,0> 0x0:d\\n(p) sel (M1, 16) %0(0,0)<1> 0x1:d %0(0,0)<1;1,0>\\n}"',
    '"svm_gather.4.1 (M1, 16) %2.0 %0.0\\n"',
    '".decl shared v_type=G type=w num_elts=32 align=GRF alias=<%0, 0>\\nmov (M1, 16) shared(0,0)<2> 0x0:w\\n"',
    '"\\n\\n  // nothing but a comment\\n"',
)
WRONG = (
    '"addd (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %4\\n"',
    '"add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0>\\n"',
    '"add (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> nope(0,0)<1;1,0>\\n"',
    '"mov (M1, 15) %0(0,0)<1> 0x1:d"',
    '"mov (M1, 16) %0(0,0)<1 0x1:d"',
    '"goto (M1, 16) nowhere"',
    '".decl t v_type=G type=zz num_elts=16"',
    '"  indented:\\n"',
    '"mov (M1, 16) %0(0,0)<1> 0x1:d mov (M1, 16) %0(0,0)<1> 0x1:d"',
)


def errors(text):
    return [d for d in findings(HostText.of(text, Host.OPENCL)) if has_errors([d])]


@pytest.mark.parametrize("name", first(2, DEVICE))
def test_a_source_that_the_compiler_takes_has_no_error(name, tmp_path):
    text = (SOURCES / name).read_text(encoding="utf-8")
    assert accepts(tmp_path / "right", text, DEVICE[name])
    assert errors(text) == []


def test_blocks_that_the_compiler_takes_have_no_error(tmp_path):
    text = HEAD + f"{TAIL.split(chr(10), maxsplit=1)[0]}\n__asm__ volatile(".join(RIGHT) + TAIL
    assert accepts(tmp_path / "right", text, "tgllp")
    assert errors(text) == []


@pytest.mark.full
@pytest.mark.parametrize("block", RIGHT)
def test_a_block_that_the_compiler_takes_has_no_error(block, tmp_path):
    assert accepts(tmp_path / "right", HEAD + block + TAIL, "tgllp")
    assert errors(HEAD + block + TAIL) == []


@pytest.mark.parametrize("block", first(2, WRONG))
def test_a_block_that_the_compiler_rejects_has_an_error(block, tmp_path):
    assert not accepts(tmp_path / "wrong", HEAD + block + TAIL, "tgllp")
    assert errors(HEAD + block + TAIL)
