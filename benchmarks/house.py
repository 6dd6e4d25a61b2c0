"""The structure of the package: files and lines per room, imports that should not be, loops, file names used more than twice.

Lines are those of Python files, tests included. A loop counts imports for type checkers too.
Usage: python -m benchmarks.house
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "visa_lsp"
ADAPTERS = {"api", "cli", "dap", "lsp", "mcp", "pytest_plugin"}
MAX_SAME_NAMES = 2


def main() -> None:
    """Print the table."""
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
