"""A control-flow graph as text: DOT for Graphviz, Mermaid for Markdown; and as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from visa_lsp.analysis.line_classes import SelectedLines
from visa_lsp.checks.support.body_flow import graph_of_body
from visa_lsp.flow.graph import Block, EdgeKind, Graph
from visa_lsp.ide.index.focus import WHOLE, Focus
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.isa.model import Mark
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.bind import bind

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.syntax.document import Document

_LINES: Final = 12
_MARKS: Final = frozenset({*TABLE.marks(Mark.FILE), *TABLE.marks(Mark.LINE)})
_STYLES: Final = {EdgeKind.BACK: "color=blue", EdgeKind.CALL: "style=dashed"}


def flow_at(analysis: Analysis, name: str | None = None, line: int | None = None) -> Graph | None:
    """Return the graph of the body of a name, else of the body around a line, else of the first; None without any."""
    document = analysis.document
    index = index_of(document)
    groups = [g for g in index.groups if g.opener >= 0] or list(index.groups)
    if name is not None:
        groups = [g for g in groups if g.name == name]
    elif line is not None:
        groups = [index.group_at(line)]
    if not groups:
        return None
    first_line = groups[0].first_line
    view = analysis
    if not isinstance(analysis, Focus) and document.line_count >= WHOLE:
        lines = sorted({*index.openers(), *range(first_line, groups[0].end_line)})
        view = Focus(document, analysis.platform, bind(SelectedLines(document, lines), analysis.platform))
    body = view.bound.body_at(max(first_line, groups[0].opener))
    return graph_of_body(body) if body is not None else None


def dot(document: Document, flow: Graph) -> str:
    """Return the graph in Graphviz's language."""
    lines = [f'digraph "{_escape(flow.name or "kernel")}" {{', '  node [shape=box, fontname="monospace"];']
    for block in flow.blocks:
        text = "".join(f"{_escape(line)}\\l" for line in _code(document, flow, block))
        extra = ", peripheries=2" if block.ends else ""
        lines.append(f'  b{block.number} [label="{text}"{extra}];')
    for edge in flow.edges:
        style = _STYLES.get(edge.kind, "")
        label = f'label="{_escape(edge.condition)}"' if edge.condition else ""
        options = ", ".join(x for x in (label, style) if x)
        lines.append(f"  b{edge.source} -> b{edge.target}{f' [{options}]' if options else ''};")
    return "\n".join([*lines, "}", ""])


def mermaid(document: Document, flow: Graph) -> str:
    """Return the graph in Mermaid's language."""
    lines = ["flowchart TD"]
    for block in flow.blocks:
        text = "<br/>".join(_entities(line) for line in _code(document, flow, block))
        lines.append(f'  b{block.number}["{text}"]')
    for edge in flow.edges:
        arrow = "-.->" if edge.kind is EdgeKind.CALL else "==>" if edge.kind is EdgeKind.BACK else "-->"
        label = f'|"{_entities(edge.condition)}"|' if edge.condition else ""
        lines.append(f"  b{edge.source} {arrow}{label} b{edge.target}")
    return "\n".join([*lines, ""])


def values(document: Document, flow: Graph) -> dict[str, Any]:
    """Return the graph as JSON values; lines count from 0."""
    reachable = flow.reachable()
    return {
        "name": flow.name,
        "blocks": [
            {
                "id": b.number,
                "labels": list(b.labels),
                "firstLine": flow.steps[b.first].line,
                "lastLine": flow.steps[b.last].line,
                "code": _code(document, flow, b, most=None),
                "ends": b.ends,
                "reachable": b.number in reachable,
            }
            for b in flow.blocks
        ],
        "edges": [
            {"from": e.source, "to": e.target, "kind": e.kind.name.lower(), "condition": e.condition}
            for e in flow.edges
        ],
    }


def _code(document: Document, flow: Graph, block: Block, most: int | None = _LINES) -> list[str]:
    """Return the lines of a block without comments and marks of sources; only the first and last lines of a long block."""
    words = (document.code(step.line).split() for step in flow.code(block))
    lines = [" ".join(line) for line in words if line[0] not in _MARKS]
    if most is not None and len(lines) > most:
        left = len(lines) - most + 1
        lines = [*lines[: most // 2], f"… {left} more", *lines[-(most - most // 2 - 1) :]]
    return lines


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _entities(text: str) -> str:
    text = text.replace("#", "#35;").replace("`", "#96;")
    return text.replace("&", "&amp;").replace('"', "#quot;").replace("<", "&lt;").replace(">", "&gt;")
