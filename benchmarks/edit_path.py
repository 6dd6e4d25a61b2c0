"""The amount of code between an edit and its findings: files and lines, from imports and calls.

It begins where a snapshot's findings are requested, and follows every call within ``visa_lsp/analysis``. A name that is
called as a function is that of the module or of what it imports; a name behind a point is every method or property of that
name in the room, whatever it is called on: rather too much than too little. What is counted of a definition are all of its
lines that are not blank, docstrings and comments included; of a class what is not a method, and the methods that are reached.
Calls of the rooms below, and of the cache on disk, are not followed: their docstrings must suffice.
Usage: python -m benchmarks.edit_path [--names]
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import visa_lsp
from benchmarks.measure import table

ROOM = Path(visa_lsp.__file__).parent / "analysis"
START = ("analysis", "Analysis", "findings")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Definition(NamedTuple):
    """A definition on the path: a function, the fields of a class, a constant."""

    module: str
    name: str
    node: ast.AST
    lines: frozenset[int]


def lines_of(node: ast.AST) -> set[int]:
    """Return the lines of a definition, its decorators included."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])  # type: ignore[attr-defined]
    return set(range(first, node.end_lineno + 1))  # type: ignore[attr-defined]


class Room:
    """The definitions of a room by module and name, and its methods by name alone."""

    def __init__(self) -> None:
        self.top: dict[tuple[str, str], Definition] = {}
        self.methods: dict[str, list[Definition]] = defaultdict(list)
        self.imported: dict[tuple[str, str], tuple[str, str]] = {}
        self.below: dict[str, set[str]] = defaultdict(set)
        self.blank: set[int] = set()  # lines of the module that is read
        for path in sorted(ROOM.glob("*.py")):
            source = path.read_text(encoding="utf-8")
            self.blank = {at for at, line in enumerate(source.split("\n"), 1) if not line.strip()}
            self._read(path.stem, ast.parse(source))

    def _read(self, module: str, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("visa_lsp."):
                room, _, source = node.module.removeprefix("visa_lsp.").partition(".")
                for alias in node.names:
                    if room == "analysis":
                        self.imported[module, alias.asname or alias.name] = source, alias.name
                    else:
                        self.below[module].add(f"{node.module.removeprefix('visa_lsp.')}.{alias.name}")
        for node in tree.body:
            for name, part, lines in self._parts(node):
                self.top[module, name] = Definition(module, name, part, frozenset(lines - self.blank))
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, Function):
                        name = f"{node.name}.{method.name}"
                        found = Definition(module, name, method, frozenset(lines_of(method) - self.blank))
                        self.methods[method.name].append(found)
                        self.top[module, name] = found

    def _parts(self, node: ast.stmt) -> list[tuple[str, ast.AST, set[int]]]:
        if isinstance(node, ast.ClassDef):
            inside = {line for m in node.body if isinstance(m, Function) for line in lines_of(m)}
            return [(node.name, node, lines_of(node) - inside)]
        if isinstance(node, Function):
            return [(node.name, node, lines_of(node))]
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        return [(target.id, node, lines_of(node)) for target in targets if isinstance(target, ast.Name)]

    def find_reached(self) -> set[Definition]:
        """Return every definition on the path."""
        module, owner, method = START
        waiting, found = [self.top[module, f"{owner}.{method}"]], set[Definition]()
        while waiting:
            definition = waiting.pop()
            if definition not in found:
                found.add(definition)
                waiting.extend(self._find_uses(definition))
        return found

    def _find_uses(self, definition: Definition) -> list[Definition]:
        module, found = definition.module, list[Definition]()
        if "." in definition.name:
            found.append(self.top[module, definition.name.split(".")[0]])
        nodes = [definition.node]
        if isinstance(definition.node, ast.ClassDef):
            # What is made is initialised; what a class calls elsewhere is reached where that is requested.
            nodes = [n for n in definition.node.body if not isinstance(n, Function)]
            found += [
                d for d in self.methods["__init__"] if d.module == module and d.name.startswith(f"{definition.name}.")
            ]
        for node in (inner for outer in nodes for inner in ast.walk(outer)):
            if isinstance(node, ast.Name):
                key = self.imported.get((module, node.id), (module, node.id))
                if key in self.top:
                    found.append(self.top[key])
            elif isinstance(node, ast.Attribute):
                found += self.methods.get(node.attr, [])
        return found


def main() -> None:
    """Print the table."""
    room = Room()
    reached = room.find_reached()
    rows: list[list[object]] = []
    total = 0
    for path in sorted(ROOM.glob("*.py")):
        mine = [d for d in reached if d.module == path.stem]
        lines = set[int]().union(*[d.lines for d in mine])
        if mine:
            rows.append([path.name, len(mine), len(lines), len(path.read_text(encoding="utf-8").splitlines())])
            total += len(lines)
    rows.append(["all", len(reached), total, ""])
    table(
        f"from an edit to its findings: {len(rows) - 1} files, {total} lines", ["", "definitions", "lines", "of"], rows
    )
    modules = {d.module for d in reached}
    asked = sorted(set[str]().union(*[room.below[module] for module in modules]))
    print(
        f"\nasked of the rooms below: {len(asked)} names" + (": " + ", ".join(asked) if "--names" in sys.argv else "")
    )


if __name__ == "__main__":
    main()
