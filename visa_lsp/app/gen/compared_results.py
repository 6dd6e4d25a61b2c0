"""Compares two results of one text, from two finalizers or two sets of options: in total and line by line.

Invariant: a kernel that only one side has is included, with nothing on the other side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import printable
from visa_lsp.text import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.gen.gen_document import GenDocument
    from visa_lsp.toolchain.finalize import FinalizedKernel

Pair = tuple[int | None, int | None]

_INDENT: Final = " " * 24


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A line of the text, from 0, with its Gen instructions on both sides in the words of the tools."""

    line: int
    left: tuple[str, ...]
    right: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparedKernel:
    """The lines of a kernel and its figures on both sides; a figure is None if unknown."""

    name: str
    figures: dict[str, Pair]
    lines: tuple[ComparedLine, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two results of one text."""

    left: GenDocument
    right: GenDocument
    kernels: tuple[ComparedKernel, ...]


def compare_documents(left: GenDocument, right: GenDocument) -> Comparison:
    """Compare two results of one text, body by body."""
    sides = [{kernel.body.line: kernel for kernel in side.result.kernels} for side in (left, right)]
    places = sorted({*sides[0], *sides[1]})
    return Comparison(left, right, tuple(_kernel(sides[0].get(line), sides[1].get(line)) for line in places))


def _kernel(left: FinalizedKernel | None, right: FinalizedKernel | None) -> ComparedKernel:
    kernel = left or right
    assert kernel is not None
    figures = [_figures(left), _figures(right)]
    codes = [{u.line: u.instructions for u in side.lines} if side else {} for side in (left, right)]
    lines = tuple(
        ComparedLine(line, *(tuple(gen.text for gen in code.get(line, ())) for code in codes))
        for line in sorted({*codes[0], *codes[1]})
    )
    return ComparedKernel(
        kernel.body.name, {key: (figures[0].get(key), figures[1].get(key)) for key in _FIGURES}, lines
    )


_FIGURES: Final = {
    "gen_instructions": "Gen instructions",
    "grf_used": "GRF",
    "spill_bytes": "bytes spilled",
    "bank_conflicts": "bank conflicts",
    "max_pressure": "pressure",
}


def _figures(kernel: FinalizedKernel | None) -> dict[str, int | None]:
    if kernel is None:
        return {}
    listing = kernel.listing
    return {
        "gen_instructions": listing.instructions,
        "grf_used": listing.grf_used,
        "spill_bytes": listing.spill_bytes,
        "bank_conflicts": listing.bank_conflicts,
        "max_pressure": kernel.max_pressure,
    }


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return both calls and pairs of values, left and right, for each kernel; null if unknown."""
    return {
        "platform": comparison.left.source.platform,
        "calls": [{"tool": side.tool, "options": list(side.options)} for side in (comparison.left, comparison.right)],
        "kernels": [
            {
                "name": printable(kernel.name),
                **kernel.figures,
                "lines": [{"line": line.line + 1, "gen": [list(line.left), list(line.right)]} for line in kernel.lines],
            }
            for kernel in comparison.kernels
        ],
    }


def comparison_text(comparison: Comparison) -> Iterator[str]:
    """Yield the totals, then each line of the text whose number of Gen instructions differs."""
    lines = lines_of(comparison.left.source.text)
    for side, document in zip("AB", (comparison.left, comparison.right), strict=True):
        yield f"{side}: {' '.join([document.tool, '-platform', document.source.platform, *document.options])}"
    for kernel in comparison.kernels:
        yield f"kernel {printable(kernel.name)}"
        yield f"  {'':<18}{'A':>8}{'B':>8}"
        for key, words in _FIGURES.items():
            left, right = kernel.figures[key]
            if (left, right) != (None, None):
                yield f"  {words:<18}{_to_text(left):>8}{_to_text(right):>8}{_difference(left, right):>8}"
        other = [line for line in kernel.lines if len(line.left) != len(line.right)]
        same = len(kernel.lines) - len(other)
        for line in other:
            yield f"{line.line + 1:>6} {len(line.left):>4} -> {len(line.right):<4} {printable(lines[line.line].strip())}"
            yield from (f"{_INDENT}A {text}" for text in line.left)
            yield from (f"{_INDENT}B {text}" for text in line.right)
        yield f"  {same} of {len(kernel.lines)} lines have the same number of Gen instructions on both sides"
        yield ""


def _to_text(value: int | None) -> str:
    return "-" if value is None else str(value)


def _difference(left: int | None, right: int | None) -> str:
    return "" if left is None or right is None or left == right else f"{right - left:+}"
