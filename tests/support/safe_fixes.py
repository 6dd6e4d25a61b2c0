"""Faults with a safe fix, planted in a text: what the fix gives back must assemble to the same bytes as before.

Each fault stands for a safe fix that ``visa_lsp`` makes; ``test_edits_keep_bytes`` looks for rules that are not here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random


class Plant(NamedTuple):
    """A line of real text made faulty: ``pattern`` is found in a line without its comment."""

    rule: str
    title: str
    pattern: str
    fault: str


class Extra(NamedTuple):
    """A line that real text does not have, right and faulty, with the declarations that it needs."""

    rule: str
    title: str
    declarations: str
    right: str
    faulty: str


_INTS = ".decl V7001 v_type=G type=d num_elts=64 align=GRF"
_ADDRESSES = f"{_INTS}\n.decl A7002 v_type=A num_elts=8"
_SURFACE = f"{_INTS}\n.decl T7003 v_type=T num_elts=1"
_SAMPLER = f"{_SURFACE}\n.decl S7004 v_type=S num_elts=1"
PLANTS = (
    Plant("seed-mnemonic", "change to `{0}", r"^    (mov|add|mul|and|or|shl|cmp|sel|ret)(?=[ .])", "{upper}"),
    Plant("seed-word", "change to `{0}`", r"^    cmp\.(lt|gt|le|ge|eq|ne)(?= \()", "{upper}"),
    Plant("exec-size", "write {0}", r"^    (?:mov|add|mul) \(M1, (16|8|32)(?=\) V)", "{hex}"),
    Plant("indented-label", "move the label to the first column", r"^()[A-Za-z_][\w]*:$", "  "),
    Plant("seed-alias", "write `alias=<{1}, {2}>`", r"^\.decl .*(alias=<([^,]*), ([^>]*)>)", "alias=({1}, {2})"),
    Plant("seed-mask", "change to `M1`", r"^    (?:mov|add|mul) \((M1)(?=, (?:16|8)\))", "M0"),
    Plant(
        "region-form", "add `(0,0)`", r"^    (?:mov|add|mul) \(M[15], \d+\) V\d+\(0,0\)<1> V\d+(\(0,0\))(?=<1;1,0>)", ""
    ),
    Plant("unknown-class", "change to `G`", r"^\.decl V\d+ v_type=(G)(?= )", "g"),
    Plant("seed-declaration", "remove the type", r"^\.decl P\d+ v_type=P()(?= )", " type=bool"),
    Plant("seed-declaration", "add `num_elts=1`", r"^\.decl [TS]\d+ v_type=[TS]( num_elts=1)(?= |$)", ""),
    Plant("useless-suppression", "remove the suppression", r"^    mov \(M1, 16\)[^/]*()$", "  // visa: ignore[V101]"),
)
EXTRAS = (
    Extra("newer-form", "write `d8c32`", _INTS,
          "    lsc_load.ugm (M1, 8)  V7001:d8c32  flat[V7001]:a32", "    lsc_load.ugm (M1, 8)  V7001:d8u32  flat[V7001]:a32"),
    Extra("misplaced-modifier", "write `-0x3:d`", _INTS,
          "    add (M1, 8) V7001(0,0)<1> V7001(0,0)<1;1,0> -0x3:d", "    add (M1, 8) V7001(0,0)<1> V7001(0,0)<1;1,0> (-)0x3:d"),
    Extra("seed-mask", "move the option into the parenthesis", _INTS,
          "    mov (M1_NM, 1) V7001(0,0)<1> 0x3:d", "    mov (M1, 1) V7001(0,0)<1> 0x3:d {NoMask}"),
    Extra("seed-operand", "write `&V7001[32]`", _ADDRESSES,
          "    addr_add (M1, 1) A7002(0)<1> &V7001[32] 0x4:uw", "    addr_add (M1, 1) A7002(0)<1> &V7001+32 0x4:uw"),
    Extra("seed-operand", "write `A7002(0)<1>`", _ADDRESSES,
          "    addr_add (M1, 1) A7002(0)<1> &V7001[32] 0x4:uw", "    addr_add (M1, 1) A7002(0) &V7001[32] 0x4:uw"),
    Extra("seed-operand", "write `<1,0>`", _ADDRESSES,
          "    mov (M1, 8) V7001(0,0)<1> r[A7002(0),0]<1,0>:d", "    mov (M1, 8) V7001(0,0)<1> r[A7002(0),0]<;1,0>:d"),
    Extra("seed-operand", "write `T7003 0`", _SURFACE,
          "    media_ld.nomod (32,8) T7003 0 V7001(0,0)<0;1,0> V7001(0,1)<0;1,0> V7001.0",
          "    media_ld.nomod (32,8) T7003[0] V7001(0,0)<0;1,0> V7001(0,1)<0;1,0> V7001.0"),
    Extra("seed-operand", "write `S7004 T7003`", _SAMPLER,
          "    sample_l.RGBA (M1, 8) 0x0:uw S7004 T7003 V7001.0 V7001.0 V7001.0 V7001.0",
          "    sample_l.RGBA (M1, 8) 0x0:uw T7003 S7004 V7001.0 V7001.0 V7001.0 V7001.0"),
    Extra("seed-operand", "write `gather.4`", _SURFACE,
          "    gather.4 (M1, 8) T7003 0x0:ud V7001.0 V7001.32", "    gather (M1, 8) (4) T7003 0x0:ud V7001.0 V7001.32"),
    Extra("operand-form", "write `V7001.0`", _SURFACE,
          "    oword_ld (2) T7003 0x0:ud V7001.0", "    oword_ld (2) T7003 0x0:ud V7001"),
    Extra("operand-form", "write `elsewhere`", _INTS, "    fcall (M1, 8) elsewhere 1 0", '    fcall (M1, 8) "elsewhere" 1 0'),
    Extra("seed-name", 'write `"IS_genx_1.asm"`', _INTS,
          '.kernel_attr OutputAsmPath="IS_genx_1.asm"', ".kernel_attr OutputAsmPath=IS_genx_1.asm"),
    Extra("version-line", "add `.version 4.1`", _INTS, "", ""),
    Extra("version-line", "move `.version` to the top", _INTS, "", ""),
)  # fmt: skip
# A safe fix that the source has and no text reaches: whatever the case of a mnemonic, ``seed-mnemonic`` knows it first.
UNREACHED = frozenset({"unknown-mnemonic", "undeclared-name"})


class Planted(NamedTuple):
    """A text with faults, the same text as it should be, and (rule, title of the fix) of each fault."""

    right: str
    faulty: str
    faults: tuple[tuple[str, str], ...]


def plant_faults(text: str, draw: random.Random, extra: Extra) -> Planted:
    """Return every fault of ``PLANTS`` that has a place in a text, each in a line of its own, and one of ``EXTRAS``."""
    lines = text.split("\n")
    taken: set[int] = set()
    faults = []
    for plant in PLANTS:
        pattern = re.compile(plant.pattern)
        found = [i for i, line in enumerate(lines) if i not in taken and pattern.match(_code(line))]
        if not found:
            continue
        at = draw.choice(found)
        match = pattern.match(_code(lines[at]))
        assert match is not None
        word = match.group(1)
        forms = {"upper": word.upper(), "hex": hex(int(word)) if word.isdigit() else ""}
        fault = plant.fault.format(*match.groups(), **forms)
        lines[at] = lines[at][: match.start(1)] + fault + lines[at][match.end(1) :]
        taken.add(at)
        faults.append((plant.rule, plant.title.format(*match.groups())))
    head = next(i for i, line in enumerate(lines) if line.startswith((".kernel ", ".global_function ")))
    behind = next(i for i in range(head, len(lines)) if lines[i].startswith("    "))
    right, faulty = text.split("\n"), lines
    for rows, line in ((right, extra.right), (faulty, extra.faulty)):
        if line:
            rows.insert(head + 1 if line.startswith(".") else behind, line)
        rows.insert(head + 1, extra.declarations)
    if extra.rule == "version-line":
        at = next(i for i, line in enumerate(faulty) if line.startswith(".version "))
        version = faulty.pop(at)
        if extra.title.startswith("move"):
            faulty.insert(head, version)
        else:
            right[at] = ".version 4.1"
    return Planted("\n".join(right), "\n".join(faulty), (*faults, (extra.rule, extra.title)))


def _code(line: str) -> str:
    return line.partition("//")[0].rstrip()
