"""Input that wants to hurt: each kind at a size and at twice that size, in a process of its own; CPU, memory, growth.

Usage: python -m benchmarks.hostile [SCALE]; 1 is the size that the product promises an answer for.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.measure import read_number, run, table

if TYPE_CHECKING:
    from collections.abc import Callable

_HEAD = '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8 align=dword\n'
KINDS: dict[str, tuple[int, Callable[[int], str]]] = {
    "one line (bytes)": (100_000_000, lambda n: "add (M1, 8) " + "V40(0,0)<1> " * (n // 12)),
    "nested parentheses": (100_000, lambda n: "add (M1, " + "(" * n + "1" + ")" * n + ") V40(0,0)<1> 1:d"),
    "distinct shapes": (
        1_000_000,
        lambda n: "\n".join(f"    mov (M1, 8) V40(0,0)<1> V40({i % 7},{i // 7})<1;1,0>" for i in range(n)),
    ),
    "broken lines": (200_000, lambda n: "\n".join(f"    mov (M1, 8 V40(0,0)<1> {i}" for i in range(n))),
    "undeclared names": (200_000, lambda n: "\n".join(f"    mov (M1, 8) X{i}(0,0)<1> 0x1:d" for i in range(n))),
    "missing labels": (200_000, lambda n: "\n".join(f"    goto (M1, 8) target_{i}_x" for i in range(n))),
    "a chain of aliases": (
        200_000,
        lambda n: "\n".join(
            f".decl V{i + 41} v_type=G type=d num_elts=8 align=dword alias=<V{i + 40}, {4 * (i > n // 2)}>"
            for i in range(n)
        ),
    ),
    "open scopes": (
        200_000,
        lambda n: "{\n" * (n // 2) + ".decl V40 v_type=G type=d num_elts=8\n" + "}\n" * (n // 2 + 1),
    ),
    "kernels": (200_000, lambda n: "\n".join(f'.kernel "k{i}"\n    ret (M1, 1)' for i in range(n // 2))),
    "open comments": (200_000, lambda n: "/* x\n" * n),
}


def text_of(kind: str, size: int) -> str:
    """Return a hostile text."""
    return _HEAD + KINDS[kind][1](size) + "\n"


def main(scale: float) -> None:
    rows = []
    for kind, (full, _) in KINDS.items():
        costs = []
        for size in (int(full * scale / 2), int(full * scale)):
            program = (
                "from benchmarks.hostile import text_of; from visa_lsp.analysis.analysis import Analysis; "
                f"Analysis.of(text_of({kind!r}, {size})).diagnostics"
            )
            costs.append(run([sys.executable, "-c", program]))
        half, whole = costs
        rows.append([f"{kind} x {int(full * scale)}", whole.cpu, whole.peak_mb, whole.status, whole.cpu / half.cpu])
    table("hostile input", ["", "CPU s", "peak MB", "exit", "CPU of twice the size"], rows)


if __name__ == "__main__":
    main(read_number(__doc__, "scale", 1.0))
