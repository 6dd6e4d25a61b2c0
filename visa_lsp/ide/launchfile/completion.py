"""Completion in launch files: keys of the map, words, files, kernels, and the kernel's arguments with their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.ide.launchfile.place import LaunchPlace, place_at
from visa_lsp.ide.zeinfo.completion import ZeCompletion
from visa_lsp.launchfile.model import VALUES, LaunchKey
from visa_lsp.launchfile.templates import kind_of, template, type_words
from visa_lsp.program.suffixes import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.launchfile.kernel import MeantKernel
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.text import Span

# The suffixes of the files for each key.
_FILES: Final = {
    "file": PROGRAMS, "files": PROGRAMS, "npy": (".npy",),
    "reference": (*PROGRAMS, ".cl"),
    "ze_info": (".zeinfo.yaml", ".zeinfo.yml", ".ze_info", ".zeinfo", ".zebin"), "zebin": (".zebin",),
}  # fmt: skip
_MAX_ARGUMENTS: Final = 200  # proposals for arguments


def completions(text: str, offset: int, folder: LaunchFolder | None, meant: MeantKernel) -> tuple[ZeCompletion, ...]:
    """Return the proposals for an offset."""
    place = place_at(text, offset)
    if place is None:
        return ()
    word = place.path.word
    if place.in_arguments:
        return tuple(_arguments(place, meant.info, text))
    if place.row is not None:
        return tuple(_values(place.row, word, folder, meant))
    begun = text[: word.start].rstrip(" ")
    whole = _arguments(place, meant.info, text) if begun.endswith("-") and isinstance(place.argument, int) else ()
    return (*whole, *_keys(place, meant.info))


def _keys(place: LaunchPlace, info: KernelInfo | None) -> Iterator[ZeCompletion]:
    """Yield the missing keys of a map; those of the argument's kind first."""
    if place.table is None:
        return
    index = index_of(info, place.argument)
    wanted = kind_of(info, index) if info is not None and index is not None else ""
    for row in sorted(place.table.keys, key=lambda row: place.table is not None and row.name != wanted):
        if row.name not in place.path.keys:
            yield ZeCompletion(row.name, f"{row.name}: ", place.path.word, _detail(row), row.doc, is_key=True)


def _detail(row: LaunchKey) -> str:
    kind = VALUES.get(row.inner, row.inner)
    return f"{kind}; default: {row.default}" if row.default else kind


def _values(row: LaunchKey, word: Span, folder: LaunchFolder | None, meant: MeantKernel) -> Iterator[ZeCompletion]:
    for known in row.words:
        yield ZeCompletion(known.name, known.name, word, row.name, known.doc, is_key=False)
    if row.type == "flag":
        for name in ("true", "false"):
            yield ZeCompletion(name, name, word, row.name, row.doc, is_key=False)
    if row.inner == "file" and folder is not None:
        for name in folder.names(_FILES[row.name]):
            yield ZeCompletion(name, name, word, "file", "", is_key=False)
    if row.name == "kernel":
        for name in meant.kernels or meant.described or ():
            yield ZeCompletion(name, name, word, "kernel", "", is_key=False)
    if row.type == "argument" and meant.info is not None:
        info = meant.info
        for index in range(min(info.argument_count, _MAX_ARGUMENTS)):
            if kind_of(info, index) in ("buffer", "image"):
                yield ZeCompletion(str(index), str(index), word, info.describe_argument(index), "", is_key=False)


def _arguments(place: LaunchPlace, info: KernelInfo | None, text: str) -> Iterator[ZeCompletion]:
    """Yield the arguments: by name while a name is typed, else the one of the entry's number."""
    if info is None:
        return
    word, count = place.path.word, min(info.argument_count, _MAX_ARGUMENTS)
    if place.in_arguments and place.path.key is None:
        for index in range(count):
            name = info.argument_name(index)
            if name and name not in place.path.keys:
                insert = f"{name}: {template(info, index)}"
                yield ZeCompletion(
                    name, insert, word, type_words(info, index), _describe_argument(info, index), is_key=True
                )
        return
    named = index_of(info, place.argument)
    if named is not None and text[word.start : word.start + 1] != "{":
        yield ZeCompletion(
            template(info, named),
            template(info, named),
            word,
            info.describe_argument(named),
            _describe_argument(info, named),
            is_key=False,
        )


def _describe_argument(info: KernelInfo, index: int) -> str:
    return f"argument {index} of kernel `{info.name}`: {type_words(info, index)}"


def index_of(info: KernelInfo | None, argument: int | str | None) -> int | None:
    """Return the number of an argument given by number or name; None for an unknown one."""
    if info is None or argument is None:
        return None
    if isinstance(argument, int):
        return argument if argument < info.argument_count else None
    return next((a.index for a in info.arguments if a.name == argument), None)
