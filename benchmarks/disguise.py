"""The same program as another text: names exchanged, declarations in another order, other blanks, no comments.

Works on the text alone, so that it shares nothing with what is tested by it. Texts are those of compilers: one statement a
line, no block comments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

_COMMENT = re.compile(r"//(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$).*")
_DECLARED = re.compile(r"\.decl\s+(\S+)\s+v_type=(\w)")
_LABEL = re.compile(r"([A-Za-z_$@?][\w$@?]*):\s*$")
_SUBROUTINE = re.compile(r"\.function\s+\"([^\"]+)\"")
_ALIAS = re.compile(r"alias=<(\S+?),")
_WORD = re.compile(r"(?<![\w.%$@?])[A-Za-z_$@?][\w$@?]*")
_STRING = re.compile(r'("(?:[^"\\]|\\.)*")')
_BODY = re.compile(r"\s*\.(?:kernel|global_function)\s")


def disguise_text(text: str, draw: random.Random) -> tuple[str, dict[int, int]]:
    """Return another text of the same program, and for each line of the first that has code its line in the second, from 0."""
    lines = [_COMMENT.sub("", line).rstrip() for line in text.splitlines()]
    starts = [n for n, line in enumerate(lines) if _BODY.match(line)] or [0]
    ordered: list[tuple[int, str]] = list(enumerate(lines[: starts[0]]))
    for first, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        ordered += _body(list(enumerate(lines))[first:end], draw)
    out: list[str] = []
    where = {}
    for number, line in ordered:
        if not line.strip():
            continue
        out += [""] * draw.choice((0, 0, 0, 1, 2))
        where[number] = len(out)
        out.append(_space(line, draw))
    return "\n".join(out) + "\n", where


def _body(lines: list[tuple[int, str]], draw: random.Random) -> list[tuple[int, str]]:
    names = _names([line for _, line in lines], draw)
    renamed = [(n, _rename(line, names)) for n, line in lines]
    head, code = renamed[:1], renamed[1:]
    groups: list[list[tuple[int, str]]] = [[], [], [], []]
    for entry in code:
        groups[_group(entry[1])].append(entry)
    declarations, inputs, attributes, rest = groups
    draw.shuffle(inputs)
    draw.shuffle(attributes)
    return [*head, *_shuffle(declarations, draw), *inputs, *attributes, *rest]


def _group(line: str) -> int:
    word = line.split(None, 1)[0] if line.strip() else ""
    if word == ".decl":
        return 0
    if word == ".input" or word.startswith((".implicit", ".parameter")):
        return 1
    return 2 if word.startswith(".kernel_attr") else 3


def _shuffle(declarations: list[tuple[int, str]], draw: random.Random) -> list[tuple[int, str]]:
    """Return declarations in a random order with each alias behind its base."""
    ready = declarations[:]
    draw.shuffle(ready)
    declared = {found[1] for _, line in declarations if (found := _DECLARED.search(line))}
    out: list[tuple[int, str]] = []
    done: set[str] = set()
    while ready:
        waiting = []
        for entry in ready:
            alias, name = _ALIAS.search(entry[1]), _DECLARED.search(entry[1])
            if alias and alias[1] in declared and alias[1] not in done:
                waiting.append(entry)
                continue
            out.append(entry)
            if name:
                done.add(name[1])
        if len(waiting) == len(ready):
            return out + waiting
        ready = waiting
    return out


def _names(lines: list[str], draw: random.Random) -> dict[str, str]:
    """Return new names: exchanged within their class, or new ones."""
    classes: dict[str, list[str]] = {}
    for line in lines:
        found = _DECLARED.search(line)
        if found:
            classes.setdefault(found[2], []).append(found[1])
        label = _LABEL.match(line)
        if label:
            classes.setdefault("label", []).append(label[1])
    subroutines = {found[1] for line in lines if (found := _SUBROUTINE.search(line))}
    names = {}
    for letter, members in classes.items():
        free = [name for name in dict.fromkeys(members) if name not in subroutines]
        kept = free[:]
        draw.shuffle(kept)
        names |= dict(zip(free, kept, strict=True))
        for name in free:
            if draw.random() < 0.5:
                names[name] = f"{letter}_{len(names)}_{names[name]}"
    for number, name in enumerate(sorted(subroutines)):
        names[name] = f"sub_{number}_{draw.randrange(1000)}"
    return names


def _rename(line: str, names: dict[str, str]) -> str:
    if _BODY.match(line):
        return line
    parts = _STRING.split(line)
    for at, part in enumerate(parts):
        if at % 2:
            parts[at] = f'"{names[part[1:-1]]}"' if _SUBROUTINE.search(line) and part[1:-1] in names else part
        else:
            parts[at] = _WORD.sub(lambda word: names.get(word[0], word[0]), part)
    return "".join(parts)


def _space(line: str, draw: random.Random) -> str:
    """Return the line with other blanks; one that begins at the left, such as a label, stays there."""
    indent = line[: len(line) - len(line.lstrip())]
    parts = _STRING.split(line.strip())
    spaced = [p if n % 2 else re.sub(r" +", lambda _: " " * draw.choice((1, 1, 2, 4)), p) for n, p in enumerate(parts)]
    comment = draw.choice(("", "", "  // $9", "   /// said"))
    return (indent and draw.choice((" ", "\t", "      "))) + "".join(spaced) + ("" if line.endswith(":") else comment)
