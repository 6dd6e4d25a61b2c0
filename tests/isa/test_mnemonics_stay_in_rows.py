"""What an instruction is stands in its row: outside of ``visa_lsp.isa`` no string is a mnemonic, and none is compared.

Four searches, each over the whole package but `eu`, the table of another language. A string literal that is spelled like a mnemonic, or like the name that a row gives
its effect, is either one of ``KEPT`` or a word of another vocabulary (``OTHERS``); so is such a word in a pattern. A
mnemonic that a row gives is printed, and nothing else is done with it. Docstrings and longer texts are prose.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import visa_lsp
from visa_lsp.isa.lane import VOCABULARY, Effect
from visa_lsp.isa.lsc_codes import ATOMIC_OP
from visa_lsp.isa.table import TABLE
from visa_lsp.sim.effects import EFFECTS

ROOT = Path(visa_lsp.__file__).parent
# Machine code has a table of its own, in ``eu``.
FILES = sorted(
    path for path in ROOT.rglob("*.py") if not any(path.is_relative_to(ROOT / room) for room in ("isa", "eu"))
)
MNEMONICS = TABLE.mnemonics | {row.meaning.name for row in TABLE.rows if isinstance(row.meaning, Effect)}

_TEXT = "a reader of text knows the directive before there is a table to ask: `syntax` imports no `isa`"
KEPT = {
    (".function", "tree.py"): f"{_TEXT}; it tells a subroutine from a body",
    (".file", "tree.py"): f"{_TEXT}; it is passed over where directives are searched for",
    (".loc", "tree.py"): f"{_TEXT}; it is passed over, and its number is a value of the line",
}
_FIELDS = frozenset(field.name for row in TABLE.rows for field in row.fields)
_UPDATES = {*ATOMIC_OP, *(row.update for row in TABLE.rows if row.update)}
# Where a word spelled like a mnemonic is none: a file or a folder, the words, and what they are there.
OTHERS = (
    ("words.py", VOCABULARY.keys(), "words of isa.lane, which rows' expressions are made of"),
    ("lane_formulas.py", VOCABULARY.keys(), "words of isa.lane"),
    ("integer_formulas.py", VOCABULARY.keys(), "words of isa.lane"),
    ("integer_formulas.py", _UPDATES, "operations of atomic messages"),
    ("odd_formulas.py", VOCABULARY.keys(), "words of isa.lane"),
    ("exact.py", VOCABULARY.keys(), "words of isa.lane"),
    ("lanes.py", VOCABULARY.keys(), "words of isa.lane"),
    ("values.py", VOCABULARY.keys(), "words of isa.lane"),
    ("wide.py", {"div"}, "a word of isa.lane"),
    ("hooks.py", {"div", "mod"}, "words of isa.lane"),
    ("definedness.py", {"or"}, "a word of isa.lane"),
    ("definedness_plan.py", {"and", "or", "xor", "not"}, "words of isa.lane"),
    ("kernel_source.py", {"barrier"}, "a function of OpenCL C"),
    ("messages.py", _UPDATES, "operations of atomic messages"),
    ("effects", EFFECTS.keys(), "names of effects, by which rows and their bodies find one another"),
    ("effects", {"label", "lod"} & _FIELDS, "fields of records"),
    ("jit", EFFECTS.keys(), "names of effects, by which their compiled bodies are found"),
    ("jit", VOCABULARY.keys(), "words of isa.lane"),
    ("jit", {"label"} & _FIELDS, "a field of records"),
    ("analyses", EFFECTS.keys(), "names of effects, by which an analysis finds their rules"),
    ("analyses", VOCABULARY.keys(), "words of isa.lane"),
    ("analyses", {"label"} & _FIELDS, "a field of records"),
    ("codec", {"lod"} & _FIELDS, "a field of records"),
    ("program", {"lod"} & _FIELDS, "a field of records"),
    ("flow", {"label"} & _FIELDS, "a field of records"),
    ("interp.py", {"label"} & _FIELDS, "a field of records"),
    ("hooks.py", {"label"} & _FIELDS, "a field of records"),
    ("lsc_operands.py", {"lod"} & _FIELDS, "a field of records"),
    ("exec", {"file", "call"}, "a key of launch files, and one of the report"),
    ("stats", {"max"}, "a key of `stats --format json`"),
    ("profile.py", {"file"}, "a key of speedscope's documents"),
    ("seed.py", {"plane"} & _FIELDS, "a field of records"),
    ("build.py", {"label"}, "a node of the grammar"),
    ("model.py", {"label"}, "a kind of symbol"),
    ("rule.py", {"line"}, "how much of a text a rule looks at"),
    ("zeinfo", {"barrier", "dpas", "sample", "load"}, "names of uses and of keys of ze_info"),
    ("ide", {"label"}, "a kind of symbol, token or hint of the editor"),
    ("ide", {"file"}, "a tooltip, and a key of launch files"),
    ("ide", {"line"}, "a range of comments in which rules are off"),
    ("embed", {"if", "endif", "goto"}, "words of C"),
    ("embed", {"label"}, "a label of C, to which assembly may go"),
    ("embed", {"call"}, "a node of the grammar of Python, and a word of LLVM IR"),
    ("lsp", {"label", "line"}, "keys of the protocol"),
    ("app", {"line", "select"}, "keys of settings and reports"),
    ("cli", {"select"}, "a key of settings"),
    ("__init__.py", {"load"}, "a function for users"),
    ("api", {"line"}, "the title of a column"),
    ("launchfile", {"file"}, "a key of launch files"),
    ("schema.py", {"file"}, "a kind of value in launch files"),
    ("formulas.py", {"max", "min"}, "functions of NumPy"),
    ("search.py", dict.fromkeys(MNEMONICS).keys(), "the instructions that compute a function of OpenCL C"),
    ("definedness_plan.py", {"nbarrier_signal", "nbarrier_wait"}, "effects with the number of a barrier"),
    ("file_access.py", {"if", "else", "endif"}, "words of the preprocessor"),
    ("explain_log.py", {"call"}, "English, in a message of the compiler"),
    ("conditions.py", {"max", "min"}, "functions of NumPy"),
    ("launch_schema.py", {"if"}, "a word of JSON schemas"),
    ("generate", {"file"}, "a key of launch files"),
    ("generate", {"not"}, "a word of JSON schemas"),
    ("lsp", {"file"}, "a key of launch files, and a scheme of URIs"),
    ("inlay_hints.py", {"not"}, "the modifier `(not)` of a source"),
    ("highlight.py", {"label", "mod"}, "kinds of words that a page colours"),
    ("highlight.py", {"if", "else", "while", "do", "break", "goto"}, "words of OpenCL C, and of pseudo-code"),
    ("read", EFFECTS.keys(), "names of effects, by which their pseudo-code is found"),
    ("read", VOCABULARY.keys(), "words of isa.lane"),
    ("read", {"if", "label", "file"}, "a word of pseudo-code, a field of records, a key of answers"),
    ("why", {"label"} & _FIELDS, "a field of records"),
    ("stats", {"dpas"}, "a figure of native dumps"),
    ("mcp", {"line", "max", "file"}, "keys of answers, and a scheme of URIs"),
    ("cli", {"file"}, "a kind of input"),
    ("listing.py", {"bdpas", "dpas", "dpasw"}, "opcodes of machine code"),
    ("schedule.py", {"call", "ret", "wait"}, "opcodes of machine code"),
    ("allocation.py", {"mov"}, "an opcode of machine code"),
    ("line_faults.py", {"add", "call", "cmp", "mad", "mov", "mul", "nop", "sel"}, "opcodes of machine code"),
    ("line_faults.py", {"div", "lrp", "madw", "mod", "mulh", "pow"}, "operations that finalizers replace by several"),
    ("meanings.py", {"cmp"}, "an opcode of machine code"),
    ("toolchain", {"line", "label", "max", "file"}, "words of what the tools say"),
    (
        "text_bodies.py",
        {".loc", ".file", ".function"},
        "directives that the finalizer counts: it takes lines, not rows",
    ),
    ("cli", {"FILE"}, "stands for an argument in the help"),
    ("hover.py", {"not"}, "the modifier `(not)` of a source"),
    ("special_words.py", {"not"}, "the modifier `(not)` of a source"),
    ("consequences.py", {"not"}, "the modifier `(not)` of a source"),
    ("unread_text.py", {"not"}, "the modifier `(not)` of a source"),
    ("shapes.py", {"not"}, "the modifier `(not)` of a source"),
    ("facts.py", {"or"}, "English: the last two of a list"),
    ("body_limits.py", {"label"}, "a kind of number"),
    ("lsc_message.py", {"and"}, "English: the last two of a list"),
    ("narrow_conversion.py", {"and"}, "English: the last two of a list"),
    ("wrong_platform.py", {"and"}, "English: the last two of a list"),
    ("dap", {"label", "line", "goto", "breakpoint", "barrier"}, "keys and words of the protocol, and why a run stops"),
    ("goals.py", {"barrier"}, "why a run stops"),
    ("lane_expressions.py", {"min", "max"}, "functions of a debugger's expressions"),
    ("profile.py", {"line", "file"}, "keys of the profile that speedscope reads"),
    ("stats", {"line", "max"}, "keys of the figures"),
    ("prove", EFFECTS.keys(), "names of effects: those of one work item are computed on symbols"),
    ("prove", VOCABULARY.keys(), "words of isa.lane, and of conditions between symbols"),
    ("verify_report.py", {"wait"}, "English: what the scoreboard does"),
    ("outlines.py", {"exp", "log", "sin", "cos", "pow"}, "functions of OpenCL that compilers inline"),
)


def strings(nodes):
    """Return the string literals of a module that are no docstrings, and no key under which ``EFFECTS`` has a body."""
    docstrings = {node.value for node in nodes if isinstance(node, ast.Expr)}
    return (n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str) and n not in docstrings)


def words_of_pattern(text):
    """Return the words of a regular expression, a point before them included."""
    return re.findall(r"(?<![\w.])\.?[A-Za-z_][\w.]*", re.sub(r"\\(?=\.)", "", re.sub(r"\\[A-Za-z]", " ", text)))


def mnemonics(source):
    """(word, line) of each mnemonic that is a string, and of each that is a word in a pattern."""
    nodes = list(ast.walk(ast.parse(source)))
    for node in strings(nodes):
        if node.value in MNEMONICS:
            yield node.value, node.lineno
    for call in nodes:
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=[pattern, *_]):
                for node in ast.walk(pattern):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in MNEMONICS:
                        yield from ((word, node.lineno) for word in words_of_pattern(node.value) if word in MNEMONICS)


@cache
def uses():
    """Return (path, word, line) of each mnemonic in the package."""
    return [
        (path.relative_to(ROOT), word, line)
        for path in FILES
        for word, line in mnemonics(path.read_text(encoding="utf-8"))
    ]


def is_other(path, word, entry):
    where, words, _ = entry
    return word in words and (path.name == where or where in path.parts[:-1])


def test_strings_that_are_mnemonics():
    left = {
        (word, path.name): f"{path}:{line}: {word!r}"
        for path, word, line in uses()
        if not any(is_other(path, word, entry) for entry in OTHERS)
    }
    assert sorted(left[at] for at in left.keys() - KEPT.keys()) == []
    assert sorted(KEPT.keys() - left.keys()) == [], "these are gone: take them off the list"
    assert len({word for word, _ in KEPT}) <= 5


def test_other_vocabularies_are_spoken():
    for entry in OTHERS:
        used = {word for path, word, _ in uses() if is_other(path, word, entry)}
        named = isinstance(entry[1], set | frozenset) and entry[1] is not _UPDATES
        assert used == entry[1] if named else used, f"take {entry} off the list"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('row.mnemonic == "mov"', ["mov"]), ('_SIZES = {"svm_gather": 4}', ["svm_gather"]), ("x = {'dpas', 'rest'}", ["dpas"]),
        ("match name:\n    case 'call' | 'fcall':\n        pass", ["call", "fcall"]), ('f"{x}" "goto"', ["goto"]),
        ('"""Prose of mov and add."""', []), ('def f():\n    """mov"""', []), (r're.compile(r"\s*(call|fcall)\b")', ["call", "fcall"]),
        (r're.compile(r"\n\.loc\s+lifetime")', [".loc"]), ('print("`mov` copies")', []), ('Effect("dot2")', ["dot2"]),
    ],
)  # fmt: skip
def test_what_counts_as_a_string(source, words):
    assert sorted(word for word, _ in mnemonics(source)) == words


# ---- what is done with the mnemonic of a row

ASKED = {"startswith", "endswith", "partition", "rpartition", "removeprefix", "removesuffix", "find", "index"}


def is_sign(node):
    """Only a sign, as in ``"." in row.mnemonic``: that is about all mnemonics, not about one."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and not re.search(r"\w", node.value)


def comparisons(source):
    """Yield the lines on which a mnemonic is compared, searched, cut, or looked up, or an effect is named."""
    if "mnemonic" not in source and "Effect" not in source:
        return
    tree = ast.parse(source)
    for function in ast.walk(tree):
        if isinstance(function, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _comparisons(function, _called(function))


def _called(function):
    """Return the variables of a function that hold a mnemonic."""
    names = set()
    for node in _own(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr="mnemonic")):
                names.add(name)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                names.update(
                    target.id
                    for target, value in zip(targets, values, strict=False)
                    if isinstance(target, ast.Name) and isinstance(value, ast.Attribute) and value.attr == "mnemonic"
                )
            case ast.NamedExpr(target=ast.Name(id=name), value=ast.Attribute(attr="mnemonic")):
                names.add(name)
    return names


def _own(function):
    """Yield the nodes of a function without those of the functions in it."""
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))


def _comparisons(function, names):
    def is_mnemonic(node):
        return (isinstance(node, ast.Attribute) and node.attr == "mnemonic") or (
            isinstance(node, ast.Name) and node.id in names
        )

    for node in _own(function):
        match node:
            case ast.Compare(left=left, comparators=others) if any(is_mnemonic(n) for n in (left, *others)):
                if not any(is_sign(n) for n in (left, *others)):
                    yield node.lineno
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in ASKED and is_mnemonic(value):
                yield node.lineno
            case ast.Call(func=ast.Attribute(attr="get"), args=[key, *_]) if is_mnemonic(key):
                yield node.lineno
            case ast.Subscript(value=value, slice=key, ctx=ast.Load()) if is_mnemonic(value) or is_mnemonic(key):
                yield node.lineno
            case ast.Match(subject=subject) if is_mnemonic(subject):
                yield node.lineno
            case ast.Call(func=ast.Name(id="Effect")):
                yield node.lineno


def test_no_mnemonic_is_compared():
    compared = {str(path.relative_to(ROOT)): list(comparisons(path.read_text(encoding="utf-8"))) for path in FILES}
    assert {path: lines for path, lines in compared.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    ['row.mnemonic == "mov"', "row.mnemonic in _SET", 'inst.row.mnemonic.endswith("_lz")', "_SIZES.get(row.mnemonic, ())",
     "_SIZES[row.mnemonic]", 'row.meaning == Effect("dpas")', "def f(): word = row.mnemonic; return word == other",
     "def f(): word, code = row.mnemonic, 3; return _SIZES[word]", "name = row.mnemonic; name.startswith(x)"],
)  # fmt: skip
def test_what_counts_as_a_comparison(line):
    assert list(comparisons(line)) == [1]


@pytest.mark.parametrize(
    "line", ["counts[row.mnemonic] += 1", '"." in row.mnemonic', 'f"`{row.mnemonic}`"', "word == other"]
)
def test_what_counts_as_none(line):
    assert list(comparisons(line)) == []
