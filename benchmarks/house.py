"""The structure of the package: files and lines per room, imports that should not be, loops, file names used more than twice.

Lines are those of Python files, tests included. A loop counts imports for type checkers too. With ``--messages``: the
places outside of ``isa`` and ``program`` that name an effect of the instruction table or decode a field of a message.
Usage: python -m benchmarks.house [--messages]
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "visa_lsp"
ADAPTERS = {"api", "cli", "dap", "lsp", "mcp", "pytest_plugin"}
MAX_SAME_NAMES = 2


# Rooms that execute or explain messages; others translate between text, object and fields, or check single words.
READERS = (
    "sim/effects",
    "sim/jit",
    "sim",
    "app/read",
    "app/prove",
    "app",
    "flow",
    "checks/support",
    "ide",
    "debug",
    "zeinfo",
)
CODES = {
    "ADDRSIZE_BYTES", "ATOMIC_OP_TEXT", "DATASIZES", "ELEMS_VALUE", "ORDER_PLAIN", "ORDER_TRANSPOSED", "SFID_SLM",
}  # fmt: skip
FIELDS = {
    "addrsize", "addrtype", "chan", "chmask", "datasize", "elems", "eltsize", "immoffset", "immscale", "sfid", "vnni",
}  # fmt: skip


def effect_places(tree: ast.AST, effects: set[str]) -> int:
    """Return the number of keys, cases, compared values and elements of collections that are names of effects."""
    found: list[ast.expr | None] = []
    for node in ast.walk(tree):
        match node:
            case ast.Dict(keys=keys):
                found += keys
            case ast.Compare(left=left, comparators=others):
                found += [left, *others]
            case ast.MatchValue(value=value):
                found.append(value)
            case ast.Set(elts=elements) | ast.List(elts=elements) | ast.Tuple(elts=elements):
                found += elements
    return sum(isinstance(one, ast.Constant) and one.value in effects for one in found)


def decoding_places(tree: ast.AST) -> int:
    """Return the number of uses of a code table of messages, and of reads of a field that gives their form."""
    found = 0
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                found += name in CODES or name.startswith("ADDRTYPE_")
            case ast.Call(args=args):
                found += sum(isinstance(one, ast.Constant) and one.value in FIELDS for one in args)
    return found


def print_messages() -> None:
    """Print the places that name effects or decode messages, and the lines, for each room that reads messages."""
    from visa_lsp.isa.lane import effect_of
    from visa_lsp.isa.table import TABLE

    effects = {effect_of(row.meaning) for row in TABLE.rows} - {""}
    counts = {room: [0, 0, 0] for room in READERS}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        room = next((room for room in READERS if name.startswith(f"{room}/")), None)
        if room is not None:
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text)
            own = (effect_places(tree, effects), decoding_places(tree), len(text.splitlines()))
            counts[room] = [a + b for a, b in zip(counts[room], own, strict=True)]
    print(f"{'room':16}{'effects named':>15}{'fields decoded':>16}{'lines':>8}")
    for room, own in counts.items():
        print(f"{room:16}{own[0]:15}{own[1]:16}{own[2]:8}")
    total = [sum(own[k] for own in counts.values()) for k in range(3)]
    print(f"{'all':16}{total[0]:15}{total[1]:16}{total[2]:8}")


def main() -> None:
    """Print the table."""
    if "--messages" in sys.argv[1:]:
        print_messages()
        return
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from import_graph import graph_of, loops_of, run_time_names, sources_of

    sources = sources_of(PACKAGE)
    rooms = Counter[str]()
    lines = Counter[str]()
    for name, source in sources.items():
        room = name.partition(".")[2].partition(".")[0] or "__init__"
        rooms[room] += 1
        lines[room] += len(source.splitlines())
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    print(f"{'room':16}{'files':>7}{'lines':>8}")
    for room in sorted(rooms):
        print(f"{room:16}{rooms[room]:7}{lines[room]:8}")
    print(f"{'visa_lsp':16}{sum(rooms.values()):7}{sum(lines.values()):8}")
    print(f"{'tests':16}{len(tests):7}{sum(len(text.splitlines()) for text in tests):8}")
    edges = {
        (module.split(".")[1], name.split(".")[1])
        for module, source in sources.items()
        if "." in module
        for name in run_time_names(source, types=True)
        if name.startswith("visa_lsp.")
    }
    across = sorted(f"{a} -> {b}" for a, b in edges if a != b and a in ADAPTERS and b in ADAPTERS)
    print(f"imports between adapters: {', '.join(across) or 'none'}")
    print(
        f"imports of cli: {', '.join(sorted(a for a, b in edges if b == 'cli' and a not in {'cli', '__main__'})) or 'none'}"
    )
    loops = loops_of(graph_of({name: source for name, source in sources.items() if "." in name}, types=True))
    print(f"loops, imports for type checkers counted: {len(loops)}")
    for loop in loops:
        print(f"  {len(loop)}: {', '.join(name.removeprefix('visa_lsp.') for name in loop)}")
    names = Counter(name.rpartition(".")[2] for name in sources)
    often = {name: count for name, count in names.most_common() if count > MAX_SAME_NAMES}
    print(f"file names used more than twice: {len(often)}, by {sum(often.values())} files")
    print(f"  {', '.join(f'{name} {count}' for name, count in often.items())}")


if __name__ == "__main__":
    main()
