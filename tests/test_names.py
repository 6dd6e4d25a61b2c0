"""A class name has one meaning in the package: no two modules define a class of one name."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "visa_lsp"

# Names that two modules may both define, with their rooms and the reason. A name that is mended leaves the list.
AGREED = {
    "Body": ["analysis", "sema"],
    "Instruction": ["isa", "syntax"],
    "Kept": ["analysis", "disk_cache"],
    "Region": ["analysis", "isa"],
    "Scope": ["checks", "syntax"],
}


def class_names(sources: dict[str, str]) -> dict[str, set[str]]:
    """Return the modules that define a class, by its name; a class inside another is known by the name of both."""
    found = defaultdict(set)
    for path, source in sources.items():
        pending = [(node, "") for node in ast.parse(source).body]
        while pending:
            node, outer = pending.pop()
            if isinstance(node, ast.ClassDef):
                found[outer + node.name].add(path)
                outer = f"{outer}{node.name}."
            pending += [(child, outer) for child in ast.iter_child_nodes(node)]
    return found


def test_two_classes_of_one_name_are_found():
    sources = {
        "a.py": "class Layout: pass",
        "b.py": "if x:\n    class Layout:\n        class Kind: pass",
        "c.py": "class Kind: pass",
    }
    assert class_names(sources) == {"Layout": {"a.py", "b.py"}, "Layout.Kind": {"b.py"}, "Kind": {"c.py"}}


def test_a_class_name_has_one_meaning():
    sources = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    several = {name: sorted(paths) for name, paths in class_names(sources).items() if len(paths) > 1}
    rooms = {name: [Path(path).parts[0].removesuffix(".py") for path in paths] for name, paths in several.items()}
    assert rooms == AGREED, several
