"""What mypy is told to overlook is counted, and what stands beside a type says the same as the type."""

import re
from pathlib import Path

from visa_lsp.isa.model import Instruction
from visa_lsp.isa.rows._keywords import More
from visa_lsp.syntax.memo import Key, Memo

PACKAGE = Path(__file__).resolve().parents[1] / "visa_lsp"
MOST_IGNORED = 12
# Taken by the helpers of rows themselves, or made by the table.
OWN = {"modifiers", "meaning", "summary", "detail", "marks_source", "index"}


def ignored(folder: Path) -> list[str]:
    """Every line of a package that mypy is told to overlook."""
    return [
        f"{path.relative_to(folder)}:{number}"
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if re.search(r"#\s*type:\s*ignore", line)
    ]


def test_little_is_overlooked() -> None:
    """Lines that mypy overlooks stay few."""
    assert len(found := ignored(PACKAGE)) <= MOST_IGNORED, found


def test_the_count_sees_what_is_overlooked(tmp_path: Path) -> None:
    """One line too many is counted."""
    (tmp_path / "some.py").write_text("a = b  # type: ignore[x]\nc = d\ne = f  #type:ignore\n")
    assert ignored(tmp_path) == ["some.py:1", "some.py:3"]


def test_what_rows_hand_on_are_members_of_a_row() -> None:
    """``More`` has every member of a row that has a default, each with the type that it has there."""
    left_out = set(Instruction.__struct_fields__[-len(Instruction.__struct_defaults__) :])
    assert set(More.__annotations__) == left_out - OWN
    for name, type_ in More.__annotations__.items():
        assert type_.__forward_arg__ == Instruction.__annotations__[name]


def test_keys_are_places_of_their_own() -> None:
    """Two keys do not meet."""
    one, other = Key[int](), Key[int]()
    memo = Memo()
    assert (memo.fact(one, lambda: 3), memo.fact(other, lambda: 4), memo.fact(one, lambda: 5)) == (3, 4, 3)
    assert memo.fact(one, lambda: 5, "another input") == 5
