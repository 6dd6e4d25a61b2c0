"""What a form asks before a run: the arguments of a kernel with defaults from ze_info, and back the text of a launch file.

A ``quick`` launch is a launch file as an object: what it leaves out is the template's. Knows launch files as text only;
their reader is the one who judges. Invariant: each line that is written is about one thing, and says which.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.isa.predefined import FIRST_SURFACE
from visa_lsp.program.model import RawOperand, State
from visa_lsp.sim.launch.args import MAX_ARGUMENTS
from visa_lsp.zeinfo.read import ZeInfoError, read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.program.model import Kernel
    from visa_lsp.program.payload import KernelInfo, PayloadArgument

Spec = dict[str, Any]

_PLAIN: Final = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)
_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_SCALARS: Final = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "float": "float32", "double": "float64", "half": "float16",
}  # fmt: skip
_DTYPES: Final = {
    "ub": "uint8", "b": "int8", "uw": "uint16", "w": "int16", "ud": "uint32", "d": "int32", "uq": "uint64", "q": "int64",
    "hf": "float16", "f": "float32", "df": "float64",
}  # fmt: skip
_BY_SIZE: Final = {1: "uint8", 2: "uint16", 4: "int32", 8: "int64"}
_ELEMENTS: Final = 1024


class QuickError(ValueError):
    """A quick launch that cannot be made into a launch file."""


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a launch file; ``about`` names what each of its lines is about."""

    text: str
    about: tuple[str, ...]

    def said(self, message: str, path: str) -> str:
        """A message of the file's reader, with the name of the thing instead of the file's place."""
        found = re.match(rf"{re.escape(path)}:(\d+):\d+: ", message)
        if found is None:
            return message
        number = int(found[1]) - 1
        return f"{self.about[number]}: {message[found.end() :]}" if number < len(self.about) else message[found.end() :]


def element_types(kernel: Kernel) -> dict[str, str]:
    """The element types of a kernel's surfaces, by name: that of the data which its messages move.

    For texts without ze_info, where nothing else tells what a buffer holds.
    """
    found: dict[str, str] = {}
    for inst in kernel.instructions:
        surface = next((v for v in inst.values if isinstance(v, State) and not v.sampler), None)
        data = [v for v in inst.values if isinstance(v, RawOperand)]
        at = surface.var - FIRST_SURFACE if surface is not None else -1
        if not 0 <= at < len(kernel.surfaces) or not data:
            continue
        held = kernel.variable_type(data[-1].var)
        dtype = _DTYPES.get(held.name) if held is not None else None
        if dtype is not None:
            found.setdefault(kernel.string(kernel.surfaces[at].name_index), dtype)
    return found


def template(
    ze_info: str, kernel: str = "", platform: str | None = None, types: Mapping[str, str] | None = None
) -> Spec:
    """What ze_info tells of a kernel's launch; raises ``QuickError``.

    ``types`` are element types of buffers by name, where the ze_info was made from a text and knows none.

    Keys: ``kernel``, ``kernels``, ``localSize``, ``simdSize``, ``text`` of a launch file to fill in, and ``arguments``,
    each with ``index``, ``name``, ``kind``, ``default`` as text and ``launch``, the default as an object. ``named`` says
    that arguments go by their names: there is no ze_info that gives them numbers.
    """
    try:
        kernels = read(ze_info)
    except ZeInfoError as error:
        raise QuickError(f":{error}") from error
    if not kernels:
        raise QuickError(": ze_info describes no kernel")
    info = next((k for k in kernels if k.name == kernel), None) if kernel else kernels[0]
    if info is None:
        raise QuickError(f": there is no kernel '{kernel}'; there are {', '.join(k.name for k in kernels)}")
    if info.argument_count > MAX_ARGUMENTS:
        raise QuickError(
            f": the ze_info of '{info.name}' speaks of {info.argument_count} arguments; at most {MAX_ARGUMENTS} can be given"
        )
    required = tuple(info.env.required_work_group_size)
    local = list(required if any(required) else (max(1, info.env.simd_size), 1, 1))
    arguments = [_argument(info, index, types) for index in range(info.argument_count)]
    launch: Spec = {"kernel": info.name, **({"platform": platform} if platform else {})}
    launch |= {"groups": [1, 1, 1], "local_size": local, "args": [a["launch"] for a in arguments]}
    return {
        "kernel": info.name,
        "kernels": [k.name for k in kernels],
        "localSize": local,
        "simdSize": info.env.simd_size,
        "arguments": arguments,
        "text": write(launch, [a["name"] for a in arguments], named=types is not None).text,
        "named": types is not None,
    }


def _argument(info: KernelInfo, index: int, types: Mapping[str, str] | None) -> Spec:
    """An argument: its kind and its default."""
    kind, launch = _default([p for p in info.payload if p.arg_index == index], info, index)
    if types is not None and kind == "buffer":
        launch["buffer"]["dtype"] = types.get(info.argument_name(index), "float32")
    return {
        "index": index,
        "name": info.argument_name(index),
        "kind": kind,
        "default": flow(launch),
        "launch": launch,
    }


def _default(entries: Sequence[PayloadArgument], info: KernelInfo, index: int) -> tuple[str, Spec]:
    known = next((a for a in info.arguments if a.index == index), None)
    type_name = (known.type_name if known else "").split(";")[0]
    element = type_name.rstrip("*").rstrip("0123456789").strip()
    dtype = _SCALARS.get(element, "")
    pointer = next((e for e in entries if e.arg_type in ("arg_bypointer", "buffer_address", "buffer_offset")), None)
    if pointer is not None:
        if pointer.addrspace == "local":
            return "local", {"local": _ELEMENTS}
        if pointer.addrspace == "image":
            return "image", {"image": {"dtype": "uint8", "shape": [64, 64, 4], "init": "zeros"}}
        if pointer.addrspace == "sampler":
            return "sampler", {"sampler": {"address": "clamp_to_edge", "filter": "nearest", "normalized": False}}
        return "buffer", {"buffer": {"dtype": dtype or "float32", "shape": [_ELEMENTS], "init": "arange"}}
    size = max((e.offset + e.size for e in entries), default=4) - min((e.offset for e in entries), default=0)
    chosen = dtype or _BY_SIZE.get(size, "int32")
    width = {"8": 1, "6": 2, "2": 4, "4": 8}.get(chosen[-1], 4)
    if size > width and size % width == 0:
        return "value", {"value": {"values": [1] * (size // width), "dtype": chosen}}
    return "value", {"value": 1, "dtype": chosen}


# ---- from an object to the text of a launch file ----


def completed(quick: Spec, told: Spec | None) -> Spec:
    """A quick launch with the template's defaults where it says nothing; raises ``QuickError``."""
    launch = dict(quick)
    if told is None:
        return launch
    given, arguments = launch.get("args"), told["arguments"]
    if isinstance(given, dict):
        names = {a["name"]: a["index"] for a in arguments if a["name"]}
        listed: list[Any] = [None] * len(arguments)
        for name, value in given.items():
            if name not in names:
                raise QuickError(f"there is no argument '{name}'; the arguments are {', '.join(names) or 'nameless'}")
            listed[names[name]] = value
        given = listed
    if given is None:
        given = []
    if isinstance(given, list):
        if len(given) > len(arguments):
            raise QuickError(f"the kernel has {len(arguments)} arguments, these are {len(given)}")
        given = [*given, *[None] * (len(arguments) - len(given))]
        given = [_merged(value, spec) for value, spec in zip(given, arguments, strict=True)]
    rest = {"kernel": told["kernel"], "groups": [1, 1, 1], "local_size": told["localSize"]}
    if "threads" in launch:
        rest = {"kernel": told["kernel"]}
    return {**rest, **launch, "args": given}


def _merged(value: Any, spec: Spec) -> Any:
    """An argument, completed: a bare number or list goes where the template's kind has its values."""
    default, kind = spec["launch"], spec["kind"]
    if value is None:
        return default
    if kind == "buffer" and isinstance(value, list):
        value = {"buffer": {"values": value}}
    elif kind == "value" and not isinstance(value, dict):
        value = {"value": value}
    elif kind == "local" and not isinstance(value, dict):
        value = {"local": value}
    if not isinstance(value, dict):
        return value
    buffer = value.get("buffer")
    if kind == "buffer" and isinstance(buffer, dict):
        sized = any(key in buffer for key in ("shape", "values", "npy")) or isinstance(buffer.get("init"), dict)
        first = {"dtype": default["buffer"]["dtype"], **({} if sized else {"shape": default["buffer"]["shape"]})}
        return {**value, "buffer": {**({} if "npy" in buffer else first), **buffer}}
    if kind == "value" and "value" in value and "dtype" not in value and "dtype" in default:
        return {**value, "dtype": default["dtype"]}
    return value


def write(launch: Spec, names: Sequence[str] = (), *, named: bool = False) -> Written:
    """The text of a launch file with each argument on a line of its own.

    ``names`` stand behind the arguments as comments; with ``named`` before them, as the names that they go by.
    """
    named = named and all(names) and len(set(names)) == len(names)
    lines: list[tuple[str, str]] = []
    for key, value in launch.items():
        if key == "args" and isinstance(value, list) and value:
            lines.append(("args:", "args"))
            for index, item in enumerate(value):
                name = names[index] if index < len(names) else ""
                if named:
                    line = f"  {flow(name)}: {flow(item)}"
                else:
                    line = f"  - {flow(item)}" + (f"  # {flow(name)}" if name else "")
                lines.append((line, f"argument {name or index}"))
        else:
            lines.append((f"{flow(str(key))}: {flow(value)}", str(key)))
    return Written("".join(f"{line}\n" for line, _ in lines), tuple(about for _, about in lines))


def flow(value: Any) -> str:
    """A JSON value as YAML on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{flow(str(k))}: {flow(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(flow(v) for v in value) + "]"
        case str() if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
            return value
        case _:
            return json.dumps(value, ensure_ascii=False)
