"""The rules about what other programs say: V920 to V929 the finalizer, V930 to V939 the OpenCL compiler.

The words of such a finding are the program's; the rule says whose they are, so that nobody takes them for ours.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.diagnostics import Rule, Severity


def _rule(code: str, name: str, severity: Severity, what: str, why: str, example: str, instead: str, who: str) -> Rule:
    page = f"{what}\n\nWhy: {why}\n\nExample:\n\n    {example}\n\nInstead:\n\n    {instead}\n\nAuthority: {who}\n"
    return Rule(code, name, severity, page)


_FINALIZER: Final = "the finalizer that was called; another release may see it differently."
_COMPILER: Final = "the compiler that was called."

FINALIZER_ERROR: Final = _rule(
    "V920", "finalizer-error", Severity.ERROR,
    "The finalizer refuses a line. The message is the finalizer's own; only `visa-lsp gen` reports it.",
    "there is no machine code. It tells its first syntax error only, and it is older or newer than the text may be.",
    "mov (M1, 3) V33(0,0)<1> V34(0,0)<1;1,0>", "mov (M1, 4) V33(0,0)<1> V34(0,0)<1;1,0>", _FINALIZER,
)  # fmt: skip
FINALIZER_WARNING: Final = _rule(
    "V921", "finalizer-warning", Severity.WARNING,
    "The finalizer has something against a line, and makes machine code all the same.",
    "what the instruction asks for is not what the machine code does.",
    "and.sat (M1, 8) V33(0,0)<1> V34(0,0)<1;1,0> V35(0,0)<1;1,0>",
    "and (M1, 8) V33(0,0)<1> V34(0,0)<1;1,0> V35(0,0)<1;1,0>", _FINALIZER,
)  # fmt: skip
FINALIZER_FAILURE: Final = _rule(
    "V922", "finalizer-failure", Severity.ERROR,
    "The finalizer ended without machine code and without a word against the text: it crashed, or did not end in time.",
    "this is the finalizer's own fault, not one that the text has to have. Texts that a compiler printed without optimisation "
    "are known to bring it down.",
    '.kernel "crashes"', '.kernel "works"', _FINALIZER,
)  # fmt: skip
FINALIZER_REMARK: Final = _rule(
    "V923", "finalizer-remark", Severity.INFORMATION,
    "The finalizer has a doubt about a text, and does not say which line it means. The finding stands at the head of the text, and "
    "leaves the exit status as it is: texts that compilers print have some too.",
    "an access may leave its variable.",
    "mov (M1, 8) V33(9,0)<1> V34(0,0)<1;1,0>", "mov (M1, 8) V33(0,0)<1> V34(0,0)<1;1,0>", _FINALIZER,
)  # fmt: skip
OLDER_FINALIZER: Final = _rule(
    "V924", "older-finalizer", Severity.INFORMATION,
    "The finalizer is older than the text. Lines in a form of text 4.2 that text 4.1 has too, in other words, were given to it in "
    "those; or it lacks the platform of an OpenCL source, and what is shown is the machine code of the compiler itself. The finding "
    "leaves the exit status as it is.",
    "the machine code is of a text that differs from the one that is shown, or of another program.",
    "lsc_load.ugm (M1, 16) V36:d8u32 flat[V35]:a64", "lsc_load.ugm (M1, 16) V36:d8c32 flat[V35]:a64",
    "the list of platforms of the finalizer that was called: one without Xe2 reads text 4.1 only.",
)  # fmt: skip
COMPILER_ERROR: Final = _rule(
    "V930", "compiler-error", Severity.ERROR,
    "The OpenCL compiler refuses a source. The message is the compiler's own; only `visa-lsp compile` and `run K.cl` report it.",
    "there is no program.",
    "y[i] = b;", "y[i] = x[i];", _COMPILER,
)  # fmt: skip
COMPILER_WARNING: Final = _rule(
    "V931", "compiler-warning", Severity.WARNING,
    "The OpenCL compiler warns of something in a source. The message is the compiler's own.",
    "the program is built, and may do something else than was meant.",
    "#warning unfinished", "// unfinished", _COMPILER,
)  # fmt: skip

RULES: Final = (
    FINALIZER_ERROR, FINALIZER_WARNING, FINALIZER_FAILURE, FINALIZER_REMARK, OLDER_FINALIZER, COMPILER_ERROR, COMPILER_WARNING,
)  # fmt: skip
