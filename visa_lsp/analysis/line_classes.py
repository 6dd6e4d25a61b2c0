"""Classes of lines: the text of a line in which a token for its declaration replaces every name.

Lines of one class in bodies of one kind look the same to every rule of scope LINE, so that one of them is bound and
checked, and its verdict applies to all. The class keeps the digits of immediates if a rule reads values of the
instruction. Invariant: a class counts as clean only after the full path has found nothing in a line of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.analysis.dependencies import RuleSubject
from visa_lsp.analysis.rule_sets import NAME_PROBLEMS, rule_sets
from visa_lsp.analysis.tokens import UNKNOWN
from visa_lsp.analysis.verdicts import ALONE
from visa_lsp.checks.rule import Scope
from visa_lsp.checks.run import run_checks
from visa_lsp.checks.support.context import CheckContext, dialect_of
from visa_lsp.sema.bind import bind
from visa_lsp.sema.binding_pass import MISSING_LABEL
from visa_lsp.syntax.bulk import declares
from visa_lsp.syntax.document import Document
from visa_lsp.syntax.parse import statement_of
from visa_lsp.syntax.tree import LINE_MARK, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from visa_lsp.analysis.verdicts import Verdict
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.sema.model import Body, BoundModule

# The scopes whose rules run over selected lines of a body; rules of other scopes would give wrong findings there.
LINE_SCOPES: Final = frozenset({Scope.LINE, Scope.BODY})
OUTLINE_SCOPES: Final = LINE_SCOPES | {Scope.OUTLINE}
_VALUES: Final = re.compile(rf"0[xX][0-9a-fA-F]{{3,}}(?=:)|(?<={re.escape(LINE_MARK)} )[0-9]+")


def with_values(line_class: str, code: str, readers: re.Pattern[str]) -> str:
    """Return the class of a line, with its immediates if a rule reads their values."""
    return line_class + "\x0e" + ",".join(_VALUES.findall(code)) if readers.search(code) else line_class


class SelectedLines(Document):
    """Selected lines of a document at their places: binder and rules see only these."""

    def __init__(self, document: Document, lines: Sequence[int]) -> None:
        super().__init__(document.chunks, document.session)
        self._wanted = frozenset(lines)
        self._of_lines: list[tuple[int, Statement]] | None = None
        self._first_lines = document._first_lines  # noqa: SLF001 - prefix sums of the same chunks
        self._first_offsets = document._first_offsets  # noqa: SLF001
        self._codes = document.codes_at(lines)

    @property
    def text(self) -> str:
        """The text of the selected lines, without comments."""
        end = "\n" if self.chunks[-1].text.endswith("\n") else ""
        return "\n".join(self._codes.values()) + end

    def code(self, line: int) -> str:
        """Return a line without comment and end."""
        code = self._codes.get(line)
        return super().code(line) if code is None else code

    def statement(self, line: int) -> Statement | None:
        """Return the statement of a line; None if the line is not selected."""
        return super().statement(line) if line in self._wanted else None

    def statements(self) -> Iterator[tuple[int, Statement]]:
        """Yield the statements of the selected lines."""
        if self._of_lines is None:
            self._of_lines = list(self._parse())
        yield from self._of_lines

    def _parse(self) -> Iterator[tuple[int, Statement]]:
        for line, code in self._codes.items():
            statement = statement_of(code)
            if statement is not None:
                yield line, statement


class Judged(NamedTuple):
    """The results of binding and checking lines.

    ``missing`` has the undeclared names by line; labels end with a colon. ``subjects`` has the rule subjects that the
    findings of a line depend on: rules that report only the first of several lines, and rules that read all
    instructions of some rows.
    """

    bound: BoundModule
    findings: list[Diagnostic]
    missing: Mapping[int, set[str]]
    subjects: Mapping[int, set[RuleSubject]]

    def forget(self) -> None:
        """Break the reference cycles of the symbols, because the garbage collector would otherwise delay a later keystroke."""
        for body in self.bound.bodies:
            for scope in body.scopes:
                scope.names.clear()


def judge(
    document: Document,
    lines: Sequence[int],
    platform: Platform | None,
    scopes: frozenset[Scope] = LINE_SCOPES,
    asked: frozenset[int] | None = None,
) -> Judged:
    """Bind and check the given lines of a document, in order; report findings in the lines ``asked``, or in all."""
    selected = SelectedLines(document, lines)
    bound = bind(selected, platform)
    ctx = CheckContext(selected, bound, platform, dialect_of(bound), asked)
    findings = run_checks(ctx, scopes=scopes)
    subjects = {line: {RuleSubject(rule, what) for rule, what in asked} for line, asked in ctx.subjects.items()}
    missing: dict[int, set[str]] = {}
    for problem in bound.problems:
        if problem.kind in NAME_PROBLEMS:
            mark = ":" if problem.kind == MISSING_LABEL else ""
            missing.setdefault(problem.place.line, set()).add(f"{problem.args['name']}{mark}")
    whole_body = rule_sets().whole_body
    for body in bound.bodies:
        for code in body.code:
            if code.row is not None and (of_all := whole_body[code.row]):
                subjects.setdefault(code.line, set()).update(of_all)
    return Judged(bound, findings, missing, subjects)


def verdicts_on(
    judged: Judged, document: Document, lines: Mapping[int, list[tuple[int, str]] | None]
) -> dict[int, Verdict]:
    """Return the verdict on the class of each line; None if the line does not represent its class.

    ``lines`` gives the columns of a line's tokens with their meanings, None for a declaration.
    """
    untold = rule_sets().about_names | rule_sets().outline
    alone = {document.line_at(d.span.start) for d in judged.findings if d.name not in untold}
    alone.update(judged.subjects)
    missing: dict[int, dict[int, int]] = {}
    for problem in judged.bound.problems:
        if problem.kind not in NAME_PROBLEMS:
            alone.add(problem.place.line)
        elif problem.place.line in lines:
            missing.setdefault(problem.place.line, {})[problem.place.span.start] = problem.kind == MISSING_LABEL
    columns = {line: {column for column, _ in tokens} for line, tokens in lines.items() if tokens is not None}
    unsure: set[int] = set()
    for body in judged.bound.bodies:
        unsure.update(_depending_on_broken(document, body))
        declared = [symbol for symbol in [*body.symbols, *body.predefined.used] if not symbol.predefined]
        for symbol in [*declared, *body.labels.values()]:
            for place, _ in symbol.references:
                token_columns = columns.get(place.line)
                # A reference to a name that is not a token: the class does not say what it refers to.
                if token_columns is not None and place.span.start not in token_columns:
                    unsure.add(place.line)
    verdicts: dict[int, Verdict] = {}
    for line, tokens in lines.items():
        absent = missing.get(line, {})
        if line in alone:
            verdicts[line] = ALONE
        elif line in unsure or (tokens is None and absent):
            verdicts[line] = None
        else:
            unknown = [column for column, token in tokens or () if token == UNKNOWN]
            # The class does not show that a word which is not a token is missing.
            verdicts[line] = tuple(
                [2 * index + absent[column] for index, column in enumerate(unknown) if column in absent]
            )
            if not absent.keys() <= set(unknown):
                verdicts[line] = None
    return verdicts


def _depending_on_broken(document: Document, body: Body) -> Iterator[int]:
    """Yield the lines of variables with broken declarations and of their aliases, because classes do not show those."""
    broken: set[int] = set()
    for symbol in body.symbols:  # a base precedes its aliases
        decl, place = symbol.decl, symbol.place
        if decl is None or place is None:
            continue
        plain = not decl.errors and decl.v_type is not None
        untold = not plain and not declares(document.code(place.line))
        if untold or (broken and symbol.alias is not None and id(symbol.alias[0]) in broken):
            broken.add(id(symbol))
            yield place.line
            yield from [place.line for place, _ in symbol.references]
