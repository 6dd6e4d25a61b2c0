"""The instruction does not have this modifier.

Such words choose the comparison (`cmp.lt`), the atomic operation, the channels, the saturation and more; which ones exist
depends on the instruction.

Why: the finalizer reports a syntax error. `.sat` on an instruction that cannot saturate passes its parser and stops its
code generator.

Example:

    cmp.less (M1, 16) P1 V33(0,0)<1;1,0> V34(0,0)<1;1,0>

Instead:

    cmp.lt (M1, 16) P1 V33(0,0)<1;1,0> V34(0,0)<1;1,0>

Authority: seed 003, the instructions' text forms; the finalizer rejects the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.isa.model import Dialect, Instruction, Modifier
from visa_lsp.sema.model import Place
from visa_lsp.suggest import nearest
from visa_lsp.syntax import tree

RULE = rule("V202", "unknown-modifier", ERROR, __doc__)
_SPELT = {"equal": "eq", "less": "lt", "greater": "gt", "l": "lt", "g": "gt", "z": "eq", "nz": "ne", "saturate": "sat"}


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    row, word = problem.get("row", Instruction), str(problem.args["word"])
    if word == "sat":
        tail, severity = (" (the finalizer does not check)", WARNING) if row.saturation_dropped else ("", ERROR)
        if ctx.dialect is Dialect.V42:  # whose finalizer refuses it
            tail, severity = "", ERROR
        message = f"`{row.mnemonic}` has no saturation; leave out `.sat`{tail}"
        return ctx.report(RULE, problem.place, message, severity=severity)
    spellings = [w for m in row.modifiers if m.kind is Modifier.Kind.WORD for w in m.words]
    if not row.modifiers:
        return ctx.report(RULE, problem.place, f"unknown modifier `.{word}`; `{row.mnemonic}` takes none")
    suggestion = _SPELT.get(word.lower()) if _SPELT.get(word.lower()) in spellings else nearest(word, spellings)
    message = f"`.{word}` is not a modifier of `{row.mnemonic}`"
    if ctx.dialect is Dialect.V42 and any(m.kind is Modifier.Kind.ANGLE for m in row.modifiers):
        message = f"{message}; {list_modifiers(row)} (the finalizer of 2026 reads any word in angle brackets)"
        return ctx.report(RULE, problem.place, message, severity=WARNING)
    read = problem.get("read", tuple)
    open_numbers = [m for m in row.modifiers if m.any_number and m not in read]
    if ctx.dialect is Dialect.V42 and word.isdecimal() and open_numbers:
        message = f"{message}; {list_modifiers(row)} (the finalizer of 2026 reads any number)"
        return ctx.report(RULE, problem.place, message, severity=WARNING)
    if suggestion:
        fix = ctx.fix(f"change to `.{suggestion}`", problem.place, suggestion)
        return ctx.report(RULE, problem.place, f"{message}; did you mean `.{suggestion}`?", fixes=(fix,))
    return ctx.report(RULE, problem.place, f"{message}; {list_modifiers(row)}")


def list_modifiers(row: Instruction) -> str:
    """Return the modifiers that an instruction takes, as the end of a message."""
    return "it takes " + ", then ".join(modifier_words(m) for m in row.modifiers)


def modifier_words(modifier: Modifier) -> str:
    """Return the legal words of one modifier."""
    match modifier.kind:
        case Modifier.Kind.CHANNELS:
            return "a channel mask of the letters R, G, B, A"
        case Modifier.Kind.HEX:
            return "a byte such as `.xd8`"
        case Modifier.Kind.NUMBER:
            return "a number"
        case Modifier.Kind.LETTERS:
            return "letters of " + " ".join(modifier.words) + ", in this order"
        case Modifier.Kind.ANGLE:
            return "flags of " + " ".join(f"<{w}>" for w in modifier.words)
        case _:
            names = [f"`.{w}`" for w in modifier.words if w.lower() == w or w.lower() not in modifier.words]
            return " or ".join(names[:8]) + (" and others" if len(names) > 8 else "")


def _instruction(ctx: CheckContext, _: Body, bound: Bound) -> Iterator[Diagnostic]:
    """Yield a word on the wrong side of the execution size: the finalizer reads each on one side only."""
    row, node = bound.row, bound.statement
    if row is None or not isinstance(node, tree.Instruction) or node.exec is None or len(node.words) < 2:
        return
    for word in node.words[1:]:
        is_after_size = any(modifier.after_size and word.text in modifier.words for modifier in row.modifiers)
        if is_after_size == (word.span.start > node.exec.span.start):
            continue
        size = ctx.text(Place(bound.line, node.exec.span))
        right = (
            f"after the execution size: `{size}.{word.text}`"
            if is_after_size
            else f"before the execution size: `.{word.text} {size}`"
        )
        yield ctx.report(RULE, Place(bound.line, word.span), f"`.{word.text}` belongs {right}")


CHECK = Check(
    RULE,
    {"unknown-modifier": _report, "ignored-saturation": _report},
    instruction=_instruction,
    wants=lambda row: bool(row.modifiers),
)
