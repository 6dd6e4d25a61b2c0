"""``emit`` for a compiler's dump: assigns the roles of ``roles`` to the arguments of a launch file.

Knows no text and no YAML. Invariant: every input gets an entry or the kernel is refused, and each guess leaves a
doubt that names the argument or input and the ``--say`` that settles it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

from visa_lsp.zeinfo.emit.image_surfaces import TWINS, Surfaces, surfaces
from visa_lsp.zeinfo.emit.roles import name_sizes, offset_owners, orders, roles_of
from visa_lsp.zeinfo.emit.slots import ArgumentHint, Doubt, EmitError, InputSlot, Payload
from visa_lsp.zeinfo.emit.structs import struct_parts
from visa_lsp.zeinfo.input_use import THREAD_NUMBERS, InputUse

if TYPE_CHECKING:
    from visa_lsp.program.model import Kernel
    from visa_lsp.zeinfo.emit.entries import Entries
    from visa_lsp.zeinfo.emit.user_answers import Answers

_IMAGE_FACTS: Final = {2: ("image_height", "image_width"), 3: ("image_height", "image_width", "image_depth")}
_DWORD_BYTES: Final = 4
_MAX_CHOICES: Final = 50_000


class DumpArguments:
    """The arguments of one dump. ``hints`` None: the text is the only source."""

    def __init__(
        self,
        kernel: Kernel,
        payload: Payload,
        end: int,
        hints: Sequence[ArgumentHint] | Mapping[str, ArgumentHint] | None,
        said: Answers,
        entries: Entries,
    ) -> None:
        self.kernel = kernel
        self.said = said
        self.out = entries
        self.flow = InputUse(kernel)
        self.payload = payload
        self.roles = roles_of(payload, self.flow, end)
        self.doubts: list[Doubt] = []
        self.private = False
        self._has_hints = hints is not None and not isinstance(hints, Mapping)
        self.hints = self._guess(hints) if hints is None or isinstance(hints, Mapping) else list(hints)

    def write(self) -> None:
        """Write every entry."""
        for kind, _, place, size in self.roles.implicit:
            self.out.place(kind, place, size)
        kinds = {kind: [i for i, h in enumerate(self.hints) if h.kind == kind] for kind in _KINDS}
        self._match(kinds["local"], self.roles.locals, "a pointer to shared local memory")
        for index, slot in zip(kinds["local"], self.roles.locals, strict=True):
            self.out.local(index, slot)
        table = self._table(kinds["image"])
        self._buffers(kinds["buffer"], table.before)
        self._values(kinds["value"])
        self._images(kinds["image"], kinds["sampler"], table)
        self._bases()
        self._sizes()
        self._facts(kinds["image"], kinds["sampler"])

    # Without hints.

    def _guess(self, named: Mapping[str, ArgumentHint] | None) -> list[ArgumentHint]:
        """Return hints from the text: used arguments by their numbers, the others in the order of the payload.

        ``named`` has the given facts of arguments by name.
        """
        roles = self.roles
        hints: list[tuple[InputSlot | None, ArgumentHint]] = [(s, ArgumentHint("local")) for s in roles.locals]
        hints += [(s, ArgumentHint("buffer")) for s in roles.pointers]
        hints += [(s, ArgumentHint("value", s.elements, size=s.size)) for s in roles.values]
        hints += [(s, ArgumentHint("value", 1, size=s.size)) for s in roles.pieces]
        handles = self.flow.sampler_handles
        for slot in roles.handles:
            is_sampler = any(self.flow.root(slot.id) in self.flow.of(h) for h in handles)
            hints.append(
                (slot, ArgumentHint("sampler" if is_sampler else "image", image_type="" if is_sampler else "image_2d"))
            )
        taken = [s.id for s, _ in hints if s is not None and self.flow.root(s.id) in self.flow.read]
        if len(taken) == len(hints) and not roles.pieces:
            hints.sort(key=lambda f: f[0].id if f[0] is not None else 0)
        elif len(hints) > 1 and named is None:
            self._doubt(
                "the text does not contain the order of the arguments in the source; the order of the payload is assumed: "
                + ", ".join(s.name for s, _ in hints if s is not None)
                + "; a launch file with its arguments gives more (--launch FILE)"
            )
        if not self._bindless():
            hints += [(None, ArgumentHint("image", image_type=type_)) for type_ in self._guess_images()]
        names = {s.name for s, _ in hints if s is not None} | {f"bti({n})" for n in self.flow.surfaces}
        unknown = next((name for name in named or () if name not in names), None)
        if unknown is not None:
            raise self._fail(f"unknown argument '{unknown}'; known arguments: {', '.join(sorted(names)) or 'none'}")
        hints_by_name = named or {}
        return [
            ArgumentHint(hints_by_name[s.name].kind, hint.count, hints_by_name[s.name].image_type, hint.size)
            if s is not None and s.name in hints_by_name
            else hint
            for s, hint in hints
        ]

    def _guess_images(self) -> list[str]:
        """Return the types of the images that the binding table must have, in its order."""
        table = self.flow.surfaces
        buffers = len(self.roles.pointers)
        untyped = [n for n, s in table.items() if not s.typed]
        last = max((n for n, s in table.items() if s.typed), default=-1)
        before = max([0, max(untyped) + 1 - buffers]) if untyped else last + 1
        many = before + max(0, last + 1 - before - buffers) if untyped else before
        numbers = [*range(before), *range(before + buffers, buffers + many)]
        types = [f"image_{(table[n].coordinates if n in table else 0) or 2}d" for n in numbers]
        # The code may use only the size of an image.
        asked = [s for s in self.roles.facts if self.flow.root(s.id) in self.flow.computed]
        return types or (["image_2d"] if asked else [])

    def _bindless(self) -> bool:
        return bool(self.roles.handles)

    def _doubt(self, message: str, slot: InputSlot | None = None) -> None:
        self.doubts.append(Doubt(self.kernel.name, message, -1 if slot is None else slot.index))

    def _fail(self, message: str, slot: InputSlot | None = None) -> EmitError:
        return EmitError(self.kernel.name, message, -1 if slot is None else slot.index)

    def _match(self, indexes: Sequence[int], slots: Sequence[InputSlot], what: str) -> None:
        if len(indexes) > len(slots):
            raise self._fail(
                f"argument {indexes[len(slots)]} has no .input: the payload has no further {what.split(' ', 1)[1]}"
            )
        if len(slots) > len(indexes):
            slot = slots[len(indexes)]
            raise self._fail(f"{slot.title} is {what}, but the launch file does not give it", slot)

    # Buffers.

    def _buffers(self, indexes: Sequence[int], images: int) -> None:
        roles = self.roles
        self._match(indexes, roles.pointers, "the address of a buffer")
        possible_orders = orders(roles, self.kernel, self.flow, self._constants(indexes), images)
        order = possible_orders[0]
        owner = {position: indexes[place] for place, position in enumerate(order)}
        many = _constants_of(order)
        for position, slot in enumerate(roles.pointers):
            number = images + position
            surface = number if number in self.flow.surfaces else None
            taken = self.flow.root(slot.id) in self.flow.read
            constant = position >= len(order) - many or self.said.is_constant(owner[position])
            self.out.buffer(owner[position], slot, surface, address=taken, constant=constant)
        for slot, position in zip(roles.offsets, offset_owners(roles, self.flow, images)[0], strict=True):
            self.out.place("buffer_offset", slot.offset, _DWORD_BYTES, arg_index=owner[position])
        if len(possible_orders) > 1 and self._has_hints:
            unsure = sorted(
                {owner[p] for other in possible_orders[1:] for p in other if other.index(p) != order.index(p)}
            )
            names = ", ".join(
                f"{index} (.input {roles.pointers[next(p for p in owner if owner[p] == index)].name})"
                for index in unsure
            )
            self._doubt(
                f"the text does not contain which buffers are __constant, and those are last in the payload: arguments {names} may be "
                "exchanged; name them with --say 1=constant, or say that there are none with --say constant=none",
                roles.pointers[order[indexes.index(unsure[0])]],
            )

    def _constants(self, indexes: Sequence[int]) -> list[int] | None:
        """Return the constant buffers, by their number among buffers, from the answers; None without an answer."""
        said = self.said.constants
        return None if said is None else [place for place, index in enumerate(indexes) if index in said]

    # Values and structs.

    def _values(self, indexes: Sequence[int]) -> None:
        plain, pieces = self.roles.values, self.roles.pieces
        many = len(indexes) - len(plain)
        if many < 0:
            slot = plain[len(indexes)]
            raise self._fail(f"{slot.title} is a value, but the launch file does not give it", slot)
        if many and not pieces:
            raise self._fail(f"argument {indexes[len(plain)]} has no .input: the payload has no further value")
        structs = list(indexes[len(plain) :]) if not self._has_hints else self._structs(indexes, many)
        for index, slot in zip((i for i in indexes if i not in structs), plain, strict=True):
            # In OpenCL a vector of three has the size of four.
            self.out.value(index, [slot], slot.size // 3 * 4 if slot.elements == 3 else 0)
        if not structs and pieces:
            raise self._fail(f"{pieces[0].title} belongs to no argument", pieces[0])
        if not structs:
            return
        split = struct_parts(pieces, [self.hints[i].size for i in structs])
        if split is None:
            sizes = ", ".join(f"{i} ({self.hints[i].size} bytes)" for i in structs)
            raise self._fail(
                f"{pieces[0].title} and the inputs after it do not match the structs of arguments {sizes}", pieces[0]
            )
        for index, struct in zip(structs, split, strict=True):
            size = self.hints[index].size
            if len(struct.parts) == 1 and struct.parts[0][0].size == size:
                self.out.value(index, [struct.parts[0][0]])
                continue
            self.out.struct(index, size, struct.parts)
            if not struct.sure:
                self._doubt(
                    f"argument {index} is a struct of {size} bytes: the text does not contain the offsets of its members; assumed are "
                    + ", ".join(str(source) for _, source in struct.parts),
                    struct.parts[0][0],
                )

    def _structs(self, indexes: Sequence[int], many: int) -> list[int]:
        """Return the values that are structs, so that the others fit the plain inputs, in order."""
        plain = self.roles.values
        choices = [
            [indexes[i] for i in places]
            for places in islice(combinations(range(len(indexes)), many), _MAX_CHOICES)
            if all(
                _fits(self.hints[index], slot)
                for index, slot in zip((x for i, x in enumerate(indexes) if i not in places), plain, strict=True)
            )
        ]
        if not choices:
            bad, slot = next(
                ((i, s) for i, s in zip(indexes, plain, strict=False) if not _fits(self.hints[i], s)),
                (indexes[-1], plain[-1]),
            )
            raise self._fail(f"{slot.title} cannot hold argument {bad}, which has {self.hints[bad].size} bytes", slot)
        if len(choices) > 1:
            taken = ", ".join(map(str, choices[0]))
            self._doubt(
                f"the text does not contain which values are structs; argument {taken} is assumed", self.roles.pieces[0]
            )
        return choices[0]

    # Images and samplers.

    def _type(self, index: int) -> str:
        return self.said.images.get(index) or self.hints[index].image_type or "image_2d"

    def _table(self, images: Sequence[int]) -> Surfaces:
        """Return the surfaces that are images."""
        if self._bindless() or not images:
            return Surfaces(0, {})
        tables = surfaces(self.flow, len(self.roles.pointers), {i: self._type(i) for i in images}, self.said.access)
        assignments = {
            tuple(
                next((a for a, n in table.numbers.items() if n == number), -1) for number in sorted(self.flow.surfaces)
            )
            for table in tables
        }
        if len(assignments) > 1:
            written = ", ".join(map(str, sorted(tables[0].written))) or "none"
            self._doubt(
                f"the text does not contain which images are written; of arguments {', '.join(map(str, images))} argument {written} is "
                f"assumed; set it with --say {images[0]}=writeonly --say {images[-1]}=readonly"
            )
        return tables[0]

    def _images(self, images: Sequence[int], samplers: Sequence[int], table: Surfaces) -> None:
        handles = list(self.roles.handles)
        if handles:
            self._match([*samplers, *images], handles, "the handle of an image or sampler")
        for index in samplers:
            slot = handles.pop(0) if handles else None
            self.out.sampler(index, slot, slot.name if slot else f"arg{index}")
        self._inline_samplers()
        # Handles are in the order of the payload; the code reads them in the order of the source.
        handles.sort(key=lambda slot: slot.id)
        for index in images:
            type_ = self._type(index)
            if handles:
                self.out.bindless(index, handles.pop(0), type_)
            else:
                number = table.numbers[index]
                self.out.surface(index, number, type_, f"arg{index}" if self._has_hints else f"bti({number})")
        guessed = [i for i in images if self._type(i) in TWINS and i not in self.said.images]
        if guessed:
            names = ", ".join(f"{i} is {self._type(i)}, not {TWINS[self._type(i)]}" for i in guessed)
            self._doubt(
                f"the text does not contain the types of images; assumed are: argument {names}; change them with --say {guessed[0]}={TWINS[self._type(guessed[0])]}"
            )

    def _inline_samplers(self) -> None:
        slots: list[InputSlot | None] = list(self.roles.inline_samplers)
        if not slots:
            slots = [None] * len([n for n in self.flow.samplers if n >= self.out.samplers])
        for slot in slots:
            number = self.out.samplers
            state = self.said.sampler(number)
            if state is None:
                self._doubt(
                    f"sampler {number} is written in the source, and the text does not contain its state; clamp_edge, nearest, not "
                    f"normalized is assumed; set it with --say 'sampler({number})=repeat linear normalized'",
                    slot,
                )
            address, filter_, normalized = state or ("clamp_edge", "nearest", False)
            self.out.inline_sampler(slot, address, filter_, normalized=normalized)

    # Values added by the runtime.

    def _bases(self) -> None:
        bases = list(self.roles.bases)
        for number, slot in enumerate(bases):
            root = self.flow.root(slot.id)
            said = self.said.kind(slot.name)
            if said:
                self._base(said, slot)
            elif root not in self.flow.read:
                self.out.place("private_base_stateless", slot.offset, 8)
            elif root in self.flow.counted and number == len(bases) - 1:
                self._base("printf_buffer", slot)
            elif root in self.flow.written or any(o & set(THREAD_NUMBERS) for o in self.flow.sums(root)):
                self._base("private_base_stateless", slot)
            else:
                kind = "global_base" if any(p["arg_type"] == "const_base" for p in self.out.payload) else "const_base"
                self._base(kind, slot)
                self._doubt(
                    f"{slot.title} is the address of something that is only read; {kind} is assumed; change it with "
                    f"--say {slot.name}=private_base_stateless",
                    slot,
                )

    def _base(self, kind: str, slot: InputSlot) -> None:
        self.out.place(kind, slot.offset, slot.size)
        if kind == "private_base_stateless":
            self.private = True

    def _sizes(self) -> None:
        ids = frozenset(self.flow.root(s.id) for s in self.payload.ids)
        for slot, kind, sure in name_sizes(self.roles, self.flow, ids):
            said = self.said.kind(slot.name)
            self.out.place(said or kind, slot.offset, slot.size)
            if not sure and not said:
                self._doubt(
                    f"{slot.title} is one of group_count, global_size and local_size; {kind} is assumed; set it with "
                    f"--say {slot.name}=global_size",
                    slot,
                )

    def _facts(self, images: Sequence[int], samplers: Sequence[int]) -> None:
        """Assign the dwords after the sizes: properties of images, and last the snap flag of a sampler."""
        rest = []
        snaps = []
        for slot in self.roles.facts:
            said = self.said.entry(slot.name)
            if said is not None:
                kind, index = said
                self.out.place(kind, slot.offset, slot.size, **({} if index is None else {"arg_index": index}))
            elif self.flow.root(slot.id) in self.flow.computed:
                rest.append(slot)
            else:
                snaps.append(slot)
        if len(snaps) > len(samplers):
            rest, snaps = rest + snaps[: len(snaps) - len(samplers)], snaps[len(snaps) - len(samplers) :]
        for slot, index in zip(snaps, samplers, strict=False):
            self.out.place("sampler_snap_wa", slot.offset, slot.size, arg_index=index)
        if rest and not images:
            raise self._fail(
                f"{rest[0].title} belongs to no argument; set its kind with --say {rest[0].name}=KIND", rest[0]
            )
        for number, slot in enumerate(rest):
            kinds = _IMAGE_FACTS.get(len(rest), ("image_width",) if len(rest) == 1 else ("image_height", "image_width"))
            kind, index = kinds[min(number, len(kinds) - 1)], images[0]
            self.out.place(kind, slot.offset, slot.size, arg_index=index)
            self._doubt(
                f"{slot.title} is a property of an image that the text does not name; {kind} of argument {index} is assumed; "
                f"set it with --say '{slot.name}=image_width({index})'",
                slot,
            )


_KINDS: Final = ("local", "buffer", "value", "image", "sampler")


def _constants_of(order: Sequence[int]) -> int:
    """Return the number of pointers at the end of the payload that must be ``__constant`` for this order of the source."""
    count = len(order)
    return next(m for m in range(count + 1) if [p for p in order if p < count - m] == list(range(count - m)))


def _fits(hint: ArgumentHint, slot: InputSlot) -> bool:
    """Return whether a plain input may hold a value."""
    size = hint.size or slot.size
    return size == slot.size or (slot.elements == 3 and size * 3 == slot.size * 4)
