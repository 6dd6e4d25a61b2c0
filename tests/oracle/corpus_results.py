"""The expected results of launches: those that are kept, those of pocl, and how near to them a result must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import corpus_cases
import numpy as np
import opencl
import own_cases
from corpus import OWN, place

from visa_lsp.sim.launch.config import BufferArg, ImageArg
from visa_lsp.sim.launch.expect import ulp_distance

if TYPE_CHECKING:
    from corpus_cases import Case

    Buffers = dict[int, np.ndarray]

ACCURACY = corpus_cases.ACCURACY | own_cases.ACCURACY


def of_pocl(case: Case) -> tuple[Buffers, list[str]]:
    """Return the buffers that pocl leaves, and the text that it prints."""
    source = place(f"dev/cl/{case.source}.cl").read_text()
    if case.fused:
        source = source.replace("mad(", "fma(")
    if case.exact_rsqrt:
        # pocl's native_rsqrt is an estimate; ours, like the hardware's, is the rounded value.
        source = source.replace("native_rsqrt(", "1.0f / sqrt(")
    printed: list[str] = []
    found = opencl.run(source, case.kernel, case.groups, case.local, case.args, case.options, case.offset, printed)
    return found, printed


def compare(case: Case, found: Buffers, expected: Buffers) -> None:
    """Compare buffers as near as the kernel allows. Raises AssertionError with the elements that differ."""
    rtol, atol, ulp, _ = ACCURACY.get(case.kernel, (0, 0, 0, ""))
    if case.settle:
        found, expected = case.settle(found), case.settle(expected)
    for index, array in expected.items():
        good = found[index] == array
        if array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                good |= (ulp_distance(found[index], array) <= ulp) | (np.isnan(array) & np.isnan(found[index]))
                good |= np.isclose(found[index], array, rtol=rtol, atol=atol)
        assert np.all(good), (index, found[index][~good][:4], array[~good][:4])


def kept(case: Case, simd: int) -> Buffers:
    """Return the buffers that ``make.py`` keeps of a launch of the project's own: those that change, the others as given."""
    expected = {i: arg.array for i, arg in enumerate(case.args) if isinstance(arg, BufferArg | ImageArg)}
    found = [path for suffix in ("", f".simd{simd}") for path in (OWN / "expected").glob(f"{case}{suffix}.[0-9].npy")]
    assert found or case.kernel == "talk"
    return expected | {int(path.name.split(".")[-2]): np.load(path) for path in found}
