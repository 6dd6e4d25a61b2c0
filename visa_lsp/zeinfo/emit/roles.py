"""The roles of inputs in a compiler's dump, whose names have no meaning.

Measured on 900 kernels of two compilers (ze_info 1.20 and 1.73, seven devices), and on kernels made for the purpose:

* the payload has the order header, ``__local`` pointers, ``__global`` pointers, ``__constant`` pointers, values, structs
  by value, base addresses (private memory, constants, globals, printf), buffer offsets, ``work_dimensions``, ``group_count``,
  ``global_size``, ``local_size``, ``enqueued_local_size``, facts of images, samplers' snap flags, handles of samplers and images;
* pointers are ``uq`` and, in shared local memory, ``ud``; values are never of these types;
* variables are numbered in the order of creation: used arguments, in the order of the source, between the two aliases
of ``%r0``; then values added by the runtime (sizes, local ids, base addresses, pieces of structs, an offset for each
buffer in the order of the source); at the end unused arguments, such as the address of a buffer that the code accesses
through the binding table only; * the binding table has images first, then buffers in the order of the payload.

Knows inputs and their use in the code, no ze_info. Invariant: a role that these rules leave open has a doubt.
"""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec import field as member

from visa_lsp.program.payload_layout import CANDIDATES, Registers
from visa_lsp.zeinfo.input_use import FIRST_DECLARED, R0, InputUse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from visa_lsp.program.model import Kernel
    from visa_lsp.zeinfo.emit.slots import InputSlot, Payload

_SIZES: Final = ("group_count", "global_size", "local_size", "enqueued_local_size")
_MAX_ORDERED_POINTERS: Final = 14
_MAX_ORDERS: Final = 50_000
_FIRST: Final = ("indirect_data_pointer", "scratch_pointer")
_WIDE_HEADER_BYTES: Final = 32
_TRIPLE_BYTES: Final = 12


class Roles(Struct):
    """The inputs of one dump by role; each list in the order of the payload."""

    implicit: list[tuple[str, InputSlot, int, int]] = member(default_factory=list)  # kind, input, its byte, bytes
    locals: list[InputSlot] = member(default_factory=list)
    pointers: list[InputSlot] = member(default_factory=list)
    values: list[InputSlot] = member(default_factory=list)
    pieces: list[InputSlot] = member(default_factory=list)
    bases: list[InputSlot] = member(default_factory=list)
    offsets: list[InputSlot] = member(default_factory=list)
    sizes: list[InputSlot] = member(default_factory=list)
    facts: list[InputSlot] = member(default_factory=list)
    handles: list[InputSlot] = member(default_factory=list)
    inline_samplers: list[InputSlot] = member(default_factory=list)


def boundary(kernel: Kernel) -> int | None:
    """Return the number of the second alias of ``%r0``, which ends the arguments; None for other texts than dumps."""
    aliases = [
        FIRST_DECLARED + index
        for index, variable in enumerate(kernel.variables)
        if variable.alias_index == R0 and not variable.alias_offset
    ]
    if len(aliases) != 2 or aliases[0] != FIRST_DECLARED + 1:
        return None
    general = [entry.id for entry in kernel.arguments if entry.kind & 7 == 0]
    return aliases[1] if all(kernel.variable_name(id_) == f"V{id_:04}" for id_ in general) else None


def registers_of_dump(kernel: Kernel) -> Registers | None:
    """Return the size of a register in a dump, which is that of its first variables; None for other texts."""
    if boundary(kernel) is None:
        return None
    grf = kernel.variables[0].byte_size
    start = min((entry.offset for entry in kernel.arguments), default=grf)
    ids = any(
        (t := kernel.variable_type(e.id)) is not None and t.size == 2 for e in kernel.arguments if e.offset == grf
    )
    return next((r for r in CANDIDATES if r.bytes == grf and (ids or r.empty_row == (start > grf))), None)


def roles_of(payload: Payload, flow: InputUse, end: int) -> Roles:
    """Assign a role to each input after the local ids; ``end`` is the first number after the arguments."""
    return _PayloadReader(payload, flow, end).read()


class _PayloadReader:
    """A walk over the payload."""

    def __init__(self, payload: Payload, flow: InputUse, end: int) -> None:
        self.payload = payload
        self.flow = flow
        self.end = end
        self.roles = Roles()
        # Unused arguments are numbered after some computed value.
        used_ids = [*flow.read, *(s.id for s in payload.ids)]
        last = max((v for v in used_ids if v >= FIRST_DECLARED), default=end)
        self.first_made = min((v for v in flow.targets if v > end), default=last)

    def is_taken(self, slot: InputSlot) -> bool:
        """Return whether the code uses the input."""
        return self.flow.root(slot.id) in self.flow.read

    def is_explicit(self, slot: InputSlot) -> bool:
        """Return whether it is an argument of the source."""
        return slot.id < self.end or (not self.is_taken(slot) and slot.id > self.first_made)

    def read(self) -> Roles:
        slots = self._header(list(self.payload.rest))
        ids = [s.id for s in self.payload.ids]
        sizes = [s for s in slots if not self.is_explicit(s) and s.type == "d" and s.size == _TRIPLE_BYTES]
        first_id = min([s.id for s in sizes] + ids, default=None)
        tail = False
        for number, slot in enumerate(slots):
            if self.is_explicit(slot):
                tail = self._argument(slot, tail=tail)
            elif slot.is_scalar("uq", 8):
                self.roles.bases.append(slot)
                tail = True
            elif slot.is_scalar("q", 8) and self._is_handle(slot):
                self.roles.inline_samplers.append(slot)
            elif slot in sizes:
                self.roles.sizes.append(slot)
                tail = True
            elif slot.is_scalar("d", 4) and first_id is not None and self.end < slot.id < first_id:
                self.roles.implicit.append(("work_dimensions", slot, slot.offset, 4))
                tail = True
            elif slot.is_scalar("d", 4) and not self._is_piece(slot, slots[number:]):
                self._dword(slot)
                tail = True
            else:
                self.roles.pieces.append(slot)
        return self.roles

    def _header(self, slots: list[InputSlot]) -> list[InputSlot]:
        """Remove the first inputs filled by the runtime, grid start and group size; return the rest."""
        start = self.payload.layout.cross_start
        add = self.roles.implicit.append
        for kind in _FIRST:
            if slots and slots[0].offset == start and slots[0].is_scalar("uq", 8) and not self.is_explicit(slots[0]):
                add((kind, slots[0], start, 8))
                start, slots = start + 8, slots[1:]
        if slots and slots[0].offset == start and not self.is_explicit(slots[0]) and slots[0].type == "d":
            slot = slots[0]
            if slot.size == _WIDE_HEADER_BYTES:
                add(("global_id_offset", slot, start, _TRIPLE_BYTES))
                add(("local_size", slot, start + _TRIPLE_BYTES, _TRIPLE_BYTES))
                slots = slots[1:]
                # Today's compiler puts this directly after the header, not after the arguments.
                if self._is_size(slots, 0, start + _WIDE_HEADER_BYTES) and not self._is_size(slots, 1):
                    add(("enqueued_local_size", slots[0], slots[0].offset, _TRIPLE_BYTES))
                    slots = slots[1:]
                return slots
            if slot.size == _TRIPLE_BYTES:
                add(("global_id_offset", slot, start, _TRIPLE_BYTES))
                slots = slots[1:]
        if self._is_size(slots, 0, start + _TRIPLE_BYTES):
            add(("enqueued_local_size", slots[0], slots[0].offset, _TRIPLE_BYTES))
            slots = slots[1:]
        return slots

    def _is_size(self, slots: Sequence[InputSlot], number: int, place: int | None = None) -> bool:
        """Return whether an input is three numbers that the runtime adds, at a place if one is given."""
        if number >= len(slots):
            return False
        slot = slots[number]
        return (
            slot.size == _TRIPLE_BYTES
            and slot.type == "d"
            and not self.is_explicit(slot)
            and place in (None, slot.offset)
        )

    def _argument(self, slot: InputSlot, *, tail: bool) -> bool:
        roles = self.roles
        if slot.is_scalar("ud", 4):
            roles.locals.append(slot)
        elif slot.is_scalar("uq", 8) and (tail or roles.values or roles.facts or self._is_handle(slot)):
            roles.handles.append(slot)
        elif slot.is_scalar("uq", 8):
            roles.pointers.append(slot)
        else:
            roles.values.append(slot)
        return tail

    def _is_handle(self, slot: InputSlot) -> bool:
        handles = self.flow.surface_handles | self.flow.sampler_handles
        return any(self.flow.root(slot.id) in self.flow.of(h) for h in handles)

    def _is_piece(self, slot: InputSlot, rest: Sequence[InputSlot]) -> bool:
        """Return whether a dword is part of a struct, because it precedes base addresses and is numbered before offsets."""
        if any(not self.is_explicit(s) and s.is_scalar("uq", 8) for s in rest):
            return True
        if self.flow.root(slot.id) not in self.flow.computed or any(self._is_handle(s) for s in rest):
            return False
        if self.roles.bases or self.roles.sizes or self.roles.offsets or self.roles.facts:
            return False
        # Without base addresses, the pieces end at the last that cannot be an offset.
        odd = [
            i for i, s in enumerate(rest) if not self.is_explicit(s) and s.type not in ("d", "uq", "ud") and s.size <= 8
        ]
        return bool(odd) or not self.flow.surfaces

    def _dword(self, slot: InputSlot) -> None:
        roles = self.roles
        before = [*roles.offsets, *roles.facts]
        # Offsets are added last, but precede the sizes and the facts of images.
        if roles.sizes or roles.facts or (before and slot.id < before[-1].id) or not self.flow.surfaces:
            roles.facts.append(slot)
        elif len(roles.offsets) < len(roles.pointers):
            roles.offsets.append(slot)
        else:
            roles.facts.append(slot)


# The order of the source.


def orders(
    roles: Roles, kernel: Kernel, flow: InputUse, constants: Sequence[int] | None, images: int
) -> list[list[int]]:
    """Return the possible orders of the pointers in the source, the likeliest first; each lists numbers into ``roles.pointers``.

    The last pointers of the payload may be ``__constant``, and then be anywhere among the ``__global`` ones, which keep
    their order. ``constants`` are the arguments known to be ``__constant``.
    """
    count = len(roles.pointers)
    if count <= 1 or (constants is not None and not constants):
        return [list(range(count))]
    if constants is not None:
        return [_order(count, len(constants), constants)]
    taken = {i: s.id for i, s in enumerate(roles.pointers) if flow.root(s.id) in flow.read}
    if len(taken) == count:
        return [sorted(taken, key=lambda i: taken[i])]
    if count > _MAX_ORDERED_POINTERS:
        return [list(range(count)), _order(count, 1, (0,))]
    trailing = _read_only(roles, flow, images)
    possible_orders: list[list[int]] = []
    tried = 0
    for way in offset_owners(roles, flow, images):
        offsets = {i: roles.offsets[n].id for n, i in enumerate(way)}
        ranks = _ranks(roles, kernel, flow, offsets)
        for order in islice(_interleavings(count, trailing), _MAX_ORDERS - tried):
            tried += 1
            if (
                order not in possible_orders
                and _grows(order, taken)
                and _grows(order, offsets)
                and all(order[rank] == i for i, rank in ranks.items())
            ):
                possible_orders.append(order)
    possible_orders.sort(key=lambda order: order != sorted(order))
    return possible_orders or [list(range(count))]


def _interleavings(count: int, trailing: int) -> Iterator[list[int]]:
    for many in range(trailing + 1):
        for places in combinations(range(count), many):
            yield _order(count, many, places)


def _grows(order: Sequence[int], keys: Mapping[int, int]) -> bool:
    numbers = [keys[i] for i in order if i in keys]
    return numbers == sorted(numbers)


def offset_owners(roles: Roles, flow: InputUse, images: int) -> list[list[int]]:
    """Return every assignment of pointers to buffer offsets that the code allows, the likeliest first.

    Both have the same order; an offset is part of the addresses in the surface of its buffer.
    """
    count = len(roles.pointers)
    ways = (
        list(combinations(range(count), len(roles.offsets)))
        if count <= _MAX_ORDERED_POINTERS
        else [range(len(roles.offsets))]
    )
    used = [
        {n - images for n, s in flow.surfaces.items() if flow.root(slot.id) in s.origins and not s.typed}
        for slot in roles.offsets
    ]
    fit = [list(way) for way in ways if all(not u or i in u for i, u in zip(way, used, strict=True))]
    return fit or [list(ways[0])]


def _order(count: int, many: int, places: Sequence[int]) -> list[int]:
    constants, others = iter(range(count - many, count)), iter(range(count - many))
    return [next(constants) if place in places else next(others) for place in range(count)]


def _read_only(roles: Roles, flow: InputUse, images: int) -> int:
    """Return the number of pointers at the payload's end that are never written through."""
    count = 0
    for position in range(len(roles.pointers) - 1, -1, -1):
        root = flow.root(roles.pointers[position].id)
        surface = flow.surfaces.get(images + position)
        if root in flow.written or (surface is not None and surface.written):
            break
        count += 1
    return count


def _ranks(roles: Roles, kernel: Kernel, flow: InputUse, offsets: Mapping[int, int]) -> dict[int, int]:
    """Return the source position of each pointer whose offset is passed, if the code shows those of all buffers.

    Each buffer has an offset, in the order of the source and numbered one after the other, even if it is not passed.
    """
    if not offsets:
        return {}
    group = list(_offset_group(roles, kernel, flow, set(offsets.values())))
    return {i: group.index(id_) for i, id_ in offsets.items()} if len(group) == len(roles.pointers) else {}


def _offset_group(roles: Roles, kernel: Kernel, flow: InputUse, passed: set[int]) -> Iterator[int]:
    low, high = min(passed), max(passed)

    def spare(id_: int) -> bool:
        variable = kernel.variable(id_)
        return (
            variable is not None
            and variable.num_elements == 1
            and variable.type.name == "d"
            and not variable.alias_index
            and id_ not in flow.read
            and id_ not in flow.targets
            and all(id_ != s.id for s in roles.facts)
        )

    while spare(low - 1) and low - 1 not in passed:
        low -= 1
    while spare(high + 1):
        high += 1
    yield from range(low, high + 1)


# The sizes.


def name_sizes(roles: Roles, flow: InputUse, local_ids: frozenset[int]) -> list[tuple[InputSlot, str, bool]]:
    """Return a name for each triple of sizes, by order and use; the flag is True if no other fits."""
    slots = list(roles.sizes)
    if len(slots) >= len(_SIZES):
        return [(slot, kind, True) for slot, kind in zip(slots, _SIZES, strict=False)]
    named: dict[int, str] = {}
    for position, slot in enumerate(slots):
        others = flow.products(flow.root(slot.id))
        if position == len(slots) - 1 and any(R0 in o for o in others):
            named[position] = "enqueued_local_size"
        elif any(o & local_ids and R0 not in o for o in others):
            named[position] = "local_size"
    open_ = list(_SIZES[:-1]) if "enqueued_local_size" in named.values() else list(_SIZES)
    return list(_fill(slots, named, open_, flow))


def _fill(
    slots: Sequence[InputSlot], named: dict[int, str], open_: list[str], flow: InputUse
) -> Iterator[tuple[InputSlot, str, bool]]:
    rest = [i for i in range(len(slots)) if i not in named]
    choices = [
        choice
        for choice in combinations(open_, len(rest))
        if _in_order({**named, **dict(zip(rest, choice, strict=True))}, len(slots))
    ]
    choices.sort(key=lambda c: (c != _likely(slots, rest, flow), "group_count" in c))
    best = choices[0] if choices else _SIZES[: len(rest)]
    for position, slot in enumerate(slots):
        if position in named:
            yield slot, named[position], True
        else:
            number = rest.index(position)
            yield slot, best[number], all(choice[number] == best[number] for choice in choices)


def _in_order(kinds: dict[int, str], count: int) -> bool:
    order = [_SIZES.index(kinds[i]) for i in range(count)]
    return order == sorted(set(order))


def _likely(slots: Sequence[InputSlot], rest: Sequence[int], flow: InputUse) -> tuple[str, ...]:
    """Return the likely names: a lone size is that of a group, or of the grid if it is added to a value of r0."""
    if len(rest) != 1:
        return ("global_size", "local_size")
    id_ = flow.root(slots[rest[0]].id)
    return ("global_size",) if any(R0 in o for o in flow.sums(id_)) else ("local_size",)
