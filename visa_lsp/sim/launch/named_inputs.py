"""The encoding of arguments into the payload without ze_info: by the names of ``.input`` declarations, or in order.

These inputs are filled by name: ``local_id_x``, ``local_id_y``, ``local_id_z`` (a word or dword for each lane),
``global_id_offset``, ``local_size``, ``enqueued_local_size``, ``group_count``, ``global_size`` (three dwords),
``work_dimensions``. In a compiler's dump, whose names have no meaning, local ids, the header after them and the size of
a group are identified by their place. Invariant: an input that is not filled is an error, except for the buffer offsets
of a dump.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from visa_lsp.isa import predefined
from visa_lsp.sim.launch.config import (
    ARGUMENTS,
    Arg,
    BufferArg,
    ImageArg,
    LaunchConfig,
    LaunchError,
    LocalArg,
    NullArg,
    SamplerArg,
    ValueArg,
)
from visa_lsp.sim.launch.value_bytes import value_bytes
from visa_lsp.sim.launch.world import World, argument_sampler
from visa_lsp.suggest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.isa.types import DataType
    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.launch.layout import Geometry, GroupPayload

_IDS: Final = ("local_id_x", "local_id_y", "local_id_z")
_BTI: Final = re.compile(r"bti\((\d{1,3})\)")
_HEADER_BYTES: Final = 32
_SLM_ALIGNMENT: Final = 16


@dataclass(frozen=True, slots=True)
class NamedInput:
    """A ``.input`` of the text: ``kind`` 0 general, 1 sampler, 2 surface."""

    name: str
    kind: int
    offset: int
    size: int
    type: DataType | None


def inputs_of(kernel: Kernel) -> list[NamedInput]:
    """Return the inputs of a kernel by name, in the order of the text."""
    found = []
    for entry in kernel.inputs:
        kind = entry.kind & 7
        if kind == 0:
            name = kernel.variable_name(entry.id)
        else:
            states, first = (
                (kernel.samplers, predefined.FIRST_SAMPLER)
                if kind == 1
                else (kernel.surfaces, predefined.FIRST_SURFACE)
            )
            at = entry.id - first
            name = kernel.string(states[at].name_index) if 0 <= at < len(states) else f"{'_ST'[kind]}{entry.id}"
        found.append(
            NamedInput(name, kind, entry.offset, entry.size, kernel.variable_type(entry.id) if kind == 0 else None)
        )
    return found


class LaunchInputs:
    """The inputs of one launch, filled by name or in order."""

    def __init__(self, kernel: Kernel, config: LaunchConfig, geometry: Geometry, world: World) -> None:
        self.kernel = kernel
        self.config = config
        self.geometry = geometry
        self.world = world
        self.inputs = inputs_of(kernel)
        self._next_bti = 0

    def fill(self, block: GroupPayload) -> None:
        """Write every input.

        Raises LaunchError if an argument has no input, an input no argument, or one does not fit the other.
        """
        given = self.config.args
        if not isinstance(given, tuple):
            self._check_names(given.keys())
        rest = [i for i in self.inputs if isinstance(given, tuple) or i.name not in given]
        rest = [i for i in rest if not self._implicit(block, i)]
        rest = self._dump(block, rest)
        if isinstance(given, tuple):
            self._in_order(block, rest, given)
            return
        if rest:
            told = ", ".join(f"{i.name} (offset={i.offset} size={i.size})" for i in rest)
            raise LaunchError(f"no argument for .input {told}", ARGUMENTS)
        for name, arg in given.items():
            table = _BTI.fullmatch(name)
            if table:
                self._bind(int(table[1]), name, arg)
                continue
            entry = next(i for i in self.inputs if i.name == name)
            block.put(entry.offset, self._bytes(entry, name, arg))

    def fill_edge(self, block: GroupPayload, edge: Geometry) -> None:
        """Write the inputs that differ in a partial group."""
        self.geometry = edge
        given = self.config.args
        rest = [i for i in self.inputs if isinstance(given, tuple) or i.name not in given]
        self._dump(block, [i for i in rest if not self._implicit(block, i)])

    def _check_names(self, names: Iterable[str]) -> None:
        known = [i.name for i in self.inputs]
        for name in names:
            if name not in known and not _BTI.fullmatch(name):
                near = nearest(name, known)
                hint = f"did you mean '{near}'?" if near else f"its inputs are {', '.join(known) or 'none'}"
                raise LaunchError(f"kernel '{self.kernel.name}' has no .input '{name}'; {hint}", name)

    def _in_order(self, block: GroupPayload, rest: list[NamedInput], args: tuple[Arg, ...]) -> None:
        surfaces = sum(isinstance(arg, BufferArg | ImageArg) for arg in args)
        left = rest[len(args) :]
        # A stateful dump has one more dword for each buffer: the distance from the surface's base, which is zero here.
        offsets = len(left) <= surfaces and all(i.kind == 0 and i.size == 4 for i in left)
        if len(rest) < len(args) or (left and not offsets):
            names = ", ".join(i.name for i in rest) or "none"
            raise LaunchError(
                f"kernel '{self.kernel.name}' has {len(rest)} inputs ({names}), got {len(args)} arguments; "
                "its ze_info would say which argument fills which input",
                ARGUMENTS,
            )
        for index, arg in enumerate(args):
            entry = rest[index]
            if isinstance(arg, NullArg) and entry.kind == 0:
                self._next_bti += 1  # its place in the binding table stays empty
            if isinstance(arg, BufferArg | ImageArg) and entry.kind == 0:
                self.world.surfaces[self._take_bti()] = self.world.buffer(index, arg)
            block.put(entry.offset, self._bytes(entry, index, arg))

    def _take_bti(self) -> int:
        while self._next_bti in self.world.surfaces:
            self._next_bti += 1
        return self._next_bti

    def _bind(self, bti: int, key: str, arg: Arg) -> None:
        if isinstance(arg, NullArg):
            return
        if not isinstance(arg, BufferArg | ImageArg):
            raise LaunchError(f"{key} is a surface; expected a buffer or an image", key)
        self.world.surfaces[bti] = self.world.buffer(key, arg)

    def _bytes(self, entry: NamedInput, key: int | str, arg: Arg) -> bytes:
        match arg:
            case ValueArg():
                natural = _NUMPY.get(entry.type.name, "") if entry.type else ""
                return value_bytes(arg, entry.size, natural, key)
            case NullArg() if entry.kind == 2:
                bti = self._take_bti()
                self._next_bti = bti + 1
                return bti.to_bytes(4, "little")[: entry.size]
            case NullArg() if entry.kind == 0:
                return bytes(entry.size)
            case BufferArg() | ImageArg() if entry.kind == 2:
                bti = self._take_bti()
                self.world.surfaces[bti] = self.world.buffer(key, arg)
                return bti.to_bytes(4, "little")[: entry.size]
            case BufferArg():
                if entry.size != 8:
                    raise LaunchError(
                        f".input {entry.name} has {entry.size} bytes; the address of a buffer needs 8", key
                    )
                return self.world.buffer(key, arg).address.to_bytes(8, "little")
            case LocalArg():
                return self.world.local(key, arg, _SLM_ALIGNMENT).to_bytes(8, "little")[: entry.size]
            case SamplerArg() if entry.kind == 1:
                number = len(self.world.samplers)
                self.world.samplers[number] = argument_sampler(arg)
                return number.to_bytes(4, "little")[: entry.size]
        kind = ("a general variable", "a sampler", "a surface")[min(entry.kind, 2)]
        raise LaunchError(
            f".input {entry.name} is {kind}; an argument of kind {type(arg).__name__.removesuffix('Arg').lower()} does not fit",
            key,
        )

    def _implicit(self, block: GroupPayload, entry: NamedInput) -> bool:
        """Fill an input with a predefined name; return whether it has one."""
        geometry = self.geometry
        name = entry.name.lower()
        if name in _IDS:
            ids = geometry.local_ids()[:, _IDS.index(name), :]
            wide = entry.size >= 4 * geometry.simd
            rows = ids.astype(np.uint32 if wide else np.uint16)
            if rows.nbytes > entry.size * geometry.threads:
                raise LaunchError(
                    f".input {entry.name} has {entry.size} bytes; {geometry.simd} lanes need {2 * geometry.simd}"
                )
            block.put_rows(entry.offset, rows)
            return True
        three = {
            "global_id_offset": geometry.global_offset,
            "local_size": geometry.local_size,
            "enqueued_local_size": geometry.enqueued or geometry.local_size,
            "group_count": geometry.groups,
            "global_size": geometry.totals,
            "work_dimensions": (geometry.dimensions,),
        }.get(name)
        if three is None:
            return False
        block.put(entry.offset, struct.pack(f"<{len(three)}I", *three)[: entry.size])
        return True

    def _dump(self, block: GroupPayload, rest: list[NamedInput]) -> list[NamedInput]:
        """Fill the inputs that a compiler's dump has at fixed places; return the others."""
        grf = self.geometry.grf_bytes
        at = grf
        ids = []
        for entry in sorted(rest, key=lambda i: i.offset):
            if entry.offset != at or entry.type is None or entry.type.name not in ("w", "uw"):
                break
            ids.append(entry)
            at += max(entry.size, grf)
        if not ids or (at - grf) % self.geometry.id_stride:
            return rest
        block.put_local_ids(grf, min(3, (at - grf) // self.geometry.id_stride))
        left = []
        for entry in rest:
            if entry in ids:
                continue
            if entry.offset == at and entry.size == _HEADER_BYTES:
                block.put(at, struct.pack("<6I", *self.geometry.global_offset, *self.geometry.local_size))
            elif entry.size == 12 and entry.kind == 0:
                block.put(entry.offset, struct.pack("<3I", *self.geometry.local_size))
            else:
                left.append(entry)
        return left


_NUMPY: Final = {
    "ud": "uint32",
    "d": "int32",
    "uw": "uint16",
    "w": "int16",
    "ub": "uint8",
    "b": "int8",
    "uq": "uint64",
    "q": "int64",
    "hf": "float16",
    "f": "float32",
    "df": "float64",
}
