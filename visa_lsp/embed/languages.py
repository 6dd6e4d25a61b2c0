"""The host languages: their files, their names in editors, a test whether a text can contain vISA, and their grammars.

The grammars belong to tree-sitter, an extra of the package; they are loaded when a text is parsed. Invariant: positions
of a tree are those of the text, one byte for each code point.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.embed.hidden_parts import hidden_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Language, Parser, Tree

    from visa_lsp.text import Span

EXTRA: Final = "pip install 'visa-lsp[embed]'"


class Host(Enum):
    """A language whose strings may contain vISA."""

    OPENCL = "opencl"
    C = "c"
    CPP = "cpp"
    CM = "cm"
    PYTHON = "python"
    LLVM = "llvm"
    MLIR = "mlir"


_NAMES: Final = (
    # host, suffixes of files, names of editors
    (Host.OPENCL, ".cl .clh .clcpp .ocl", "opencl opencl-c"),
    (Host.C, ".c", "c"),
    (Host.CPP, ".h .cpp .hpp .cc .hh .cxx .hxx .inl .inc .cu .cuh .sycl", "cpp c++ sycl cuda-cpp"),
    (Host.CM, ".cm", "cm"),
    (Host.PYTHON, ".py", "python"),
    (Host.LLVM, ".ll", "llvm"),
    (Host.MLIR, ".mlir", "mlir"),
)
_SUFFIXES: Final = {suffix: host for host, suffixes, _ in _NAMES for suffix in suffixes.split()}
SUFFIXES: Final = tuple(_SUFFIXES)
_IDENTIFIERS: Final = {name: host for host, _, names in _NAMES for name in names.split()}
_MODULES: Final = {
    Host.OPENCL: "tree_sitter_cpp",
    Host.C: "tree_sitter_c",
    Host.CPP: "tree_sitter_cpp",
    Host.CM: "tree_sitter_cpp",
    Host.PYTHON: "tree_sitter_python",
}
# Words before types in OpenCL C; without them a declaration is plain C.
_QUALIFIERS: Final = re.compile(
    r"\b(?:__kernel|kernel|(?:__)?(?:global|local|constant|private|generic|read_only|write_only|read_write))\b"
)
MAX_QUALIFIER_CHARS: Final = 16  # including the characters on both sides of the word
_NO_LINE_END: Final = re.compile(r"(?!\\\r?\n)[^\r\n]")
_BLANK_BEFORE_END: Final = re.compile(r" (?=\r?\n)")
_OTHER: Final = re.compile(r"[^\x01-\x7f]")
# Lines joined by splices, because the scanner of Python reads the whole chain for each word in it.
_MAX_CHAIN_LINKS: Final = 64


class MissingGrammarError(Exception):
    """The packages for parsing host languages are not installed; the message says how to install them."""

    def __init__(self, host: Host) -> None:
        super().__init__(f"vISA inside of {host.value} sources is found with tree-sitter: {EXTRA}")


def host_of(name: str) -> Host | None:
    """Return the host language of a file by its suffix, or None."""
    return _SUFFIXES.get(name[name.rfind(".") :].lower()) if "." in name else None


def host_called(identifier: str) -> Host | None:
    """Return the host language with an editor's name of a language, or None."""
    return _IDENTIFIERS.get(identifier.lower())


def may_hold_visa(text: str) -> bool:
    """Return whether a text must be parsed, because it has inline assembly, a comment that marks a string, or constraints."""
    return "asm" in text or "=rw" in text


def is_installed(host: Host) -> bool:
    """Return whether the packages for parsing a language are installed."""
    from importlib.util import find_spec

    if host not in _MODULES:
        return True  # read without a grammar
    return find_spec("tree_sitter") is not None and find_spec(_MODULES[host]) is not None


@cache
def _parser(host: Host) -> Parser:
    if not is_installed(host):
        raise MissingGrammarError(host)
    from tree_sitter import Parser

    return Parser(language(host))


@cache
def language(host: Host) -> Language:
    """Return the grammar of a language. Raises MissingGrammarError if it is not installed."""
    if not is_installed(host):
        raise MissingGrammarError(host)
    from tree_sitter import Language

    return Language(_grammar(host))


def _grammar(host: Host) -> object:
    """Return the language object of the package of a grammar."""
    match host:
        case Host.C:
            import tree_sitter_c

            return tree_sitter_c.language()
        case Host.PYTHON:
            import tree_sitter_python

            return tree_sitter_python.language()
    # The grammar of C++ reads the C of OpenCL, and raw strings in it.
    import tree_sitter_cpp

    return tree_sitter_cpp.language()


class Readable(NamedTuple):
    """A text in the form for the parser of a language: a byte for each code point.

    ``added`` follows the text. ``in_place``: an edit of the text changes only the edited part of this form.
    """

    text: str
    host: Host
    added: str = ""
    in_place: bool = True

    def without_text(self) -> Readable:
        """Return a copy without the text."""
        return self._replace(text="")


def readable(text: str, host: Host) -> Readable:
    """Convert a text for the parser of its language."""
    # A letter replaces each character that is not ASCII, so that names stay names and offsets do not change.
    plain = text if text.isascii() and "\0" not in text else _OTHER.sub("x", text)
    if host is Host.PYTHON:
        whole = _without_long_chains(plain) if "\\\n" in plain else plain
        return Readable(whole, host, in_place=whole == plain)
    hidden = hidden_parts(plain)
    if hidden:
        plain = "".join(_without(plain, hidden))
    if host is Host.OPENCL:
        plain = _QUALIFIERS.sub(lambda word: " " * len(word[0]), plain)
    # Closed because the scanner would search for the end of each open comment up to the end of the text.
    return Readable(plain, host, "*/" if plain.rfind("/*") > plain.rfind("*/") else "", not hidden)


def _without(text: str, parts: Iterable[Span]) -> Iterator[str]:
    """Yield a text with blanks in place of parts; line ends stay, and a macro that continues after them still does."""
    offset = 0
    for part in parts:
        blanks = _NO_LINE_END.sub(" ", text[part.start : part.end])
        yield text[offset : part.start]
        yield _BLANK_BEFORE_END.sub("\\\\", blanks) if text.startswith("/*", part.start) else blanks
        offset = part.end
    yield text[offset:]


def parse(read: Readable, before: Tree | None = None) -> Tree:
    """Return the tree of a text, with a byte for each code point.

    Raises MissingGrammarError. ``before`` is an older tree of the text, with its nodes moved by every edit since.
    """
    written = (read.text + read.added).encode("ascii")
    parser = _parser(read.host)
    return parser.parse(written) if before is None else parser.parse(written, before)


def _without_long_chains(text: str) -> str:
    """Replace the line splices of overlong chains by blanks; offsets do not change."""
    lines = text.split("\n")
    out: list[str] = []
    chain_start = 0
    for number, line in enumerate(lines):
        if line.endswith("\\") and number < len(lines) - 1:
            continue
        chain, chain_start = lines[chain_start : number + 1], number + 1
        if len(chain) > _MAX_CHAIN_LINKS:
            out.append("  ".join([*(part[:-1] for part in chain[:-1]), chain[-1]]))
        else:
            out.extend(chain)
    return "\n".join(out)
