"""The view of a rule: the document, its bound form, the platform if one is known.

Rules report places (line, span in the line); this module converts them to offsets of the text. Without a platform a rule
that depends on the register size reports only findings that hold for every size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from visa_lsp.checks.support.facts import BodyFacts
from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Related, Rule, Severity
from visa_lsp.isa.model import Dialect
from visa_lsp.sema.model import Place
from visa_lsp.syntax.comments import strip
from visa_lsp.syntax.memo import Memo
from visa_lsp.text import Span, display_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.flow.steps import Step
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.sema.model import Body, BoundModule, Symbol
    from visa_lsp.syntax.document import Document


class CheckContext(Struct, frozen=True):
    """A text under check.

    ``platform`` is None if nothing names one; then findings that depend on the platform are not reported.
    """

    document: Document
    bound: BoundModule
    platform: Platform | None
    dialect: Dialect
    # The lines whose findings are reported; None for all. Other lines are context.
    asked: frozenset[int] | None = None
    _facts: dict[int, BodyFacts] = field(default_factory=dict)
    _declared: dict[int, list[Symbol]] = field(default_factory=dict)
    _steps: dict[int, list[Step]] = field(default_factory=dict)
    views: Memo = field(default_factory=Memo)  # results that rules derive from the text and share
    # For each line, the subjects for which a rule requested the first line, with rule and body.
    subjects: dict[int, set[tuple[str, str]]] = field(default_factory=dict)
    _firsts: dict[tuple[int, str, str], int] = field(default_factory=dict)

    @property
    def grf_sizes(self) -> tuple[int, ...]:
        """The possible register sizes, in bytes."""
        return (self.platform.grf_bytes,) if self.platform else (32, 64)

    def facts(self, body: Body) -> BodyFacts:
        """Return facts about a body beyond its symbols."""
        facts = self._facts.get(id(body))
        if facts is None:
            facts = self._facts[id(body)] = BodyFacts.of(body)
        return facts

    def find_declarations(self, body: Body) -> list[Symbol]:
        """Return the variables of a body whose declarations are checked."""
        declarations = self._declared.get(id(body))
        if declarations is None:
            asked, symbols = self.asked, body.symbols
            checked = (
                symbols if asked is None else [s for s in symbols if s.place is not None and s.place.line in asked]
            )
            declarations = self._declared[id(body)] = checked
        return declarations

    def steps(self, body: Body) -> list[Step]:
        """Return the instructions of a body with the variables that they read and write."""
        steps = self._steps.get(id(body))
        if steps is None:
            from visa_lsp.checks.support.body_flow import steps_of_body  # needed by opt-in rules only

            steps = self._steps[id(body)] = steps_of_body(body)
        return steps

    def span(self, place: Place) -> Span:
        """Return a place in offsets of the text."""
        return self.document.span(place.line, place.span)

    def text(self, place: Place) -> str:
        """Return the text at a place."""
        return self.document.line_text(place.line)[place.span.start : place.span.end]

    def line_place(self, line: int) -> Place:
        """Return the place of a line without its indentation; an empty place after the last line."""
        text = self.document.line_text(line) if 0 <= line < self.document.line_count else ""
        start = len(text) - len(text.lstrip())
        return Place(line, Span(start, max(start, len(text.rstrip()))))

    def report(
        self,
        rule: Rule,
        place: Place,
        message: str,
        *,
        related: Iterable[tuple[Place, str]] = (),
        fixes: Iterable[Fix] = (),
        severity: Severity | None = None,
    ) -> Diagnostic:
        """Return a finding of a rule at a place."""
        return Diagnostic(
            rule,
            self.span(place),
            display_text(message),
            tuple(Related(self.span(where), what) for where, what in related),
            tuple(fixes),
            severity,
        )

    def edit(self, place: Place, new_text: str) -> Edit:
        """Replace a place's text."""
        return Edit(self.span(place), new_text)

    def fix(self, title: str, place: Place, new_text: str, *, safe: bool = False) -> Fix:
        """Return a fix that replaces the text of one place."""
        return Fix(title, (self.edit(place, new_text),), safe)

    def first_use(self, rule: Rule, body: Body, subject: str, line: int) -> bool:
        """Return whether a line is the first of a body in which a rule meets a subject; must be called in text order."""
        self.subjects.setdefault(line, set()).add((rule.name, subject))
        return self._firsts.setdefault((id(body), rule.name, subject), line) == line

    def is_comment_open(self, line: int) -> bool:
        """Return whether a block comment is open after a line, so that text inserted there would be in the comment."""
        if line < 0:
            return False
        number = self.document.chunk_at(line)
        chunk = self.document.chunks[number]
        is_open = chunk.opens_in_block
        if not is_open and "/*" not in chunk.text:
            return False
        for text in chunk.text.split("\n")[: line - self.document.line_of(number) + 1]:
            is_open = strip(text.rstrip("\r"), is_open)[1]
        return is_open

    def fix_before(self, line: int, title: str, text: str) -> tuple[Fix, ...]:
        """Return the fix that inserts a line of text before a line; none if it would be in a comment."""
        return () if self.is_comment_open(line - 1) else (Fix(title, (self.insert_line(line, text),)),)

    def fix_after(self, line: int, title: str, text: str) -> tuple[Fix, ...]:
        """Return the fix that inserts a line of text after a line; none if it would be in a comment."""
        return () if self.is_comment_open(line) else (Fix(title, (self.insert_after(line, text),)),)

    def insert_line(self, line: int, text: str) -> Edit:
        """Insert a line of text before a line."""
        start = self.document.line_start(line)
        return Edit(Span(start, start), f"{text}\n")

    def insert_after(self, line: int, text: str) -> Edit:
        """Insert lines of text after a line."""
        return insertion_after(self.document, line, f"{text}\n")


def insertion_after(document: Document, line: int, text: str) -> Edit:
    """Return the edit that inserts whole lines after a line; ``text`` ends with a newline."""
    start = document.line_start(line + 1)
    # The last line may lack a line end.
    open_end = line + 1 >= document.line_count and document.line_text(line) != ""
    return Edit(Span(start, start), f"\n{text}" if open_end else text, after=True)


def dialect_of(bound: BoundModule) -> Dialect:
    """Return the dialect by ``.version``: 4.2 for 4.2 and later, else 4.1. Rules recognise forms of the seed one by one."""
    if bound.version is None:
        return Dialect.V41
    if bound.version >= (4, 2):
        return Dialect.V42
    return Dialect.V41
