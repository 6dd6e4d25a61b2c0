"""New OpenCL kernels, compiled here: the installed finalizer and we agree on their objects.

``ocloc`` prints the text, the stock ``GenX_IR`` accepts it and writes its object, truncated in the known way. Read by it,
our object prints the same text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from finalizer import compile_source, find_agreed_object, why_missing
from tiers import first

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(bool(why_missing()), reason=why_missing())

SOURCE = """
__kernel void gather_scale(__global const float *in, __global const int *at, __global float *out, float k, int n) {
    int i = get_global_id(0);
    if (i < n) {
        int j = at[i];
        out[i] = j < 0 ? 0.0f : fma(in[j], k, sqrt(in[i]));
    }
}

__kernel void row_sums(__global const uint *in, __global uint *out, int width, __local uint *part) {
    uint sum = 0;
    for (int x = get_local_id(0); x < width; x += get_local_size(0))
        sum += in[get_group_id(0) * width + x] ^ (uint)x;
    part[get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        for (uint i = 1; i < get_local_size(0); i++)
            sum = max(sum + part[i], rotate(sum, 3u));
        atomic_add(&out[get_group_id(0)], sum);
    }
}

__kernel void pick(__global const char4 *in, __global short4 *out, uchar bits) {
    int i = get_global_id(0);
    switch (bits & 3) {
        case 0: out[i] = convert_short4(in[i]); break;
        case 1: out[i] = convert_short4_sat(convert_float4(in[i]) * 1.5f); break;
        default: out[i] = (short4)(popcount(in[i].x), clz(in[i].y), in[i].z % 7, in[i].w / 3);
    }
}
"""
DEVICES = (("skl", "SKL"), ("pvc", "PVCXT"), ("tgllp", "TGLLP"), ("acm-g10", "DG2"))


@pytest.mark.parametrize("target", first(2, DEVICES), ids=str)
def test_the_finalizer_and_we_agree_on_new_kernels(tmp_path: Path, target: tuple[str, str]):
    device, platform = target
    found = compile_source(tmp_path / "dump", SOURCE, device)
    for number, path in enumerate(found):
        find_agreed_object(tmp_path / f"object{number}", path.read_text(encoding="utf-8"), platform)
    print(f"\n{platform}: {len(found)} new texts: same object through the truncation rule, same text read back")
    assert len(found) >= 3
