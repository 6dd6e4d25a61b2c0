"""A public function says what it raises: its docstring names each exception that its own lines raise."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "visa_lsp"

# A bug of ours, and a method that a subclass has to bring, are no part of what a function promises.
OURS = {"AssertionError", "NotImplementedError"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def public_functions(tree):
    """Yield the functions of a module and the methods of its public classes, by dotted name."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            methods = [(f"{node.name}.{f.name}", f) for f in node.body if isinstance(f, Function)]
        else:
            methods = [(node.name, node)] if isinstance(node, Function) else []
        yield from ((name, f) for name, f in methods if not f.name.startswith("_"))


def raises(node, caught=frozenset()):
    """Yield the ``raise`` statements in a function's own lines whose exception leaves the ``try`` around them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*Function.__args__, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(child, ast.Raise) and child.exc is not None and not caught & {raised(child), "Exception"}:
            yield child
        if isinstance(child, ast.Try):
            types = [ast.unparse(t) for h in child.handlers for t in ast.walk(h.type) if isinstance(t, ast.Name | ast.Attribute)]  # fmt: skip
            for part in child.body:
                yield from raises(ast.Module([part], []), caught | set(types))
            for part in (*child.handlers, *child.orelse, *child.finalbody):
                yield from raises(ast.Module([part], []), caught)
        else:
            yield from raises(child, caught)


def raised(node):
    """Return the name behind ``raise``: a class, a function that makes the exception, or a variable."""
    what = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return what.attr if isinstance(what, ast.Attribute) else ast.unparse(what)


def makers(trees):
    """Return the functions of the package that return an exception, with its class."""
    bases, given = {}, []
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {ast.unparse(base) for base in node.bases}
            elif isinstance(node, Function) and node.returns:
                given.append((node.name, ast.unparse(node.returns)))
    exceptions = {"Exception", "ValueError"}
    while more := {name for name, known in bases.items() if known & exceptions} - exceptions:
        exceptions |= more
    return {name: returns for name, returns in given if returns in exceptions}


def unnamed(tree, made):
    """Functions with the exceptions that they raise and do not name."""
    for name, function in public_functions(tree):
        found = {made.get(what, what) for what in map(raised, raises(function))} - OURS
        doc = ast.get_docstring(function) or ""
        missing = sorted(what for what in found if what not in doc)
        if missing:
            yield f"{name}: {', '.join(missing)}"


def modules(word=""):
    """Yield the modules of the package with a word in them: path and tree, one by one, as all of them take 200 MB."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text("utf-8")
        if word in source:
            yield path.relative_to(PACKAGE).as_posix(), ast.parse(source)


@pytest.fixture(scope="module")
def made():
    """Return the functions of the package that make exceptions."""
    return makers(tree for _, tree in modules())


def test_a_raise_without_its_name_is_found():
    source = (
        "class Wrong(Exception): pass\n"
        "class Reader:\n"
        "    def error(self) -> Wrong: 'A Wrong.'\n"
        "    def read(self):\n        'Read.'\n        raise self.error()\n"
        "    def look(self):\n        'Look. Raises Wrong where it is dark.'\n        raise Wrong\n"
        "def load():\n    'Load.'\n    try:\n        raise ValueError\n    except ValueError:\n        raise Wrong from None\n"
        "def _help():\n    raise Wrong\n"
    )
    tree = ast.parse(source)
    assert list(unnamed(tree, makers([tree]))) == ["Reader.read: Wrong", "load: Wrong"]


def test_makers_of_exceptions_are_known(made):
    assert {"error": "CodecError", "fault": "KernelFault", "wrong": "LaunchError"}.items() <= made.items()


def test_a_public_function_names_what_it_raises(made):
    assert [f"{path}: {found}" for path, tree in modules("raise") for found in unnamed(tree, made)] == []
