"""An input is an alias of another variable, or is passed twice.

Why: an alias has no storage that the payload could be loaded into; of two inputs for one variable only one can be right.

Example:

    .decl V40 v_type=G type=d num_elts=8 alias=<V33, 0>
    .input V40 offset=64 size=32

Instead:

    .decl V40 v_type=G type=d num_elts=8
    .input V40 offset=64 size=32

Authority: seed 000, inputs ("its alias_index must be zero"); the finalizer accepts the text silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import WARNING, Body, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree

RULE = rule("V126", "input-alias", WARNING, __doc__)


def _body(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    for symbol in body.symbols:
        if symbol.input is not None and symbol.input_place is not None and symbol.alias is not None:
            related = [(symbol.place, "the alias is declared here")] if symbol.place else []
            message = f"`{symbol.name}` is an alias of `{symbol.alias[0].name}`; an input needs storage of its own (the finalizer does not check)"
            yield ctx.report(RULE, symbol.input_place, message, related=related)
    if len(body.inputs) != sum(s.input is not None for s in body.symbols):
        yield from _check_repeats(ctx, body)


def _check_repeats(ctx: CheckContext, body: Body) -> Iterator[Diagnostic]:
    places_by_name: dict[str, Place] = {}
    for line, statement in ctx.document.statements():
        here = body.first_line <= line <= body.last_line
        if here and isinstance(statement, tree.InputDecl) and statement.name is not None:
            place = Place(line, statement.name.span)
            name = statement.name.text
            if name in places_by_name:
                related = [(places_by_name[name], "first passed here")]
                yield ctx.report(
                    RULE, place, f"`{name}` is passed a second time (the finalizer does not check)", related=related
                )
            places_by_name.setdefault(name, place)


CHECK = Check(RULE, body=_body, scope=Scope.OUTLINE)
