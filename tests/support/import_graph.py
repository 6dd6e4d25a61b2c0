"""The imports between modules of the package, read off the sources, and their loops."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Graph = dict[str, set[str]]


def sources_of(package: Path) -> dict[str, str]:
    """Return the source of every module below a package's folder, by dotted name; a package is its ``__init__``."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield the dotted names that a statement or a call imports; ``from a import b`` names ``a.b``, module or not."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative imports are refused by the linter"
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and _last_name(node.func) in ("import_module", "__import__"):
        (name, *_) = node.args
        assert isinstance(name, ast.Constant), f"line {node.lineno}: what is imported has to be written out"
        yield str(name.value)


@cache
def _imports(source: str) -> frozenset[tuple[str, bool, bool]]:
    """Return the dotted names that a source imports, each with whether a function does so, and whether only type checkers."""
    calls = "import_module" in source or "__import__" in source

    def look(tree: ast.AST, late: bool, typing: bool) -> Iterator[tuple[str, bool, bool]]:
        for node in ast.iter_child_nodes(tree):
            if calls or not isinstance(node, ast.expr):
                later = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                typed = typing or (isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING")
                yield from ((name, later, typed) for name in names_of(node))
                yield from look(node, later, typed)

    return frozenset(look(ast.parse(source), False, False))


def _and_above(name: str) -> Iterator[str]:
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        yield ".".join(parts[:size])


def run_time_names(source: str, *, at_once: bool = False, types: bool = False) -> set[str]:
    """Return the dotted names that a source imports when it runs; ``at_once``: when it is loaded; ``types``: also those for type checkers."""
    return {name for name, late, typing in _imports(source) if (types or not typing) and not (at_once and late)}


def graph_of(sources: Mapping[str, str], *, types: bool = False) -> Graph:
    """Map every module to those of the others that it imports when it runs.

    Counted are imports at the top, those in functions and strings given to ``import_module``, and of
    every name also the packages above it, whose ``__init__`` runs first: even those that the importing module is in.
    Imports below ``if TYPE_CHECKING:`` count with ``types``: they never run, but show that two modules know each other.
    """
    graph = {}
    for module, source in sources.items():
        names = run_time_names(source, types=types)
        graph[module] = {part for name in names for part in _and_above(name) if part in sources} - {module}
    return graph


def find_reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """Return all that a module imports, directly or by way of others; itself only where it is in a loop."""
    seen: set[str] = set()
    left = [start]
    while left:
        new = graph[left.pop()] - seen
        seen |= new
        left.extend(new)
    return seen


def loops_of(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that all import each other, directly or by way of others (strongly connected components)."""
    below = {module: find_reached(graph, module) for module in graph}
    groups = {frozenset(m for m in below[module] if module in below[m]) for module in graph}
    return sorted(sorted(group) for group in groups if len(group) > 1)
