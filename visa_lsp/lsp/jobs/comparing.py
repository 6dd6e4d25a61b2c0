"""Compares two programs for an editor: the differences, and two texts to show side by side.

The second text has the names, comments, blanks and order of declarations of the first, so that an editor's own
comparison of lines shows only real differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.app.diff.comparison_values import kernel_values
from visa_lsp.app.diff.sides import Side, side_of, side_of_text
from visa_lsp.app.errors import UserError
from visa_lsp.compare.program_differences import compare_programs
from visa_lsp.compare.rows import rewritten, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.compare.model import KernelDiff
    from visa_lsp.lsp.jobs.model import Result


def difference(a: tuple[str | bytes, str], b: tuple[str | bytes, str], platform: str | None) -> Result:
    """Return the answer of ``visa.diff``: ``kernels``, ``a`` and ``b`` (the texts to show), and ``rows``.

    A row is ``[line of a, line of b, kind]``, with lines of the two programs from 1; null for a missing line, and for
    the kind of equal lines.
    """
    sides = []
    for source, name in (a, b):
        try:
            side = side_of_text(name, source, platform) if isinstance(source, str) else side_of(name, source, platform)
        except UserError as error:
            return {"ok": False, "error": str(error)}
        if not isinstance(side, Side):
            return {"ok": False, "error": f"{name}: the text has errors"}
        sides.append(side)
    left, right = sides
    kernels = compare_programs(left.bodies, right.bodies, left.end, right.end)
    return {
        "ok": True,
        "same": all(kernel.same for kernel in kernels),
        "kernels": [kernel_values(kernel) for kernel in kernels],
        "a": "\n".join(left.lines),
        "b": "\n".join(_print_second(kernels, left, right)),
        "rows": [
            [_line(row.a), _line(row.b), row.kind.value if row.kind else None]
            for kernel in kernels
            for row in rows_of(kernel, left.lines, right.lines)
        ],
    }


def _line(line: int | None) -> int | None:
    return None if line is None else line + 1


def _print_second(kernels: Sequence[KernelDiff], a: Side, b: Side) -> Iterator[str]:
    """Yield the second program with the names and the layout of the first."""
    line_number = 0
    for kernel in kernels:
        if kernel.a is not None:
            yield from a.lines[line_number : kernel.a.first]
            line_number = kernel.a.last + 1
        if kernel.b is not None:
            yield from _body(kernel, a, b)
    yield from a.lines[line_number:]


def _body(kernel: KernelDiff, a: Side, b: Side) -> Iterator[str]:
    """Yield a body of the second program, with the comments and blanks of the first."""
    assert kernel.b is not None
    if kernel.a is None:
        yield from b.lines[kernel.b.first : kernel.b.last + 1]
        return
    renamed = rewritten(kernel, b.lines)
    line_number = kernel.a.first
    for row in rows_of(kernel, a.lines, b.lines):
        if row.a is not None:
            yield from (line for line in a.lines[line_number : row.a] if not line.strip())
            line_number = row.a + 1
            if row.kind is None:
                yield a.lines[row.a]
        if row.b is not None and row.kind is not None:
            yield renamed[row.b]
