"""The directives of a body that are not declarations, and the facts that they state.

Reads the facts of chunks and single statements. Knows neither the meaning of names nor findings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.rule_sets import rule_sets
from visa_lsp.syntax.chunk_facts import FUNCTION, INPUT
from visa_lsp.syntax.parse import statement_of
from visa_lsp.syntax.tree import BodyDirective, Decl

if TYPE_CHECKING:
    from visa_lsp.syntax.bulk import Facts

_OPENING: Final = re.compile(r"\s*\.(?:kernel|global_function)(?![A-Za-z0-9_])")
_VERSION: Final = re.compile(r"\s*\.version(?![A-Za-z0-9_])")
# An attribute. If no rule of scope LINE reads it, its findings belong to the outline only.
_ATTRIBUTE: Final = re.compile(r"\s*\.kernel_attr\s")
Place = tuple[int, int]  # chunk of the body, line of the chunk


def function_in(text: str) -> str | None:
    """Return the name of the subroutine that a directive begins, possibly empty; None for other directives."""
    statement = statement_of(text) if FUNCTION.match(text) else None
    return statement.name.text if isinstance(statement, BodyDirective) and statement.name is not None else None


class Directives:
    """The directives of a body that are not declarations.

    ``shaping`` are the places of those that other lines depend on, except inputs. ``irregular`` directives can only be
    read by the grammar, as can the declarations of ``broken`` names.
    """

    __slots__ = (
        "attributes", "braces", "broken", "broken_places", "functions", "inputs", "irregular", "last_attribute", "opening", "part_names", "parts", "places", "shaping", "texts",
        "versions",
    )  # fmt: skip

    def __init__(self, facts: Sequence[Facts]) -> None:
        self.places = [(i, offset, text) for i, f in enumerate(facts) if f.specials for offset, text in f.specials]
        self.texts = [text for _, _, text in self.places]
        self.opening = self.texts[0] if self.texts and _OPENING.match(self.texts[0]) else None
        self.versions: list[tuple[int, int, str]] = []
        self.braces: list[tuple[int, int, str]] = []
        self.inputs: dict[str, list[Place]] = {}
        self.broken: set[str] = set()
        self.broken_places: list[Place] = []
        self.irregular: set[Place] = set()
        self.parts: list[Place] = []
        self.part_names: list[str] = []
        self.shaping: set[Place] = set()
        self.last_attribute: Place = (-1, 0)  # the last one that lines depend on
        attributes = []
        for index, offset, text in self.places:
            if _ATTRIBUTE.match(text):
                if not rule_sets().attributes.match(text):
                    continue
                attributes.append(text)
                self.last_attribute = index, offset
            elif match := INPUT.match(text):
                self.inputs.setdefault(match.group(1), []).append((index, offset))
                continue
            elif _VERSION.match(text):
                self.versions.append((index, offset, text))
            elif text.lstrip()[0] in "{}":
                self.braces.append((index, offset, text))
            elif (name := function_in(text)) is not None:
                self.parts.append((index, offset))
                self.part_names.append(name)
            elif not _OPENING.match(text):
                self.irregular.add((index, offset))
                statement = statement_of(text)
                if isinstance(statement, Decl) and statement.name is not None:
                    self.broken.add(statement.name.text)
                    self.broken_places.append((index, offset))
            self.shaping.add((index, offset))
        self.attributes = tuple(attributes)
        self.functions = set(filter(None, self.part_names))


NO_DIRECTIVES: Final = Directives(())
