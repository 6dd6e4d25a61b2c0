"""The answer of ``why`` as one HTML page: a tree whose branches open, each node once. The page loads nothing.

Invariant: every text of a user is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from visa_lsp.app.errors import printable
from visa_lsp.app.why.report import WhyNode, WhyReport, head_line, node_lines

_LOOK: Final = (
    ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:72rem;padding:0 1rem}"
    "code,summary{font-family:ui-monospace,monospace;font-size:.9em}details,.leaf{margin-left:1.2rem}"
    "p{margin:.1rem 0 .1rem 1.2rem;opacity:.75}.first{border-left:.25rem solid #c33;padding-left:.5rem}"
    ".differs{border-left:.25rem solid #c90;padding-left:.5rem}:target{outline:2px solid}"
)
_MAX_DEPTH: Final = 60  # of nested branches; deeper ones are links


def page(report: WhyReport) -> str:
    """Return the page."""
    title = escape(printable(head_line(report)))
    roots = [node for node in report.nodes if node.distance == 0] or report.nodes[:1]
    shown: set[int] = set()
    by_id = {node.id: node for node in report.nodes}
    tree = "".join(part for root in roots for part in _branch(root, by_id, shown, 0))
    rest = "".join(part for node in report.nodes if node.id not in shown for part in _branch(node, by_id, shown, 0))
    firsts = "".join(
        f'<li><a href="#n{n.id}">#{n.id}</a> <code>{escape(n.text)}</code></li>' for n in report.nodes if n.is_first
    )
    notes = "".join(f"<p>{escape(printable(note))}</p>" for note in report.notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_LOOK}</style></head><body><h1>{title}</h1>"
        + (f"<h2>First differences</h2><ul>{firsts}</ul>" if firsts else "")
        + f"<h2>Causes</h2>{tree}"
        + (f"<h2>Further nodes</h2>{rest}" if rest else "")
        + f"{notes}</body></html>\n"
    )


def _branch(node: WhyNode, by_id: dict[int, WhyNode], shown: set[int], depth: int) -> Iterator[str]:
    """Yield a node with its causes; a repeated or too deeply nested node becomes a link."""
    head, *said = (escape(printable(line.strip())) for line in node_lines(node))
    if node.id in shown or depth > _MAX_DEPTH:
        yield f'<div class="leaf"><a href="#n{node.id}">{head}</a></div>'
        return
    shown.add(node.id)
    look = "first" if node.is_first else "differs" if node.differs else ""
    below = "".join(f"<p>{line}</p>" for line in said)
    causes = [by_id[number] for number in (*node.causes, *node.races) if number in by_id]
    if not causes:
        yield f'<div class="leaf {look}" id="n{node.id}"><code>{head}</code>{below}</div>'
        return
    yield f'<details{"" if depth else " open"} class="{look}" id="n{node.id}"><summary>{head}</summary>{below}'
    for cause in causes:
        yield from _branch(cause, by_id, shown, depth + 1)
    yield "</details>"
