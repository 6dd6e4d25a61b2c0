"""A predicate has fewer elements than the lanes that use it.

Lane n of an instruction reads and writes bit n of the predicate, counted from the mask offset.

Why: the remaining lanes have no predicate bit; they read the bits of whichever variable the allocator placed next.

Example:

    .decl P2 v_type=P num_elts=8
    (P2) add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Instead:

    .decl P2 v_type=P num_elts=16
    (P2) add (M1, 16) V33(0,0)<1> V34(0,0)<1;1,0> 0x1:d

Authority: seed 004, predication; the finalizer accepts the text silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place
from visa_lsp.program.model import Predicate, PredicateOperand
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

RULE = rule("V218", "predicate-size", WARNING, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    control = exec_control(bound)
    # A predicate of one element stands for the whole thread, whatever the size.
    if control is None or control.exec_size == 1 or bound.inst is None:
        return
    guard = bound.inst.get("pred")
    operands = [o for o in bound.operands if isinstance(o.value, PredicateOperand)]
    if guard is None and not operands:
        return
    used: list[tuple[Place, int]] = []
    statement = bound.statement
    if isinstance(guard, Predicate) and isinstance(statement, tree.Instruction) and statement.predicate:
        used.append((Place(bound.line, statement.predicate.name.span), guard.var))
    used.extend((operand_place(bound, o), o.value.var) for o in operands if isinstance(o.value, PredicateOperand))
    predicates = ctx.facts(body).predicates
    for place, number in used:
        symbol = predicates.get(number)
        if symbol is None or symbol.num_elements >= control.exec_size + control.mask_offset:
            continue
        lanes = f"{control.exec_size} lanes" + (f" from lane {control.mask_offset} on" if control.mask_offset else "")
        message = f"predicate `{symbol.name}` has {symbol.num_elements} elements, but {lanes} use it (the finalizer does not check)"
        related = [(symbol.place, f"`{symbol.name}` is declared here")] if symbol.place else []
        yield ctx.report(RULE, place, message, related=related)


CHECK = Check(RULE, instruction=_instruction)
