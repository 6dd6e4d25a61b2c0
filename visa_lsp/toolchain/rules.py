"""The rules for messages of other programs: V920 to V929 the finalizer, V930 to V939 the OpenCL compiler.

The message of such a finding is that of the program; the rule identifies the program.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.diagnostics import Rule, Severity


def _rule(code: str, name: str, severity: Severity, what: str, why: str, example: str, instead: str, who: str) -> Rule:
    page = f"{what}\n\nWhy: {why}\n\nExample:\n\n    {example}\n\nInstead:\n\n    {instead}\n\nAuthority: {who}\n"
    return Rule(code, name, severity, page)


_FINALIZER: Final = "the finalizer that was called; another release may differ."
_COMPILER: Final = "the compiler that was called."

FINALIZER_ERROR: Final = _rule(
    "V920", "finalizer-error", Severity.ERROR,
    "The finalizer refuses a line. The message is the finalizer's own; only `visa-lsp gen` reports it.",
    "there is no machine code. The finalizer reports only its first syntax error, and its release may not match the text.",
    "mov (M1, 3) V33(0,0)<1> V34(0,0)<1;1,0>", "mov (M1, 4) V33(0,0)<1> V34(0,0)<1;1,0>", _FINALIZER,
)  # fmt: skip
FINALIZER_WARNING: Final = _rule(
    "V921", "finalizer-warning", Severity.WARNING,
    "The finalizer warns of a line, but makes machine code.",
    "the machine code does not do exactly what the instruction says.",
    "and.sat (M1, 8) V33(0,0)<1> V34(0,0)<1;1,0> V35(0,0)<1;1,0>",
    "and (M1, 8) V33(0,0)<1> V34(0,0)<1;1,0> V35(0,0)<1;1,0>", _FINALIZER,
)  # fmt: skip
FINALIZER_FAILURE: Final = _rule(
    "V922", "finalizer-failure", Severity.ERROR,
    "The finalizer ended without machine code and without an error message: it crashed or timed out.",
    "this is a bug of the finalizer, not necessarily a mistake in the text. Texts that a compiler printed without "
    "optimisation are known to crash it.",
    '.kernel "crashes"', '.kernel "works"', _FINALIZER,
)  # fmt: skip
FINALIZER_REMARK: Final = _rule(
    "V923", "finalizer-remark", Severity.INFORMATION,
    "The finalizer warns of a text without naming a line. The finding is placed at the start of the text and does not "
    "change the exit status, because texts from compilers have such warnings too.",
    "an access may leave its variable.",
    "mov (M1, 8) V33(9,0)<1> V34(0,0)<1;1,0>", "mov (M1, 8) V33(0,0)<1> V34(0,0)<1;1,0>", _FINALIZER,
)  # fmt: skip
OLDER_FINALIZER: Final = _rule(
    "V924", "older-finalizer", Severity.INFORMATION,
    "The finalizer is older than the text. Lines of text 4.2 were rewritten in equivalent forms of text 4.1; or the finalizer "
    "lacks the platform of an OpenCL source, and the machine code shown is that of the compiler. The finding does not "
    "change the exit status.",
    "the machine code belongs to a text that differs from the one shown, or comes from another program.",
    "lsc_load.ugm (M1, 16) V36:d8u32 flat[V35]:a64", "lsc_load.ugm (M1, 16) V36:d8c32 flat[V35]:a64",
    "the list of platforms of the finalizer that was called: one without Xe2 reads text 4.1 only.",
)  # fmt: skip
UNDECLARED_SPILL: Final = _rule(
    "V925", "undeclared-spill", Severity.WARNING,
    "A listing of machine code spills registers, but the ze_info of its folder has no memory for spills of its kernel: neither a "
    "`spill_size` nor a buffer for spills. Only `visa-lsp stats` reports it.",
    "the listing and the ze_info are of different builds, or the runtime allocates too little scratch memory.",
    "//.spill size 512", "execution_env: {spill_size: 512}",
    "the listing's header and the ze_info, both written by the compiler.",
)  # fmt: skip
COMPILER_ERROR: Final = _rule(
    "V930", "compiler-error", Severity.ERROR,
    "The OpenCL compiler refuses a source. The message is the compiler's own; only `visa-lsp compile` and `run K.cl` report it.",
    "there is no program.",
    "y[i] = b;", "y[i] = x[i];", _COMPILER,
)  # fmt: skip
COMPILER_WARNING: Final = _rule(
    "V931", "compiler-warning", Severity.WARNING,
    "The OpenCL compiler warns of a line. The message is the compiler's own.",
    "the program is built, but may not do what was meant.",
    "#warning unfinished", "// unfinished", _COMPILER,
)  # fmt: skip

RULES: Final = (
    FINALIZER_ERROR, FINALIZER_WARNING, FINALIZER_FAILURE, FINALIZER_REMARK, OLDER_FINALIZER, UNDECLARED_SPILL,
    COMPILER_ERROR, COMPILER_WARNING,
)  # fmt: skip
