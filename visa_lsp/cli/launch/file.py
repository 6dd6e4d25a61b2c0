"""Launch files (``NAME.launch.yaml``) to launch configurations. Their keys are a contract: none changes its meaning.

Knows the file's keys and where files lie, not what a kernel is. Every mistake is a ``LaunchError`` with file, line and
column. Invariant: nothing larger than the limit of ``sim.launch.config`` is allocated, whatever the file says.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from visa_lsp.cli.launch.arrays import buffer_arg, buffer_array, image_arg, literal_array, load_npy
from visa_lsp.cli.launch.items import Items
from visa_lsp.isa.platforms import PLATFORMS, platform_named
from visa_lsp.reading import read_file
from visa_lsp.sim.launch.config import (
    ARGUMENTS,
    GLOBAL_SIZE,
    GROUPS,
    LOCAL_SIZE,
    MAX_SHARED_BYTES,
    PLATFORM,
    Arg,
    Array,
    Expectation,
    LaunchConfig,
    LaunchError,
    LocalArg,
    NullArg,
    SamplerArg,
    ValueArg,
)
from visa_lsp.zeinfo.yaml import Limits, YamlError, load

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.zeinfo.yaml import YamlItem

_TOP: Final = (
    "kernel",
    "file",
    "files",
    "ze_info",
    "zebin",
    "symbols",
    "platform",
    "groups",
    "threads",
    "mode",
    "local_size",
    "global_size",
    "global_offset",
    "args",
    "expect",
)
# A kernel's payload has room for far fewer arguments; long arrays belong into .npy files, which are read at once.
_LIMITS: Final = Limits(of_document=100_000, of_entries=4096, advice="; long arrays belong into .npy files")
_NAMED: Final = 40  # arguments that a message lists; a kernel has room for some hundreds
_GROUPS_AND_ITEMS: Final = (
    "groups counts thread groups and local_size the work items of one group, so that groups: [4, 1, 1] and "
    "local_size: [256, 1, 1] are 1024 work items; global_size stands instead of groups where the last groups are not full"
)
_SIZES: Final = dict.fromkeys(
    ("global_work_size", "local_work_size", "global", "work_items", "items"), _GROUPS_AND_ITEMS
)
_ADDRESSES: Final = ("none", "clamp_to_edge", "clamp", "repeat", "mirrored_repeat")


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """One launch file, read: the files it names (absolute, existing) and the configuration."""

    path: Path
    file: Path | None
    config: LaunchConfig
    files: tuple[Path, ...] = ()
    ze_info: Path | None = None
    zebin: Path | None = None
    platform: str | None = None
    places: dict[int | str, str] = field(default_factory=dict)  # argument -> path:line:column
    reads: tuple[Path, ...] = ()  # every file that it names, arrays included

    def locate(self, error: LaunchError) -> LaunchError:
        """Give the error with a place: that of its argument, else the file's first line."""
        if error.place:
            return error
        place = self.places.get(error.arg) if error.arg is not None else None
        return LaunchError(error.message, error.arg, place or f"{self.path}:1:1")


def read_launch_file(path: Path, *, named: bool = False) -> LaunchFile:
    """Read a launch file from disk; one that the user ``named`` may be a pipe.

    Raises LaunchError, with a place, where the file cannot be read, is not UTF-8, or says what no launch file can.
    """
    try:
        text = read_file(path, named=named).decode("utf-8")
    except UnicodeDecodeError as error:
        raise LaunchError(f"is not UTF-8 text (byte {error.start})", place=str(path)) from None
    except (OSError, ValueError) as error:
        raise LaunchError(f"cannot be read: {getattr(error, 'strerror', None) or error}", place=str(path)) from None
    return parse_launch(text, path)


def parse_launch(text: str, path: Path) -> LaunchFile:
    """Read the text of a launch file; ``path`` is what file names are relative to and what errors name.

    Raises LaunchError, with line and column from 1, where the text is no YAML, or has keys or values that no launch
    file has.
    """
    try:
        root = load(text, _LIMITS)
    except YamlError as error:
        raise LaunchError(error.message, place=f"{path}:{error.line}:{error.column}") from None
    return _LaunchFileReader(path).launch(root)


class _LaunchFileReader(Items):
    """Reads the items of one launch file; holds only its path and the places of its arguments."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.places: dict[int | str, str] = {}

    def launch(self, root: YamlItem) -> LaunchFile:
        if root.value is None:
            self.fail(root, "the launch file is empty; it needs at least groups and args")
        top = self.entries(root, _TOP, "a launch file", _SIZES)
        for name, key in (
            (GROUPS, "groups"), (LOCAL_SIZE, "local_size"), (ARGUMENTS, "args"), (GLOBAL_SIZE, "global_size"),
            (PLATFORM, "platform"),
        ):  # fmt: skip
            if key in top:
                self.places[name] = self.place(top[key])
        threads = self._threads(root, top)
        if threads and ("groups" in top or "local_size" in top or "global_size" in top):
            self.fail(root, "threads (mode: media) and groups with local_size exclude each other")
        if "groups" in top and "global_size" in top:
            self.fail(root, f"groups and global_size exclude each other: {_GROUPS_AND_ITEMS}", "global_size")
        if not threads and "groups" not in top and "global_size" not in top:
            self.fail(
                root,
                "the key 'groups' is missing: groups: [X, Y, Z], or global_size: [X, Y, Z] where the last groups are not full",
            )
        config = LaunchConfig(
            kernel=self.text(top["kernel"]) if "kernel" in top else None,
            groups=self.triple(top["groups"], 1) if "groups" in top else (1, 1, 1),
            local_size=self.triple(top["local_size"], 1) if "local_size" in top else None,
            global_size=self.triple(top["global_size"], 1) if "global_size" in top else None,
            global_offset=self.triple(top["global_offset"], 0) if "global_offset" in top else (0, 0, 0),
            threads=threads,
            args=self._args(top["args"]) if "args" in top else (),
            symbols=self._symbols(top["symbols"]) if "symbols" in top else {},
            expect=tuple(self._expect(item) for item in self.sequence(top["expect"])) if "expect" in top else (),
        )
        return LaunchFile(
            self.path,
            self._existing(top.get("file")) or self._sibling(),
            config,
            files=tuple(self.file(item) for item in self.sequence(top["files"])) if "files" in top else (),
            ze_info=self._existing(top.get("ze_info")),
            zebin=self._existing(top.get("zebin")),
            platform=self._platform(top.get("platform")),
            places=self.places,
            reads=tuple(self.files),
        )

    def _existing(self, item: YamlItem | None) -> Path | None:
        return None if item is None else self.file(item)

    def _sibling(self) -> Path | None:
        stem = self.path.name.removesuffix(".yaml").removesuffix(".yml").removesuffix(".launch")
        candidates = (self.path.with_name(stem + ending) for ending in (".visaasm", ".isa"))
        return next((path for path in candidates if path.is_file()), None)

    def _platform(self, item: YamlItem | None) -> str | None:
        if item is None:
            return None
        name = self.text(item)
        platform = platform_named(name)
        if platform is None:
            near = difflib.get_close_matches(name.lower(), [p.name.lower() for p in PLATFORMS], 1)
            known = ", ".join(p.name for p in PLATFORMS)
            self.fail(
                item,
                f"unknown platform '{name}'" + (f"; did you mean '{near[0]}'?" if near else f"; known are {known}"),
            )
        return platform.name

    def _threads(self, root: YamlItem, top: dict[str, YamlItem]) -> tuple[int, int] | None:
        mode = self.word(top["mode"], ("gpgpu", "media"), "mode") if "mode" in top else None
        if "threads" not in top:
            if mode == "media":
                self.fail(root, "mode: media needs threads: [X, Y]", "mode")
            return None
        if mode != "media":
            self.fail(
                root, "threads: [X, Y] needs mode: media; with thread groups use groups and local_size", "threads"
            )
        entries = self.sequence(top["threads"])
        if len(entries) != 2:
            self.fail(top["threads"], f"threads are two numbers, [X, Y], these are {len(entries)}")
        return self.number(entries[0], 1, 65535), self.number(entries[1], 1, 65535)

    # Arguments.

    def _args(self, item: YamlItem) -> tuple[Arg, ...] | dict[str, Arg]:
        if isinstance(item.value, dict):
            self.places.update({name: self.place(item, name) for name in item.value})
            return {name: self._arg(entry) for name, entry in item.value.items()}
        if not isinstance(item.value, list):
            self.fail(item, f"args is a list, or a map from names, this is {item.kind}")
        self.places.update({index: self.place(entry) for index, entry in enumerate(item.value)})
        return tuple(self._arg(entry) for entry in item.value)

    def _arg(self, item: YamlItem) -> Arg:
        keys = self.entries(
            item, ("buffer", "value", "values", "dtype", "local", "image", "sampler", "access"), "an argument"
        )
        kinds = [key for key in keys if key not in ("dtype", "access")]
        if len(kinds) != 1:
            what = f"these are {', '.join(kinds)}" if kinds else "there is none"
            self.fail(item, f"an argument is one of buffer, value, values, local, image, sampler; {what}")
        kind = kinds[0]
        if "dtype" in keys and kind not in ("value", "values"):
            self.fail(item, f"dtype belongs inside of {kind}", "dtype")
        if "access" in keys and kind not in ("buffer", "image"):
            self.fail(item, "access belongs to a buffer or an image", "access")
        match kind:
            case "buffer" if keys["buffer"].value is None:
                return NullArg()
            case "buffer":
                return buffer_arg(self, keys["buffer"], keys.get("access"))
            case "value" | "values":
                return ValueArg(literal_array(self, keys[kind], keys.get("dtype")), typed="dtype" in keys)
            case "local":
                return LocalArg(self.number(keys["local"], 1, MAX_SHARED_BYTES))
            case "image":
                return image_arg(self, keys["image"], keys.get("access"))
        return self._sampler(keys["sampler"])

    def _sampler(self, item: YamlItem) -> SamplerArg:
        keys = self.entries(item, ("address", "filter", "normalized"), "a sampler")
        normalized = keys["normalized"].value if "normalized" in keys else False
        if not isinstance(normalized, bool):
            self.fail(keys["normalized"], f"normalized is true or false, this is {keys['normalized'].kind}")
        return SamplerArg(
            self.word(keys["address"], _ADDRESSES, "address mode") if "address" in keys else "none",
            self.word(keys["filter"], ("nearest", "linear"), "filter") if "filter" in keys else "nearest",
            normalized,
        )

    def _symbols(self, item: YamlItem) -> dict[str, Array]:
        if not isinstance(item.value, dict):
            self.fail(item, f"symbols is a map from names, this is {item.kind}")
        return {name: buffer_array(self, entry) for name, entry in item.value.items()}

    def _expect(self, item: YamlItem) -> Expectation:
        keys = self.entries(item, ("arg", "npy", "values", "dtype", "rtol", "atol", "ulp"), "an expectation")
        if "arg" not in keys:
            self.fail(item, "the key 'arg' is missing: which argument is compared")
        arg = keys["arg"].value
        if isinstance(arg, bool) or not isinstance(arg, int | str):
            self.fail(keys["arg"], f"arg is the number or the name of an argument, this is {keys['arg'].kind}")
        if arg not in self.places:
            names = [str(name) for name in self.places if not str(name).startswith(":")]
            known = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
            known = known or "none"
            self.fail(keys["arg"], f"there is no argument {arg}; the arguments are {known}")
        if ("npy" in keys) == ("values" in keys):
            self.fail(item, "an expectation has either npy or values")
        literal = "values" in keys
        array = literal_array(self, keys["values"], keys.get("dtype")) if literal else load_npy(self, keys["npy"])
        return Expectation(
            arg,
            array,
            typed="dtype" in keys or not literal,
            rtol=self.real(keys["rtol"]) if "rtol" in keys else None,
            atol=self.real(keys["atol"]) if "atol" in keys else None,
            ulp=self.number(keys["ulp"], 0, 1 << 30) if "ulp" in keys else None,
        )
