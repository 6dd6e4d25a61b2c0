"""Writes variables of two words, or of 64 bits, as the doubles that they hold, where lines need nothing but the double."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.app.read.code_lines import assigned, change_lines, set_counts, trees_of, walk
from visa_lsp.app.read.tree import WORDS, Tree, form, in_place_of, leaf, without_casts
from visa_lsp.isa import types as ty

if TYPE_CHECKING:
    from visa_lsp.app.read.code_lines import Body

HOLDERS: Final = ("uint2", "int2", "ulong", "long")  # types of variables that have the bits of a double
_BITS: Final = tuple(f"as_{word}()" for word in HOLDERS)


def write_doubles(body: Body) -> None:
    """Change the lines of a body, and the types of its variables, in place."""
    is_changed = True
    while is_changed:
        is_changed = False
        casts = Counter(tree.args[0].op for tree in trees_of(body.code) if tree.op == "as_double()")
        counts = set_counts(body.code)
        for node in walk(body.code):
            name, value = assigned(node)
            double = _as_double(body, value)
            if body.type_name(name) not in HOLDERS or double is None or counts[name] != 1:
                continue
            if body.uses(name) == casts[name] + 1:
                body.kinds[name], body.types[name] = ty.DF, f"double {name}"
                node.text, node.range = f"{name} = {double};", None
                change_lines(body.code, in_place_of(Tree("as_double()", (leaf(name),)), leaf(name)))
                is_changed = True
                break


def _as_double(body: Body, value: Tree) -> Tree | None:
    """Return the double whose bits a value has; None for another value."""
    if value.op in _BITS:
        return value.args[0]
    element = form("*P", value)["P"]
    place = form("&E", element.args[0])["E"] if element.op in ("(uint2 *)", "(ulong *)") else None
    if place is not None and place.op == "[]" and body.elements.get(place.args[0].op) == "double":
        return place
    if value.op not in ("{int2}", "{uint2}"):
        return None
    low, high = (without_casts(part, WORDS) for part in value.args)
    hit = form("V.y & 0x7fffffff", high)
    if hit and low == Tree(".x", (hit["V"],)) and body.type_name(hit["V"].op) in HOLDERS[:2]:
        return Tree("fabs()", (Tree("as_double()", (hit["V"],)),))
    return None
