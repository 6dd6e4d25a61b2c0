"""Control flow is written with the structured words of the specification: `if`, `else`, `endif`, `do`, `while`, `break`, `cont`.

Why: no finalizer reads them any more; their opcodes mean other things today. The simulator still runs them. `goto` has
the same meaning: the lanes that leave wait at its label.

Example:

    (P1) if (M1, 8)
    endif (M1, 8)

Instead:

    (!P1) goto (M1, 8) L_endif
    L_endif:

Authority: seed 003, opcodes 0x60 to 0x66; the finalizer rejects the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.diagnostics import Edit, Fix
from visa_lsp.isa.model import FlowClass
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

RULE = rule("V234", "structured-flow", ERROR, __doc__)
_CLOSES: Final = {FlowClass.IF: FlowClass.ENDIF, FlowClass.DO: FlowClass.WHILE}
_MODERN: Final = {
    FlowClass.IF: "`(!P) goto` to a label in place of `else` or `endif`",
    FlowClass.ELSE: "`goto` to the end and the label of the other half",
    FlowClass.ENDIF: "the label that the lanes wait at",
    FlowClass.DO: "the label of the loop's head",
    FlowClass.WHILE: "`(P) goto` back to the loop's head",
    FlowClass.BREAK: "`(P) goto` to a label after the loop",
    FlowClass.CONTINUE: "`(P) goto` to a label before the backward `goto`",
}


class _Unpaired(Exception):  # noqa: N818
    """A word without its partner; ``args`` are its statement and the missing word."""


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    words = [b for b in body.code if b.row is not None and b.row.flow.structured]
    if not words:
        return
    fixes: tuple[Fix, ...] = ()
    lacks: dict[int, str] = {}
    try:
        fixes = (Fix("write all of them with `goto`", tuple(_edits(ctx, words)), safe=False),)
    except _Unpaired as problem:
        lacks[problem.args[0]] = problem.args[1]
    for bound in words:
        assert isinstance(bound.statement, tree.Instruction)
        assert bound.row is not None
        word = bound.statement.words[0]
        message = f"no finalizer reads `{bound.row.mnemonic}`; use {_MODERN[bound.row.flow]}"
        if bound.line in lacks:
            message += f"; {lacks[bound.line]}"
        yield ctx.report(RULE, Place(bound.line, word.span), message, fixes=fixes)


def _edits(ctx: CheckContext, words: list[Bound]) -> Iterator[Edit]:
    """Yield the whole body's structured words as gotos and labels."""
    opened: list[tuple[FlowClass, int, Bound]] = []
    halves: set[int] = set()
    pending: dict[int, Bound] = {}
    number = 0
    for bound in words:
        assert bound.row is not None
        flow = bound.row.flow
        if flow in _CLOSES:
            opened.append((flow, number, bound))
            if flow is FlowClass.IF:
                pending[number] = bound
            else:
                yield _line(ctx, bound, labels_before=(f"seed_do_{number}",))
            number += 1
        elif flow in (FlowClass.BREAK, FlowClass.CONTINUE):
            loop = next((n for kind, n, _ in reversed(opened) if kind is FlowClass.DO), None)
            if loop is None:
                raise _Unpaired(bound.line, f"there is no `do` around this `{bound.row.mnemonic}`")
            yield _line(ctx, bound, goto=f"seed_exit_{loop}" if flow is FlowClass.BREAK else f"seed_while_{loop}")
        else:
            wanted = FlowClass.DO if flow is FlowClass.WHILE else FlowClass.IF
            if not opened or opened[-1][0] is not wanted:
                raise _Unpaired(bound.line, f"there is no open `{TABLE.by_flow[wanted].mnemonic}` before it")
            current = opened[-1][1]
            if flow is FlowClass.ELSE:
                if current in halves:
                    raise _Unpaired(bound.line, "its `if` has an `else` already")
                halves.add(current)
                yield _line(ctx, pending.pop(current), goto=f"seed_else_{current}", invert=True)
                yield _line(ctx, bound, goto=f"seed_endif_{current}", labels_after=(f"seed_else_{current}",))
                continue
            opened.pop()
            if flow is FlowClass.WHILE:
                yield _line(ctx, bound, (f"seed_while_{current}",), f"seed_do_{current}", (f"seed_exit_{current}",))
                continue
            if current in pending:
                yield _line(ctx, pending.pop(current), goto=f"seed_endif_{current}", invert=True)
            yield _line(ctx, bound, labels_before=(f"seed_endif_{current}",))
    if opened:
        kind, _, bound = opened[-1]
        raise _Unpaired(bound.line, f"there is no `{TABLE.by_flow[_CLOSES[kind]].mnemonic}` for it")


def _line(
    ctx: CheckContext,
    bound: Bound,
    labels_before: tuple[str, ...] = (),
    goto: str | None = None,
    labels_after: tuple[str, ...] = (),
    *,
    invert: bool = False,
) -> Edit:
    """Return the edit that replaces a structured word by labels and a goto."""
    node = bound.statement
    assert isinstance(node, tree.Instruction)
    text = ctx.document.line_text(bound.line)
    indent = text[: len(text) - len(text.lstrip())]
    lines = [f"{label}:" for label in labels_before]
    if goto is not None:
        predicate = ""
        if node.predicate is not None:
            words = text[node.predicate.span.start : node.predicate.span.end]
            inner = (
                words[1:-1].strip().removeprefix("!").strip()
                if invert and node.predicate.inverse
                else words[1:-1].strip()
            )
            predicate = f"(!{inner}) " if invert and not node.predicate.inverse else f"({inner}) "
        size = text[node.exec.span.start : node.exec.span.end] if node.exec else "(M1, 1)"
        lines.append(f"{indent}{predicate}{TABLE.by_flow[FlowClass.GOTO].mnemonic} {size} {goto}")
    lines += [f"{label}:" for label in labels_after]
    return Edit(ctx.span(Place(bound.line, Span(0, node.span.end))), "\n".join(lines))


CHECK = Check(RULE, body=_body, scope=Scope.BODY, wants=lambda row: row.flow.structured)
