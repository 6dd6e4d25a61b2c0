"""The dependencies of a finding beyond its own line and the declarations of its names.

A *subject* is shared by lines of a body: a name, as plain text, or a ``RuleSubject``. A *need* is a fact of the body.
An edit makes some subjects and needs stale; findings that depend on a stale one are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto

from msgspec import Struct

from visa_lsp.checks.support.name_index import Spelling


class RuleSubject(Struct, frozen=True):
    """Lines for which a rule reports only the first; without a ``key``, all instructions that the rule reads."""

    rule: str
    key: str | None = None


class Need(Enum):
    """A fact of a body that findings depend on. A ``Spelling`` is a need too: the declared names of that spelling."""

    LEADING = auto()  # the declarations before the code, and the first line of code
    END = auto()  # the last line of code
    BRACES = auto()  # the braces and their order
    UNNUMBERED = auto()  # the declared names without a number


Subject = str | RuleSubject
Dependency = Subject | Need | Spelling


def names_among(dependencies: Iterable[Dependency]) -> set[str]:
    """Return the names among some dependencies."""
    return {dependency for dependency in dependencies if isinstance(dependency, str)}
