"""A name is used that no declaration in scope defines.

Only the first use of a name in a body is reported, with the others as related places. A name of an inner scope ends
with its `}`.

Compilers write `null` for the output of an asm statement that nothing in the source uses.

Why: the finalizer stops here, and a misspelt name is seldom the only mistake of its kind.

Example:

    mov (M1, 8) V99(0,0)<1> V33(0,0)<1;1,0>

Instead:

    .decl V99 v_type=G type=d num_elts=8 align=dword
    mov (M1, 8) V99(0,0)<1> V33(0,0)<1;1,0>

Authority: seed 000, variables and scopes; the finalizer rejects the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, Problem, rule
from visa_lsp.checks.support.facts import exec_control
from visa_lsp.checks.support.name_index import MAX_RENAMED_USES, index_of
from visa_lsp.diagnostics import Fix
from visa_lsp.isa.model import Shape
from visa_lsp.isa.operands import AO, A, G, P
from visa_lsp.isa.predefined import SURFACE_BY_NAME, VARIABLE_BY_NAME
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import TYPE_BY_NAME
from visa_lsp.sema.model import VARIABLE_LETTER, SymbolKind
from visa_lsp.sema.predefined_symbols import is_taken
from visa_lsp.syntax import tree
from visa_lsp.syntax.memo import Key

RULE = rule("V101", "undeclared-name", ERROR, __doc__)
_UNUSED, _NULL = "null", "%null"
MAX_RELATED_USES = 4  # uses listed by a finding
_LETTER = {kind: letter for letter, kind in VARIABLE_LETTER.items()}


def _report(ctx: CheckContext, problem: Problem) -> Diagnostic | None:
    name = str(problem.args["name"])
    body = ctx.bound.body_at(problem.place.line)
    problems = _same(ctx, body, name)
    uses = [p.place for p in problems]
    if uses and uses[0] != problem.place:
        return None
    kinds = _kinds(ctx, body, problems or [problem])
    kind = kinds[0]
    related = [(place, f"`{name}` is also used here") for place in uses[1:MAX_RELATED_USES]]
    fixes = []
    message = f"`{name}` is not declared"
    predefined = _find_predefined(name)
    if predefined:
        message += f"; the predefined variable is `{predefined}`"
        edits = tuple(ctx.edit(place, predefined) for place in (uses or [problem.place])[:MAX_RENAMED_USES])
        fixes.append(Fix(f"change to `{predefined}`", edits, safe=True))
    elif is_taken(name):
        message = f"`{name}` is not predefined, and no declaration may have such a name"
    elif body is not None:
        names = index_of(ctx, body)
        same = names.by_name.get(name, ())
        ended = next((s for s in same if s.scope is not body.scope and s.place), None)
        # A name is not in scope inside its own declaration.
        later = next((s for s in same if s.place and s.place.line >= problem.place.line), None)
        suggestion = names.of_kind(kind).near(name, names.likeness)
        if later is not None and later.place is not None:
            message = f"`{name}` is used before its declaration"
            related.append((later.place, "declared here"))
        elif ended is not None and ended.place is not None:
            message = f"`{name}` is declared in a scope that has ended; it is not visible here"
            related.append((ended.place, "declared here"))
        elif name in body.labels and kind is SymbolKind.GENERAL:
            message = f"`{name}` is a label, not a variable"
        elif name == _UNUSED:
            message += (
                "; compilers write it for the output of an asm statement that nothing uses: use the output in the source, or write"
                f" `{_NULL}` here"
            )
            fixes.append(
                Fix(f"change to `{_NULL}`", tuple(ctx.edit(place, _NULL) for place in uses[:MAX_RENAMED_USES]))
            )
        elif suggestion:
            message += f"; did you mean `{suggestion}`?"
            fixes.append(
                Fix(
                    f"change to `{suggestion}`",
                    tuple(
                        ctx.edit(place, suggestion) for place in (uses if len(uses) <= MAX_RENAMED_USES else uses[:1])
                    ),
                )
            )
        if later is None and ended is None and len(kinds) == 1 and not predefined:
            fixes += _declare(ctx, body, problems or [problem], kind, name)
    return ctx.report(RULE, problem.place, message, related=related, fixes=fixes)


def _find_predefined(name: str) -> str:
    """Return the predefined variable or state that a name without its sign, or in other letters, means; empty if none."""
    word = f"%{name.removeprefix('%')}"
    spellings = (word, word.lower()) if word != _NULL else ()
    return next(
        (
            spelling
            for spelling in spellings
            if spelling != name and (spelling in VARIABLE_BY_NAME or spelling in SURFACE_BY_NAME)
        ),
        "",
    )


# The problems of this rule in a text, by the name that is missing.
_MISSING: Final = Key[dict[str, list[Problem]]]()


def _by_name(ctx: CheckContext) -> dict[str, list[Problem]]:
    by_name: dict[str, list[Problem]] = {}
    for problem in ctx.bound.problems:
        if problem.kind == RULE.name:
            by_name.setdefault(str(problem.args["name"]), []).append(problem)
    return by_name


def _same(ctx: CheckContext, body: Body | None, name: str) -> list[Problem]:
    by_name = ctx.views.fact(_MISSING, partial(_by_name, ctx))
    first_line, last_line = (body.first_line, body.last_line) if body else (0, ctx.document.line_count)
    return [p for p in by_name.get(name, ()) if first_line <= p.place.line <= last_line]


def _kinds(ctx: CheckContext, body: Body | None, problems: list[Problem]) -> list[SymbolKind]:
    """Return the classes of variable that the uses require, in text order; instructions before directives."""
    code = ctx.facts(body).by_line if body else {}
    asking = [p for p in problems[:MAX_RENAMED_USES] if p.place.line in code] or problems[:1]
    return list(dict.fromkeys(_kind(ctx, body, problem) for problem in asking))


def _kind(ctx: CheckContext, body: Body | None, problem: Problem) -> SymbolKind:
    """Return the class of variable that the first use requires."""
    expected = str(problem.args.get("expected", ""))
    if expected == "predicate variable":
        return SymbolKind.PREDICATE
    if expected == "address variable":
        return SymbolKind.ADDRESS
    bound = ctx.facts(body).by_line.get(problem.place.line) if body else None
    for operand in bound.operands if bound else ():
        if operand.node.span.start <= problem.place.span.start < operand.node.span.end:
            shape, classes = operand.slot.shape, operand.slot.classes
            if shape is Shape.SURFACE:
                return SymbolKind.SURFACE
            if shape is Shape.SAMPLER:
                return SymbolKind.SAMPLER
            one_index = isinstance(operand.node, tree.Ref) and operand.node.indices and len(operand.node.indices) == 1
            if shape is Shape.VECTOR and A in classes and (one_index or not classes & (G | AO)):
                return SymbolKind.ADDRESS
            bare = isinstance(operand.node, tree.Ref) and operand.node.region is None
            if shape is Shape.VECTOR and P in classes and (bare or G not in classes):
                return SymbolKind.PREDICATE
    return SymbolKind.GENERAL


def _declare(ctx: CheckContext, body: Body, problems: list[Problem], kind: SymbolKind, name: str) -> tuple[Fix, ...]:
    """Return the fix that adds a declaration for the uses after the last declaration; none if there is no place for it."""
    problem, uses = problems[0], problems[:MAX_RENAMED_USES]
    opener = body.place.line if body.place else body.first_line
    line = min(max(index_of(ctx, body).last_leading, opener), problem.place.line - 1)
    # A name like a mnemonic is a part of a broken line, not a variable.
    if line < opener or name in TABLE.mnemonics:
        return ()
    bounds = [ctx.facts(body).by_line.get(use.place.line) for use in uses]
    lanes = max(map(_lanes, bounds))
    if kind is SymbolKind.GENERAL:
        size = next((size for use in uses for size in [_input_bytes(ctx, use)] if size), 0)
        type_name = next((name for use in bounds for name in _types(ctx, body, use)), "ud")
        if any(map(_is_long_address, bounds, uses)):
            type_name = "uq"
        type_bytes = TYPE_BY_NAME[type_name].size
        if size % type_bytes:
            type_name, type_bytes = "ub", 1
        count = size // type_bytes or lanes
        text = f".decl {name} v_type=G type={type_name} num_elts={count} align=dword"
    elif kind is SymbolKind.ADDRESS:
        text = f".decl {name} v_type=A num_elts={min(lanes, 16)}"
    elif kind is SymbolKind.PREDICATE:
        text = f".decl {name} v_type=P num_elts={lanes}"
    else:
        text = f".decl {name} v_type={_LETTER[kind]} num_elts=1"
    return ctx.fix_after(line, f"declare `{name}` as a {kind.value}", text)


def _input_bytes(ctx: CheckContext, problem: Problem) -> int:
    """Return the size that an input directive gives the variable; 0 elsewhere."""
    use = ctx.document.statement(problem.place.line)
    size = use.size if isinstance(use, tree.InputDecl) else None
    return size.value if isinstance(size, tree.Number) else 0


def _is_long_address(bound: Bound | None, problem: Problem) -> bool:
    """Return whether a message reads addresses of 64 bits from the variable."""
    start = problem.place.span.start
    for operand in bound.operands if bound else ():
        node = operand.node
        if isinstance(node, tree.AddressRef) and node.span.start <= start < node.span.end:
            return node.suffix is not None and node.suffix.text == "a64"
    return False


def _lanes(bound: Bound | None) -> int:
    if bound is None:
        return 1
    control = exec_control(bound)
    if control is not None:
        return control.exec_size
    node = bound.statement
    size = node.exec.size if isinstance(node, tree.Instruction) and node.exec else None
    return size.value if isinstance(size, tree.Number) and size.value in (1, 2, 4, 8, 16, 32) else 1


def _types(ctx: CheckContext, body: Body, bound: Bound | None) -> Iterator[str]:
    """Yield the types of the other operands, destination first."""
    for operand in bound.operands if bound else ():
        type_ = ctx.facts(body).type_of(operand.value)
        if type_ is not None and not type_.is_packed:
            yield type_.name


CHECK = Check(RULE, {"undeclared-name": _report})
