"""The things that a finding depends on, besides its own line and the declarations of its names.

A *subject* is shared by lines of a body: a name, as plain text, or what a rule reports of several lines. A *need* is a fact
of the body. An edit makes some of both stale; findings that depend on one of these are given up.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from msgspec import Struct

from visa_lsp.checks.support.name_index import Spelling

if TYPE_CHECKING:
    from collections.abc import Iterable


class RuleSubject(Struct, frozen=True):
    """The lines for which a rule reports only the first; without a ``key``, all instructions of the rule."""

    rule: str
    key: str | None = None


class Need(Enum):
    """A fact of a body that findings depend on; a ``Spelling`` is one too: which names are declared that are spelt so."""

    LEADING = auto()  # the declarations before the code, and the first line of code
    END = auto()  # the last line of code
    BRACES = auto()  # which braces there are, in what order
    UNNUMBERED = auto()  # the declared names without a number


Subject = str | RuleSubject
Dependency = Subject | Need | Spelling


def names_among(dependencies: Iterable[Dependency]) -> set[str]:
    """Return the names among some dependencies."""
    return {one for one in dependencies if isinstance(one, str)}
