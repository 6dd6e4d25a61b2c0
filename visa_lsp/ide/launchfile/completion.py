"""Completion in launch files: keys of the map, words, files, kernels, and the kernel's arguments with their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.ide.yaml.schema_answers import YamlCompletion, propose_keys, propose_values
from visa_lsp.ide.yaml.schema_place import SchemaPlace, place_at
from visa_lsp.launchfile.tables import ROOT, TABLES
from visa_lsp.launchfile.templates import kind_of, template, type_words
from visa_lsp.program.suffixes import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.launchfile.kernel import MeantKernel
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.text import Span
    from visa_lsp.zeinfo.schema import SchemaKey

# The suffixes of the files for each key.
_FILES: Final = {
    "file": PROGRAMS, "files": PROGRAMS, "npy": (".npy",),
    "reference": (*PROGRAMS, ".cl"),
    "ze_info": (".zeinfo.yaml", ".zeinfo.yml", ".ze_info", ".zeinfo", ".zebin"), "zebin": (".zebin",),
}  # fmt: skip
_MAX_ARGUMENTS: Final = 200  # proposals for arguments


def completions(text: str, offset: int, folder: LaunchFolder | None, meant: MeantKernel) -> tuple[YamlCompletion, ...]:
    """Return the proposals for an offset."""
    place = place_at(TABLES, ROOT, text, offset)
    if place is None:
        return ()
    word = place.path.word
    if place.in_arguments:
        return tuple(_arguments(place, meant.info, text))
    if place.row is not None:
        return tuple(_values(place.row, word, folder, meant))
    begun = text[: word.start].rstrip(" ")
    whole = _arguments(place, meant.info, text) if begun.endswith("-") and isinstance(place.argument, int) else ()
    index = index_of(meant.info, place.argument)
    wanted = kind_of(meant.info, index) if meant.info is not None and index is not None else ""
    return (*whole, *propose_keys(place, wanted))


def _values(row: SchemaKey, word: Span, folder: LaunchFolder | None, meant: MeantKernel) -> Iterator[YamlCompletion]:
    yield from propose_values(row, word)
    if row.inner == "file" and folder is not None:
        for name in folder.names(_FILES[row.name]):
            yield YamlCompletion(name, name, word, "file", "", is_key=False)
    if row.name == "kernel":
        for name in meant.kernels or meant.described or ():
            yield YamlCompletion(name, name, word, "kernel", "", is_key=False)
    if row.type == "argument" and meant.info is not None:
        info = meant.info
        for index in range(min(info.argument_count, _MAX_ARGUMENTS)):
            if kind_of(info, index) in ("buffer", "image"):
                yield YamlCompletion(str(index), str(index), word, info.describe_argument(index), "", is_key=False)


def _arguments(place: SchemaPlace, info: KernelInfo | None, text: str) -> Iterator[YamlCompletion]:
    """Yield the arguments: by name while a name is typed, else the one of the entry's number."""
    if info is None:
        return
    word, count = place.path.word, min(info.argument_count, _MAX_ARGUMENTS)
    if place.in_arguments and place.path.key is None:
        for index in range(count):
            name = info.argument_name(index)
            if name and name not in place.path.keys:
                insert = f"{name}: {template(info, index)}"
                yield YamlCompletion(
                    name, insert, word, type_words(info, index), _describe_argument(info, index), is_key=True
                )
        return
    named = index_of(info, place.argument)
    if named is not None and text[word.start : word.start + 1] != "{":
        yield YamlCompletion(
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
