"""Whole texts of every kind, broken at random places: for tests that have to hold whatever is wrong with a text.

The sources are the examples of the rules, small texts of the corpus, ze_info and launch files. The same seed gives the
same mutants. Judges nothing.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markers import complete

from visa_lsp.checks.registry import CHECKS
from visa_lsp.checks.support.rule_page import examples
from visa_lsp.launchfile.rules import RULES as LAUNCH_RULES
from visa_lsp.zeinfo.rules import RULES as ZE_INFO_RULES

_OWN = Path(__file__).parents[1] / "own"
_EXAMPLES = Path(__file__).parents[2] / "examples"
_TOKEN = re.compile(r"[A-Za-z_%][\w.]*|\d[\w.]*|\s+|.", re.DOTALL)
_MAX_FILE_BYTES = 6_000
_PIECES = (
    "/*", "*/", "//", "{", "}", "(", ")", "<", ">", ",", '"', "'", ":", ".", "-", "#", "0x", "1", "ret", "M1", "MOV",
    "{NoMask}", "(-)", "V9", "%", "\t", "\n", "é", "true", "[", "]", "null",
)  # fmt: skip


class TextMutant(NamedTuple):
    """A text of one kind (visa, zeinfo, launch), and what was done to it."""

    kind: str
    origin: str
    text: str


def _drop_chars(pick: random.Random, text: str) -> str:
    at = pick.randrange(len(text))
    return text[:at] + text[at + pick.choice((1, 1, 1, 2, 5)) :]


def _insert(pick: random.Random, text: str) -> str:
    at = pick.randrange(len(text) + 1)
    return text[:at] + pick.choice(_PIECES) + text[at:]


def _swap_chars(pick: random.Random, text: str) -> str:
    at = pick.randrange(max(len(text) - 1, 1))
    return text[:at] + text[at : at + 2][::-1] + text[at + 2 :]


def _drop_line(pick: random.Random, text: str) -> str:
    lines = text.split("\n")
    del lines[pick.randrange(len(lines))]
    return "\n".join(lines)


def _double_line(pick: random.Random, text: str) -> str:
    lines = text.split("\n")
    at = pick.randrange(len(lines))
    lines.insert(pick.choice((at, pick.randrange(len(lines)))), lines[at])
    return "\n".join(lines)


def _move_line(pick: random.Random, text: str) -> str:
    lines = text.split("\n")
    line = lines.pop(pick.randrange(len(lines)))
    lines.insert(pick.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def _swap_tokens(pick: random.Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    one, other = pick.randrange(len(tokens)), pick.randrange(len(tokens))
    if pick.random() < 0.7:
        other = min(one + pick.choice((1, 2, 4)), len(tokens) - 1)
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def _change_case(pick: random.Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    at = pick.randrange(len(tokens))
    tokens[at] = tokens[at].swapcase()
    return "".join(tokens)


def _cut(pick: random.Random, text: str) -> str:
    return text[: pick.randrange(len(text) + 1)]


_WAYS: tuple[Callable[[random.Random, str], str], ...] = (
    _drop_chars, _drop_chars, _insert, _insert, _insert, _swap_chars, _swap_chars, _drop_line, _double_line, _move_line, _swap_tokens,
    _swap_tokens, _change_case, _cut,
)  # fmt: skip


@cache
def _sources() -> dict[str, list[tuple[str, str]]]:
    """Return (origin, text) of the sources of each kind."""
    found: dict[str, list[tuple[str, str]]] = {"visa": [], "zeinfo": [], "launch": []}
    for kind, rules in (
        ("visa", [check.rule for check in CHECKS]),
        ("zeinfo", ZE_INFO_RULES),
        ("launch", LAUNCH_RULES),
    ):
        for rule in rules:
            for which, text in zip(("bad", "good"), examples(rule), strict=True):
                found[kind].append((f"{rule.name} {which}", complete(text)[0] if kind == "visa" else text))
    for path in sorted([*_OWN.rglob("*"), *_EXAMPLES.iterdir()]):
        if path.suffix not in (".visaasm", ".yaml") or path.stat().st_size > _MAX_FILE_BYTES:
            continue
        kind = {".visaasm": "visa"}.get(path.suffix, "launch" if path.name.endswith(".launch.yaml") else "zeinfo")
        found[kind].append((path.name, path.read_text(encoding="utf-8")))
    return found


def text_mutants(count: int, seed: int) -> list[TextMutant]:
    """Return so many mutants: two thirds of them vISA, the others ze_info and launch files; one to three faults each."""
    pick = random.Random(seed)
    mutants = []
    while len(mutants) < count:
        kind = pick.choice(("visa", "visa", "visa", "visa", "zeinfo", "launch"))
        origin, text = pick.choice(_sources()[kind])
        ways = [pick.choice(_WAYS) for _ in range(pick.choice((1, 1, 2, 3)))]
        for way in ways:
            text = way(pick, text) if text else text
        mutants.append(TextMutant(kind, f"{origin}: {', '.join(way.__name__[1:] for way in ways)}", text))
    return mutants
