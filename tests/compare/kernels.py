"""Small kernels for tests of comparison."""

from visa_lsp.app.diff.sides import side_of_text
from visa_lsp.compare.program_differences import compare_programs

HEAD = """\
.version 4.1
.kernel "k"
.decl A1 v_type=G type=d num_elts=16 align=GRF
.decl A2 v_type=G type=d num_elts=16 align=GRF
.decl A3 v_type=G type=d num_elts=16 align=GRF
.decl A4 v_type=G type=d num_elts=16 align=GRF
.decl U1 v_type=G type=ud num_elts=16 align=GRF alias=<A1, 0>
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.decl T6 v_type=T num_elts=1
.input A1 offset=64 size=64
.kernel_attr SimdSize=16
"""
CODE = """\
    mov (M1, 16) A2(0,0)<1> A1(0,0)<1;1,0>
    add (M1, 16) A3(0,0)<1> A2(0,0)<1;1,0> 0x1:d
    mul (M1, 16) A4(0,0)<1> A3(0,0)<1;1,0> A2(0,0)<1;1,0>
    cmp.lt (M1, 16) P1 A4(0,0)<1;1,0> 0x5:d
    (P1) goto (M1, 16) over
    shl (M1, 16) A4(0,0)<1> A4(0,0)<1;1,0> 0x2:d
    xor (M1, 16) A2(0,0)<1> U1(0,0)<1;1,0> A4(0,0)<1;1,0>
over:
    or (M1, 16) A3(0,0)<1> A3(0,0)<1;1,0> A2(0,0)<1;1,0>
    ret (M1, 1)
"""
TEXT = HEAD + CODE


def line_of(text, fragment):
    """Return the only line with a fragment, from 1."""
    (line,) = [n for n, line in enumerate(text.splitlines(), 1) if fragment in line]
    return line


def diffs(a, b):
    """How two texts differ."""
    one, other = side_of_text("a", a, None), side_of_text("b", b, None)
    return compare_programs(one.bodies, other.bodies, one.end, other.end)


def changes(a, b):
    """(kind, lines of a, lines of b, what) of the only kernel; lines from 1."""
    (diff,) = diffs(a, b)
    return [(c.kind.value, (c.a.first + 1, c.a.last + 1), (c.b.first + 1, c.b.last + 1), c.what) for c in diff.changes]
