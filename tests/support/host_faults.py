"""One-token faults planted in vISA strings of host texts, each with the place where a finding has to be.

A token is changed as a slip of the keyboard would change it. What may be any name of the file is left alone, and so is a token that
comes from a macro, an escape or an operand: there is no such token to change in the host.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.embed.host_text import HostText

# What is changed, by kind: a pattern whose group is the token, and what it becomes.
SLIPS = {
    "mnemonic": (re.compile(r"(?m)^[ \t]*(?:\([^)\n]*\)[ \t]*)?([a-z][a-z0-9_]*)(?=[. \t][^\n]*\()"), lambda t: t + "q"),
    "execution size": (re.compile(r"\(M\d(?:_NM)?,[ \t]*(\d+)\)"), lambda _: "15"),
    "mask": (re.compile(r"\((M\d)(?:_NM)?,[ \t]*\d+\)"), lambda _: "M9"),
    "type of a number": (re.compile(r"0x[0-9A-Fa-f]+:(\w+)"), lambda _: "zz"),
    "type of a declaration": (re.compile(r"\.decl[^\n]*?\btype=(\w+)"), lambda _: "zz"),
    "kind of a declaration": (re.compile(r"\.decl[^\n]*?\bv_type=(\w)"), lambda _: "Q"),
    "name": (re.compile(r"(?m)^(?!\s*\.)[^\n]*?[ \t)](?!__asm)([a-z_]\w+)\(\d+,[ \t]*\d+\)<"), lambda _: "nope"),
    "region": (re.compile(r"<(\d+);\d+,\d+>"), lambda _: "7"),
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A slip: its kind, the host with it, and the place of the changed token in it."""

    kind: str
    text: str
    place: Span


def faults(host: HostText) -> Iterator[Fault]:
    """Yield every fault that can be planted in the blocks of a host."""
    text = host.document.text
    for number, unit in enumerate(host.units):
        for kind, (pattern, changed) in SLIPS.items():
            for hit in pattern.finditer(unit.text):
                line = unit.text[unit.text.rfind("\n", 0, hit.start(1)) + 1 : hit.start(1)]
                if "//" in line or (kind == "name" and unit.broken):
                    continue
                span = host.host_span(Span(*hit.span(1)).shift(host.start_of(number)))
                if span is None or text[span.start : span.end] != hit[1]:
                    continue
                new = changed(hit[1])
                if new != hit[1]:
                    wrong = text[: span.start] + new + text[span.end :]
                    yield Fault(kind, wrong, Span(span.start, span.start + len(new)))
