"""Companion files of a text: the ze_info documents and zebins of its folder that describe its kernels, and other programs.

A document belongs to a kernel by the kernel's name in it; its file name only determines the order of search. Knows
files and names of kernels, neither texts nor editors. Invariant: the cost of a folder is bounded: only regular files
are read, each again only when it has changed, and damaged files are ignored.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final, TypeVar

from msgspec import Struct

from visa_lsp.program.suffixes import OBJECT, TEXTS
from visa_lsp.safe_io import MAX_OBJECT_BYTES, MIB, is_regular, open_file, read_file
from visa_lsp.text import decode_text, encode_text
from visa_lsp.zeinfo.zebin import MACHINE, ZebinError, is_elf, read_zebin

ENDINGS: Final = (".zeinfo.yaml", ".zeinfo.yml", ".ze_info", ".zeinfo")
ZEBIN: Final = ".zebin"
# Endings of zebins with a user-chosen name; such a file counts if it begins like a zebin.
_UNNAMED_ZEBINS: Final = (".bin", ".elf", ".progbin", "")
LAUNCH: Final = (".launch.yaml", ".launch.yml")

MAX_ENTRIES: Final = 100_000  # names read of one folder
MAX_DOCUMENTS: Final = 1000  # documents opened in one folder; the same limit applies to zebins
MAX_SNIFFED: Final = 200
_MAX_DOCUMENT_BYTES: Final = 16 * MIB
_MAX_ZEBIN_BYTES: Final = 64 * MIB
_MAX_READ_BYTES: Final = 128 * MIB  # bytes read for one call
_MAX_NAMES: Final = 20_000  # names cached of one document
_MAX_CACHED_FILES: Final = 4096
# Nanoseconds: a folder may change again within one tick of its clock, without a new time stamp.
_SETTLED: Final = 2_000_000_000

_NAMES: Final = re.compile(rb"""name[ \t]*:[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s,}#][^\n,}#]*))""")
_BODY: Final = re.compile(rb"""^[ \t]*\.(kernel|global_function)[ \t]+(?:"([^"\n]*)"|([^\s"/]+))""", re.MULTILINE)
_HEADER: Final = 20

T = TypeVar("T")
Stamp = tuple[int, int]
Described = dict[str, int]


class Description(Struct, frozen=True):
    """A document that describes a kernel: its file, the text of its ze_info, and the kernel's SIMD size (0: none given)."""

    path: Path
    text: str
    simd_size: int
    is_zebin: bool = False


class FolderNames(Struct, frozen=True):
    """The relevant names of a folder, each kind in order."""

    documents: tuple[str, ...] = ()
    zebins: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


class TextNames(Struct, frozen=True):
    """The names of the bodies of a text, and those of its kernels in order."""

    bodies: frozenset[str] = frozenset()
    kernels: tuple[str, ...] = ()


def stem_of(path: PurePath) -> str:
    """Return a file's name without its endings: ``k`` of ``k.visaasm``, ``k.launch.yaml`` and ``k.zeinfo.yaml``."""
    endings = (*LAUNCH, *ENDINGS)
    ending = next((e for e in endings if path.name.endswith(e)), None)
    return path.name.removesuffix(ending) if ending else path.stem


def launches_beside(program: Path) -> list[Path]:
    """Return the launch files beside a program: ``NAME.launch.yaml`` and then each ``NAME.WORD.launch.yaml`` by name.

    A launch file that has the whole name of another program belongs to that.
    """
    own_launch, start = program.with_suffix(LAUNCH[0]), f"{program.stem}."
    try:
        with os.scandir(program.parent) as scan:
            names = sorted(
                entry.name for entry, _ in zip(scan, range(MAX_ENTRIES), strict=False) if entry.name.startswith(start)
            )
    except OSError:
        return []
    others = {name for name in names if name.endswith(LAUNCH)} - {own_launch.name}
    own = [program.with_name(name) for name in sorted(others) if f"{stem_of(Path(name))}{program.suffix}" not in names]
    return [path for path in (own_launch, *own) if is_regular(path)]


def kernels_in(text: str) -> list[str]:
    """Return the names of a text's kernels, in its order."""
    return list(_bodies(encode_text(text)).kernels)


def list_kernels(text: str) -> Described:
    """Return the kernels of a ze_info text with their SIMD sizes; none of a malformed text."""
    # Imported here, because most callers have no such text, and loading the library for YAML takes 20 ms.
    from visa_lsp.zeinfo.kernels import child, entries, number, word_of
    from visa_lsp.zeinfo.source import ZeInfoSource

    root = ZeInfoSource.of(text).root
    simd_sizes: Described = {}
    for kernel in entries(root, "kernels"):
        if name := word_of(kernel, "name"):
            simd_sizes.setdefault(name, number(child(kernel, "execution_env"), "simd_size") or 0)
    return simd_sizes


def _not_open(_path: Path) -> str | None:
    return None


@dataclass(slots=True)
class Beside:
    """Finds the companion files of texts. ``opened`` returns the text of a document open in an editor, None for files."""

    opened: Callable[[Path], str | None] = _not_open
    _names: dict[Path, tuple[int, FolderNames]] = field(default_factory=dict)
    _words: dict[Path, tuple[Stamp, frozenset[bytes]]] = field(default_factory=dict)
    _described: dict[Path, tuple[Stamp, Described]] = field(default_factory=dict)
    _bodies: dict[Path, tuple[Stamp, TextNames]] = field(default_factory=dict)

    def description(self, kernel: str, *places: Path | None, simd_size: int = 0) -> Description | None:
        """Return the best document of a kernel.

        This is the first of ``descriptions``; files with another name come last if their SIMD size differs from
        ``simd_size`` (0: any).
        """
        fallback = None
        given = [place for place in places if place is not None]
        own = set(self.own_documents(*given))
        for candidate in self.descriptions(kernel, *given):
            if candidate.path in own or not simd_size or candidate.simd_size in (0, simd_size):
                return candidate
            fallback = fallback or candidate
        return fallback

    def descriptions(self, kernel: str, *places: Path) -> Iterator[Description]:
        """Yield the documents that describe a kernel, the best first.

        A place is the path of a text, an object or a launch file. The order is: documents with the name of a place,
        then with the kernel's name, then those whose name is the beginning of a place's name (as in dumps), then the
        others of the folders by name; ze_info before zebins.
        """
        room = [_MAX_READ_BYTES]
        for path in self._in_order(places, kernel):
            description = self._speaks(path, kernel, room)
            if description is not None:
                yield description
            if room[0] < 0:
                return

    def zebin(self, kernel: str, *places: Path) -> Description | None:
        """Return the zebin that contains a kernel, with the data that its program refers to."""
        return next((description for description in self.descriptions(kernel, *places) if description.is_zebin), None)

    def own_documents(self, *places: Path) -> list[Path]:
        """Return the documents with the name of a place, whatever kernels they describe."""
        named = (_name_file(place, ending) for place in places for ending in (*ENDINGS, ZEBIN))
        return [path for path in dict.fromkeys(named) if self._is_there(path)]

    def programs(self, place: Path) -> list[Path]:
        """Return the other texts and objects of a folder, a text before the object of the same name."""
        return [place.parent / name for name in self.names(place.parent).programs if name != place.name]

    def texts_of(self, name: str, place: Path) -> list[Path]:
        """Return the other texts of a folder that have a body (a kernel or a function) of a name, in order."""
        return self.texts_by_body(place).get(name, [])

    def texts_by_body(self, place: Path) -> dict[str, list[Path]]:
        """Return the same for every body, by its name."""
        paths_by_name: dict[str, list[Path]] = {}
        room = [_MAX_READ_BYTES]
        for path in [path for path in self.programs(place) if path.name.endswith(TEXTS)][:MAX_DOCUMENTS]:
            for name in self._text_names(path, room).bodies:
                paths_by_name.setdefault(name, []).append(path)
        return paths_by_name

    def kernels_in(self, path: Path) -> tuple[str, ...]:
        """Return the names of the kernels of a text, in order; none of an unreadable file."""
        return self._text_names(path, [_MAX_READ_BYTES]).kernels

    def _text_names(self, path: Path, room: list[int]) -> TextNames:
        """Return the names of the bodies of a text; ``room`` is the number of bytes that may still be read."""
        text = self.opened(path)
        if text is not None:
            return _bodies(encode_text(text))
        stamp = _stamp(path)
        if stamp is None:
            return TextNames()
        cached = self._bodies.get(path)
        if cached is None or cached[0] != stamp:
            room[0] -= stamp[1]
            if room[0] < 0:
                return TextNames()
            cached = (stamp, _bodies(_read(path) or b""))
            _keep(self._bodies, path, cached)
        return cached[1]

    def names(self, folder: Path) -> FolderNames:
        """Return the names in a folder; none if it cannot be read."""
        try:
            changed = folder.stat().st_mtime_ns
        except (OSError, ValueError):
            return FolderNames()
        cached = self._names.get(folder)
        if cached is not None and cached[0] == changed:
            return cached[1]
        names = _list_names(folder)
        if time.time_ns() - changed > _SETTLED:
            _keep(self._names, folder, (changed, names))
        return names

    def _in_order(self, places: Sequence[Path], kernel: str) -> Iterator[Path]:
        seen: set[Path] = set()

        def new(paths: Iterable[Path]) -> Iterator[Path]:
            for path in paths:
                if path not in seen:
                    seen.add(path)
                    yield path

        yield from new(self.own_documents(*places))
        folders = dict.fromkeys(place.parent for place in places)
        if kernel and Path(kernel).name == kernel and "\0" not in kernel:
            yield from new(
                p for p in (f / (kernel + e) for f in folders for e in (*ENDINGS, ZEBIN)) if self._is_there(p)
            )
        for folder in folders:
            names = self.names(folder)
            # The names of a dump's files begin with the name of their program.
            texts = [place.name for place in places if place.parent == folder]
            every = (*names.documents, *names.zebins, *names.unnamed)
            whole = [n for n in every if any(text.startswith(n.split(".", 1)[0] + "_") for text in texts)]
            yield from new(
                folder / n for n in whole[:MAX_SNIFFED] if n in names.documents or self._is_zebin(folder / n)
            )
            yield from new(folder / name for name in names.documents[:MAX_DOCUMENTS])
            yield from new(folder / name for name in names.zebins[:MAX_DOCUMENTS])
            yield from new(folder / name for name in names.unnamed[:MAX_SNIFFED] if self._is_zebin(folder / name))

    def _is_there(self, path: Path) -> bool:
        return is_regular(path) or self.opened(path) is not None

    def _is_zebin(self, path: Path) -> bool:
        try:
            with open_file(path, MAX_OBJECT_BYTES) as (stream, _):
                head = stream.read(_HEADER)
        except (OSError, ValueError):
            return False
        return is_elf(head) and int.from_bytes(head[18:20], "little") == MACHINE

    def _speaks(self, path: Path, kernel: str, room: list[int]) -> Description | None:
        """Return a file's description of a kernel; ``room`` is the number of bytes that may still be read."""
        text = None if path.name.endswith(ZEBIN) else self.opened(path)
        if text is not None:
            simd = list_kernels(text).get(kernel) if kernel in text else None
            return None if simd is None else Description(path, text, simd)
        stamp = _stamp(path)
        word = encode_text(kernel)
        cached = self._words.get(path)
        if stamp is None or (cached is not None and cached[0] == stamp and word not in cached[1]):
            return None
        room[0] -= stamp[1]
        if room[0] < 0:
            return None
        data = _read(path)
        if data is None:
            return None
        zebin = is_elf(data)
        names = frozenset(b"".join(m.groups(b"")).strip() for m in _NAMES.finditer(data))
        if len(names) <= _MAX_NAMES:
            _keep(self._words, path, (stamp, names))
        if word not in data:
            return None
        text = _ze_info_of(data) if zebin else decode_text(data)
        described = self._described.get(path)
        if described is None or described[0] != stamp:
            described = (stamp, list_kernels(text))
            _keep(self._described, path, described)
        simd = described[1].get(kernel)
        return None if simd is None else Description(path, text, simd, zebin)


def _bodies(data: bytes) -> TextNames:
    bodies, kernels = [], []
    for match in _BODY.finditer(data):
        name = next(group for group in match.groups()[1:] if group is not None).decode("utf-8", "surrogateescape")
        bodies.append(name)
        if match[1] == b"kernel":
            kernels.append(name)
    return TextNames(frozenset(bodies), tuple(dict.fromkeys(kernels)))


def _name_file(place: Path, ending: str) -> Path:
    return place.with_name((stem_of(place) or "_") + ending)


def _list_names(folder: Path) -> FolderNames:
    """Return the names of a folder by their endings."""
    documents, zebins, unnamed, programs = [], [], [], []
    try:
        with os.scandir(folder) as scan:
            for count, entry in enumerate(scan):
                name = entry.name
                if count >= MAX_ENTRIES:
                    break
                if name.endswith(ENDINGS):
                    documents.append(name)
                elif name.endswith((*TEXTS, OBJECT)):
                    programs.append(name)
                elif name.endswith(ZEBIN):
                    zebins.append(name)
                elif os.path.splitext(name)[1] in _UNNAMED_ZEBINS and not name.startswith("."):  # noqa: PTH122
                    unnamed.append(name)
    except OSError:
        pass
    programs.sort(key=lambda name: (name.rpartition(".")[0], name.endswith(OBJECT), name))
    return FolderNames(tuple(sorted(documents)), tuple(sorted(zebins)), tuple(sorted(unnamed)), tuple(programs))


def _most(path: Path) -> int:
    return _MAX_DOCUMENT_BYTES if path.name.endswith(ENDINGS) else _MAX_ZEBIN_BYTES


def _stamp(path: Path) -> Stamp | None:
    """Return an identity of a file's state; None for a file that is not regular, or too long."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_size > _most(path):
        return None
    return status.st_mtime_ns, status.st_size


def _read(path: Path) -> bytes | None:
    try:
        return read_file(path, _most(path))
    except (OSError, ValueError):
        return None


def _ze_info_of(data: bytes) -> str:
    try:
        return read_zebin(data).ze_info
    except ZebinError:
        return ""


def _keep(kept: dict[Path, T], path: Path, value: T) -> None:
    """Cache a value; clears the cache when it holds more files than a few folders have."""
    if len(kept) >= _MAX_CACHED_FILES:
        kept.clear()
    kept[path] = value
