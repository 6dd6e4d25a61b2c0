"""An instruction has too few or too many operands.

Why: the finalizer reports the token at which it stopped, often on the next line; this rule names the missing operand.

Example:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0>

Instead:

    add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 003, the instructions' text forms; the finalizer rejects the text.
"""

from __future__ import annotations

from visa_lsp.checks.rule import ERROR, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.facts import slot_words
from visa_lsp.isa.model import Instruction, Slot

RULE = rule("V204", "operand-count", ERROR, __doc__)


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic:
    row, missing = problem.get("row", Instruction), problem.args["missing"]
    assert isinstance(missing, (list, tuple))
    got, required = problem.args["got"], problem.args["required"]
    if missing:
        slots = [slot for slot in missing if isinstance(slot, Slot)]
        names = " and ".join(slot_words(slot) for slot in slots)
        verb = "is" if len(slots) == 1 else "are"
        message = (
            f"`{row.mnemonic}` takes {_count(required)}, not {got}: {names} {verb} missing; expected `{row.syntax}`"
        )
        return ctx.report(RULE, problem.place, message)
    most = len(row.slots)
    text = ctx.text(problem.place)
    if most == 0:
        return ctx.report(RULE, problem.place, f"`{row.mnemonic}` takes no operand; `{text}` is one too many")
    limit = _count(most) if most == required else f"at most {_count(most)}"
    message = f"`{row.mnemonic}` takes {limit}, not {got}; `{text}` is one too many"
    return ctx.report(RULE, problem.place, message)


def _count(number: object) -> str:
    return "1 operand" if number == 1 else f"{number} operands"


CHECK = Check(RULE, {"operand-count": _report})
