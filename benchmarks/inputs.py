"""Inputs for benchmarks and tests: one kernel of any number of lines, from real text or from a seed.

Real text is a kernel of the corpus, repeated with other names for its variables and labels; declarations come first and
the code behind them, as compilers print it. Without a corpus a kernel is made from the seed.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_OWN, _BESIDE = _ROOT / "tests" / "own", _ROOT.parent / "shared" / "corpus"
# The larger corpus beside the repository, where there is one; that of the tests has the same layout.
CORPUS = _BESIDE if _BESIDE.is_dir() else _OWN
_SOURCE = CORPUS / "run" / "TGLLP" / ("maths/curves.visaasm" if CORPUS == _OWN else "mathf/m1.visaasm")
_NAME = re.compile(r"(?<![\w.:%])(?:[VPATS][0-9]+|_[A-Za-z0-9_]+)\b")


def source_text(seed: int = 1, lines: int = 2000) -> str:
    """Return the text that is repeated."""
    return _SOURCE.read_text(encoding="utf-8") if _SOURCE.is_file() else generate(seed, lines)


def generate(seed: int, lines: int) -> str:
    """Return a kernel without findings, of about so many lines."""
    pick = random.Random(seed)
    count = max(8, lines // 3)
    types = ("d", "ud", "f")
    kind = [pick.choice(types) for _ in range(count)]
    text = [".version 4.1", '.kernel "k"']
    for number in range(count):
        base = pick.randrange(number) if number and pick.random() < 0.3 else None
        alias = f" alias=<V{100 + base}, 0>" if base is not None else ""
        text.append(f".decl V{100 + number} v_type=G type={kind[number]} num_elts=16 align=hword{alias}")
    text += [f".decl P{n} v_type=P num_elts=16" for n in range(1, 9)]
    text += ['.kernel_attr Target="cm"', ".kernel_attr SimdSize=16"]
    same = {t: [100 + n for n in range(count) if kind[n] == t] or [100] for t in types}
    for number in range(max(1, lines - len(text) - 1)):
        t = pick.choice(types)
        a, b, c = (pick.choice(same[t]) for _ in range(3))
        if kind[a - 100] != t or kind[b - 100] != t or kind[c - 100] != t:
            continue
        form = pick.randrange(6)
        if form == 0:
            text.append(f"    mov (M1, 16) V{a}(0,0)<1> V{b}(0,0)<1;1,0>  /// ${number}")
        elif form == 1:
            text.append(f"    add (M1, 16) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>  /// ${number}")
        elif form == 2:
            immediate = f"0x{pick.randrange(1 << 30):x}:{t}"
            text.append(f"    mul (M1, 16) V{a}(0,0)<1> V{b}(0,0)<1;1,0> {immediate}  /// ${number}")
        elif form == 3:
            text.append(f"    cmp.lt (M1, 16) P{pick.randrange(1, 9)} V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>  /// ${number}")
        elif form == 4:
            text.append(f"    (P{pick.randrange(1, 9)}) sel (M1, 16) V{a}(0,0)<1> V{b}(0,0)<1;1,0> V{c}(0,0)<1;1,0>")
        else:
            text += [f"    (P{pick.randrange(1, 9)}) goto (M1, 16) _l{number}", "", f"_l{number}:"]
    return "\n".join([*text, "    ret (M1, 1)", ""])


def kernel(lines: int, seed: int = 1) -> str:
    """Return a kernel of about this many lines."""
    source = source_text(seed, min(lines, 2000)).split("\n")
    head = [line for line in source if line.startswith((".version", ".kernel "))]
    attributes = [line for line in source if line.startswith((".kernel_attr", ".input"))]
    decls = [line for line in source if line.startswith(".decl")]
    # The directive in front of a kernel's code is as real as the rest; its name may be declared once.
    code = [line for line in source if line and (line.startswith(".function") or not line.startswith((".", "//")))]
    labels = {line.split(":")[0] for line in code if line.startswith("_")}
    fixed = {line.split()[1] for line in attributes if line.startswith(".input")}
    fixed |= {line.split()[1] for line in decls if "v_type=T" in line or "v_type=S" in line} | {"T6", "S31"}
    if lines < len(head) + len(attributes) + len(decls) + len(code):
        # A part of the code keeps its branches whole only if the labels stay: drop what jumps.
        keep = max(1, (lines - len(head) - len(attributes)) // 2)
        code = [line for line in code[:keep] if not any(label in line for label in labels)]
        used = set(_NAME.findall("\n".join([*code, *attributes])))
        # Backwards: the base of an alias is declared before it.
        for line in reversed(decls):
            if line.split()[1] in used:
                used.update(_NAME.findall(line))
        decls = [line for line in decls if line.split()[1] in used]
    out_decls, out_code = list(decls), _without_return(code)
    copy = 0
    while len(head) + len(out_decls) + len(attributes) + len(out_code) < 0.95 * lines:
        copy += 1

        def rename(match: re.Match[str], copy: int = copy) -> str:
            name = match.group()
            if name[0] == "_":
                return f"{name}_{copy}" if name in labels else name
            return name if name in fixed else f"{name[0]}{copy * 10000 + int(name[1:])}"

        out_decls += [_NAME.sub(rename, line) for line in decls if line.split()[1] not in fixed]
        out_code += [_NAME.sub(rename, line) for line in _without_return(code) if line[0] != "."]
    return "\n".join([*head, *out_decls, *attributes, *out_code, "    ret (M1, 1)", ""])


def _without_return(code: list[str]) -> list[str]:
    return [line for line in code if not line.strip().startswith("ret ")]


def broken_at_the_end(text: str) -> str:
    """Return the same text with a syntax error as its last line: the finalizer reads it all and stops."""
    return text + "    add (M1,\n"
