"""The report of a comparison, as text and as JSON.

Runs nothing. Invariant: both forms agree, and lines count from 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.app.launch.expectation_words import finite, numbers
from visa_lsp.launchfile.values import SweepPoint, point_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.compare_runs.points import Differing
    from visa_lsp.app.compare_runs.search import ComparedRuns
    from visa_lsp.sim.launch.config import Array
    from visa_lsp.sim.observers.stores import ElementStore


def text_lines(a: str, b: str, compared: ComparedRuns) -> Iterator[str]:
    """Yield the report as text; ``a`` and ``b`` are the names of the programs."""
    differing = compared.difference
    count = f"{compared.compared} point{'s' * (compared.compared != 1)}"
    if differing is None:
        yield f"{a} and {b} agree at {count}"
    else:
        yield f"{a} (A) and {b} (B) differ"
        if compared.point:
            yield f"  first at: {point_words(compared.point)} ({compared.launch})"
        yield (
            f"  smallest: {point_words(compared.smallest)}"
            if compared.smallest
            else f"  at the launch of {compared.launch}"
        )
        yield f"  {differing.words}"
        if differing.a is not None and differing.b is not None:
            place = f"[{', '.join(map(str, differing.indexes))}]" if differing.indexes else "the value"
            yield f"  {differing.title} {place}: {_value(differing.a)} in A, {_value(differing.b)} in B"
        if differing.store is not None:
            yield "  first differing store:"
            sides = (
                ("A", a, differing.store.a, differing.store.a_text),
                ("B", b, differing.store.b, differing.store.b_text),
            )
            for side, name, store, text in sides:
                yield from _store_lines(side, name, store, text, differing)
    if compared.skipped:
        count = f"{len(compared.skipped)} point{'s' * (len(compared.skipped) != 1)}"
        yield f"  {count} skipped, the first because: {compared.skipped[0]}"


def _store_lines(side: str, name: str, store: ElementStore | None, text: str, differing: Differing) -> Iterator[str]:
    if store is None:
        yield f"    {side} has no further store there"
        return
    lane = f", lane {store.lane}" if store.lane is not None else ""
    line = f"{name}:{store.line + 1}" if store.line >= 0 else f"{name}, instruction {store.instruction}"
    yield f"    {side} {line}: group {store.group}, thread {store.thread}{lane}: {_value_of(store, differing)}"
    if text:
        yield f"      {text}"


def _value(array: Array) -> Any:
    return finite(numbers(array)[0])


def _value_of(store: ElementStore, differing: Differing) -> Any:
    """Return the value of a store in the type of its argument."""
    assert differing.a is not None
    return _value(np.frombuffer(store.value, differing.a.dtype))


def as_json(a: str, b: str, compared: ComparedRuns) -> dict[str, Any]:
    """Return the report as a JSON object."""
    differing = compared.difference
    values: dict[str, Any] = {
        "a": a,
        "b": b,
        "same": differing is None,
        "points": compared.points,
        "compared": compared.compared,
        "skipped": list(compared.skipped),
    }
    if differing is None:
        return values
    difference: dict[str, Any] = {"kind": differing.kind, "text": differing.words}
    if differing.a is not None and differing.b is not None:
        difference |= {
            "arg": differing.arg, "title": differing.title, "count": differing.count, "of": differing.of,
            "at": list(differing.indexes), "a": _value(differing.a), "b": _value(differing.b),
        }  # fmt: skip
    store = differing.store
    stores = None if store is None else {
        "a": _store_values(store.a, store.a_text, differing), "b": _store_values(store.b, store.b_text, differing),
    }  # fmt: skip
    return {
        **values,
        "launch": compared.launch,
        "point": _point(compared.point),
        "smallest": _point(compared.smallest),
        "difference": difference,
        "store": stores,
    }


def _point(point: SweepPoint) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in point}


def _store_values(store: ElementStore | None, text: str, differing: Differing) -> dict[str, Any] | None:
    if store is None:
        return None
    return {
        "kernel": store.kernel,
        "group": list(store.group),
        "thread": store.thread,
        "lane": store.lane,
        "instruction": store.instruction,
        "line": store.line + 1 if store.line >= 0 else None,
        "text": text,
        "value": _value_of(store, differing),
    }
