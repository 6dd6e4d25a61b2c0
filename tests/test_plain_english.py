"""Plain English: patterns that make a reader read a sentence twice.

A docstring of a function begins with a verb, that of a class or property with a noun; sentences have a concrete subject and
an active verb; functions are verbs, constants name a thing and a unit. ``python -m tests.test_plain_english [ROOM]`` lists
the places; with ``--sample 40 --seed 1`` it prints a sample to read: the docstrings and comments of 40 files, 30 messages and
the names of 5 guides.
"""

from __future__ import annotations

import argparse
import random
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
CODE = ("visa_lsp", "benchmarks", "tests/support", ".ci")
DOCUMENTS = ("README.md", "docs/*.md", "docs/tutorials/*.md", "docs/editors/*.md", "visa_lsp/**/README.md")


class Text(NamedTuple):
    """A piece of prose or a name: ``kind`` is one of those in ``PATTERNS``."""

    path: str
    line: int
    kind: str
    text: str

    @property
    def room(self) -> str:
        """The folder that owns the text: ``sim/jit`` and ``app/read`` are rooms, and so are all documents together."""
        if self.path.endswith(".md"):
            return "docs"
        parts = self.path.removeprefix("visa_lsp/").removesuffix(".py").split("/")
        return "/".join(parts[:2]) if parts[0] in ("app", "sim", "tests") and len(parts) > 2 else parts[0]


class Pattern(NamedTuple):
    """A pattern to avoid: the kinds of texts that it is searched in, and advice."""

    kinds: str
    regex: re.Pattern[str]
    advice: str


def _pattern(kinds: str, regex: str, advice: str) -> Pattern:
    return Pattern(kinds, re.compile(regex), advice)


_PROSE = "module class property function comment message document"
_BE = r"(?:is|are|was|were|be|been)"
PATTERNS = {
    "question": _pattern(
        "module class property function",
        r"^(?:What|Which|Where|Who|Whose|How|Why|When|Whether)\b",
        "begin with a noun phrase; with a verb for a function",
    ),
    "returns a question": _pattern(
        "function",
        r"^(?:Return|Yield|Give) (?:what|which|where|who|how|why|nothing|something)\b",
        "name the value: `Return the number of ...`",
    ),
    "function without verb": _pattern(
        "function",
        r"^(?:The|A|An|All|Each|Every|One|Its|Our|Their|No|Nothing|Something|Everything|Another|Those|These|Some|Of|So|For)\b",
        "begin with an imperative verb",
    ),
    "class without noun": _pattern("class property", r"^(?:One|Something|Everything|Nothing|Some|There|Of)\b", "begin with a noun"),
    "nobody": _pattern(_PROSE, r"\b[Nn]obody\b", "name the subject"),
    "asks": _pattern("module class property function comment", r"\b[Aa]sk(?:s|ed|ing)?\b", "calls, requests, reads, queries"),
    "told": _pattern(
        _PROSE, rf"\b{_BE} told\b|\btells? of\b|\btold (?:of|apart|as)\b|\bhears?\b", "is reported, is given, is distinguished"
    ),
    "stands": _pattern(
        "module class property function comment",
        r"\bstands?\b(?! for\b| in for\b)|\bstood\b(?! for\b)",
        "is, lies, has",
    ),
    "is no": _pattern(_PROSE, rf"(?<![Tt]here )\b{_BE} no (?!longer\b|more\b|less\b|larger\b|other\b)[a-z`]", "is not a"),
    "of which": _pattern(_PROSE, r"\b(?:of which|every other of)\b", "split the sentence"),
    "comma splice": _pattern(
        _PROSE,
        r"(?:^|[.;:] )(?!(?:If|Where|When|With|Without|Once|After|As|Although|Because|While|In|Of|For|Until|Before|To|Not)\b)"
        r"[A-Z`][^.;:,]*\b(?:is|are|has|have|does|do|cannot|can|must|may|will)\b[^.;:,]*, "
        r"(?:it|they|this|these|we|he) (?:is|are|was|were|has|have|does|do|can|must|may|will)\b",
        "two sentences, or a conjunction",
    ),
    "constant by size": _pattern(
        "constant",
        r"^_?(?:MOST|MANY|FEW|BIG|ENOUGH|(?:LONG|LARGE|SMALL|SHORT|HUGE|DEEP|WIDE)(?:E?ST|E?R)?)(?:_(?!GRF_BYTES|HEADER_BYTES|NORMAL)|$)",
        "name the thing and the unit: MAX_LINE_CHARS",
    ),
    "module by participle": _pattern(
        "module-name",
        r"^(?!seed$|predefined$|scattered$|wellformed$|embedded$|planted$|typed$)(?:[a-z]+ed|kept|held|beside|looking|moving|watching|standing|stopping|making|learning)$",
        "name the thing",
    ),
    "participle": _pattern(
        "name",
        r"^_*(?!need|embed|feed|seed|exceed|proceed|speed|string|bring|mapping|meaning|missing__|[a-z]+ing_|pred$)(?:[a-z]+ed|found|held|"
        r"kept|made|said|seen|shown|known|written|taken|given|gone|lost|sent|told|meant|left|built|bound|caught|drawn|[a-z]{3,}ing)(?:_|$)",
        "name a function by a verb",
    ),
}  # fmt: skip

# Parts of texts that have a pattern for a reason. An entry that matches nothing must go.
ALLOWED = (
    "cache lines, of which",  # the words of `run --profile`, which docs/performance.md prints
    "in {lines}, of which",  # the same words, where they are made
    "loaded_sources",  # the handlers of the debug adapter have the names of the protocol's requests: `loadedSources`
)

_DEFINITION = re.compile(r"\s*(?:async )?(def|class) (\w+)")
_CONSTANT = re.compile(r"(_?[A-Z][A-Z0-9_]+)(?:: [^=]+)? = ")
_PROPERTY = re.compile(r"\s*@(?:\w+\.)?(?:cached_)?(?:property|fixture|setter)\b|\s*@\w+\.setter")
_COMMENT = re.compile(r"(?:^|  |\s)# (.*)")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_QUOTED = re.compile(r"``[^`]*``|`[^`]*`")
_CODE_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"(?:[^\n]+\n?)+")


def _blank(block: re.Match[str]) -> str:
    return re.sub(r"[^\n]+", "", block[0])


def _texts_of(path: str, source: str) -> Iterator[Text]:
    """Yield the docstrings, comments, messages and names of a module that the formatter has formatted."""
    lines = source.split("\n")
    yield Text(path, 1, "module-name", path.rsplit("/", 1)[-1].removesuffix(".py"))
    owner, decorated, at = "module", False, 0
    while at < len(lines):
        line = lines[at]
        start = at
        stripped = line.lstrip()
        at += 1
        if stripped.startswith(('"""', 'r"""')):
            text = stripped.removeprefix("r")[3:]
            while '"""' not in text and at < len(lines):
                text += " " + lines[at].strip()
                at += 1
            if owner:
                yield Text(path, start + 1, owner, text.partition('"""')[0].strip())
            owner = ""
            continue
        if line.count('"""') % 2:  # a value of several lines, which is no docstring
            while at < len(lines) and '"""' not in lines[at]:
                at += 1
            at += 1
            continue
        match = _DEFINITION.match(line)
        if match is not None:
            is_function = match[1] == "def"
            if is_function and not decorated:
                yield Text(path, start + 1, "name", match[2])
            owner = ("property" if decorated else "function") if is_function else "class"
            decorated = False
            while not lines[at - 1].split("  #")[0].rstrip().endswith((":", "...")) and at < len(lines):
                at += 1
            continue
        if stripped.startswith("@"):
            decorated = decorated or _PROPERTY.match(line) is not None
            continue
        constant = _CONSTANT.match(line)
        if constant is not None:
            yield Text(path, start + 1, "constant", constant[1])
        if stripped:
            owner = owner if owner == "module" and stripped.startswith("#") else ""
        if "# " in line:
            comment = _COMMENT.search(line)
            if comment is not None and line[: comment.start()].count('"') % 2 == 0:
                yield Text(path, start + 1, "comment", comment[1])
                continue
        for string in _STRING.finditer(line):
            if " " in string[1]:
                yield Text(path, start + 1, "message", string[1])


@cache
def texts() -> tuple[Text, ...]:
    """Return all texts: of the code, and the paragraphs of the documents that are written by hand."""
    found: list[Text] = []
    for folder in CODE:
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            found += _texts_of(path, file.read_text("utf-8"))
    for glob in DOCUMENTS:
        for file in sorted(ROOT.glob(glob)):
            source = file.read_text("utf-8")
            found += (
                Text(
                    file.relative_to(ROOT).as_posix(),
                    source.count("\n", 0, part.start()) + 1,
                    "document",
                    " ".join(part[0].split()),
                )
                for part in _PARAGRAPH.finditer(_CODE_BLOCK.sub(_blank, source))
            )
    return tuple(found)


def matches(name: str) -> list[Text]:
    """Return the texts that have a pattern and no reason for it."""
    kinds, regex, _ = PATTERNS[name]
    wanted = frozenset(kinds.split())
    return [
        text
        for text in texts()
        if text.kind in wanted
        and regex.search(_QUOTED.sub("x", text.text))
        and not any(part in text.text for part in ALLOWED)
    ]


def test_texts_are_read_by_kind():
    source = (
        '"""Module text."""\n\nLONG = 3  # because it is long\n\n\nclass C:\n    """A class."""\n\n    @property\n'
        '    def size(self) -> int:\n        """The size."""\n\n\ndef moved(\n    a: int,\n) -> str:\n    """Return a\n'
        '    text."""\n    raise ValueError("two words")\n'
    )
    assert [(text.line, text.kind, text.text) for text in _texts_of("a/b.py", source)] == [
        (1, "module-name", "b"),
        (1, "module", "Module text."),
        (3, "constant", "LONG"),
        (3, "comment", "because it is long"),
        (7, "class", "A class."),
        (11, "property", "The size."),
        (14, "name", "moved"),
        (17, "function", "Return a text."),
        (19, "message", "two words"),
    ]


def test_no_text_has_a_pattern():
    wrong = [
        f"{text.path}:{text.line}: {name} ({pattern.advice}): {text.text[:120]}"
        for name, pattern in PATTERNS.items()
        for text in matches(name)
    ]
    assert not wrong, "\n".join(wrong)


def test_allowed_texts_exist():
    found = [text.text for text in texts()]
    assert not [part for part in ALLOWED if not any(part in text for text in found)]


def main(rooms: list[str]) -> None:
    """Print the places of all patterns, or of those in some rooms."""
    for name in PATTERNS:
        for text in matches(name):
            if not rooms or text.room in rooms:
                print(f"{text.path}:{text.line}: {name}: {text.text[:200]}")


def print_sample(files: int, seed: int) -> None:
    """Print the docstrings and comments of files of the package, 30 messages and the names of 5 guides, chosen by a seed."""
    shuffled = random.Random(seed)
    code = [text for text in texts() if text.path.startswith("visa_lsp/")]
    chosen = shuffled.sample(sorted({text.path for text in code if not text.path.endswith(".md")}), files)
    for path in chosen:
        print(f"\n{path}")
        for text in code:
            if text.path == path and text.kind in ("module", "class", "property", "function", "comment"):
                print(f"{text.line} {text.kind}: {text.text}")
    rooms = ("checks/", "sema/", "syntax/", "launchfile/", "cli/", "app/")
    messages = [
        t
        for t in code
        if t.kind == "message" and t.text.count(" ") > 3 and t.path.startswith(tuple(f"visa_lsp/{r}" for r in rooms))
    ]
    print("\nMessages")
    for text in shuffled.sample(messages, 30):
        print(f"{text.path}:{text.line}: {text.text}")
    guides = sorted({text.path for text in texts() if text.kind == "document" and text.path.startswith("docs/")})
    print("\nGuides", *shuffled.sample(guides, 5), sep="\n")


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("rooms", nargs="*")
    options.add_argument("--sample", type=int, metavar="FILES", help="print the prose of as many files, to read it")
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    if arguments.sample:
        print_sample(arguments.sample, arguments.seed)
    else:
        main(arguments.rooms)
