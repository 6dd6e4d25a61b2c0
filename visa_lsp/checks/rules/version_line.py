"""The text does not begin with `.version`, has a second one, or names an unknown version.

Why: the finalizer reads the version before anything else, and rejects a text without one. visa-lsp also reads the order of
the seed, `.kernel` before `.version`, and can swap the two. The finalizer accepts any number as a version, but only 1.x to 4.2
exist.

Example:

    .kernel "k"
    .version 4.1

Instead:

    .version 4.1
    .kernel "k"

Authority: the finalizer rejects a text without a version and one with two, and accepts any number; seed 003,
`vISA_Assembly_File`, has the kernel first, which is why that order is a warning only.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Check, CheckContext, Diagnostic, Scope, rule
from visa_lsp.diagnostics import Edit, Fix
from visa_lsp.sema.model import Place
from visa_lsp.syntax import tree
from visa_lsp.text import Span

_OLDEST, _NEWEST, _MAX_MINOR = (1, 0), (4, 2), 9
# Longer numbers are left out of messages because they only fill the line.
_MAX_REPORTED_NUMBER = 10**9

RULE = rule("V003", "version-line", ERROR, __doc__)


def _text(ctx: CheckContext) -> Iterator[Diagnostic]:
    first_statement = next(iter(ctx.document.statements()), None)
    if first_statement is None:
        place = Place(0, Span(0, 0))
        fixes = (Fix('add `.version 4.1` and `.kernel "main"`', (ctx.insert_line(0, '.version 4.1\n.kernel "main"'),)),)
        yield ctx.report(RULE, place, "the text is empty; a vISA text begins with `.version 4.1`", fixes=fixes)
        return
    yield from _numbers(ctx)
    line, statement = first_statement
    if isinstance(statement, tree.Version):
        return
    version_line = ctx.bound.version_line
    place = ctx.line_place(line)
    if version_line < 0:
        bodies = ctx.bound.bodies
        # No fix that would add a second version, or cause another error because code has no kernel.
        has_other = any(isinstance(other, tree.Version) for _, other in ctx.document.statements())
        may_begin = bodies and bodies[0].place is not None and not has_other and not ctx.is_comment_open(line - 1)
        fix = Fix("add `.version 4.1`", (ctx.insert_line(line, ".version 4.1"),), safe=True)
        message = "there is no `.version`; a vISA text begins with one"
        yield ctx.report(RULE, place, message, fixes=(fix,) if may_begin else ())
        return
    start = ctx.document.line_start(version_line)
    end = ctx.document.line_start(version_line + 1) if version_line + 1 < ctx.document.line_count else len(ctx.document)
    moved = ctx.document.line_text(version_line).strip()
    fix = Fix("move `.version` to the top", (ctx.insert_line(line, moved), Edit(Span(start, end), "")), safe=True)
    related = [(ctx.line_place(version_line), "the version is here")]
    message = "`.version` must be the first statement; the finalizer rejects the seed's order"
    # No fix without a body, because another finding would replace this one, nor if a line would leave or enter a comment.
    is_movable = ctx.bound.bodies and not any(
        ctx.is_comment_open(n) for n in (line - 1, version_line - 1, version_line)
    )
    yield ctx.report(RULE, place, message, related=related, fixes=(fix,) if is_movable else (), severity=WARNING)


def _numbers(ctx: CheckContext) -> Iterator[Diagnostic]:
    """Yield findings about an unknown version number and about second versions."""
    version_line, version = ctx.bound.version_line, ctx.bound.version
    if version is not None and not (_OLDEST <= version <= _NEWEST and version[1] <= _MAX_MINOR):
        statement = ctx.document.statement(version_line)
        assert isinstance(statement, tree.Version)
        newest = ".".join(map(str, _NEWEST))
        fix = ctx.fix(f"write `.version {newest}`", Place(version_line, statement.span), f".version {newest}")
        number = " " + ".".join(map(str, version)) if max(version) < _MAX_REPORTED_NUMBER else ""
        message = f"unknown version{number}; known versions: 4.1 and {newest}, and 1.x to 4.0 of older texts"
        yield ctx.report(RULE, Place(version_line, statement.span), message, fixes=(fix,), severity=WARNING)
    for again, statement in ctx.document.statements() if ctx.bound.versions > 1 else ():
        if isinstance(statement, tree.Version) and again > version_line >= 0:
            related = [(ctx.line_place(version_line), "the first version is here")]
            yield ctx.report(
                RULE, Place(again, statement.span), "a text has one `.version`, at its top", related=related
            )


CHECK = Check(RULE, text=_text, scope=Scope.TEXT)
