"""The room as a whole: no module of it needs another one that needs it."""

from pathlib import Path

from tests.test_layers import imports

ROOM = Path(__file__).parents[2] / "visa_lsp" / "flow"


def needed() -> dict[str, set[str]]:
    """For each module of the room those of the room that it imports, for types and within functions too."""
    found = {}
    for path in ROOM.glob("*.py"):
        names = {name for name, _ in imports(path.read_text(encoding="utf-8"))}
        found[path.stem] = {name.split(".")[2] for name in names if name.startswith("visa_lsp.flow.")}
    return found


def test_imports_make_no_loop():
    left = needed()
    assert len(left) > 10
    while left:
        free = {name for name, others in left.items() if not others & left.keys()}
        assert free
        left = {name: others for name, others in left.items() if name not in free}
