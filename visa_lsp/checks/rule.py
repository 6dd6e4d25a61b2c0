"""The interface of a rule module: its identity, the problems it explains, the visits it requests.

Rules do not know each other, and must not change what they inspect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct, field

from visa_lsp.checks.support.context import CheckContext
from visa_lsp.diagnostics import Diagnostic, Rule, Severity
from visa_lsp.sema.model import Body, Bound, Problem

if TYPE_CHECKING:
    from visa_lsp.isa.model import Instruction

Report = Callable[[CheckContext, Problem], "Diagnostic | None"]
Visit = Callable[[CheckContext, Body, Bound], Iterable[Diagnostic]]


class Scope(Enum):
    """The inputs of a rule's findings in one line, besides the line and the declarations of its names."""

    LINE = "line"  # no others; if it uses ``CheckContext.first_use``, also the earlier lines with the same subject
    OUTLINE = "outline"  # the directives of the body, its first instruction, and the last ones of each part
    BODY = "body"  # every instruction of the body that the rule ``wants``
    TEXT = "text"  # the first statement, versions, and the lines that open bodies


class Check(Struct, frozen=True):
    """A rule and its hooks: by problems of binding, by instruction, by body, by text.

    ``wants`` selects the rows whose instructions the rule visits; ``default`` is False for rules that only an option turns on.
    A rule that is on by default declares all of its inputs here, because an edit checks only those lines again whose
    findings may have changed: ``scope``, and ``reads_values`` if it depends on more of an immediate of three or more digits
    than its length, its bit length and whether it is a power of two ("is it zero" needs no flag, "is it 255" does). In a
    body, a rule of scope LINE sees a part of the lines: a rule that reports the first of several lines calls
    ``CheckContext.first_use`` in each of them, and a rule that judges single declarations iterates ``CheckContext.find_declarations``.
    ``attributes`` names the attributes of the kernel that a rule of scope LINE or BODY reads; ``attribute_words`` the words,
    each with a digit in it, of the lines in which a rule of scope LINE reads them; empty if that may be any line. Only rules
    about problems of binding distinguish declared names, or names of kernels, from others of the same length.
    """

    rule: Rule
    problems: Mapping[str, Report] = field(default_factory=dict)
    instruction: Visit | None = None
    wants: Callable[[Instruction], bool] | None = None
    body: Callable[[CheckContext, Body], Iterable[Diagnostic]] | None = None
    text: Callable[[CheckContext], Iterable[Diagnostic]] | None = None
    default: bool = True
    scope: Scope = Scope.LINE
    reads_values: bool = False
    attributes: tuple[str, ...] = ()
    attribute_words: tuple[str, ...] = ()


def rule(code: str, name: str, severity: Severity, doc: str | None) -> Rule:
    """Return the identity of a rule, with its module's docstring as its page."""
    return Rule(code, name, severity, doc or "")


def report_as(
    rule: Rule,
    message: str,
    *,
    fix: tuple[str, str] | None = None,
    safe: bool = False,
    severity: Severity | None = None,
) -> Report:
    """Return the report of problems with a message; ``fix`` has the title of a fix and the text that replaces the place.

    Words in braces are arguments of the problem, and ``text`` is the text at its place.
    """

    def report(ctx: CheckContext, problem: Problem) -> Diagnostic:
        values = {"text": ctx.text(problem.place), **problem.args}
        words, *title_and_text = (part.format_map(values) for part in (message, *(fix or ())))
        fixes = (ctx.fix(title_and_text[0], problem.place, title_and_text[1], safe=safe),) if fix else ()
        return ctx.report(rule, problem.place, words, related=problem.related, fixes=fixes, severity=severity)

    return report


ERROR, WARNING, INFORMATION, HINT = Severity.ERROR, Severity.WARNING, Severity.INFORMATION, Severity.HINT

__all__ = [
    "ERROR", "HINT", "INFORMATION", "WARNING", "Body", "Bound", "Check", "CheckContext", "Diagnostic", "Problem",
    "Scope", "Visit", "report_as", "rule",
]  # fmt: skip
