"""The facts that a kernel's source gives beyond its text: local arrays, barriers of sub-groups."""

from __future__ import annotations

import pytest
from each_case import each_of
from msgspec.structs import astuple

from visa_lsp.app.assemble import program_of_text
from visa_lsp.app.kernel_source import (
    local_arrays_of,
    may_lack_barriers,
    private_arrays_in,
    records_in,
    types_in,
    without_comments,
)
from visa_lsp.program.payload import ExecutionEnv, KernelInfo

SOURCE = """#define T 16
#define WIDE (T + 1)
/* kernel void other() { local float x[1]; } */
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void halo(__global float *o)
{ __local float t[65]; o[0] = t[0]; }
kernel void tile(global float *o) { local float t[T][WIDE], u[2 * T / 4]; o[0] = t[0][0]; }
kernel void mixed(global float *o) { local char c[3]; local float a[65]; local short s[5]; local double d[2]; local float4 v[1]; }
kernel void scalar(global int *o) { local int counter; }
kernel void unknown(global int *o) { local struct S s[3]; local int t[4]; }
kernel void later(global int *o) { local int t[N]; }
kernel void none(local int *t) { t[0] = 1; }
"""


@each_of(
    [
        ("halo", (("t", 0, (65,), 4),)),
        ("tile", (("t", 0, (16, 17), 4), ("u", 16 * 17 * 4, (8,), 4))),
        (
            "mixed",
            (("c", 0, (3,), 1), ("a", 4, (65,), 4), ("s", 264, (5,), 2), ("d", 280, (2,), 8), ("v", 304, (1,), 16)),
        ),
        ("scalar", (("counter", 0, (), 4),)),
        ("unknown", ()),
        ("later", ()),
        ("none", ()),
        ("missing", ()),
    ]
)
def test_the_places_of_local_arrays_follow_from_their_declarations(case):
    kernel, arrays = case
    assert tuple(astuple(array)[:4] for array in local_arrays_of(without_comments(SOURCE), kernel)) == arrays


def test_names_of_types_are_followed_where_all_branches_agree():
    source = """typedef float real; typedef real length; typedef unsigned int word; typedef uchar4 pixel;
    #ifdef WIDE
typedef double value;
#else
typedef float value;
#endif
    // typedef char real;
 typedef struct { int n; } record; typedef record row;"""
    assert types_in(without_comments(source)) == {"real": "float", "length": "float", "word": "uint", "pixel": "uchar4"}


def test_fields_of_structures_are_aligned_to_their_sizes():
    source = """#define N 3
    typedef float real; typedef struct { uchar tag; real x, y[N]; float4 v; } wide;
    typedef struct { int a; } twice;\n#ifdef A\ntypedef struct { int b; } twice;\n#endif
    typedef struct { global int *p; } pointer; typedef struct __attribute__((packed)) { uchar a; int b; } packed;"""
    (record,) = records_in(source, types_in(source))
    assert (record.name, record.size) == ("wide", 48)
    assert [astuple(one) for one in record.fields] == [
        ("tag", 0, "uchar", 0), ("x", 4, "float", 0), ("y", 8, "float", 3), ("v", 32, "float4", 0),
    ]  # fmt: skip


def test_a_dropped_barrier_belongs_to_its_kernel(tmp_path):
    (tmp_path / "k.cl").write_text(
        "kernel void sub(int *o) { sub_group_barrier(1); }\nkernel void own(int *o) { barrier(1); }\nkernel void none(int *o) { /* barrier */ }"
    )
    for name, size, expected in (("sub", 64, True), ("own", 16, True), ("own", 64, False), ("none", 16, False)):
        text = f'.version 4.2\n.kernel "{name}"\nFILE "k.cl"\nLOC 1\nret (M1, 1)\n'
        module = program_of_text(text).module
        assert module is not None
        info = KernelInfo(name, ExecutionEnv(16, required_work_group_size=(size, 1, 1)))
        assert may_lack_barriers(info, module.kernels[0], tmp_path) == expected


@pytest.mark.parametrize(
    ("declared", "variable", "expected"),
    [
        ("int t[1 << N]; float u[3];", "big", "t"),  # 16 lanes of 4 elements
        ("int t[4]; uint u[4];", "big", ""),  # two of this size
        ("local int t[4]; const uint4 u[1] = {0};", "big", "u"),
        ("int t[4];", "other", ""),  # no address selects a register of it
    ],
)
def test_a_private_array_is_the_only_one_of_the_size(declared, variable, expected, tmp_path):
    (tmp_path / "k.cl").write_text(f"#define N 2\nkernel void k(int *o) {{ /* int x[4]; */ {declared} o[0] = 1; }}")
    text = (
        '.version 4.2\n.kernel "k"\n.decl big v_type=G type=d num_elts=64\n.decl other v_type=G type=d num_elts=64\n'
        '.decl A0 v_type=A num_elts=1\n.kernel_attr SimdSize=16\nFILE "k.cl"\nLOC 1\naddr_add (M1, 1) A0(0)<1> &big 0x4:uw\nret (M1, 1)\n'
    )
    module = program_of_text(text).module
    assert module is not None
    assert private_arrays_in(module.kernels[0], tmp_path).get(variable, "") == expected
