"""The verdicts on classes of lines, by kind of body: shared by the texts of this process.

Does not know how a line is judged.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from visa_lsp.analysis.tokens import LABEL, UNKNOWN

# Classes of a kind of body; a compiler's text of 200,000 lines has some thousands.
_MAX_CLASSES: Final = 10_000
# Kinds of body; editing an attribute makes new ones.
_MAX_KINDS: Final = 16
# The missing names of a line: for each, twice its index among the undeclared names, plus one for a label. None: no
# verdict.
Verdict = tuple[int, ...] | None
CLEAN: Final[Verdict] = ()
ALONE: Final[Verdict] = (-1,)  # each line of the class is judged separately


class Verdicts:
    """The verdicts on line classes of one kind of body: (platform, dialect, directive, attributes that any line depends on)."""

    __slots__ = ("clean", "decls", "others")

    def __init__(self) -> None:
        self.clean: set[str] = {"", UNKNOWN + ":", LABEL + ":"}
        self.others: dict[str, tuple[int, ...]] = {}
        self.decls: set[str] = set()  # the tokens of clean declarations

    def add(self, line_class: str, verdict: tuple[int, ...]) -> None:
        """Store a verdict."""
        if verdict == CLEAN:
            self.clean.add(line_class)
        else:
            self.others[line_class] = verdict

    def learn(self, news: Verdicts) -> None:
        """Add verdicts of this process; beyond the limit of memory, drop the earlier ones, whose lines are judged again."""
        if len(self.clean) + len(self.others) + len(self.decls) > _MAX_CLASSES:
            self.clean = Verdicts().clean
            self.others.clear()
            self.decls.clear()
        self.clean |= news.clean
        self.others |= news.others
        self.decls |= news.decls


_verdicts: OrderedDict[object, Verdicts] = OrderedDict()


def verdicts_of(key: object) -> Verdicts:
    """Return the verdicts of a kind of body, shared by all texts of the process."""
    verdicts = _verdicts.get(key)
    if verdicts is None:
        verdicts = _verdicts[key] = Verdicts()
        while len(_verdicts) > _MAX_KINDS:
            _verdicts.popitem(last=False)
    _verdicts.move_to_end(key)
    return verdicts
