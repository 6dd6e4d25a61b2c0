"""The registers of a work item when its thread starts: ids, sizes and arguments as symbols.

Knows the launch only through ze_info. Invariant: the symbol of a register covers every value that a launch may put there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations
from typing import TYPE_CHECKING, Final

from visa_lsp.app.prove.registers import ItemRegisters, LanePlace, limits
from visa_lsp.app.prove.terms import Atom, Claim, Level, Sum, SumPool, at_most, less, number
from visa_lsp.flow.storage import Storage, storage_of
from visa_lsp.sim.launch.layout import MAX_GROUP_ITEMS, Geometry, LaunchLayout, walked_axes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Kernel
    from visa_lsp.program.payload import KernelInfo, PayloadArgument

AXES: Final = "xyz"
MAX_ITEMS: Final = (1 << 31) - 1  # of a launch along an axis
MAX_BYTES: Final = (1 << 32) - 1  # of a buffer
MAX_ADDRESS: Final = (1 << 47) - 1
_R0: Final = 7
_GROUP_WORDS: Final = (1, 6, 7)  # elements of r0
_THREAD_BYTE: Final = 8  # of r0, with the number of the thread in its group
_GROUP_VARIABLES: Final = (3, 4, 5)  # %group_id_x and the ids after it
_SURFACE: Final = 2  # the class of an input


@dataclass(slots=True)
class LaunchSymbols:
    """The symbols of a launch: sizes, ids, arguments by value, pointers and sizes of buffers."""

    pool: SumPool
    local: list[Sum] = field(default_factory=list)
    counts: list[Sum] = field(default_factory=list)
    groups: list[Sum] = field(default_factory=list)
    ids: list[Sum] = field(default_factory=list)
    offsets: list[Sum] = field(default_factory=list)
    values: dict[int, Sum] = field(default_factory=dict)  # argument -> its value, a whole number
    pointers: dict[int, Sum] = field(default_factory=dict)  # argument -> its address
    handles: dict[int, Sum] = field(default_factory=dict)  # argument -> the handle of its surface
    variables: dict[str, Sum] = field(default_factory=dict)  # variable of the program -> its address
    shared: dict[int, Sum] = field(default_factory=dict)  # argument -> its offset in shared local memory
    sizes: dict[int, Sum] = field(default_factory=dict)  # argument -> the bytes of its buffer
    facts: list[Claim] = field(default_factory=list)  # of every launch and every work item
    fixed: Mapping[str, int] = field(default_factory=dict)  # symbol -> the value that assumptions give it

    def symbol(self, name: str, level: Level, low: int, high: int) -> Sum:
        """Return a symbol, or its value if that is fixed."""
        value = self.fixed.get(name, low)
        if (name in self.fixed or low == high) and low <= value <= high:
            return number(value)
        return self.pool.symbol(name, level, low, high)

    def variable(self, name: str) -> Sum:
        """Return the address of a variable of the program."""
        address = self.pool.symbol(f"address of {name}", Level.LAUNCH, 0, MAX_ADDRESS)
        return self.variables.setdefault(name, address)

    def atoms_of_axis(self, axis: int) -> set[Atom]:
        """Return the symbols of an axis: its ids, sizes, numbers of groups and offset."""
        lists = self.ids, self.groups, self.local, self.counts, self.offsets
        return {atom for one in lists for atom, _ in one[axis].factors}

    def totals(self, axis: int) -> Sum:
        """Return the number of work items of the launch along an axis."""
        return self.pool.product(self.counts[axis], self.local[axis])

    def item(self, info: KernelInfo) -> Sum:
        """Return the number of a work item in its group, by which threads are filled."""
        at = number(0)
        for axis in reversed(walked_axes(info.env.walk_order)):
            at = self.pool.product(at, self.local[axis]) + self.ids[axis]
        return at


def symbols_of(pool: SumPool, info: KernelInfo, fixed: Mapping[str, int]) -> LaunchSymbols:
    """Return the symbols of a launch of a kernel, and the facts about them."""
    symbols = LaunchSymbols(pool, fixed=fixed)
    required = info.env.required_work_group_size
    for index, axis in enumerate(AXES):
        size = required[index] if any(required) else 0
        local = number(size) if size else symbols.symbol(f"local_size_{axis}", Level.LAUNCH, 1, MAX_GROUP_ITEMS)
        count = symbols.symbol(f"groups_{axis}", Level.LAUNCH, 1, MAX_ITEMS)
        group = symbols.symbol(f"group_id_{axis}", Level.GROUP, 0, count.limits()[1] - 1)
        item = symbols.symbol(f"local_id_{axis}", Level.ITEM, 0, local.limits()[1] - 1)
        offset = symbols.symbol(f"offset_{axis}", Level.LAUNCH, 0, MAX_ITEMS)
        symbols.local.append(local)
        symbols.counts.append(count)
        symbols.groups.append(group)
        symbols.ids.append(item)
        symbols.offsets.append(offset)
        for number_ in (group, count):
            pool.product(number_, local, (0, MAX_ITEMS))
        symbols.facts += [less(item, local), less(group, count), at_most(symbols.totals(index) + offset, MAX_ITEMS)]
    for a, b, c in permutations(range(3)):
        inner = pool.product(symbols.local[a], symbols.local[b], (1, MAX_GROUP_ITEMS))
        pool.product(inner, symbols.local[c], (1, MAX_GROUP_ITEMS))
        inner = pool.product(symbols.local[b], symbols.ids[c], (0, MAX_GROUP_ITEMS - 1))
        pool.product(symbols.local[a], symbols.ids[b] + inner, (0, MAX_GROUP_ITEMS - 1))
    return symbols


def initial_registers(
    kernel: Kernel, info: KernelInfo, platform: Platform, symbols: LaunchSymbols, simd: int
) -> tuple[ItemRegisters, Storage]:
    """Return the registers of a work item when its thread starts, and the storage of variables."""
    pool, grf = symbols.pool, platform.grf_bytes
    storage = storage_of(kernel, grf)
    lane = pool.symbol("lane", Level.ITEM, 0, simd - 1) if simd > 1 else number(0)
    registers = ItemRegisters(pool, lane)
    layout = LaunchLayout.of(info, Geometry(simd, grf, (1, 1, 1), (1, 1, 1), walk_order=info.env.walk_order), platform)
    parts = [
        (layout.payload.place(entry.offset) + within, size, value)
        for entry in info.payload for within, size, value in _values(info, entry, symbols)
    ]  # fmt: skip
    for axis in range(3):
        group = symbols.groups[axis]
        registers.write(LanePlace(_R0, 4 * _GROUP_WORDS[axis], 0, 4), group, signed=False, by_all=True)
        registers.write(LanePlace(_GROUP_VARIABLES[axis], 0, 0, 4), group, signed=False, by_all=True)
    thread = pool.wrap(pool.quotient(symbols.item(info), simd), 8, signed=False)
    registers.write(LanePlace(_R0, _THREAD_BYTE, 0, 1), thread, signed=False, by_all=True)
    for entry in kernel.arguments:
        if entry.kind & 7 == _SURFACE:
            index = next(
                (one.arg_index for one in info.payload if layout.payload.place(one.offset) == entry.offset), None
            )
            registers.surfaces[entry.id] = ~index if index is not None else None
        where = storage.general.get(entry.id)
        if entry.kind & 7 or where is None:
            continue
        at_start = where.offset - entry.offset
        end = entry.offset + entry.size
        for axis in range(layout.payload.id_dimensions):
            ids_start = grf + axis * layout.geometry.id_stride
            # An input holds the ids of an axis for the lanes from its start on.
            low, high = max(ids_start, entry.offset), min(ids_start + 2 * simd, end)
            if low < high:
                begin, lanes = (low - ids_start) // 2, (high - low) // 2
                place = LanePlace(where.root, at_start + ids_start, 2, 2, begin, lanes)
                registers.write(place, symbols.ids[axis], signed=False, by_all=False)
        for offset, size, value in parts:
            if entry.offset <= offset and offset + size <= end:
                registers.write(LanePlace(where.root, at_start + offset, 0, size), value, signed=False, by_all=True)
    return registers, storage


def _values(info: KernelInfo, entry: PayloadArgument, symbols: LaunchSymbols) -> list[tuple[int, int, Sum]]:
    pool, index = symbols.pool, entry.arg_index
    by_axis = {
        "global_id_offset": symbols.offsets, "local_size": symbols.local, "enqueued_local_size": symbols.local,
        "group_count": symbols.counts,
    }.get(entry.arg_type)  # fmt: skip
    if entry.arg_type == "global_size":
        by_axis = [symbols.totals(axis) for axis in range(3)]
    if by_axis is not None:
        return [(4 * axis, 4, value) for axis, value in enumerate(by_axis) if 4 * axis + 4 <= entry.size]
    if entry.arg_type == "buffer_offset":
        return [(0, 4, number(0))]
    if entry.arg_type == "buffer_size":
        return [(0, entry.size, size_of(symbols, index))]
    if entry.arg_type == "arg_byvalue":
        return _by_value(info, entry, symbols)
    if entry.kind == "local" and entry.size:
        place = symbols.shared.setdefault(index, pool.symbol(f"shared_{index}", Level.LAUNCH, 0, 1 << 20))
        # An offset has 32 bits; the kernel reads only these, or also the zeros above them.
        return [(0, min(4, entry.size), place), *([(4, entry.size - 4, number(0))] if entry.size > 4 else [])]
    if not entry.size:
        return []
    if entry.kind == "buffer" and entry.size == 8 and entry.addrmode in ("stateless", ""):
        pointer = symbols.pointers.setdefault(index, pool.symbol(f"pointer_{index}", Level.LAUNCH, 0, MAX_ADDRESS))
        return [(0, 8, pointer)]
    low, high = limits(entry.size, signed=False)
    if entry.kind == "buffer":
        value = symbols.handles.setdefault(index, pool.symbol(f"handle_{index}", Level.LAUNCH, low, high))
    else:
        value = pool.symbol(f"{entry.arg_type}_{max(0, index)}", Level.LAUNCH, low, high)
    return [(0, entry.size, value)]


def _by_value(info: KernelInfo, entry: PayloadArgument, symbols: LaunchSymbols) -> list[tuple[int, int, Sum]]:
    pool, index = symbols.pool, entry.arg_index
    type_ = info.element_of(index)
    name = f"argument {index}"  # different from all other symbols, whatever name the source has
    if type_.startswith(("int", "uint")) and entry.source_offset <= 0:
        signed = type_.startswith("int")
        low, high = limits(entry.size, signed=signed)
        value = symbols.values.setdefault(index, symbols.symbol(name, Level.LAUNCH, low, high))
        return [(0, entry.size, value)]
    # A float, a vector or a struct: unknown dwords, the same for all work items.
    size = 4 if entry.size % 4 == 0 else entry.size
    low, high = limits(size, signed=False)
    return [
        (at, size, pool.symbol(f"{name}.{max(0, entry.source_offset) + at}", Level.LAUNCH, low, high))
        for at in range(0, entry.size, size)
    ]


def size_of(symbols: LaunchSymbols, index: int) -> Sum:
    """Return the number of bytes of the buffer of an argument."""
    return symbols.sizes.setdefault(index, symbols.pool.symbol(f"bytes_{index}", Level.LAUNCH, 0, MAX_BYTES))
