"""The user's answers to open questions of ``emit``: ``--say NAME=WORDS``.

    3=constant                              argument 3 is a __constant buffer (several times); constant=none: none is
    1=image_2d_array  1=writeonly           the type of an image, and what the kernel does with it
    V0039=global_size                       what an input is, in the words of arg_type
    V0051=image_width(1)                    the same for a fact of argument 1
    sampler(0)=repeat linear normalized     the state of a sampler that is written in the source
    private=512  slm=2048                   bytes of private memory of a lane; of shared local memory

Knows these words only. Invariant: unknown words raise a ``SayError`` with a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec import field as member

from visa_lsp.suggest import nearest
from visa_lsp.zeinfo.closed_words import WORDS

_ENTRY: Final = re.compile(r"([a-z_]+)(?:\((\d{1,3})\))?")
_SAMPLER: Final = re.compile(r"sampler\((\d{1,3})\)")
_SIZES: Final = ("private", "slm")
_MAX_BYTES: Final = 1 << 30


class SayError(Exception):
    """Unknown words in an answer."""


class Answers(Struct):
    """All answers of the user."""

    constants: set[int] | None = None
    inputs: dict[str, tuple[str, int | None]] = member(default_factory=dict)
    samplers: dict[int, tuple[str, str, bool]] = member(default_factory=dict)
    sizes: dict[str, int] = member(default_factory=dict)
    images: dict[int, str] = member(default_factory=dict)
    access: dict[int, str] = member(default_factory=dict)

    def is_constant(self, index: int) -> bool:
        """Return whether the answers make an argument a constant buffer."""
        return self.constants is not None and index in self.constants

    def kind(self, name: str) -> str:
        """Return the kind that the answers give an input; empty if there is no answer."""
        return self.inputs.get(name, ("", None))[0]

    def entry(self, name: str) -> tuple[str, int | None] | None:
        """Return the kind that the answers give an input, and its argument."""
        return self.inputs.get(name)

    def sampler(self, number: int) -> tuple[str, str, bool] | None:
        """Return the state of a sampler: addressing mode, filter, whether coordinates are normalized."""
        return self.samplers.get(number)


def read_answers(words: Iterable[str]) -> Answers:
    """Parse the words of the command line. Raises SayError, which quotes the words, if they are unknown."""
    said = Answers()
    for entry in words:
        name, equals, value = (part.strip() for part in entry.partition("="))
        if not equals or not name or not value:
            raise SayError(f"'{entry}': expected NAME=WORDS, such as 1=constant or V0039=global_size")
        sampler = _SAMPLER.fullmatch(name)
        if sampler:
            said.samplers[int(sampler[1])] = _sampler(entry, value.replace(",", " ").split())
        elif name in _SIZES:
            if not value.isdecimal() or int(value) > _MAX_BYTES:
                raise SayError(f"'{entry}': expected bytes, as {name}=512")
            said.sizes[name] = int(value)
        elif (name, value) == ("constant", "none"):
            said.constants = said.constants or set()
        elif value == "constant":
            said.constants = {*(said.constants or ()), _index(entry, name)}
        elif value in [word.name for word in WORDS["image_type"]]:
            said.images[_index(entry, name)] = value
        elif value in [word.name for word in WORDS["access_type"]]:
            said.access[_index(entry, name)] = value
        else:
            said.inputs[name] = _entry(entry, value)
    return said


def _index(entry: str, name: str) -> int:
    if not name.isdecimal():
        raise SayError(f"'{entry}': expected the number of an argument, as 1={entry.partition('=')[2].strip()}")
    return int(name)


def _entry(entry: str, value: str) -> tuple[str, int | None]:
    match = _ENTRY.fullmatch(value)
    words = [word.name for word in WORDS["argument_type"]]
    if match is None or match[1] not in words:
        near = nearest(match[1] if match else value, words)
        hint = f"did you mean '{near}'?" if near else "expected a word of arg_type, such as global_size"
        raise SayError(f"'{entry}': {hint}")
    return match[1], int(match[2]) if match[2] else None


def _sampler(entry: str, words: list[str]) -> tuple[str, str, bool]:
    address, filter_, normalized = "none", "nearest", False
    addresses = [word.name for word in WORDS["sampler_desc_addrmode"]]
    filters = [word.name for word in WORDS["sampler_desc_filtermode"]]
    for word in words:
        if word in addresses:
            address = word
        elif word in filters:
            filter_ = word
        elif word == "normalized":
            normalized = True
        else:
            raise SayError(
                f"'{entry}': expected words for a sampler: {', '.join([*addresses, *filters, 'normalized'])}"
            )
    return address, filter_, normalized
