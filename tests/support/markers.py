"""Texts that carry the findings which they expect, and the comparison with the findings there are.

A comment line underlines the line above it: ``// ^^^^ error[slug]: part of the message``. ``// <^^`` moves the carets to
the first column, where they could not be otherwise. Knows nothing of any rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.checks.run import run_checks
from visa_lsp.checks.support.context import CheckContext

MARKER = re.compile(
    r"^(?P<lead>\s*//\s*)(?P<home><?)(?P<carets>\^*) (?P<severity>\w+)\[(?P<slug>[\w-]+)\](?:: (?P<part>.*))?$"
)
DECLARED = {
    "V33": "G type=d num_elts=16 align=hword",
    "V34": "G type=d num_elts=16 align=hword",
    "V35": "G type=f num_elts=16 align=hword",
    "V36": "G type=ud num_elts=16 align=hword",
    "V37": "G type=uw num_elts=16 align=hword",
    "V38": "G type=ud num_elts=1 align=dword",
    "V39": "G type=uq num_elts=16 align=hword",
    "V40": "G type=d num_elts=1 align=dword",
    "V44": "G type=hf num_elts=64 align=hword",
    "A0": "A num_elts=8",
    "P1": "P num_elts=16",
    "S0": "S num_elts=1",
    "T6": "T num_elts=1",
}


@dataclass(frozen=True, order=True)
class Finding:
    """A finding in the terms of a page: line of the block, columns."""

    line: int
    start: int
    end: int
    severity: str
    slug: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line + 1}, columns {self.start}-{self.end}: {self.severity}[{self.slug}]: {self.message}"


def strip(text: str) -> tuple[str, list[Finding]]:
    """Return a marked text without its markers, and their expectations."""
    kept: list[str] = []
    expected = []
    for line in text.split("\n"):
        hit = MARKER.match(line)
        if hit is None:
            kept.append(line)
            continue
        start = 0 if hit["home"] else len(hit["lead"])
        end = start + len(hit["carets"])
        expected.append(Finding(max(0, len(kept) - 1), start, end, hit["severity"], hit["slug"], hit["part"] or ""))
    return "\n".join(kept), expected


def complete(block: str) -> tuple[str, list[int]]:
    """Return a block as a whole text, and for each of its lines the line of the block, -1 for added ones."""
    if not block.strip():
        return block, [0]
    lines = list(enumerate(block.split("\n")))
    own_kernel = any(line.startswith((".kernel ", ".global_function")) for _, line in lines)
    used = [name for name in DECLARED if re.search(rf"\b{name}\b", block)]
    head = [(-1, f".decl {n} v_type={DECLARED[n]}") for n in used if not re.search(rf"\.decl {n} ", block)]
    if not own_kernel:
        head.insert(0, (-1, '.kernel "k"'))
        code = [line for _, line in lines if line.strip() and not line.lstrip().startswith(("//", "."))]
        if not (code and code[-1].split()[0] in ("ret", "fret", "}")):
            lines.append((-1, "    ret (M1, 1)"))
    if not any(line.startswith(".version") for _, line in lines):
        lines.insert(0, (-1, ".version 4.1"))
    first = (".kernel ", ".global_function") if own_kernel else (".version",)
    at = next(i for i, (_, line) in enumerate(lines) if line.startswith(first)) + 1
    lines[at:at] = head
    return "\n".join(line for _, line in lines) + "\n", [number for number, _ in lines] + [-1]


def findings(block: str, platform: str | None = None, extra: tuple[str, ...] = ()) -> list[Finding]:
    """Return the findings about a block, with lines and columns counted in it."""
    text, origin = complete(block)
    analysis = Analysis.of(text, platform)
    ctx = CheckContext(analysis.document, analysis.bound, analysis.platform, analysis.dialect)
    found = []
    for diagnostic in run_checks(ctx, extra):
        line, start = analysis.document.position(diagnostic.span.start)
        end = start + diagnostic.span.end - diagnostic.span.start
        found.append(Finding(origin[line], start, end, diagnostic.severity.value, diagnostic.name, diagnostic.message))
    return sorted(found)


def differences(marked: str, platform: str | None = None, extra: tuple[str, ...] = ()) -> list[str]:
    """Return the differences between the findings about a marked block and its markers; empty when they agree."""
    block, expected = strip(marked)
    found = findings(block, platform, extra)
    report = []
    for want in sorted(expected):
        hit = next((f for f in found if _fits(want, f)), None)
        if hit is None:
            report.append(f"expected {want}")
        else:
            found.remove(hit)
    return report + [f"unexpected {f}" for f in found]


def _fits(want: Finding, found: Finding) -> bool:
    same = (want.line, want.start, want.end, want.severity, want.slug) == (
        found.line, found.start, found.end, found.severity, found.slug,
    )  # fmt: skip
    return same and want.message in found.message
