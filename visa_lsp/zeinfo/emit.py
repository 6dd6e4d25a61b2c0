"""``emit``: a valid ze_info document for kernels that were written by hand, or dumped without one.

Where arguments lie comes from the ``.input``s, what the machine needs from attributes and code, and what an argument is
from its name, its type, or a hint per argument (a launch file's). The names that mean something are those that ``run``
fills by itself. Invariant: a payload that ze_info cannot describe is an ``EmitError`` with the input at fault.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from visa_lsp.zeinfo.facts import Uses, input_name, uses_of
from visa_lsp.zeinfo.layout import PayloadLayout, id_block
from visa_lsp.zeinfo.write import document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.program.model import Kernel
    from visa_lsp.zeinfo.layout import Registers

VERSION: Final = "1.20"
_DEFAULT_SIMD: Final = 16
_DEFAULT_GRFS: Final = 128
_DEFAULT_SLM: Final = 65536
_PRIVATE: Final = 4096
_LOCAL_IDS: Final = ("local_id_x", "local_id_y", "local_id_z")
_IMPLICIT: Final = {
    "global_id_offset": 12, "local_size": 12, "enqueued_local_size": 12, "group_count": 12, "global_size": 12,
    "work_dimensions": 4,
}  # fmt: skip
_HEADER: Final = 32
_TYPES: Final = {
    "ud": "uint", "d": "int", "uw": "ushort", "w": "short", "ub": "uchar", "b": "char", "uq": "ulong", "q": "long",
    "hf": "half", "f": "float", "df": "double",
}  # fmt: skip


class EmitError(Exception):
    """A kernel whose payload no ze_info can describe; ``input`` is the number of the input at fault, or -1."""

    def __init__(self, kernel: str, message: str, input_: int = -1) -> None:
        super().__init__(f"kernel '{kernel}': {message}")
        self.kernel = kernel
        self.message = message
        self.input = input_


@dataclass(frozen=True, slots=True)
class Hint:
    """What one argument is: ``kind`` buffer, value, local, image or sampler; ``count`` its elements."""

    kind: str
    count: int = 1
    image_type: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """One input that is to be explained."""

    index: int
    name: str
    kind: int
    offset: int
    size: int
    type: str
    elements: int = 1


@dataclass(slots=True)
class _Emitted:
    """The lists of one kernel, as they grow."""

    payload: list[dict[str, object]] = field(default_factory=list)
    bindings: list[dict[str, object]] = field(default_factory=list)
    arguments: list[dict[str, object]] = field(default_factory=list)
    samplers: int = 0


def emit(
    kernels: Sequence[Kernel],
    platform: Registers,
    hints: Mapping[str, Sequence[Hint] | Mapping[str, Hint]] | None = None,
) -> str:
    """The document of some kernels; ``hints`` by kernel name tell what the arguments are, in order or by input name."""
    found = [_Kernel(k, platform, (hints or {}).get(k.name)) for k in kernels if k.is_kernel]
    entries = [k.entry() for k in found]
    root: dict[str, object] = {"version": VERSION, "kernels": entries}
    misc = [{"name": k.kernel.name, "args_info": k.out.arguments} for k in found if k.out.arguments]
    if misc:
        root["kernels_misc_info"] = misc
    return document(root)


def slots_of(kernel: Kernel) -> list[Slot]:
    """The inputs of a kernel by place, with names."""
    found = []
    for index, entry in enumerate(kernel.inputs):
        kind = entry.kind & 7
        type_ = kernel.variable_type(entry.id) if kind == 0 else None
        variable = kernel.variable(entry.id) if kind == 0 else None
        elements = variable.num_elements if variable else 1
        name = input_name(kernel, entry)
        found.append(Slot(index, name, kind, entry.offset, entry.size, type_.name if type_ else "", elements))
    return sorted(found, key=lambda s: s.offset)


class _Kernel:
    """The making of one kernel's entry."""

    def __init__(self, kernel: Kernel, platform: Registers, hints: Sequence[Hint] | Mapping[str, Hint] | None) -> None:
        self.kernel = kernel
        self.platform = platform
        self.hints = hints
        self.out = _Emitted()
        self.simd = kernel.int_attribute("SimdSize") or _DEFAULT_SIMD
        self.uses = uses_of(kernel)
        self.per_thread = 0
        self.private = False
        self.layout = PayloadLayout(platform.bytes, platform.bytes, 0)

    def entry(self) -> dict[str, object]:
        """The entry under ``kernels``."""
        rest = self._local_ids(slots_of(self.kernel))
        rest = self._implicit(rest)
        if isinstance(self.hints, dict):
            self._by_name(rest, self.hints)
        elif self.hints is not None:
            self._in_order(rest, list(self.hints))  # type: ignore[arg-type]
        else:
            self._by_type(rest)
        entry: dict[str, object] = {"name": self.kernel.name, "execution_env": self._environment()}
        if self.out.payload:
            entry["payload_arguments"] = self.out.payload
        if self.per_thread:
            entry["per_thread_payload_arguments"] = [{"arg_type": "local_id", "offset": 0, "size": self.per_thread}]
        if self.out.bindings:
            entry["binding_table_indices"] = self.out.bindings
        if self.private:
            entry["per_thread_memory_buffers"] = [
                {"type": "global", "usage": "private_space", "size": _PRIVATE, "is_simt_thread": True}
            ]
        return entry

    def _fail(self, message: str, slot: Slot | None = None) -> EmitError:
        return EmitError(self.kernel.name, message, -1 if slot is None else slot.index)

    # What every kernel may have.

    def _local_ids(self, slots: list[Slot]) -> list[Slot]:
        """Take the local ids off the front, and lay out the rest behind them."""
        grf = self.platform.bytes
        block = id_block(self.simd, grf)
        named = [s for s in slots if s.name.lower() in _LOCAL_IDS]
        ids = list(named)
        if not named:
            at = grf
            for slot in slots:  # a dump has them directly behind r0, in one or two inputs for each dimension
                if slot.offset != at or slot.type not in ("w", "uw"):
                    break
                ids.append(slot)
                at += max(slot.size, grf)
            if (at - grf) % block or (at - grf) // block > 3:
                ids = []
        for number, slot in enumerate(named):
            expected = grf + number * block
            if slot.name.lower() != _LOCAL_IDS[number] or slot.offset != expected or slot.size != 2 * self.simd:
                raise self._fail(
                    f".input {slot.name} (offset={slot.offset} size={slot.size}): in ze_info local ids are words directly behind r0: "
                    f"{_LOCAL_IDS[number]} offset={expected} size={2 * self.simd}",
                    slot,
                )  # fmt: skip
        end = max((s.offset + s.size for s in ids), default=grf)
        self.per_thread = -(-(end - grf) // block) * block if ids else 0
        start = grf + (self.per_thread or (grf if self.platform.empty_row else 0))
        self.layout = PayloadLayout(grf, start, 0)
        rest = [s for s in slots if s not in ids]
        early = next((s for s in rest if s.offset < start), None)
        if early is not None:
            raise self._fail(
                f".input {early.name} (offset={early.offset}) lies before byte {start}, where the cross-thread payload starts",
                early,
            )
        return rest

    def _implicit(self, slots: list[Slot]) -> list[Slot]:
        rest = []
        dump = not any(s.name.lower() in _IMPLICIT for s in slots)
        for slot in slots:
            name = slot.name.lower()
            if name in _IMPLICIT:
                if slot.size > _IMPLICIT[name]:
                    raise self._fail(f".input {slot.name} has {slot.size} bytes, {name} has {_IMPLICIT[name]}", slot)
                self._place(name, slot.offset, slot.size)
            elif dump and slot.kind == 0 and slot.size == _HEADER and slot.offset == self.layout.cross_start:
                self._place("global_id_offset", slot.offset, 12)
                self._place("local_size", slot.offset + 12, 12)
            elif dump and slot.kind == 0 and slot.size == 12 and slot.type in ("d", "ud"):
                self._place("enqueued_local_size", slot.offset, 12)
            else:
                rest.append(slot)
        return rest

    def _place(self, kind: str, place: int, size: int, **more: object) -> None:
        self.out.payload.append({"arg_type": kind, "offset": self.layout.offset(place), "size": size, **more})

    # Arguments.

    def _by_type(self, slots: list[Slot]) -> None:
        pointers = [s for s in slots if s.kind == 0 and s.size == 8 and s.type in ("q", "uq")]
        numbers = sorted(self.uses.surfaces)
        dump = bool(pointers) and numbers == list(range(len(pointers)))
        # A compiler's dump ends with the distance of each buffer from its surface's base.
        tail = slots[-len(pointers) :] if dump else []
        if not dump or not all(s.kind == 0 and s.size == 4 and s.type in ("d", "ud") for s in tail):
            tail = []
        buffers: list[int] = []
        for slot in slots:
            if slot in tail:
                self._place("buffer_offset", slot.offset, 4, arg_index=buffers[tail.index(slot)])
                continue
            index = len(self.out.arguments)
            if slot in pointers:
                buffers.append(index)
                self._buffer(slot, len(buffers) - 1 if dump else None)
            else:
                self._argument(slot, "value" if slot.kind == 0 else "sampler" if slot.kind == 1 else "buffer")
        if not dump:
            for number in numbers:
                self._surface(number, "buffer")

    def _by_name(self, slots: list[Slot], hints: Mapping[str, Hint]) -> None:
        missing = next((s for s in slots if s.name not in hints), None)
        if missing is not None:
            raise self._fail(f"nothing is said of .input {missing.name}", missing)
        for slot in slots:
            self._argument(slot, hints[slot.name].kind, hints[slot.name].image_type)
        names = {s.name for s in slots}
        for name, hint in hints.items():
            if name.startswith("bti(") and name.endswith(")") and name[4:-1].isdigit():
                self._surface(int(name[4:-1]), hint.kind, hint.image_type)
            elif name not in names:
                raise self._fail(f"there is no .input '{name}'")

    def _in_order(self, slots: list[Slot], hints: list[Hint]) -> None:
        rest = list(slots)
        stateful = bool(self.uses.surfaces)
        surfaces = 0
        buffers = []
        for number, hint in enumerate(hints):
            if hint.kind in ("buffer", "image"):
                takes = bool(rest) and (
                    rest[0].kind == 2 or (hint.kind == "buffer" and rest[0].kind == 0 and rest[0].size == 8)
                )
                if takes and rest[0].kind == 2:
                    self._argument(rest.pop(0), hint.kind, hint.image_type)
                elif takes:
                    self._buffer(rest.pop(0), surfaces if stateful else None)
                    buffers.append(number)
                    surfaces += stateful
                else:
                    self._surface(surfaces, hint.kind, hint.image_type, f"arg{number}")
                    surfaces += 1
            elif hint.kind == "sampler" and not (rest and rest[0].kind == 1):
                self._sampler_without_input(f"arg{number}")
            elif not rest:
                raise self._fail(f"argument {number} ({hint.kind}) has no .input")
            else:
                self._taken(rest, hint)
        self._offsets(rest, buffers)

    def _taken(self, rest: list[Slot], hint: Hint) -> None:
        """One argument from one input, or a vector by value from an input for each element."""
        first = rest.pop(0)
        if hint.kind != "value" or hint.count == 1 or first.elements >= hint.count:
            self._argument(first, hint.kind)
            return
        parts = [first]
        while (
            rest
            and len(parts) < hint.count
            and rest[0].offset <= parts[-1].offset + parts[-1].size
            and rest[0].type == first.type
        ):
            parts.append(rest.pop(0))
        size = parts[-1].offset + parts[-1].size - first.offset
        self._argument(Slot(first.index, first.name, 0, first.offset, size, first.type, len(parts)), "value")

    def _offsets(self, rest: list[Slot], buffers: list[int]) -> None:
        for slot in rest:
            if slot.kind == 0 and slot.size == 8 and slot.type in ("q", "uq") and not self.private:
                # The address that follows the arguments of a dump is that of private memory, whose size no dump tells.
                self._place("private_base_stateless", slot.offset, 8)
                self.private = True
                continue
            if not buffers or slot.kind != 0 or slot.size != 4:
                raise self._fail(
                    f".input {slot.name} (offset={slot.offset} size={slot.size}) belongs to no argument", slot
                )
            self._place("buffer_offset", slot.offset, 4, arg_index=buffers.pop(0))

    def _buffer(self, slot: Slot, bti: int | None) -> None:
        """A buffer whose address the payload has; its surface too if the code goes through the binding table."""
        index = self._info(slot.name, "uchar*;8", "__global")
        if bti is None:
            self._place(
                "arg_bypointer",
                slot.offset,
                8,
                arg_index=index,
                addrmode="stateless",
                addrspace="global",
                access_type="readwrite",
            )
            return
        self._stateful(index, bti, "global")
        self._place("buffer_address", slot.offset, 8, arg_index=index)

    def _stateful(self, index: int, bti: int, space: str, image_type: str = "") -> None:
        entry: dict[str, object] = {
            "arg_type": "arg_bypointer", "offset": 0, "size": 0, "arg_index": index, "addrmode": "stateful",
            "addrspace": space, "access_type": "readwrite",
        }  # fmt: skip
        if image_type:
            entry["image_type"] = image_type
        self.out.payload.append(entry)
        self.out.bindings.append({"bti_value": bti, "arg_index": index})

    def _surface(self, bti: int, kind: str, image_type: str = "", name: str = "") -> None:
        """A buffer or image that only the binding table has."""
        index = self._info(name or f"bti({bti})", "image2d_t;8" if kind == "image" else "uchar*;8", "__global")
        self._stateful(
            index, bti, "image" if kind == "image" else "global", (image_type or "image_2d") if kind == "image" else ""
        )

    def _sampler_without_input(self, name: str) -> None:
        index = self._info(name, "sampler_t;4", "__constant")
        self.out.payload.append(
            {
                "arg_type": "arg_bypointer", "offset": 0, "size": 0, "arg_index": index, "addrmode": "stateful",
                "addrspace": "sampler", "access_type": "readwrite", "sampler_index": self.out.samplers, "sampler_type": "texture",
            }
        )  # fmt: skip
        self.out.samplers += 1

    def _argument(self, slot: Slot, kind: str, image_type: str = "") -> None:
        """An argument whose value, address or handle lies in the payload."""
        if slot.kind == 0 and kind == "value":
            name = _TYPES.get(slot.type, "uchar")
            vector = (
                f"{name}{slot.elements}"
                if slot.elements in (2, 3, 4, 8, 16) and slot.size == slot.elements * _size(slot.type)
                else name
            )
            index = self._info(slot.name, f"{vector};{slot.size}", "__private")
            self._place("arg_byvalue", slot.offset, slot.size, arg_index=index)
        elif kind == "local":
            index = self._info(slot.name, "uchar*;8", "__local")
            self._place(
                "arg_bypointer", slot.offset, slot.size, arg_index=index, addrmode="slm", addrspace="local",
                access_type="readwrite", slm_alignment=16,
            )  # fmt: skip
        elif kind == "sampler" and slot.kind == 1:
            index = self._info(slot.name, "sampler_t;4", "__constant")
            self._place(
                "arg_bypointer", slot.offset, slot.size, arg_index=index, addrmode="bindless", addrspace="sampler",
                access_type="readwrite", sampler_index=self.out.samplers, sampler_type="texture",
            )  # fmt: skip
            self.out.samplers += 1
        elif slot.kind == 2 and kind in ("buffer", "image"):
            index = self._info(slot.name, "image2d_t;8" if kind == "image" else "uchar*;8", "__global")
            more = {"image_type": image_type or "image_2d"} if kind == "image" else {}
            self._place(
                "arg_bypointer", slot.offset, slot.size, arg_index=index, addrmode="bindless",
                addrspace="image" if kind == "image" else "global", access_type="readwrite", **more,
            )  # fmt: skip
        elif slot.kind == 0 and kind == "buffer" and slot.size == 8:
            self._buffer(slot, None)
        else:
            what = ("a general variable", "a sampler", "a surface")[min(slot.kind, 2)]
            raise self._fail(f".input {slot.name} is {what} of {slot.size} bytes, the argument is a {kind}", slot)

    def _info(self, name: str, type_name: str, space: str) -> int:
        index = len(self.out.arguments)
        self.out.arguments.append(
            {
                "index": index, "name": name, "address_qualifier": space, "access_qualifier": "NONE",
                "type_name": type_name, "type_qualifiers": "NONE",
            }
        )  # fmt: skip
        return index

    def _environment(self) -> dict[str, object]:
        uses: Uses = self.uses
        env: dict[str, object] = {}
        barriers = max(uses.named_barriers, int(uses.barrier is not None))
        if barriers:
            env["barrier_count"] = barriers
        env["grf_count"] = self.kernel.int_attribute("NumGRF") or _DEFAULT_GRFS
        for key, inst in (
            ("has_dpas", uses.dpas), ("has_global_atomics", uses.global_atomic), ("has_stack_calls", uses.stack_call),
        ):  # fmt: skip
            if inst is not None:
                env[key] = True
        env["simd_size"] = self.simd
        local = any(a.get("addrmode") == "slm" for a in self.out.payload)
        slm = 1024 * (self.kernel.int_attribute("SLMSize") or 0) or (
            _DEFAULT_SLM if uses.slm is not None and not local else 0
        )
        if slm:
            env["slm_size"] = slm
        return env


def _size(type_: str) -> int:
    return {"ud": 4, "d": 4, "f": 4, "uw": 2, "w": 2, "hf": 2, "ub": 1, "b": 1}.get(type_, 8)
