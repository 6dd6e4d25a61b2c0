"""What the grammar said of a shape, kept on disk: a new process need not build the grammar to hear it again.

A shelf is a file of lines, one for each shape, which is only ever appended to: ``checksum TAB key TAB text TAB tree``. The
key is the shape, ``text`` the line that the tree was read from, all in JSON. A tree is data: numbers, texts, and lists that name a class of
``syntax/tree.py`` by its place there; nothing of the file is executed, and what does not fit is no entry.
The first line says for which files of the package the entries hold; another first line makes an empty shelf of it.
Invariant: an entry is only what ``Parser.full`` gave for its text; a shelf that cannot be read or written is empty.
"""

from __future__ import annotations

import contextlib
import os
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from visa_lsp.syntax import build, build_operands, shapes, tree
from visa_lsp.syntax.grammar import grammar_path
from visa_lsp.syntax.parse import use_shelf
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES: Final = 16 << 20
_CLASSES: Final[tuple[type[msgspec.Struct], ...]] = tuple(
    c for c in vars(tree).values() if isinstance(c, type) and issubclass(c, msgspec.Struct) and c is not msgspec.Struct
)
_NUMBER_OF: Final[dict[type[msgspec.Struct], int]] = {Span: 0, **{c: i for i, c in enumerate(_CLASSES, 1)}}
_CLASS_OF: Final[dict[int, type[msgspec.Struct]]] = {i: c for c, i in _NUMBER_OF.items()}
_LONGEST: Final = 1000
_TUPLE: Final = -1
_WIDEST: Final = 1 << 62
_MANY: Final = 64


class Unfit(Exception):  # noqa: N818
    """A tree has something in it that the file has no form for."""


def packed(node: object) -> object:
    """A tree as lists of plain values; Unfit where it holds numbers that the file cannot."""
    if isinstance(node, msgspec.Struct):
        return [_NUMBER_OF[type(node)], *[packed(getattr(node, name)) for name in node.__struct_fields__]]
    if isinstance(node, tuple):
        return [_TUPLE, *[packed(item) for item in node]]
    if isinstance(node, (int, float)) and not -_WIDEST < node < _WIDEST:
        raise Unfit
    return node


def unpacked(value: object) -> object:
    """The tree of ``packed``; Unfit for anything else."""
    if type(value) is not list:
        return value
    if not value or type(value[0]) is not int:
        raise Unfit
    parts = [unpacked(item) for item in value[1:]]
    if value[0] == _TUPLE:
        return tuple(parts)
    cls = _CLASS_OF.get(value[0])
    if cls is None or len(parts) != len(cls.__struct_fields__):
        raise Unfit
    return cls(*parts)


class Shelf:
    """The entries of one file. ``put`` gathers; ``flush`` writes what was gathered."""

    def __init__(self, path: Path, mark: str) -> None:
        self._path = path
        self._mark = mark.encode() + b"\n"
        self._entries: dict[bytes, bytes] | None = None
        self._fresh: list[bytes] = []
        self._size = 0

    def get(self, key: str) -> tuple[str, tree.Statement] | None:
        """The line that stands under this key, with its statement."""
        entries = self._read() if self._entries is None else self._entries
        line = entries.get(msgspec.json.encode(key))
        if line is None:
            return None
        with contextlib.suppress(ValueError, TypeError, Unfit, RecursionError):
            checksum, _, rest = line.partition(b"\t")
            if int(checksum, 16) == zlib.crc32(rest):
                _, text, packed_tree = rest.split(b"\t")
                statement = unpacked(msgspec.json.decode(packed_tree))
                if isinstance(statement, tree.Statement):
                    return msgspec.json.decode(text, type=str), statement
        return None

    def put(self, key: str, text: str, statement: tree.Statement) -> None:
        """Take a line and its statement in under a key, if they can be written and there is room."""
        if len(text) > _LONGEST or self._size > MAX_BYTES:
            return
        try:
            rest = b"\t".join(map(msgspec.json.encode, (key, text, packed(statement))))
        except (Unfit, ValueError, RecursionError):
            return
        self._fresh.append(b"%08x\t%s\n" % (zlib.crc32(rest), rest))
        if len(self._fresh) >= _MANY:
            self.flush()

    def flush(self) -> None:
        """Append what was taken in; silently nothing where the file cannot be written or is full."""
        fresh, self._fresh = b"".join(self._fresh), []
        if not fresh:
            return
        if self._entries is None:
            self._read()
        with contextlib.suppress(OSError):
            if self._size == 0:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                scratch = self._path.with_name(f"{self._path.name}.{os.getpid()}")
                try:
                    scratch.write_bytes(self._mark + fresh)
                    scratch.replace(self._path)
                finally:
                    scratch.unlink(missing_ok=True)
                self._size = len(self._mark) + len(fresh)
            else:
                # One write to the end of the file: two processes may do so at once, and a torn line fails its checksum.
                file = os.open(self._path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
                try:
                    self._size += os.write(file, fresh)
                finally:
                    os.close(file)

    def _read(self) -> dict[bytes, bytes]:
        data = b""
        with contextlib.suppress(OSError):
            if self._path.stat().st_size <= MAX_BYTES:
                data = self._path.read_bytes()
        if not data.startswith(self._mark):
            data = b""
        self._size = len(data)
        lines = data.split(b"\n")
        self._entries = {parts[1]: line for line in lines[1:] if len(parts := line.split(b"\t", 2)) == 3}
        return self._entries


@contextlib.contextmanager
def shelved() -> Iterator[Shelf | None]:
    """Let the process-wide parser use the user's shelf, and write at the end what is new."""
    shelf = shelf_of_user()
    use_shelf(shelf)
    try:
        yield shelf
    finally:
        use_shelf(None)
        if shelf is not None:
            shelf.flush()


def shelf_of_user() -> Shelf | None:
    """The shelf in the user's folder for such files; None where ``VISA_LSP_CACHE`` is ``off`` or there is no such folder.

    ``VISA_LSP_CACHE`` may name the folder.
    """
    wish = os.environ.get("VISA_LSP_CACHE", "")
    if wish == "off":
        return None
    try:
        folder = Path(wish) if wish else _folder()
        package = Path(__file__).resolve()
        files = [Path(m.__file__ or "") for m in (build, build_operands, shapes, tree)]
        files += [package, package.with_name("parse.py"), grammar_path()]
        stats = [(file.name, s.st_size, s.st_mtime_ns) for file in files for s in (file.stat(),)]
    except (OSError, RuntimeError, ValueError):
        return None
    mark = f"visa-lsp shapes {sys.version_info[:3]} {stats}"
    return Shelf(folder / f"shapes-{zlib.crc32(str(package).encode()):08x}", mark)


def _folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "visa-lsp" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "visa-lsp"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "visa-lsp"
