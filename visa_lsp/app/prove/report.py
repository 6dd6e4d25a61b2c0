"""The answers of proofs as JSON objects and as text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import structs

from visa_lsp.app.errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.prove import ProofResult
    from visa_lsp.app.prove.document import ProvedFile


def results_json(file: ProvedFile) -> list[dict[str, Any]]:
    """Return the answers for a file as JSON objects."""
    return [
        {"property": one.property, "path": printable(file.name)}
        | {key: value for key, value in structs.asdict(one).items() if value is not None}
        for one in file.results
    ]


def as_text(files: Sequence[ProvedFile]) -> str:
    """Return the answers as text: each unproved line, and counts of the rest with their assumptions."""
    lines: list[str] = []
    for file in files:
        name = printable(file.name)
        if not file.results and not file.is_broken:
            lines.append(f"{name}: nothing to prove: no memory is accessed, no register is read, there is no barrier")
        for kernel in dict.fromkeys(one.kernel for one in file.results):
            lines += _kernel_lines(name, kernel, [one for one in file.results if one.kernel == kernel])
    return "".join(f"{line}\n" for line in lines)


def _kernel_lines(name: str, kernel: str, results: Sequence[ProofResult]) -> list[str]:
    lines = []
    for one in results:
        if one.answer == "proved":
            continue
        reason = f": {printable(one.reason)}" if one.reason else ""
        lines.append(f"{name}:{one.line}: {one.property} {one.answer}{reason}")
        if one.launch is not None:
            lines += [f"    {line}" for line in one.launch.splitlines()]
    for property_ in dict.fromkeys(one.property for one in results):
        counts = Counter(one.answer for one in results if one.property == property_)
        words = [f"{counts[word]} {word}" for word in ("proved", "bounded", "refuted", "unknown") if word in counts]
        lines.append(f"{name}: {printable(kernel)}: {property_}: {', '.join(words)}")
    assumed = dict.fromkeys(words for one in results if one.answer == "proved" for words in one.assumptions)
    if assumed:
        lines.append("  proved for launches in which")
        lines += [f"  - {words}" for words in assumed]
    return lines
