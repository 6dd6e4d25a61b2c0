"""Suppression comments, and the findings of an analysis that they do not suppress.

``// visa: ignore[V101]`` silences its own line, and also the next one if it is alone on its line. ``ignore-next-line``
silences the next line, ``ignore-file`` the whole text. A selector is a code, the beginning of one, or a slug; without
brackets all findings are silenced. The command line and the server both show exactly ``visible(analysis)``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.checks.registry import CHECKS
from visa_lsp.checks.run import run_checks
from visa_lsp.checks.support.context import CheckContext
from visa_lsp.diagnostics import ALL_RULES, Diagnostic, Edit, Fix, Rule, Severity
from visa_lsp.syntax.comments import strip
from visa_lsp.text import LineIndex, Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.syntax.document import Document

USELESS_SUPPRESSION: Final = Rule(
    code="V009",
    name="useless-suppression",
    severity=Severity.WARNING,
    doc="""A suppression comment suppresses nothing.

`// visa: ignore[...]`, `ignore-next-line[...]` or `ignore-file[...]` names a finding that does not exist.

Why: a stale comment hides the next real finding on its line, and points the reader at a problem that is gone.

Example:

    mov (M1, 8) V32(0,0)<1> 0x0:ud  // visa: ignore[V101]

Instead:

    mov (M1, 8) V32(0,0)<1> 0x0:ud

Authority: the comments are visa-lsp's own; other tools take them for plain comments.
""",
)

_COMMENT: Final = re.compile(r"visa:\s*ignore(?P<scope>-next-line|-file)?(?:\s*\[(?P<codes>[^\]]*)\]|(?=\s*(?:$|\*/)))")
_MARK: Final = "visa:"
_PLATFORM_BOUND: Final = ("wrong-platform",)


class Suppression(Struct, frozen=True):
    """A selector of one comment: what it silences, on which lines (``None``: on all of them)."""

    selector: str
    lines: range | None
    span: Span
    only_one: bool
    comment: Span

    def covers(self, diagnostic: Diagnostic, line: int) -> bool:
        """Return whether a finding that starts on ``line`` is silenced."""
        return (self.lines is None or line in self.lines) and diagnostic.rule.is_meant(self.selector)


def suppressions(document: Document) -> tuple[Suppression, ...]:
    """Return every suppression in the comments of a text, in text order."""
    silencers: list[Suppression] = []
    line = offset = 0
    for chunk in document.chunks if document.marked else ():
        if not chunk.marked:
            line += chunk.count
            offset += chunk.length
            continue
        in_block = chunk.opens_in_block
        for text in chunk.lines:
            bare = text.rstrip("\r\n")
            code, in_block = strip(bare, in_block)
            if _MARK in bare:
                silencers += suppressions_in(bare, code, line, offset)
            line += 1
            offset += len(text)
    return tuple(silencers)


def suppressions_in(bare: str, code: str, line: int, offset: int) -> Iterable[Suppression]:
    """Yield the suppressions in a line; ``code`` is the line with blanks for its comments, ``offset`` its start."""
    for comment in _COMMENT.finditer(bare):
        if code[comment.start() : comment.end()].strip():
            continue  # a string that contains the marker
        scope = comment["scope"] or ""
        alone = not code.strip()
        lines = {
            "-file": None,
            "-next-line": range(line + 1, line + 2),
            "": range(line, line + (2 if alone else 1)),
        }[scope]
        whole = _comment_around(bare, code, comment.start(), comment.end())
        outer = whole.shift(offset)
        if comment["codes"] is None:
            yield Suppression(ALL_RULES, lines, Span(comment.start(), comment.end()).shift(offset), True, outer)
            continue
        names = list(re.finditer(r"[^\s,]+", comment["codes"]))
        base = comment.start("codes") + offset
        for name in names:
            yield Suppression(name.group(), lines, Span(name.start(), name.end()).shift(base), len(names) == 1, outer)


def _comment_around(bare: str, code: str, start: int, end: int) -> Span:
    """Return the span to delete for a suppression: its whole comment if that has no other words, else the suppression."""
    opener = max(bare.rfind("//", 0, start), bare.rfind("/*", 0, start))
    if opener < 0 or bare[opener + 2 : start].strip() or code[opener:end].strip():
        return Span(start, end)
    if bare.startswith("//", opener) and not bare[end:].strip():
        return Span(len(bare[:opener].rstrip()), len(bare))
    if bare.startswith("*/", end + len(bare[end:]) - len(bare[end:].lstrip())):
        return Span(opener, bare.index("*/", end) + 2)
    return Span(start, end)


def apply(
    text: str, diagnostics: Sequence[Diagnostic], silencers: Sequence[Suppression], silent: Sequence[Rule] = ()
) -> tuple[Diagnostic, ...]:
    """Return the findings that no suppression silences, and one for each suppression that silences none; in text order.

    Suppressions of ``silent`` rules, which did not run, are not reported as useless.
    """
    if not silencers:
        return tuple(diagnostics)
    index = LineIndex(text)
    used: set[Suppression] = set()

    def drop_suppressed(findings: Iterable[Diagnostic], by: Sequence[Suppression]) -> list[Diagnostic]:
        kept = []
        for finding in findings:
            line, _ = index.position(finding.span.start)
            covering = [s for s in by if s.covers(finding, line)]
            used.update(covering)
            if not covering:
                kept.append(finding)
        return kept

    kept = drop_suppressed(diagnostics, silencers)
    unknown = [s for s in silencers if s.selector != ALL_RULES and any(rule.is_meant(s.selector) for rule in silent)]
    useless = [s for s in silencers if s not in used and s not in unknown]
    # Only a suppression with its name silences this rule, because a suppression of all rules would otherwise silence itself.
    own = [s for s in silencers if _means_only_this_rule(s)]
    kept += drop_suppressed((_useless(s) for s in useless if s not in own), own)
    kept += [_useless(s) for s in own if s in useless and s not in used]
    return tuple(sorted(kept, key=lambda d: (d.span.start, d.span.end, d.code)))


def _means_only_this_rule(suppression: Suppression) -> bool:
    return suppression.selector.upper() in (USELESS_SUPPRESSION.code, USELESS_SUPPRESSION.name.upper())


def _useless(suppression: Suppression) -> Diagnostic:
    what = "this comment" if suppression.selector == ALL_RULES else f"`{suppression.selector}`"
    where = "in this file" if suppression.lines is None else "on its line"
    fixes = (
        (Fix("remove the suppression comment", (Edit(suppression.comment, ""),), safe=True),)
        if suppression.only_one
        else ()
    )
    message = f"{what} suppresses nothing: no such finding is {where}"
    return Diagnostic(USELESS_SUPPRESSION, suppression.span, message, fixes=fixes)


def visible(
    analysis: Analysis, extra: Collection[str] = (), *, findings: Collection[Diagnostic] | None = None
) -> tuple[Diagnostic, ...]:
    """Return the findings of an analysis after suppression, in text order.

    ``extra`` names rules, by code, that run although they are off by default; ``findings`` are those computed before.
    """
    silencers = suppressions(analysis.document)
    if findings is None:
        findings = _find_all(analysis, extra) if extra else analysis.diagnostics
    findings = tuple(findings)
    if not silencers:
        return findings
    silent = silent_rules(analysis.platform, extra)
    return apply(analysis.document.text, findings, silencers, silent)


def silent_rules(platform: Platform | None, extra: Collection[str] = ()) -> list[Rule]:
    """Return the rules that do not run: they are off by default and not among ``extra``, or need a platform."""
    silent = [check.rule for check in CHECKS if not (check.default or check.rule.code in extra)]
    if platform is None:
        silent += [check.rule for check in CHECKS if check.rule.name in _PLATFORM_BOUND]
    return silent


def _find_all(analysis: Analysis, extra: Collection[str]) -> list[Diagnostic]:
    return run_checks(CheckContext(analysis.document, analysis.bound, analysis.platform, analysis.dialect), extra)
