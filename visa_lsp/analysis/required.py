"""The lines that have to be bound together with some lines, so that these get the findings that they have in the whole text.

Every function returns numbers of lines of the text, and changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.analysis.names import NAME, names_of
from visa_lsp.syntax.chunk_facts import decl_lines, label_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.analysis.body import Body, Setup


def with_declarations(body: Body, setup: Setup, lines: Iterable[int]) -> set[int]:
    """Return some lines, the lines that all others depend on, and what declares the names in both."""
    document = setup.document
    required = setup.version_lines.union(lines, body.lines_at(document, body.outline.shaping))
    codes = document.codes_at(sorted(required)).values()
    return required | _declarations(body, setup, set[str]().union(*map(names_of, codes)))


def _declarations(body: Body, setup: Setup, wanted: set[str]) -> set[int]:
    """Return the lines that declare some names and what those are aliases of, and the labels and inputs among them."""
    names, declarations = body.names.with_bases(wanted)
    places = [(index, decl_lines(body.chunks[index])[number]) for index, number in declarations]
    for index in body.names.with_label(names):
        places += [(index, offset) for offset, name in label_lines(body.chunks[index]) if name in names]
    inputs = body.directives.inputs
    places += [place for name in inputs.keys() & names for place in inputs[name]]
    return body.lines_at(setup.document, places)


def for_messages(body: Body, setup: Setup, missing: set[str]) -> set[int]:
    """Return the lines that messages about missing names need: what may have been meant, and where to add a line."""
    if not missing:
        return set()
    outline = body.outline
    leading = outline.leading if body.names.redeclared else outline.leading[-1:]
    first = [outline.first_code] if outline.first_code is not None else []
    lines = body.lines_at(setup.document, [*outline.last_code, *leading, *first])
    wanted = {name for word in missing for name in body.names.spelt_like(word)}
    wanted.update(*[NAME.findall(setup.document.code(line)) for line in lines])
    return lines | _declarations(body, setup, wanted)


def for_outline(body: Body, setup: Setup) -> set[int]:
    """Return the lines of the outline, with what they need."""
    places = body.lines_at(setup.document, body.outline.places)
    return places | setup.version_lines | _declarations(body, setup, set(body.outline.names))
