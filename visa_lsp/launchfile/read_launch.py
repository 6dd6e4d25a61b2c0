"""Reads launch files (``NAME.launch.yaml``) to values and findings, for runs, checks and editors.

The keys are a contract: none changes its meaning. Never raises; a wrong item has a finding instead of a value.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Final

from visa_lsp.companions import stem_of
from visa_lsp.diagnostics import Diagnostic, Edit, Fix, has_errors
from visa_lsp.isa.platforms import PLATFORMS, platform_named
from visa_lsp.launchfile import rules
from visa_lsp.launchfile.arrays import ArrayChecks
from visa_lsp.launchfile.formulas import ARRAYS, Formula, FormulaError, is_comparison, read_formula
from visa_lsp.launchfile.sweep import at_point
from visa_lsp.launchfile.tables import EXPLAINED, GROUPS_AND_ITEMS, ROOT, TABLES, words_of
from visa_lsp.launchfile.values import (
    GivenArg,
    GivenArray,
    GivenBuffer,
    GivenExpectation,
    GivenLocal,
    GivenMemory,
    GivenPointer,
    GivenSampler,
    GivenValue,
    LaunchText,
    SweepPoint,
)
from visa_lsp.program.elements import MAX_SHARED_BYTES, element_bytes
from visa_lsp.suggest import nearest
from visa_lsp.text import Span
from visa_lsp.zeinfo.source_findings import change_to

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.launchfile.folder import LaunchFolder
    from visa_lsp.zeinfo.source import YamlSource
    from visa_lsp.zeinfo.yaml import YamlItem

_NAMED: Final = 40  # arguments listed in a message; a kernel has some hundreds at most
_PROGRAMS: Final = (".visaasm", ".isa")
_EXPECTED: Final = ("npy", "values", "expr", "reference")
_BY_PLACE: Final = re.compile(r"arg\d{1,4}")
_MIN_ADDRESS: Final = 4096
_MAX_ADDRESS: Final = 1 << 56
_BESIDE: Final = ("dtype", "access")  # keys of an argument besides its kind


def read_launch(
    source: YamlSource, folder: LaunchFolder | None, point: SweepPoint = ()
) -> tuple[LaunchText, tuple[Diagnostic, ...]]:
    """Return the values of a launch file at a point of its sweep (by default the first), and its findings in text order.

    With a ``folder``, files are checked and the headers of arrays are read.
    """
    sibling = folder.find_sibling(stem_of(folder.launch), _PROGRAMS) if folder is not None else None
    if source.root is None:
        assert source.error is not None
        return LaunchText(file=sibling), (Diagnostic(rules.SYNTAX, source.error_span(), source.error.message),)
    swept = at_point(source, point)
    if has_errors(swept.findings):
        return LaunchText(file=sibling, sweep=swept.sweep), swept.findings
    assert swept.source.root is not None
    reader = _LaunchReader(swept.source, folder)
    reader.launched.file, reader.launched.sweep, reader.launched.names = sibling, swept.sweep, swept.names
    reader.launch(swept.source.root)
    reader.launched.reads = reader.reads
    return reader.launched, tuple(sorted([*swept.findings, *reader.findings], key=lambda d: (d.span, d.code)))


class _LaunchReader(ArrayChecks):
    """Reads the items of one launch file."""

    def __init__(self, source: YamlSource, folder: LaunchFolder | None) -> None:
        super().__init__(source, folder)
        self.launched = LaunchText()
        self._args_are_known = True

    def launch(self, root: YamlItem) -> None:
        if root.value is None:
            span = Span(0, min(1, len(self.source.text)))
            self.add(rules.MISSING_KEY, span, "the launch file is empty; it needs at least groups and args")
            return
        read = self.entries(root, TABLES[ROOT], EXPLAINED)
        if read is None:
            return
        top, sure = read
        out = self.launched
        for key in ("groups", "local_size", "args", "global_size", "platform"):
            if key in top:
                out.places[f":{key}"] = (top[key].line, top[key].column)
        out.threads = self._threads(root, top)
        self._sizes_agree(root, top, sure)
        out.kernel = self.text(top["kernel"]) if "kernel" in top else None
        out.groups = (self.triple(top["groups"], 1) if "groups" in top else None) or (1, 1, 1)
        out.local_size = self.triple(top["local_size"], 1) if "local_size" in top else None
        out.global_size = self.triple(top["global_size"], 1) if "global_size" in top else None
        out.global_offset = (self.triple(top["global_offset"], 0) if "global_offset" in top else None) or (0, 0, 0)
        out.dimensions = self._dimensions(top)
        out.memory = self._memory(top.get("memory"))
        self._arguments(top.get("args"))
        out.symbols = self._symbols(top.get("symbols"))
        entries = self.sequence(top["expect"]) if "expect" in top else None
        expectations = [self._expect(item) for item in entries or ()]
        out.expect = tuple(e for e in expectations if e is not None)
        kinds = self.sequence(top["expect_faults"]) if "expect_faults" in top else None
        words = words_of(ROOT, "expect_faults")
        named = [self.word(item, words, "kind of fault") for item in kinds or ()]
        out.expect_faults = tuple(kind for kind in named if kind is not None)
        if "file" in top:
            out.file = self._path(top["file"])
        files = self.sequence(top["files"]) if "files" in top else None
        out.files = tuple(p for p in map(self._path, files or ()) if p is not None)
        out.ze_info, out.zebin = self._path(top.get("ze_info")), self._path(top.get("zebin"))
        out.platform = self._platform(top.get("platform"))

    def _dimensions(self, top: dict[str, YamlItem]) -> int:
        """Return ``work_dim``, else 2 for two numbers of groups or work items, because three may be one to three dimensions."""
        sizes = next((top[key] for key in ("groups", "global_size") if key in top), None)
        if "work_dim" not in top:
            return 2 if sizes is not None and isinstance(sizes.value, list) and len(sizes.value) == 2 else 0
        given = self.number(top["work_dim"], 1, 3) or 0
        out = self.launched
        items = [a * b for a, b in zip(out.global_size or out.groups, out.local_size or (1, 1, 1), strict=True)]
        several = {axis: "there are several work items" for axis, count in enumerate(items, 1) if count > 1}
        moved = {axis: "there is an offset" for axis, offset in enumerate(out.global_offset, 1) if offset}
        used = moved | several
        if 0 < given < (needed := max(used, default=1)):
            self.add(rules.CONFLICT, top["work_dim"], f"work_dim is {given}, but {used[needed]} in dimension {needed}")
        return given

    def _path(self, item: YamlItem | None) -> Path | None:
        name = self.file(item) if item is not None else None
        if name is None or self.folder is None or not self.folder.asks(name):
            return None
        return self.folder.path(name)

    def _platform(self, item: YamlItem | None) -> str | None:
        name = self.text(item) if item is not None else None
        if item is None or name is None:
            return None
        platform = platform_named(name)
        if platform is None:
            near = nearest(name.lower(), [p.name.lower() for p in PLATFORMS])
            names = {p.name.lower(): p.name for p in PLATFORMS}
            hint = f"did you mean '{near}'?" if near else f"known platforms: {', '.join(p.name for p in PLATFORMS)}"
            span = self.source.span(item)
            fixes = change_to(span, names[near] if near else None)
            self.add(rules.WRONG_WORD, span, f"unknown platform '{name:.100}'; {hint}", fixes)
            return None
        return platform.name

    # Sizes.

    def _threads(self, root: YamlItem, top: dict[str, YamlItem]) -> tuple[int, int] | None:
        mode = self.word(top["mode"], words_of(ROOT, "mode"), "mode") if "mode" in top else None
        if "threads" not in top:
            if mode == "media":
                self.add(rules.CONFLICT, self.key(root, "mode"), "mode: media needs threads: [X, Y]")
            return None
        if mode != "media" and (mode or "mode" not in top):
            words = "threads: [X, Y] needs mode: media; with thread groups use groups and local_size"
            self.add(rules.CONFLICT, self.key(root, "threads"), words)
        entries = self.sequence(top["threads"])
        if entries is None:
            return None
        if len(entries) != 2:
            self.add(rules.RANGE, top["threads"], f"expected two numbers, [X, Y], got {len(entries)}")
            return None
        x, y = (self.number(entry, 1, 65535) for entry in entries)
        return (x, y) if x is not None and y is not None else None

    def _sizes_agree(self, root: YamlItem, top: dict[str, YamlItem], sure: bool) -> None:
        sizes = [key for key in ("groups", "local_size", "global_size") if key in top]
        if "threads" in top and sizes:
            words = "threads (mode: media) and groups with local_size exclude each other"
            self.add(rules.CONFLICT, self.key(root, sizes[0]), words)
        elif "groups" in top and "global_size" in top:
            words = f"groups and global_size exclude each other: {GROUPS_AND_ITEMS}"
            self.add(rules.CONFLICT, self.key(root, "global_size"), words)
        media = "mode" in top and top["mode"].value == "media"
        if not ("threads" in top or media or "groups" in top or "global_size" in top) and sure:
            words = "the key 'groups' is missing: expected groups: [X, Y, Z], or global_size: [X, Y, Z] if the last groups are not full"
            self.add(rules.MISSING_KEY, root, words, self._add_first(root, "groups: [1, 1, 1]"))

    def _add_first(self, root: YamlItem, line: str) -> tuple[Fix, ...]:
        """Return the fix that inserts a line before the first key of the file."""
        start = self.source.start(root)
        if not root.key_places or self.source.text[start] == "{":
            return ()
        indent = " " * (root.column - 1)
        return (Fix(f"add {line}", (Edit(Span(start, start), f"{line}\n{indent}"),)),)

    # Arguments.

    def _arguments(self, item: YamlItem | None) -> None:
        out = self.launched
        if item is None:
            return
        if isinstance(item.value, dict):
            out.places.update({name: item.key_places[name] for name in item.value})
            out.args = {name: self._argument(entry) for name, entry in item.value.items()}
        elif isinstance(item.value, list):
            out.places.update({index: (entry.line, entry.column) for index, entry in enumerate(item.value)})
            out.args = tuple(self._argument(entry) for entry in item.value)
        else:
            self._args_are_known = False
            self.add(rules.WRONG_TYPE, item, f"expected args as a list or a map from names, got {item.kind}")

    def _argument(self, item: YamlItem) -> GivenArg | None:
        read = self.entries(item, TABLES["Argument"])
        if read is None:
            return None
        keys, sure = read
        kinds = [key for key in keys if key not in _BESIDE]
        if len(kinds) != 1:
            if kinds or sure:
                what = f"got {', '.join(kinds)}" if kinds else "got none"
                words = f"expected one of buffer, pointer, value, values, local, image, sampler; {what}"
                self.add(rules.CONFLICT if kinds else rules.MISSING_KEY, item, words)
            return None
        kind = kinds[0]
        if "dtype" in keys and kind not in ("value", "values"):
            self.add(rules.CONFLICT, self.key(item, "dtype"), f"dtype belongs inside {kind}")
        if "access" in keys and kind not in ("buffer", "image"):
            self.add(rules.CONFLICT, self.key(item, "access"), "access belongs to a buffer or an image")
        match kind:
            case "buffer" if keys["buffer"].value is None:
                return GivenBuffer(None)
            case "buffer":
                return self.buffer(keys["buffer"], keys.get("access"))
            case "pointer":
                return self._pointer(keys["pointer"])
            case "value" | "values":
                array = self.literal(keys[kind], keys.get("dtype"))
                return GivenValue(array) if array is not None else None
            case "local":
                size = self.number(keys["local"], 1, MAX_SHARED_BYTES)
                return GivenLocal(size) if size is not None else None
            case "image":
                return self.image(keys["image"], keys.get("access"))
        return self._sampler(keys["sampler"])

    def _memory(self, item: YamlItem | None) -> tuple[GivenMemory, ...]:
        regions = []
        for entry in (self.sequence(item) if item is not None else None) or ():
            read = self.entries(entry, TABLES["Memory"])
            if read is None:
                continue
            keys, sure = read
            if "address" not in keys:
                if sure:
                    self.add(rules.MISSING_KEY, entry, "memory needs an address")
                continue
            address = self.number(keys["address"], _MIN_ADDRESS, _MAX_ADDRESS)
            array = self.contents(entry, keys, sure, "memory")
            if address is not None and array is not None:
                regions.append(GivenMemory(address, array))
        return tuple(regions)

    def _pointer(self, item: YamlItem) -> GivenPointer | None:
        address = self.number(item, _MIN_ADDRESS, _MAX_ADDRESS)
        if address is None:
            return None
        for number, region in enumerate(self.launched.memory):
            size = prod(region.array.shape) * element_bytes(region.array.dtype)
            if region.address <= address < region.address + size:
                return GivenPointer(address, number)
        self.add(rules.RANGE, item, "the address is not in `memory`")
        return None

    def _sampler(self, item: YamlItem) -> GivenSampler | None:
        read = self.entries(item, TABLES["Sampler"])
        if read is None:
            return None
        keys = read[0]
        normalized = keys["normalized"].value if "normalized" in keys else False
        if not isinstance(normalized, bool):
            words = f"expected true or false, got {keys['normalized'].kind}"
            self.add(rules.WRONG_TYPE, keys["normalized"], words)
            return None
        address = (
            self.word(keys["address"], words_of("Sampler", "address"), "address mode") if "address" in keys else "none"
        )
        mode = self.word(keys["filter"], words_of("Sampler", "filter"), "filter") if "filter" in keys else "nearest"
        return GivenSampler(address, mode, normalized) if address is not None and mode is not None else None

    def _symbols(self, item: YamlItem | None) -> dict[str, GivenArray]:
        if item is None:
            return {}
        if not isinstance(item.value, dict):
            self.add(rules.WRONG_TYPE, item, f"expected symbols as a map from names, got {item.kind}")
            return {}
        arrays = {name: self.symbol(entry) for name, entry in item.value.items()}
        return {name: array for name, array in arrays.items() if array is not None}

    # Expectations.

    def _expect(self, item: YamlItem) -> GivenExpectation | None:
        read = self.entries(item, TABLES["Expectation"])
        if read is None:
            return None
        keys, sure = read
        kinds = [key for key in _EXPECTED if key in keys]
        if len(kinds) != 1:
            if kinds or sure:
                rule = rules.CONFLICT if kinds else rules.MISSING_KEY
                self.add(rule, item, "an expectation takes one of npy, values, expr, reference")
            self._find_argument(item, keys.get("arg"), False)
            return None
        kind = kinds[0]
        rtol, atol = (self.real(keys[key]) if key in keys else None for key in ("rtol", "atol"))
        ulp = self.number(keys["ulp"], 0, 1 << 30) if "ulp" in keys else None
        if "dtype" in keys and kind in ("expr", "reference"):
            self.add(rules.CONFLICT, self.key(item, "dtype"), "dtype belongs to values")
        needed = sure and kind in ("npy", "values")
        arg = self._find_argument(item, keys.get("arg"), needed)
        match kind:
            case "expr":
                expr = self._formula(keys["expr"], alone="arg" not in keys)
                return GivenExpectation(arg, None, rtol, atol, ulp, expr) if expr else None
            case "reference":
                path = self._path(keys["reference"])
                return GivenExpectation(arg, None, rtol, atol, ulp, reference=path) if path is not None else None
        array = self.literal(keys["values"], keys.get("dtype")) if kind == "values" else self.npy(keys["npy"])
        return GivenExpectation(arg, array, rtol, atol, ulp) if arg is not None and array is not None else None

    def _formula(self, item: YamlItem, *, alone: bool) -> str:
        """Return a valid expression over arrays; without ``arg`` (``alone``) it must be a comparison."""
        if not isinstance(item.value, str):
            self.add(rules.WRONG_TYPE, item, f"expected an expression as text, got {item.kind}")
            return ""
        try:
            formula = read_formula(item.value, ARRAYS)
            if alone and not is_comparison(formula):
                raise FormulaError("expected a comparison, such as y == 2 * x, or the key arg")  # noqa: TRY301 - reported like the others
            self._names_are_known(formula)
        except FormulaError as error:
            self.add(rules.EXPRESSION, item, str(error))
            return ""
        return item.value

    def _names_are_known(self, formula: Formula) -> None:
        """Raise FormulaError for an unknown name, if arguments have names."""
        launched = self.launched
        if not isinstance(launched.args, dict) or not self._args_are_known:
            return
        names = {*launched.args, *launched.names, *(f"{name}0" for name in launched.args)}
        unknown = sorted(name for name in formula.names - names if not _BY_PLACE.fullmatch(name))
        if unknown:
            near = nearest(unknown[0], sorted(names))
            hint = f"did you mean '{near}'?" if near else f"known arguments: {', '.join(launched.args) or 'none'}"
            raise FormulaError(f"unknown name '{unknown[0]}'; {hint}")

    def _find_argument(self, item: YamlItem, named: YamlItem | None, sure: bool) -> int | str | None:
        if named is None:
            if sure:
                self.add(rules.MISSING_KEY, item, "the key 'arg' is missing: the argument to compare")
            return None
        arg = named.value
        if isinstance(arg, bool) or not isinstance(arg, int | str):
            words = f"expected the number or the name of an argument, got {named.kind}"
            self.add(rules.WRONG_TYPE, named, words)
            return None
        places = self.launched.places
        if self._args_are_known and (arg not in places or str(arg).startswith(":")):
            names = [str(name) for name in places if not str(name).startswith(":")]
            listed = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
            near = nearest(arg, names) if isinstance(arg, str) else ""
            span = self.source.span(named)
            fixes = change_to(span, near)
            by_place = any(isinstance(place, int) for place in places)
            if by_place and isinstance(arg, str) and arg.isidentifier():
                return arg  # the name of an argument by the ze_info, which is not read here
            kind = "a list without names" if by_place else "a map with names"
            why = f", because args is {kind}" if names and by_place == isinstance(arg, str) else ""
            words = f"unknown argument {arg!s:.100}{why}; known arguments: {listed or 'none'}"
            self.add(rules.NO_SUCH_ARGUMENT, span, words, fixes)
            return None
        return arg
