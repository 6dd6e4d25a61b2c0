"""Bringing a body up to its snapshot: the chunks in (``sync``), lines sorted (``classify``), then judged (``judge``).

Invariant: ``update_body`` leaves the same findings whatever snapshots came before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.body import Splice
from visa_lsp.analysis.classify import classify_chunk
from visa_lsp.analysis.dependencies import Subject
from visa_lsp.analysis.judge import judge_lines, judge_pending, judge_with_outline
from visa_lsp.analysis.line_classes import verdicts_of
from visa_lsp.analysis.rule_sets import rule_sets
from visa_lsp.analysis.sync import Todo, advance, ends_of
from visa_lsp.checks.support.limits import SUSPECTS

if TYPE_CHECKING:
    from visa_lsp.analysis.body import Body, Setup

# Lines are classified by so many chunks at a time, so that a text of lines that are all different does not have all of them
# in hand at once, and later chunks use the verdicts that earlier ones gave.
_GROUP_CHUNKS: Final = 16


def update_body(body: Body, setup: Setup) -> None:
    """Bring everything up to the chunks that the body was given."""
    kind = (body.directives.opening or "").split('"')[0].strip()
    platform = setup.platform.name if setup.platform else None
    key = platform, setup.dialect, kind, body.directives.attributes
    changed = key != body.key or body.splice is not None
    if changed:
        before = ends_of(body) if body.lines and key == body.key else None
        splice = body.splice or Splice()
        body.key = key
        body.verdicts = verdicts_of((*key[:-1], *filter(rule_sets().common.match, body.directives.attributes)))
        body.outline.place(body.chunks)
        todo, stale, unjudged = advance(body, before)
    body.outline.refresh(key, setup.versions, body.names, body.chunks, changed=changed)
    if changed:
        stale |= _classify(body, setup, todo)
        judge_lines(body, setup, stale, unjudged.union(todo))
        for chunk in body.chunks[splice.head : splice.head + splice.added]:
            chunk.origin = None
    if body.outline.findings is None:
        judge_with_outline(body, setup, set()).forget()


def _classify(body: Body, setup: Setup, todo: Todo) -> set[Subject]:
    """Classify some lines, or all, of some chunks; return the stale subjects."""
    stale, every, suspects = set[Subject](), list(todo.items()), 0
    for at in range(0, len(every), _GROUP_CHUNKS):
        group = dict(every[at : at + _GROUP_CHUNKS])
        for index, offsets in group.items():
            stale |= classify_chunk(body, setup.document, index, offsets)
        # What is wrong with lines that will not be shown does not matter.
        stale |= judge_pending(body, setup, group, limit_reached=suspects > 2 * SUSPECTS)
        suspects += sum([len(body.lines[index].alone) for index in group])
    return stale
