"""Lines of C, with the lines inside of their braces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct

from visa_lsp.app.read.comparisons import WORD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.read.expressions import Text


class Line(Struct, frozen=True):
    """A line of C: its text, and the numbers of its instructions."""

    text: str
    places: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class Node:
    """A line with the lines inside of its braces, and the line that closes them; ``assigns`` is the variable that it sets."""

    text: str
    places: tuple[int, ...] = ()
    assigns: str = ""
    inner: list[Node] | None = None
    tail: Line | None = None
    is_loop: bool = False
    continues: bool = False  # `} else {`
    names: frozenset[str] = frozenset()
    value: Text | None = None

    def texts(self) -> tuple[str, ...]:
        """Return its own lines."""
        return (self.text,) if self.tail is None else (self.text, self.tail.text)

    def own_names(self) -> set[str]:
        """Return the words of its own lines."""
        return {word for text in self.texts() for word in WORD.findall(text)}


def walk(code: list[Node]) -> Iterator[Node]:
    """Yield all lines, those inside of others too."""
    for node in code:
        yield node
        if node.inner is not None:
            yield from walk(node.inner)
