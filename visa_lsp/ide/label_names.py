"""The labels of a body by the number that they end in: a likely one is found without a look at all of them.

Made when it is first asked, then kept up. It knows names only, and no places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.checks.context import near_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_DIGITS: Final = "0123456789"
# How many labels are taken in at one step.
_STEP: Final = 512


def _number(name: str) -> str:
    """The number at the end of a name; empty without one."""
    return name[len(name.rstrip(_DIGITS)) :].lstrip("0") or ("0" if name[-1:] in _DIGITS else "")


class LabelNames:
    """Names in groups; a name stands in its group once."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, None]] | None = None

    def clear(self) -> None:
        """Forget every name."""
        self._groups = None

    def add(self, name: str) -> None:
        """A label is there."""
        if self._groups is not None:
            self._groups.setdefault(_number(name), {})[name] = None

    def drop(self, name: str) -> None:
        """A label is gone."""
        if self._groups is not None:
            self._groups.get(_number(name), {}).pop(name, None)

    def prepare(self, every: Iterable[str]) -> Iterator[None]:
        """Make the groups of all labels, if they are not there yet, in steps; they count when the last one is done."""
        if self._groups is not None:
            return
        made = LabelNames()
        made._groups = {}
        for count, name in enumerate(every):
            made.add(name)
            if count % _STEP == _STEP - 1:
                yield
        self._groups = made._groups

    def near(
        self, word: str, every: Iterable[str], others: Iterable[str], like: Callable[[str, Iterable[str]], str | None]
    ) -> str | None:
        """What ``near_name`` finds for a word among ``every`` label and some other names."""
        for _ in self.prepare(every):
            pass
        assert self._groups is not None
        # Of the names with a number only those with the word's own are near.
        some = [name for number in {_number(word), ""} for name in self._groups.get(number, ())]
        return near_name(word, [*some, *others], like)
