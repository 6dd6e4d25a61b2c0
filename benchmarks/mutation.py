"""Real lines of the corpus, broken by token: short texts of one kernel, each with one fault, or none that matters.

A line is taken with the declarations that it needs; then one token of it, or of one of those declarations, is dropped,
doubled, swapped, retyped, resized or renamed. The same seed gives the same mutants. Judges nothing.
"""

from __future__ import annotations

import csv
import random
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from benchmarks.inputs import CORPUS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_FORMS_PLATFORM = "TGLLP"
_NAME = re.compile(r"(?<![\w.:%])(?:[A-Za-z_]\w*)(?![\w:])")
_DECL = re.compile(r"\.decl\s+(\S+)")
_ALIAS = re.compile(r"alias=<([^,\s]+)\s*,")
_INSTRUCTION = re.compile(r"^((?:\([^)]*\)\s*)?[\w.]+(?:<\S*>)?)\s*(\([^)]*\))?\s*(.*)$")
_REGION = re.compile(r"<[\d;,]+>")
_NUMBER = re.compile(r"(?<![\w.])\d+(?!\w)")
_TYPE = re.compile(r":(?:ud|d|uw|w|ub|b|f|df|hf|q|uq|v|vf|uv)\b")
_REGIONS = (
    "<0;1,0>", "<1;1,0>", "<8;8,1>", "<16;16,1>", "<4;4,1>", "<2;1,0>", "<1,0>", "<3;1,0>", "<8;8,2>", "<32;16,2>",
    "<1>", "<2>", "<4>", "<0>", "<3>", "",
)  # fmt: skip
_NUMBERS = ("0", "1", "2", "3", "4", "7", "8", "15", "16", "31", "32", "64", "100", "300", "-1", "0x10")
_TYPES = ("ud", "d", "uw", "w", "ub", "b", "f", "df", "hf", "q", "uq", "v", "vf", "uv", "bf", "zz")
_MASKS = ("(M5, ", "(M2, ", "(M1_NM, ", "(NoMask, ", "(M9, ", "(", "(M3, ", "(M4, ", "(M7, ")
_WORDS = (".sat", ".lt", ".R", ".RGBA", ".ugm", ".zz", ".o", ".any", ".e", "")
_SIZES = ("1", "2", "4", "8", "16", "32", "3", "64")
_MODIFIERS = ("(-)", "(abs)", "(~)", "(-abs)", "-")
_OTHERS = {
    "VF": "G type=f num_elts=32 align=GRF", "VD": "G type=d num_elts=32 align=GRF", "VW": "G type=w num_elts=32",
    "VUB": "G type=ub num_elts=64", "VQ": "G type=q num_elts=16 align=GRF", "VDF": "G type=df num_elts=8",
    "VHF": "G type=hf num_elts=16", "V1": "G type=ud num_elts=1", "AX": "A num_elts=4", "PX": "P num_elts=16",
    "TX": "T num_elts=1", "SX": "S num_elts=1",
}  # fmt: skip
_DIRECTIVE_VALUES = {
    "type": _TYPES, "num_elts": ("0", "1", "2", "3", "8", "16", "32", "64", "4096", "4097", "-1", "x"),
    "align": ("byte", "word", "dword", "qword", "oword", "GRF", "hword", "GRF4", "line", "32", "wordx32"),
    "v_type": ("G", "A", "P", "S", "T", "X"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seed:
    """A real line: ``head`` is the text before it, ``tail`` behind; ``needs`` are indexes of declarations in the head."""

    platform: str
    head: tuple[str, ...]
    line: str
    tail: tuple[str, ...]
    needs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text, how it was made, and the line that was broken."""

    kind: str
    platform: str
    text: str
    line: str


def mutants(count: int, seed: int) -> list[Mutant]:
    """Return different mutants, half of the one-instruction forms, half of lines of whole texts."""
    pick = random.Random(seed)
    forms, lines = _forms(), _lines(pick, max(400, count // 3))
    found: dict[str, Mutant] = {}
    while len(found) < count:
        source = pick.choice(forms if pick.random() < 0.5 else lines)
        made = _mutant(pick, source)
        if made is not None:
            found.setdefault(made.platform + made.text, made)
    return list(found.values())


@cache
def _forms() -> list[Seed]:
    """Return the one-instruction texts that the finalizer accepts."""
    folder = CORPUS / "forms"
    head = (folder / "template.visaasm.part").read_text().rstrip("\n").split("\n")
    names = {d[1]: i for i, line in enumerate(head) if (d := _DECL.match(line))}
    seeds = []
    with (folder / "forms.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            form = row["form"]
            if (
                _FORMS_PLATFORM in row["platform"].split(",")
                and row["rc"] == "0"
                and form[0] != "."
                and "\\n" not in form
            ):
                needs = tuple(names[n] for n in _NAME.findall(form) if n in names)
                seeds.append(Seed(_FORMS_PLATFORM, (*head, "L1:"), form, ("L2:",), needs))
    return seeds


def _lines(pick: random.Random, count: int) -> list[Seed]:
    """Return lines of whole texts, one of each shape."""
    paths = sorted(p for p in CORPUS.glob("dev/[A-Z]*/*.visaasm") if p.with_suffix(".isa").exists())
    pick.shuffle(paths)
    shapes: dict[str, Seed] = {}
    for path in paths[: max(60, count // 10)]:
        seeds = list(_of_text(path))
        for seed in pick.sample(seeds, min(len(seeds), 200)):
            shapes.setdefault(re.sub(r"\d+", "0", seed.line), seed)
    return list(shapes.values())


def _of_text(path: Path) -> Iterator[Seed]:
    text = [line.split("//")[0].rstrip() for line in path.read_text().split("\n")]
    declared = {d[1]: line for line in text if (d := _DECL.match(line))}
    fixed = [line for line in text if line.startswith((".kernel_attr Target", ".kernel_attr SimdSize"))]
    labels = {line[:-1] for line in text if line.endswith(":") and " " not in line}
    for line in text:
        if not line.startswith("    ") or not _INSTRUCTION.match(line.strip()):
            continue
        names = _NAME.findall(line)
        wanted: dict[str, None] = {}
        todo = [n for n in names if n in declared]
        while todo:
            name = todo.pop()
            if name not in wanted:
                wanted[name] = None
                base = _ALIAS.search(declared[name])
                todo += [base[1]] if base and base[1] in declared else []
        decls = [line for name, line in declared.items() if name in wanted]
        head = [".version 4.1", '.kernel "k"', *decls, *fixed]
        marks = [f"{n}:" for n in dict.fromkeys(names) if n in labels]
        if any(mark.startswith("_sub") or f'.function "{mark[:-1]}"' in text for mark in marks):
            continue
        yield Seed(path.parent.name, tuple(head), line.strip(), tuple(marks), tuple(range(2, 2 + len(decls))))


def _mutant(pick: random.Random, seed: Seed) -> Mutant | None:
    head = list(seed.head)
    if pick.random() < 0.15 and seed.needs:
        at = pick.choice(seed.needs)
        kind, changed = _of_declaration(pick, head[at])
        if changed == head[at]:
            return None
        head[at], line, shown = changed, seed.line, changed
    else:
        kind = pick.choice(list(_KINDS))
        line = shown = _KINDS[kind](pick, seed.line) or seed.line
        if line == seed.line:
            return None
    used = set(_NAME.findall(line))
    declared = {d[1] for h in head if (d := _DECL.match(h))}
    at = next(i for i, h in enumerate(head) if h.startswith(".kernel ")) + 1
    head[at:at] = [f".decl {n} v_type={_OTHERS[n]}" for n in _OTHERS if n in used - declared]
    return Mutant(kind, seed.platform, "\n".join([*head, f"    {line}", *seed.tail, "    ret (M1, 1)", ""]), shown)


def _of_declaration(pick: random.Random, line: str) -> tuple[str, str]:
    words = line.split(" ")
    at = pick.randrange(1, len(words))
    key, equals, _ = words[at].partition("=")
    if pick.random() < 0.2:
        return "declaration: drop", " ".join(words[:at] + words[at + 1 :])
    if equals and key in _DIRECTIVE_VALUES:
        words[at] = f"{key}={pick.choice(_DIRECTIVE_VALUES[key])}"
        return f"declaration: {key}", " ".join(words)
    if _ALIAS.search(line):
        return "declaration: alias", re.sub(r", *\d+>", f", {pick.choice(_NUMBERS[:-1])}>", line)
    return "declaration: drop", line


def _parts(line: str) -> tuple[str, str, list[str]]:
    found = _INSTRUCTION.match(line)
    if found is None:
        return line, "", []
    return found[1], found[2] or "", found[3].split()


def _join(name: str, execution: str, operands: list[str]) -> str:
    return " ".join(part for part in (name, execution, *operands) if part)


def _drop(pick: random.Random, line: str) -> str | None:
    name, execution, operands = _parts(line)
    at = pick.randrange(len(operands) + 1)
    if at == len(operands):
        return _join(name, "", operands)
    return _join(name, execution, operands[:at] + operands[at + 1 :])


def _double(pick: random.Random, line: str) -> str | None:
    name, execution, operands = _parts(line)
    if not operands:
        return None
    at = pick.randrange(len(operands))
    return _join(name, execution, [*operands[:at], operands[at], *operands[at:]])


def _swap(pick: random.Random, line: str) -> str | None:
    name, execution, operands = _parts(line)
    if len(operands) < 2:
        return None
    one, other = pick.sample(range(len(operands)), 2)
    operands[one], operands[other] = operands[other], operands[one]
    return _join(name, execution, operands)


def _rename(pick: random.Random, line: str) -> str | None:
    name, execution, operands = _parts(line)
    if not operands:
        return None
    at = pick.randrange(len(operands))
    operands[at] = re.sub(r"(?<![\w:%.])[VAPTS]\w*\b", pick.choice([*_OTHERS, "%null", "V9999"]), operands[at], count=1)
    return _join(name, execution, operands)


def _resize(pick: random.Random, line: str) -> str | None:
    name, execution, operands = _parts(line)
    return _join(name, re.sub(r"\d+\)", pick.choice(_SIZES) + ")", execution), operands)


def _mask(pick: random.Random, line: str) -> str | None:
    name, execution, operands = _parts(line)
    return _join(name, re.sub(r"\((\w+,\s*)?", pick.choice(_MASKS), execution), operands)


def _word(pick: random.Random, line: str) -> str | None:
    name, execution, operands = _parts(line)
    before, dot, last = name.rpartition(".")
    if dot and pick.random() < 0.5:
        return _join(before + pick.choice(("", f".{last}.{last}", *_WORDS)), execution, operands)
    return _join(name + pick.choice(_WORDS), execution, operands)


def _source_modifier(pick: random.Random, line: str) -> str | None:
    name, execution, operands = _parts(line)
    if not operands:
        return None
    at = pick.randrange(len(operands))
    operands[at] = pick.choice(_MODIFIERS) + operands[at]
    return _join(name, execution, operands)


def _predicate(pick: random.Random, line: str) -> str | None:
    if line.startswith("("):
        return re.sub(r"^\([^)]*\)\s*", pick.choice(("", "(PX) ", "(!PX.any) ", "(P0) ")), line)
    return pick.choice(("(PX) ", "(!PX) ", "(PX.all) ", "(VD) ")) + line


def _replacer(
    pattern: re.Pattern[str], values: tuple[str, ...], lead: str = ""
) -> Callable[[random.Random, str], str | None]:
    def change(pick: random.Random, line: str) -> str | None:
        places = list(pattern.finditer(line))
        if not places:
            return None
        place = pick.choice(places)
        return line[: place.start()] + lead + pick.choice(values) + line[place.end() :]

    return change


_KINDS: dict[str, Callable[[random.Random, str], str | None]] = {
    "drop": _drop,
    "double": _double,
    "swap": _swap,
    "rename": _rename,
    "resize": _resize,
    "mask": _mask,
    "word": _word,
    "source modifier": _source_modifier,
    "predicate": _predicate,
    "region": _replacer(_REGION, _REGIONS),
    "number": _replacer(_NUMBER, _NUMBERS),
    "retype": _replacer(_TYPE, _TYPES, ":"),
}
