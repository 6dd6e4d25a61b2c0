"""A launch file in the editor, with its folder: findings, completion, hover, links, definition, outline.

Open documents of the folder replace their files. Never raises for any text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Diagnostic, Severity
from visa_lsp.ide.features.hover import HoverResult
from visa_lsp.ide.prose.markdown import code
from visa_lsp.ide.yaml.schema_answers import (
    YamlCompletion,
    YamlSymbol,
    end_of,
    propose_keys,
    propose_values,
    row_text,
    word_text,
)
from visa_lsp.ide.yaml.schema_place import SchemaPlace, place_at
from visa_lsp.launchfile import rules
from visa_lsp.launchfile.judge import JudgedLaunch, judge
from visa_lsp.launchfile.kernel import MeantKernel, find_kernel
from visa_lsp.launchfile.read_launch import read_launch
from visa_lsp.launchfile.source import launch_source
from visa_lsp.launchfile.tables import ROOT, TABLES
from visa_lsp.launchfile.templates import kind_of, template, type_words
from visa_lsp.program.suffixes import PROGRAMS
from visa_lsp.text import Span, encode_text
from visa_lsp.zeinfo.kernels import child, entries, number, word_of
from visa_lsp.zeinfo.source import YamlSource, ZeInfoSource, is_long
from visa_lsp.zeinfo.zebin import is_elf

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.zeinfo.schema import SchemaKey
    from visa_lsp.zeinfo.yaml import YamlItem

_LENGTH_MESSAGE: Final = "the launch file is too long to be checked while it is edited; `visa-lsp check` checks it"
_NAMING: Final = re.compile(r"^(?:kernel|file|ze_info|zebin): *[^\s\[\]{}]+[ \t]*$", re.MULTILINE)
# The suffixes of the files for each key.
_FILES: Final = {
    "file": PROGRAMS, "files": PROGRAMS, "npy": (".npy",),
    "reference": (*PROGRAMS, ".cl"),
    "ze_info": (".zeinfo.yaml", ".zeinfo.yml", ".ze_info", ".zeinfo", ".zebin"), "zebin": (".zebin",),
}  # fmt: skip
_MAX_ARGUMENTS: Final = 200  # proposals for arguments
_KERNEL: Final = r"^[ \t]*\.kernel[ \t]+\"?({})(?=[\"\s]|$)"


@dataclass(frozen=True)
class LaunchDocument:
    """The text of a launch file and its folder; None for a document without a file."""

    text: str
    folder: LaunchFolder | None = None

    @cached_property
    def source(self) -> YamlSource | None:
        """The parsed text; None for one too long to parse."""
        return None if is_long(self.text) else launch_source(self.text)

    @property
    def is_read(self) -> bool:
        """True if the text is well-formed YAML."""
        return self.source is not None and self.source.root is not None

    @cached_property
    def judged(self) -> JudgedLaunch:
        """The contents of the file, its kernel, and its findings."""
        return judge(self.source if self.source is not None else launch_source(""), self.folder)

    @cached_property
    def meant(self) -> MeantKernel:
        """The kernel of the file; for malformed YAML it is found by the lines that name files and kernel."""
        if self.is_read or self.folder is None:
            return self.judged.meant
        named = "\n".join(dict.fromkeys(match[0] for match in _NAMING.finditer(self.text)))
        return find_kernel(read_launch(launch_source(named), self.folder)[0], self.folder)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings of the file, in text order."""
        if self.source is None:
            note = Diagnostic(rules.SYNTAX, Span(0, 1), _LENGTH_MESSAGE, severity_override=Severity.INFORMATION)
            return (note,)
        return self.judged.diagnostics

    def hover(self, offset: int) -> HoverResult | None:
        """Return the meaning, type, default and an example of the key or word at an offset; of an argument name and type."""
        place, info = place_at(TABLES, ROOT, self.text, offset), self.meant.info
        if place is None:
            return None
        span, table = place.path.word, place.table
        word = self.text[span.start : span.end]
        argument = _argument_text(info, place.argument)
        parts = []
        if place.path.key is None:
            row = table.get(word) if table is not None else None
            if row is not None and table is not None:
                parts = [argument if table.name == "Argument" else "", row_text(table.name, row)]
            elif place.in_arguments:
                parts = [_argument_text(info, word)]
        elif place.row is not None and not place.in_arguments:
            parts.append(word_text(next((w for w in place.row.words if w.name.lower() == word.lower()), None)))
            if place.row.type == "argument":
                parts.append(_argument_text(info, int(word) if word.isdecimal() and len(word) < 6 else word))
            parts.append(row_text(table.name if table is not None else ROOT, place.row))
        elif argument and not word.startswith("{"):
            parts = [argument]
        parts = [part for part in parts if part]
        return HoverResult(span, "\n\n".join(parts)) if parts and word else None

    def completions(self, offset: int) -> tuple[YamlCompletion, ...]:
        """Return the proposals for an offset: keys, words, files, kernels, and the kernel's arguments with their types."""
        text, info, place = self.text, self.meant.info, place_at(TABLES, ROOT, self.text, offset)
        if place is None:
            return ()
        word = place.path.word
        if place.in_arguments:
            return tuple(_propose_arguments(place, info, text))
        if place.row is not None:
            return tuple(_propose_words(place.row, word, self.folder, self.meant))
        begun = text[: word.start].rstrip(" ")
        is_entry = begun.endswith("-") and isinstance(place.argument, int)
        index = index_of(info, place.argument)
        wanted = kind_of(info, index) if info is not None and index is not None else ""
        return (*(_propose_arguments(place, info, text) if is_entry else ()), *propose_keys(place, wanted))

    def links(self) -> tuple[tuple[Span, Path], ...]:
        """Return the named files, with the places of their names."""
        links = []
        if self.source is not None and self.source.root is not None and self.folder is not None:
            for item in _file_items(self.source.root):
                name = str(item.value)
                if self.folder.asks(name) and not self.folder.why_missing(name):
                    links.append((self.source.span(item), self.folder.path(name)))
        return tuple(sorted(links, key=lambda link: link[0]))

    def definition(self, offset: int) -> tuple[Path, Span] | None:
        """Return the file and place of the target at an offset: a file, the kernel, or an argument in ze_info."""
        for span, path in self.links():
            if span.touches(offset):
                return path, Span(0, 0)
        place = place_at(TABLES, ROOT, self.text, offset)
        if place is None or self.folder is None:
            return None
        meant = self.meant
        if place.row is not None and place.row.name == "kernel" and self.judged.launch.file is not None:
            return self._in_program(self.judged.launch.file, meant.name)
        word = self.text[place.path.word.start : place.path.word.end]
        named = word if place.in_arguments and place.path.key is None else place.argument
        index = index_of(meant.info, named)
        if index is None or meant.info is None or meant.told_by is None:
            return None
        return self._in_ze_info(meant.told_by, meant.info.name, index)

    def _in_program(self, path: Path, kernel: str) -> tuple[Path, Span] | None:
        text = self.folder.text(path) if self.folder is not None else ""
        match = re.search(_KERNEL.format(re.escape(kernel)), text, re.MULTILINE)
        return (path, Span(*match.span(1))) if match is not None else None

    def _in_ze_info(self, path: Path, kernel: str, index: int) -> tuple[Path, Span] | None:
        text = self.folder.text(path) if self.folder is not None else ""
        if not text or is_elf(encode_text(text[:4])):
            return None
        source = ZeInfoSource.of(text)
        for top, inner, key in (
            ("kernels_misc_info", "args_info", "index"), ("kernels", "payload_arguments", "arg_index"),
        ):  # fmt: skip
            item = next((k for k in entries(source.root, top) if word_of(k, "name") == kernel), None)
            entry = next((a for a in entries(item, inner) if number(a, key) == index), None)
            if entry is not None:
                name = child(entry, "name")
                return path, source.span(name if name is not None else entry)
        return None

    def symbols(self) -> tuple[YamlSymbol, ...]:
        """Return the outline: the keys of the file, and below `args` the arguments."""
        source = self.source
        if source is None or source.root is None or not isinstance(source.root.value, dict):
            return ()
        symbols = []
        for key, item in source.root.value.items():
            span = source.key_span(source.root, key)
            plain = not isinstance(item.value, dict | list)
            inner = self._argument_symbols(item) if key == "args" else ()
            whole = Span(span.start, max(span.end, end_of(source, item)))
            symbols.append(YamlSymbol(key, "part", str(item.value) if plain else "", span, whole, inner))
        return tuple(symbols)

    def _argument_symbols(self, args: YamlItem) -> tuple[YamlSymbol, ...]:
        source, info = self.source, self.meant.info
        assert source is not None
        named: list[tuple[int | str, YamlItem, Span]] = []
        if isinstance(args.value, dict):
            named = [(name, item, source.key_span(args, name)) for name, item in args.value.items()]
        elif isinstance(args.value, list):
            named = [(index, item, source.span(item)) for index, item in enumerate(args.value)]
        symbols = []
        for name, item, span in named:
            index = index_of(info, name)
            description = info.describe_argument(index) if info is not None and index is not None else ""
            kind = ", ".join(item.value) if isinstance(item.value, dict) else ""
            whole = Span(span.start, max(span.end, end_of(source, item)))
            symbols.append(YamlSymbol(str(name), "argument", description or kind, span, whole))
        return tuple(symbols)


def _file_items(item: YamlItem) -> Iterator[YamlItem]:
    """Yield all items of a launch file that name files."""
    value = item.value
    children = value.items() if isinstance(value, dict) else [("", e) for e in value] if isinstance(value, list) else ()
    for key, inner in children:
        if key == "files" and isinstance(inner.value, list):
            yield from (entry for entry in inner.value if isinstance(entry.value, str))
        elif key not in _FILES or key == "files":
            yield from _file_items(inner)
        elif isinstance(inner.value, str):
            yield inner


def _argument_text(info: KernelInfo | None, argument: int | str | None) -> str:
    """Return number, name, type and address space of an argument of the kernel; empty if unknown."""
    index = index_of(info, argument)
    if info is None or index is None:
        return ""
    name = info.argument_name(index)
    return f"Argument {index}{' ' + code(name) if name else ''} of {code(info.name)}: {type_words(info, index)}"


def _propose_words(
    row: SchemaKey, word: Span, folder: LaunchFolder | None, meant: MeantKernel
) -> Iterator[YamlCompletion]:
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


def _propose_arguments(place: SchemaPlace, info: KernelInfo | None, text: str) -> Iterator[YamlCompletion]:
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
