"""The state of a stopped thread by name: variables, predicates, addresses, masks, arguments, surfaces, shared memory.

A ``Cells`` is a row of elements of one type, read in place and mostly writable. Knows the layout of frames and no
expressions. Invariant: reading changes nothing that a run can see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.debug.places import VariableShape
from visa_lsp.sim.memory import Buffer
from visa_lsp.sim.values import DTYPE, bf_to_f

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from visa_lsp.debug.places import BodyText
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

MAX_SHOWN_ELEMENTS: Final = 4096  # elements that a value shows as text


class DebugError(Exception):
    """A request of the user that is impossible; the message says why."""


TYPES: Final = {type_.name: dtype for type_, dtype in DTYPE.items() if not type_.is_packed and type_.name != "bool"}
_BF: Final = "bf"
WHOLE: Final = ("preds", "addr")  # variables watched as a whole, by number


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Elements of one type. ``data`` is the run's own memory, or a copy where ``put`` does the writing.

    ``where`` is the memory that holds them (``grf``, a buffer) and the byte offset in it, for watches.
    """

    name: str
    kind: str
    type: str
    data: Array
    put: Callable[[int, Any], None] | None = None
    where: tuple[Any, int] | None = None
    note: str = ""

    def values(self) -> Array:
        """Return the elements as numbers."""
        return bf_to_f(self.data) if self.type == _BF else self.data

    def value(self, index: int) -> Any:
        """Return the number in one element. Raises DebugError for an index out of range."""
        if not 0 <= index < self.data.size:
            self.element(index)
        return self.values()[index]

    def element(self, index: int) -> Cells:
        """Return one element. Raises DebugError for an index out of range."""
        if not 0 <= index < self.data.size:
            count = self.data.size
            raise DebugError(
                f"{self.name}[{index}] is out of range: {self.name} has {count} {'element' if count == 1 else 'elements'}"
            )
        put, where = self.put, self.where
        return Cells(
            f"{self.name}[{index}]",
            "lane" if self.kind == "predicate" else self.kind,
            self.type,
            self.data[index : index + 1],
            None if put is None else lambda _at, value: put(index, value),
            where if where is None or where[0] in WHOLE else (where[0], where[1] + index * self.data.itemsize),
        )

    def cast(self, type_: str) -> Cells:
        """Return the same bytes as elements of another type. Raises DebugError if they do not fill one."""
        dtype = TYPES[type_]
        if self.put is not None or self.data.dtype == bool:
            raise DebugError(f"{self.name} cannot be read as {type_}")
        raw = (
            np.frombuffer(self.data.tobytes(), np.uint8) if not self.data.flags.contiguous else self.data.view(np.uint8)
        )
        count = raw.size // dtype.itemsize
        if not count:
            raise DebugError(f"{self.name} has {raw.size} bytes, too few for a {type_} of {dtype.itemsize}")
        return Cells(
            f"{self.name}:{type_}", self.kind, type_, raw[: count * dtype.itemsize].view(dtype), None, self.where
        )

    def store(self, index: int, value: Any) -> None:
        """Write an element; whole numbers are truncated to its type. Raises DebugError for a value that it cannot hold."""
        if not 0 <= index < self.data.size:
            self.element(index)
        if self.put is not None:
            self.put(index, value)
            return
        if self.kind == "mask" or not self.data.flags.writeable:
            raise DebugError(f"{self.name} cannot be written")
        dtype = self.data.dtype
        if self.type == _BF:
            self.data[index] = np.float32(value).view(np.uint32) >> 16
        elif dtype.kind == "f":
            with np.errstate(all="ignore"):
                self.data[index] = float(value)
        else:
            if isinstance(value, float) and not value.is_integer():
                raise DebugError(f"{value:.9g} is not a whole number; {self.name} has type {self.type}")
            bits = int(value) & (1 << 8 * dtype.itemsize) - 1
            self.data[index : index + 1] = np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype)


def format_number(value: Any, style: str = "", size: int = 0) -> str:
    """Return a number as text.

    ``style``: ``x`` bits in hexadecimal, ``d`` signed, ``u`` unsigned, ``f`` the bits as a float, empty the number's
    own form.
    """
    if isinstance(value, np.generic):
        size = size or value.itemsize
        if style in ("x", "u", "d", "f") and not isinstance(value, np.bool_):
            return _restyle(value, style)
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.17g}" if size == 8 else f"{value:.9g}"
    if isinstance(value, int) and style == "x":
        return hex(value)
    return str(value)


def _restyle(value: np.generic, style: str) -> str:
    raw = value.tobytes()
    if style == "x":
        return f"0x{int.from_bytes(raw, 'little'):0{2 * len(raw)}x}"
    if style == "f":
        if len(raw) == 1:
            return format_number(value.item())
        return format_number(np.frombuffer(raw, f"<f{len(raw)}")[0].item(), size=len(raw))
    return str(int.from_bytes(raw, "little", signed=style == "d"))


def texts_of(values: Array, style: str = "") -> list[str]:
    """Return the text of each number as ``format_number`` prints it; the default style converts all at once for speed."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if style or kind not in "iuf":
        return [format_number(v, style, size) for v in values]
    if kind == "f":
        form = "%.17g" if size == 8 else "%.9g"
        return [form % v for v in values.tolist()]
    return list(map(str, values.tolist()))


def text_of(values: Any, style: str = "") -> str:
    """Return elements as text: one as itself, several in brackets and truncated."""
    if isinstance(values, np.ndarray):
        if values.ndim == 0:
            return format_number(values[()], style, values.dtype.itemsize)
        parts = texts_of(values.reshape(-1)[:MAX_SHOWN_ELEMENTS], style)
        return f"[{', '.join(parts)}{', ...' if values.size > MAX_SHOWN_ELEMENTS else ''}]"
    if isinstance(values, list):
        return f"[{', '.join(text_of(v, style) for v in values[:MAX_SHOWN_ELEMENTS])}]"
    if isinstance(values, tuple):
        return f"({', '.join(format_number(v, style) for v in values)})"
    return format_number(values, style)


@dataclass(frozen=True, slots=True)
class LaunchArgument:
    """A buffer of the launch: its name for users, and its elements in the type and shape of the launch file."""

    title: str
    name: str
    array: Array


class FrameCells:
    """The cells of one activation of a thread, by name."""

    def __init__(
        self, thread: Thread, frame: Frame, body: BodyText, arguments: Mapping[int | str, LaunchArgument]
    ) -> None:
        self.thread = thread
        self.frame = frame
        self.code: Code = frame.code
        self.body = body
        self.names = body.names
        self.arguments = arguments
        self._regs = frame.regs
        self._seen: dict[str, Cells] = {}  # cached variables; valid while the frame has these registers

    def shape(self, number: int) -> VariableShape:
        """Return the placement of a general variable. Raises KernelFault for an alias without a base."""
        shape = self.body.shapes.get(number)
        if shape is None:
            shape = self.body.shapes[number] = self._shape(number)
        return shape

    def variable(self, number: int) -> Cells:
        """Return a general variable with its declared type. Raises KernelFault for an alias without a base."""
        shape = self.shape(number)
        data = self.frame.regs[shape.start : shape.end].view(shape.dtype)
        return Cells(shape.name, "variable", shape.type, data, None, ("grf", shape.start), shape.note)

    def _shape(self, number: int) -> VariableShape:
        type_, layout = self.names.types[number], self.code.layout
        start = layout.offset(number)
        end, old_size = start + layout.byte_size(number), layout.size
        layout.need(end)
        self.code.grow_frames(old_size)
        name, root = self.names.general[number], layout.root(number)
        return VariableShape(name, type_.name, DTYPE[type_], start, end, self._alias(number), root)

    def root(self, number: int) -> int:
        """Return the root variable of an alias; of any other variable its own number."""
        return self.body.shapes[number].root

    def _alias(self, number: int) -> str:
        declared = self.code.kernel.variable(number)
        if declared is None or not (declared.alias_index or declared.alias_offset) or declared.alias_scope:
            return ""
        base = self.names.general.get(declared.alias_index, "")
        return f"{base}, byte {declared.alias_offset}"

    def predicate(self, number: int) -> Cells:
        """Return the lanes of a predicate, one bit each."""
        count = max(1, self.code.kernel.predicates[number - 1].num_elements)
        bits = self.frame.preds[number]
        data = np.array([bits >> lane & 1 for lane in range(count)], np.uint8)

        def put(lane: int, value: Any) -> None:
            on = self.frame.preds[number] & ~(1 << lane)
            self.frame.preds[number] = on | bool(value) << lane

        return Cells(self.names.predicate[number], "predicate", "bool", data, put, ("preds", number), f"{bits:#x}")

    def address(self, number: int) -> Cells:
        """Return an address variable: byte numbers in the register file, shown relative to the variable at that place."""
        base = self.code.layout.address_base[number]
        count = max(1, self.code.kernel.addresses[number].num_elements)
        data = self.frame.addr[base : base + count]
        place = self.code.layout.at(int(data[0]))
        note = ""
        if place is not None:
            note = f"{self.names.general.get(place, '')}, byte {int(data[0]) - self.code.layout.offset(place)}"
        return Cells(self.names.address[number], "address", "address", data, None, ("addr", number), note)

    def surface_value(self, number: int) -> int:
        """Return the value of a surface variable: an index of the binding table, or a negative number for the thread's own memory."""
        return self.frame.surfaces[self.code.layout.surface_base[number]]

    def surface(self, number: int) -> Cells:
        """Return the buffer bound to a surface variable. Raises DebugError if there is none, or if all addresses are bound."""
        value, name = self.surface_value(number), self.names.surface[number]
        space = self.thread.machine.space(self.frame, value)
        if space is None:
            raise DebugError(f"no surface is bound to {value:#x}, the value of {name}")
        if not isinstance(space, Buffer):
            arguments = ", ".join(a.name or a.title for a in self.arguments.values()) or "the launch has none"
            raise DebugError(f"{name} covers all addresses; name an argument instead: {arguments}")
        return self.buffer(space, name)

    def buffer(self, buffer: Buffer, name: str = "") -> Cells:
        """Return a buffer with the type of its argument, else as dwords."""
        for argument in self.arguments.values():
            if np.shares_memory(argument.array, buffer.data):
                data = argument.array.reshape(-1)
                return Cells(
                    name or argument.title, "surface", _type_of(data.dtype), data, None, (buffer, 0), argument.title
                )
        dwords = buffer.data[: buffer.size & ~3].view("<u4")
        return Cells(name or buffer.name, "surface", "ud", dwords, None, (buffer, 0), buffer.name)

    def slm(self) -> Cells:
        """Return the shared local memory of the group, as dwords."""
        slm = self.thread.group.slm
        return Cells("slm", "slm", "ud", slm.data[: slm.size & ~3].view("<u4"), None, (slm, 0))

    def argument(self, key: int | str) -> Cells:
        """Return an argument of the launch that is a buffer."""
        argument = self.arguments[key]
        data = argument.array.reshape(-1)
        owner = next((b for b in self.buffers() if np.shares_memory(b.data, argument.array)), None)
        return Cells(
            argument.name or argument.title,
            "surface",
            _type_of(data.dtype),
            data,
            None,
            None if owner is None else (owner, 0),
            argument.title,
        )

    def buffers(self) -> list[Buffer]:
        """Return all buffers of the launch, each once."""
        return self.thread.machine.dispatch.buffers

    def mask(self, name: str, bits: int) -> Cells:
        """Return lanes as bits."""
        simd = self.thread.machine.dispatch.simd
        return Cells(
            name, "mask", "bool", np.array([bits >> n & 1 for n in range(simd)], np.uint8), None, None, f"{bits:#x}"
        )

    def items(self) -> list[tuple[int, int, int] | None]:
        """Return the global id of the work item of each lane; None for a lane without one."""
        return self._ids(0)

    def local_items(self) -> list[tuple[int, int, int] | None]:
        """Return the local id of the work item of each lane."""
        return self._ids(1)

    def _ids(self, which: int) -> list[tuple[int, int, int] | None]:
        dispatch, thread = self.thread.machine.dispatch, self.thread
        items = (dispatch.item(thread.group.id, thread.number, lane) for lane in range(dispatch.simd))
        return [None if ids is None else ids[which] for ids in items]

    def cells(self, name: str) -> Cells:
        """Return the cells of a name. Raises DebugError for an unknown name."""
        if self._regs is not self.frame.regs:
            self._regs = self.frame.regs
            self._seen.clear()
        cells = self._seen.get(name)
        if cells is not None:
            return cells
        cells = self.find(name)
        if cells is None:
            raise DebugError(
                f"'{name}' is not a variable, predicate, address, surface or argument of {self.code.kernel.name}"
            )
        if cells.kind == "variable":
            self._seen[name] = cells
        return cells

    def find(self, name: str) -> Cells | None:
        """Return the cells of a name of the text, a variable of any kind, ``slm`` or an argument; None for an unknown name."""
        kind, number = self.body.ids.get(name, ("", 0))
        make = {"general": self.variable, "predicate": self.predicate, "address": self.address, "surface": self.surface}
        if kind in make and (kind, number) != ("general", 0):
            return make[kind](number)
        if name in ("slm", "%slm", "T0"):
            return self.slm()
        key = next((key for key, a in self.arguments.items() if name in (a.name, f"arg{key}")), None)
        return None if key is None else self.argument(key)


def _type_of(dtype: np.dtype[Any]) -> str:
    """Return the vISA name of a NumPy type, or NumPy's own name where vISA has none."""
    return next((name for name, numpy_type in TYPES.items() if numpy_type == dtype and name != _BF), dtype.name)
