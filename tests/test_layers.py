"""Imports point down only: the table of allowed edges, read off the sources with ``ast``."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "visa_lsp"

L1 = {"text", "diagnostics", "isa", "syntax", "program"}
L2 = L1 | {"sema", "flow"}
ALLOWED = {
    "text": set(),
    "kept": {"reading"},
    "isa": set(),
    "diagnostics": {"text"},
    "syntax": {"text", "diagnostics", "kept"},
    "program": {"text", "isa"},
    "reading": set(),
    "sema": L1,
    "flow": {"isa", "program"},
    "checks": L2,
    "codec": {"text", "diagnostics", "isa", "program"},
    "sim": {"text", "diagnostics", "isa", "program", "flow"},
    "zeinfo": {"text", "diagnostics", "program", "flow"},
    "analysis": L2 | {"checks", "kept"},
    "ide": L2 | {"analysis", "checks", "codec", "zeinfo", "kept"},
    "debug": {"text", "program", "sim"},
    "lsp": {"ide", "analysis", "syntax", "text", "diagnostics", "kept", "reading"},
    "dap": {"debug", "ide", "text", "diagnostics"},
}
ALLOWED["generate"] = {*ALLOWED, "cli"}
# Third parties that only these rooms may import; ``cli`` glues and is judged by what it imports at its top.
THIRD_PARTY = {
    "parsimonious": {"syntax"},
    "numpy": {"sim", "cli"},
    "llvmlite": {"sim"},
    "ruamel": {"zeinfo"},
    "elftools": {"zeinfo"},
    "pygls": {"lsp"},
    "lsprotocol": {"lsp"},
}


def imports(source: str) -> set[tuple[str, bool]]:
    """Dotted names that a source imports, with whether that happens at its top level."""
    tree = ast.parse(source)
    top = set(ast.iter_child_nodes(tree))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(alias.name, node in top) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if node.module == "visa_lsp":
                found |= {(f"visa_lsp.{alias.name}", node in top) for alias in node.names}
            else:
                found.add((node.module, node in top))
    return found


def bad_edges(room: str, source: str) -> list[str]:
    """Every import of a source that its room may not make."""
    wrong = []
    for name, _ in sorted(imports(source)):
        parts = name.split(".")
        if parts[0] == "visa_lsp" and len(parts) > 1:
            target = parts[1]
            if room not in ("cli", target) and target not in ALLOWED[room]:
                wrong.append(f"{room} -> {target}")
        elif parts[0] in THIRD_PARTY and room not in THIRD_PARTY[parts[0]]:
            wrong.append(f"{room} -> {parts[0]}")
    return wrong


def room_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


SOURCES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path):
    assert bad_edges(room_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("room", "source", "edge"),
    [
        ("isa", "from visa_lsp.syntax import tree", "isa -> syntax"),
        ("syntax", "import visa_lsp.sema.bind", "syntax -> sema"),
        ("flow", "from visa_lsp.sema.model import Body", "flow -> sema"),
        ("codec", "from visa_lsp.sim.machine import Machine", "codec -> sim"),
        ("ide", "def f():\n    from visa_lsp.sim import launch", "ide -> sim"),
        ("lsp", "from visa_lsp.codec.encode import encode", "lsp -> codec"),
        ("lsp", "from visa_lsp import sema", "lsp -> sema"),
        ("checks", "import pygls", "checks -> pygls"),
        ("sema", "import parsimonious", "sema -> parsimonious"),
    ],
)
def test_bad_import_is_found(room, source, edge):
    assert [edge] == bad_edges(room, source)


def test_every_room_has_a_rule():
    rooms = {room_of(path) for path in SOURCES}
    assert rooms <= set(ALLOWED) | {"cli"}
