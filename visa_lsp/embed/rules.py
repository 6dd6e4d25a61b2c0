"""The rules about a host's code around its vISA: V240 to V242.

Each rule's page is what ``explain`` and hover print. Codes are never used twice.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.diagnostics import Rule, Severity

BAD_CONSTRAINT: Final = Rule(
    "V240",
    "bad-constraint",
    Severity.ERROR,
    """An operand of inline assembly has a constraint that the compiler of its host does not take.

The compiler of OpenCL and SYCL takes `=rw` and `+rw` for outputs, and for inputs `rw`, `rw.u` (the same in all lanes), `i` and `P`
(numbers) and the number of an output. The vector compiler of CM and ESIMD takes `r`, `rw`, `a`, `cr`, `i`, `n`, `F` and the number of
an output.

Why: the compiler of 2026 refuses the kernel ("Constraints for inline assembly cannot be validated"); that of 2022 drops the
statement without a word, and the kernel computes something else.

Example:

    // __asm__("mov (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>" : "=r"(y) : "r"(x));

Instead:

    // __asm__("mov (M1, 16) %0(0,0)<1> %1(0,0)<1;1,0>" : "=rw"(y) : "rw"(x));

Authority: the public sources of Intel's graphics compiler; its releases of 2022 and 2026.
""",
)
OTHER_ASSEMBLY: Final = Rule(
    "V241",
    "other-assembly",
    Severity.INFORMATION,
    """A call in Python that takes inline assembly is given PTX, the assembly of another maker's processors.

Why: on an Intel GPU the template has to be vISA, with constraints such as `=rw,rw`; the finalizer reads nothing of PTX. A kernel that
runs on both needs a template for each.

Example:

    // inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], ...)

Instead:

    // inline_asm_elementwise("mov (M1_NM, 1) $0(0,0)<1> %sr0(0,0)<0;1,0>", "=rw", [], ...)

Authority: the public sources of Triton and of Intel's graphics compiler.
""",
)
SUB_GROUP_SIZE: Final = Rule(
    "V242",
    "sub-group-size",
    Severity.ERROR,
    """A kernel with inline assembly requires a sub-group size that its platform does not have.

Platforms with registers of 32 bytes have the sizes 8, 16 and 32, those with registers of 64 bytes (PVC, BMG and later) 16 and 32. Without a
platform only sizes that no platform has are reported; the example is for PVC.

Why: the compiler refuses the kernel ("Kernel compiled with required subgroup size 8, which is unsupported on this platform").

Example:

    // __attribute__((intel_reqd_sub_group_size(8))) kernel void k(global int *d)

Instead:

    // __attribute__((intel_reqd_sub_group_size(16))) kernel void k(global int *d)

Authority: Intel's graphics compiler of 2022 and 2026.
""",
)
RULES: Final = (BAD_CONSTRAINT, OTHER_ASSEMBLY, SUB_GROUP_SIZE)
