"""The form before a run: the arguments of a kernel with defaults from ze_info, and the conversion to a launch file.

A ``quick`` launch is a launch file as an object; the template fills in missing keys. The reader of launch files validates
the text. Invariant: each written line is about one item, which ``about`` names.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.launch.defaults import DefaultSizes, default_argument
from visa_lsp.isa.predefined import FIRST_SURFACE
from visa_lsp.program.elements import element_of
from visa_lsp.program.model import Immediate, Kernel, RawOperand, State
from visa_lsp.program.traits import Trait
from visa_lsp.sim.launch.args import MAX_ARGUMENTS
from visa_lsp.zeinfo.read_kernels import ZeInfoError, read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.program.payload import KernelInfo

Spec = dict[str, Any]

_PLAIN: Final = re.compile(r"[A-Za-z_][\w./-]*", re.ASCII)
_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


class QuickError(ValueError):
    """A quick launch that cannot be converted to a launch file."""


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a launch file; ``about`` names the item of each line."""

    text: str
    about: tuple[str, ...]

    def name_item(self, message: str, path: str) -> str:
        """Return a message of the reader with the name of the item instead of a place in the file."""
        match = re.match(rf"{re.escape(path)}:(\d+):\d+: ", message)
        if match is None:
            return message
        number = int(match[1]) - 1
        return f"{self.about[number]}: {message[match.end() :]}" if number < len(self.about) else message[match.end() :]


def element_types(kernel: Kernel) -> dict[str, str]:
    """Return the element types of the surfaces of a kernel, inferred from the data of its messages.

    The keys are names of surfaces, and ``bti(N)`` if the code has an index into the binding table. For texts without ze_info.
    """
    types: dict[str, str] = {}
    places: dict[int, int] = {}
    for inst in kernel.instructions:
        if inst.row.has(Trait.MOVES_STATE):
            target, value = inst.get("dst"), inst.get("src0")
            if isinstance(target, State) and isinstance(value, Immediate) and not target.sampler:
                places[target.var] = value.bits
            continue
        # Scattered messages are skipped because their data variables may have another type than the numbers in them.
        surface = inst.get("surface") if inst.row.has(Trait.BLOCK) else None
        surface = next((v.var for v in inst.values if isinstance(v, State) and not v.sampler), surface)
        data = [v for v in inst.values if isinstance(v, RawOperand)]
        data_type = kernel.variable_type(data[-1].var) if data else None
        if not isinstance(surface, int) or data_type is None:
            continue
        index, dtype = surface - FIRST_SURFACE, element_of(data_type)
        if 0 <= index < len(kernel.surfaces):
            types.setdefault(kernel.string(kernel.surfaces[index].name_index), dtype)
        if surface in places:
            types.setdefault(f"bti({places[surface]})", dtype)
    return types


def described_kernel(ze_info: str, kernel: str) -> KernelInfo:
    """Return what a ze_info says about a kernel. Raises QuickError."""
    try:
        kernels = read(ze_info)
    except ZeInfoError as error:
        raise QuickError(f":{error}") from error
    info = next((k for k in kernels if k.name == kernel), None)
    if info is None:
        raise QuickError(f": unknown kernel '{kernel}'; known kernels: {', '.join(k.name for k in kernels)}")
    if info.argument_count > MAX_ARGUMENTS:
        raise QuickError(
            f": the ze_info of '{info.name}' has {info.argument_count} arguments; at most {MAX_ARGUMENTS} are supported"
        )
    return info


def template(info: KernelInfo, types: Mapping[str, str] | None = None, sizes: DefaultSizes | None = None) -> Spec:
    """Return the launch template of a kernel.

    ``types`` are element types of buffers by name, for ze_info that was inferred from a text. ``sizes`` apply unless the
    ze_info requires others; without them there is one group with the work items of one thread.

    Keys: ``kernel``, ``localSize``, ``groups``, ``required`` (the ze_info has the local size), ``shares`` (the work
    items of a group wait for each other or share memory, and the ze_info does not have the local size), ``simdSize``, and
    ``arguments``, each with ``index``, ``name``, ``kind``, ``default`` as text, ``launch``, the default as an object, ``words``
    for it, ``counts`` (it is likely the number of work items) and ``overrun`` (a trial run accesses memory past its end).
    """
    required = info.env.required_work_group_size
    sizes = sizes or DefaultSizes((max(1, info.env.simd_size), 1, 1))
    if any(required):
        sizes = replace(sizes, local=required)
    arguments = [_argument(info, index, sizes, types) for index in range(info.argument_count)]
    shares = info.env.barrier_count or info.env.slm_size or any(a["kind"] == "local" for a in arguments)
    return {
        "kernel": info.name,
        "localSize": list(sizes.local),
        "groups": list(sizes.groups),
        "required": any(required),
        "simdSize": info.env.simd_size,
        "shares": bool(shares) and not any(required),
        "arguments": arguments,
    }


def _argument(info: KernelInfo, index: int, sizes: DefaultSizes, types: Mapping[str, str] | None) -> Spec:
    """Return an argument: its kind and its default."""
    argument = default_argument(info, index, sizes, types)
    return {
        "index": index,
        "name": info.argument_name(index),
        "kind": argument.kind,
        "default": flow(argument.launch),
        "launch": argument.launch,
        "words": argument.words,
        "counts": sizes.has_count(info, index),
        "overrun": argument.overrun,
    }


# ---- from an object to the text of a launch file ----


def complete(quick: Spec, defaults: Spec | None) -> Spec:
    """Return a quick launch with missing keys from the template. Raises QuickError."""
    launch = dict(quick)
    if defaults is None:
        return launch
    given, arguments = launch.get("args"), defaults["arguments"]
    if isinstance(given, dict):
        names = {a["name"]: a["index"] for a in arguments if a["name"]}
        listed: list[Any] = [None] * len(arguments)
        for name, value in given.items():
            if name not in names:
                raise QuickError(f"unknown argument '{name}'; known arguments: {', '.join(names) or 'nameless'}")
            listed[names[name]] = value
        given = listed
    if given is None:
        given = []
    if isinstance(given, list):
        if len(given) > len(arguments):
            raise QuickError(f"the kernel has {len(arguments)} arguments, got {len(given)}")
        given = [*given, *[None] * (len(arguments) - len(given))]
        given = [_merge_argument(value, spec) for value, spec in zip(given, arguments, strict=True)]
    rest = {"kernel": defaults["kernel"], "groups": defaults["groups"], "local_size": defaults["localSize"]}
    if "threads" in launch:
        rest = {"kernel": defaults["kernel"]}
    elif "global_size" in launch:
        del rest["groups"]
    return {**rest, **launch, "args": given}


def _merge_argument(value: Any, spec: Spec) -> Any:
    """Return an argument merged with the template; a bare number or list becomes the value of the template's kind."""
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
        default_keys = {"dtype": default["buffer"]["dtype"], **({} if sized else {"shape": default["buffer"]["shape"]})}
        return {**value, "buffer": {**({} if "npy" in buffer else default_keys), **buffer}}
    if kind == "value" and "value" in value and "dtype" not in value and "dtype" in default:
        return {**value, "dtype": default["dtype"]}
    return value


def write(launch: Spec, names: Sequence[str] = (), *, named: bool = False) -> Written:
    """Return the text of a launch file with one argument per line.

    ``names`` become comments after the arguments, or the keys of the arguments if ``named``.
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
                    line = f"  - {flow(item)}" + (
                        f"  # {name if _PLAIN.fullmatch(name) else flow(name)}" if name else ""
                    )
                lines.append((line, f"argument {name or index}"))
        else:
            lines.append((f"{flow(str(key))}: {flow(value)}", str(key)))
    return Written("".join(f"{line}\n" for line, _ in lines), tuple(about for _, about in lines))


def flow(value: Any) -> str:
    """Return a JSON value as YAML on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{flow(str(k))}: {flow(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(flow(v) for v in value) + "]"
        case str() if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
            return value
        case float() if not isfinite(value):
            return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}[str(value)]
        case _:
            return json.dumps(value, ensure_ascii=False)
