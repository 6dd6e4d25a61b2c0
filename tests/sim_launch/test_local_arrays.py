"""The end of a kernel's local arrays, as the declarations in its source give it."""

from __future__ import annotations

from each_case import each_of

from visa_lsp.app.launch.local_arrays import end_of_arrays

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
        ("halo", 260),
        ("tile", 16 * 17 * 4 + 32),
        ("mixed", 320),
        ("scalar", 4),
        ("unknown", 0),
        ("later", 0),
        ("none", 0),
        ("missing", 0),
    ]
)
def test_the_end_of_local_arrays_follows_from_their_declarations(case):
    kernel, end = case
    assert end_of_arrays(SOURCE, kernel) == end
