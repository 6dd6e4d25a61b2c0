"""The room as a whole: no module of it needs another one that needs it."""

from pathlib import Path

from tests.test_layers import ALLOWED, imports
from visa_lsp.analysis.verdict_store import _ROOMS

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


def test_verdicts_that_are_kept_depend_on_every_room_that_rules_import():
    assert {room for room in ALLOWED["checks"] if (ROOM.parent / room).is_dir()} <= set(_ROOMS)
