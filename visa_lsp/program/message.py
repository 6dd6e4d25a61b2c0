"""The value of one message: its memory, its addresses, its elements and their places in registers, its atomic operation.

Made from the row's form (``isa.message_forms``) and the operands; no other module decodes the fields of a message.
Knows no machine: simulator, compiled engine, analyses and pseudo-code execute or explain these values.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

from msgspec import Struct

from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa import types as ty
from visa_lsp.isa.message_forms import (
    BlockForm,
    ElementForm,
    Elements,
    FenceForm,
    MemoryUse,
    MessageForm,
    SampleForm,
    TexelForm,
)
from visa_lsp.isa.model import Trait
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import NULL_RAW, General, Immediate, Inst, Predicate, RawOperand, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.isa.lane import Meaning
    from visa_lsp.isa.types import DataType

SLM_INDEX: Final = 254  # of the binding table: shared local memory
STATELESS_INDEXES: Final = frozenset({253, 255})  # the flat address space
SLM_VARIABLE, STATELESS_VARIABLE, SCRATCH_VARIABLE = 0, 1, 5  # predefined surface variables
BLOCK_SIZES: Final = (1, 4, 8)  # bytes of a block of svm messages, by code
PREDECREMENT: Final = "predec"  # returns the new value, unlike all other atomics
MAX_BLOCK_BYTES: Final = 1 << 16
_PREDECREMENT_CODE: Final = 13
_ADDRESS_TYPES: Final = {
    codes.ADDRSIZE_A16: ty.UW, codes.ADDRSIZE_A32: ty.UD, codes.ADDRSIZE_A64: ty.UQ, codes.ADDRSIZE_A32U: ty.UD,
    codes.ADDRSIZE_A32S: ty.D,
}  # fmt: skip
_COORDINATE_TYPES: Final = {2: ty.W, 4: ty.D, 8: ty.Q}
_THREAD: Final = ExecControl(1, 0, no_mask=True)


class MessageError(ValueError):
    """A form that no hardware has, such as an unknown data size."""


class MemoryKind(Enum):
    """The way in which a message names its memory."""

    SHARED = "shared local memory"
    FLAT = "the flat address space"
    VARIABLE = "the surface in a surface variable"
    BINDING = "an entry of the binding table"
    STATE = "the surface whose state a register names"
    POINTER = "the surface whose state a register points to"


class MessageMemory(Struct, frozen=True):
    """The memory of a message.

    ``number`` is that of the variable or entry. ``operand`` holds the state or pointer, ``index`` states after it;
    ``model`` is the address model in the text.
    """

    kind: MemoryKind
    number: int = -1
    operand: Value = None
    index: int = 0
    model: str = ""

    @property
    def is_shared(self) -> bool:
        """True if it is always the group's shared local memory."""
        return (
            self.kind is MemoryKind.SHARED
            or (self.kind is MemoryKind.BINDING and self.number == SLM_INDEX)
            or (self.kind is MemoryKind.VARIABLE and self.number == SLM_VARIABLE)
        )

    @property
    def is_flat(self) -> bool:
        """True if it is always the flat address space."""
        return self.kind is MemoryKind.FLAT or (self.kind is MemoryKind.BINDING and self.number in STATELESS_INDEXES)

    @property
    def is_scratch(self) -> bool:
        """True if it is always the thread's scratch space."""
        return self.kind is MemoryKind.VARIABLE and self.number == SCRATCH_VARIABLE

    @property
    def is_handle(self) -> bool:
        """True if the operand holds the handle of a state, not a number of the binding table."""
        return self.kind is MemoryKind.STATE and self.model != codes.ADDRTYPE_TEXT[codes.ADDRTYPE_BTI]

    @property
    def may_be_scratch(self) -> bool:
        """True if the operand may name the state of the thread's scratch space as its header does."""
        return self.kind is MemoryKind.STATE and self.model == codes.ADDRTYPE_TEXT[codes.ADDRTYPE_SS]


FLAT: Final = MessageMemory(MemoryKind.FLAT)


class Addresses(Struct, frozen=True):
    """(operand * ``scale`` + ``offset`` + ``common``) * ``unit`` + ``base``, in bytes, for each lane or for the thread.

    ``operand``, the value of ``field``, is a raw operand of elements of ``type``, or a vector operand of one element. ``wraps``: the sum in the
    parentheses has 32 bits. With ``strided`` the operand is the address of lane 0, and lanes are ``pitch`` bytes apart
    (0: side by side).
    """

    field: str
    operand: Value
    type: DataType
    scale: int = 1
    offset: int = 0
    common: Value = None
    wraps: bool = False
    unit: int = 1
    base: Value = None
    strided: bool = False
    pitch: Value = None
    has_offset: bool = False  # the text has a place for an offset


class ElementMessage(Struct, frozen=True):
    """A message that moves or updates elements of ``size`` bytes, element n of a lane n * ``size`` bytes after its address.

    Registers have a cell of ``cell`` bytes for an element, which fills it from byte ``first`` on. Element k of all lanes
    is in row k of ``data``. With ``single`` there is one address for the thread, and the elements are contiguous.
    ``residency``: after the data, a bit per lane says whether its memory is present. ``alignment``: that of addresses.
    """

    use: MemoryUse
    memory: MessageMemory
    address: Addresses
    data_field: str
    data: RawOperand
    size: int
    cell: int
    first: int
    elements: tuple[int, ...]
    single: bool
    alignment: int
    control: ExecControl
    guard: Predicate | None
    residency: bool = False
    update: str = ""  # of an atomic, as a word of ``lsc_codes.ATOMIC_OP`` or the row's own
    sources: tuple[str, ...] = ()
    fetches: bool = False  # it only fetches lines, because its data is the null register

    def row(self, grf_bytes: int) -> int:
        """Return the bytes from the registers of one element of all lanes to those of the next."""
        if self.single:
            return self.cell
        bytes_ = self.control.exec_size * self.cell
        return bytes_ if len(self.elements) == 1 and not self.residency else max(bytes_, grf_bytes)

    @property
    def bytes_per_lane(self) -> int:
        """The bytes from the address of a lane to the end of its last element."""
        return (max(self.elements, default=-1) + 1) * self.size


class Coordinate(Struct, frozen=True):
    """A coordinate of each lane in texels: the elements of an operand plus an offset."""

    field: str
    operand: RawOperand
    offset: int = 0


class TexelMessage(Struct, frozen=True):
    """A message to texels of an image at u, v and r, whose elements have ``type``.

    Each of ``channels`` is a dword per lane in registers of its own. ``sample``: the coordinate that numbers samples.
    An atomic updates the first ``size`` bytes of a texel. ``alpha`` and ``residency`` as in the form and above.
    """

    use: MemoryUse
    memory: MessageMemory
    coordinates: tuple[Coordinate, ...]
    type: DataType
    channels: tuple[int, ...]
    data_field: str
    data: RawOperand
    control: ExecControl
    guard: Predicate | None
    alpha: bool = False
    sample: Coordinate | None = None
    residency: bool = False
    size: int = 4
    update: str = ""
    sources: tuple[str, ...] = ()


class BlockMessage(Struct, frozen=True):
    """A message that moves blocks of ``width`` by ``height`` elements of ``size`` bytes for the thread.

    Blocks lie side by side in memory. A row (a column with ``transposed``) begins at a power of two bytes in registers,
    of at least ``size`` and of a dword for bytes of a surface; ``interleaved`` puts the elements of a dword from several rows
    side by side. ``corner`` are x and y, moved by ``offset``. Without a corner six numbers describe a matrix in flat
    memory: vector operands, or dwords of ``matrix``.
    """

    use: MemoryUse
    memory: MessageMemory
    corner: tuple[str, ...]
    offset: tuple[int, int]
    size: int
    width: int
    height: int
    blocks: int
    transposed: bool
    interleaved: bool
    edge: bool
    data_field: str
    data: RawOperand
    guard: Predicate | None
    control: ExecControl
    described: bool = False  # one register has the six numbers of the matrix

    @property
    def pitch(self) -> int:
        """The elements from one row of a block in registers to the next."""
        length = self.height if self.transposed else self.width
        return max(1 if self.is_matrix else 4, 1 << (length - 1).bit_length())

    @property
    def is_matrix(self) -> bool:
        """True if the block is a part of a matrix in flat memory."""
        return not self.corner

    def cell(self, block: Any, y: Any, x: Any, grf_bytes: int) -> Any:
        """Return the numbers of the cells of elements in registers, from numbers or from arrays of them."""
        group = max(1, 4 // self.size) if self.interleaved else 1
        major, minor = (x, y) if self.transposed else (y, x)
        inner = major // group * group * self.pitch + minor * group + major % group
        return block * self.block_cells(grf_bytes) + inner

    def block_cells(self, grf_bytes: int) -> int:
        """Return the number of cells of a block: whole registers for a matrix."""
        group = max(1, 4 // self.size) if self.interleaved else 1
        rows = self.width if self.transposed else self.height
        cells = self.pitch * (-(-rows // group) * group)
        register = max(1, grf_bytes // self.size)
        return -(-cells // register) * register if self.is_matrix else cells


class SampleMessage(Struct, frozen=True):
    """A message of the sampler: an operand for each parameter, with its type.

    Each of ``channels`` is in registers of its own. ``gathered`` is the channel of which it returns four texels instead,
    -1 for none. ``null_mask``: the data is followed by a dword of bits.
    """

    memory: MessageMemory
    sampler: Value
    sampler_index: int
    parameters: tuple[tuple[str, RawOperand, str], ...]
    channels: tuple[int, ...]
    gathered: int
    data: RawOperand
    control: ExecControl
    guard: Predicate | None
    null_mask: bool


class FenceMessage(Struct, frozen=True):
    """A fence of shared local memory, or of global memory; ``typed``: only of its images.

    ``operation`` and ``scope`` are words of the text; empty: none.
    """

    shared: bool
    operation: str = ""
    scope: str = ""
    typed: bool = False


Message: TypeAlias = "ElementMessage | TexelMessage | BlockMessage | FenceMessage"


class OperandBytes(Struct, frozen=True):
    """The bytes of a raw operand that a message reads or writes: ``count`` rows of ``size`` bytes, ``pitch`` bytes apart.

    A row has a cell of ``cell`` bytes for each lane; 0 if it does not belong to lanes.
    """

    field: str
    size: int
    count: int = 1
    pitch: int = 0
    after: int = 0  # bytes before the first row
    cell: int = 0

    @property
    def end(self) -> int:
        """The bytes from the operand's start to the end of the last row."""
        return self.after + (self.count - 1) * self.pitch + self.size if self.count else 0

    @property
    def mask(self) -> int:
        """The bytes as bits of an integer."""
        element = (1 << self.size) - 1 << self.after
        bits = 0
        for number in range(self.count):
            bits |= element << number * self.pitch
        return bits


def is_message(meaning: Meaning | None) -> TypeGuard[MessageForm]:
    """Return whether a row's meaning is a message to memory, an image or the sampler, or a fence."""
    return isinstance(meaning, MessageForm)


def message_of(inst: Inst) -> Message | None:
    """Return the value of a message; None for other instructions and for messages of the sampler.

    Raises MessageError if its fields have no meaning.
    """
    match inst.row.meaning:
        case ElementForm() as form:
            return _elements(inst, form)
        case TexelForm() as form:
            return _texels(inst, form)
        case BlockForm() as form:
            return _block(inst, form)
        case FenceForm(shared=shared):
            if shared is not None:
                return FenceMessage(shared)
            operation = codes.word_of(codes.FENCE_OP, number(inst, "op")) or ""
            scope = codes.word_of(codes.FENCE_SCOPE, number(inst, "scope")) or ""
            sfid = number(inst, "sfid")
            return FenceMessage(sfid == codes.SFID_SLM, operation, scope, sfid == codes.SFID_TGM)
    return None


def understood_message_of(inst: Inst) -> Message | None:
    """Return the value of a message; None also if its fields have no meaning."""
    try:
        return message_of(inst)
    except MessageError:
        return None


def number(inst: Inst, name: str, default: int = 0) -> int:
    """Return the value of an integer field, or log2 of the lanes of an exec byte; ``default`` if there is none."""
    value = inst.get(name, default)
    if isinstance(value, ExecControl):
        return value.exec_size.bit_length() - 1
    return value if isinstance(value, int) else default


def control_of(inst: Inst) -> ExecControl:
    """Return the lanes and mask of an instruction; one lane without a mask if it has none. Some messages have them in ``n``."""
    control = inst.get("exec")
    if not isinstance(control, ExecControl) and isinstance(inst.row.meaning, ElementForm):
        control = inst.get("n") if inst.row.meaning.elements is Elements.ONE else None
    return control if isinstance(control, ExecControl) else _THREAD


def guard_of(inst: Inst) -> Predicate | None:
    """Return the predicate of an instruction; None without one."""
    predicate = inst.get("pred")
    return predicate if isinstance(predicate, Predicate) else None


def raw_operand(inst: Inst, name: str) -> RawOperand:
    """Return a raw operand field; ``%null`` if the instruction has none."""
    value = inst.get(name)
    return value if isinstance(value, RawOperand) else NULL_RAW


def channels_of(mask: int) -> tuple[int, ...]:
    """Return the numbers of the channels of a mask."""
    return tuple([channel for channel in range(4) if mask >> channel & 1])


def memory_of(inst: Inst) -> MessageMemory:
    """Return the memory of a message; the flat address space for rows without a surface."""
    surface, form = inst.get("surface"), inst.row.meaning
    if not inst.row.has_field("surface") or (isinstance(form, ElementForm) and form.flat):
        return FLAT
    if not inst.row.has_field("addrtype"):
        if not isinstance(surface, General | RawOperand):
            return MessageMemory(MemoryKind.VARIABLE, number(inst, "surface"))
        return MessageMemory(MemoryKind.POINTER, operand=surface, index=number(inst, "surfaceidx"))
    if number(inst, "sfid") == codes.SFID_SLM:
        return MessageMemory(MemoryKind.SHARED)
    kind = number(inst, "addrtype", codes.ADDRTYPE_FLAT)
    model = codes.ADDRTYPE_TEXT.get(kind, f"model{kind}")
    if kind in (codes.ADDRTYPE_FLAT, codes.ADDRTYPE_ARG):
        return MessageMemory(MemoryKind.FLAT, operand=surface if isinstance(surface, General) else None, model=model)
    index = number(inst, "surfidx")
    if isinstance(surface, Immediate) and kind == codes.ADDRTYPE_BTI:
        return MessageMemory(MemoryKind.BINDING, surface.bits & 0xFFFFFFFF, surface, index, model)
    return MessageMemory(MemoryKind.STATE, operand=surface, index=index, model=model)


def update_of(inst: Inst) -> str:
    """Return the name of an atomic's update, as in ``lsc_codes``; empty for other instructions and unknown codes."""
    if inst.row.update or not inst.row.has(Trait.ATOMIC) or not inst.row.has_field("op"):
        return inst.row.update
    code = number(inst, "op") & 31
    return PREDECREMENT if code == _PREDECREMENT_CODE else codes.ATOMIC_OP_TEXT.get(code, "")


def data_size_of(inst: Inst) -> codes.DataSize:
    """Return the data size of a message of the load/store controller. Raises MessageError if there is none."""
    size = codes.DATASIZES.get(number(inst, "datasize"))
    if size is None:
        raise MessageError(f"there is no data size {number(inst, 'datasize')}")
    return size


def _elements(inst: Inst, form: ElementForm) -> ElementMessage:
    single, first_byte, alignment = False, 0, form.alignment
    n = number(inst, "n")
    match form.elements:
        case Elements.OWORDS:
            size, cell, elements, single = 4, 4, tuple(range(4 << n)), True
        case Elements.ONE:
            size, cell, elements = 1 << number(inst, "eltsize"), 4, (0,)
        case Elements.SMALL:
            if n > 2:
                raise MessageError("a lane moves 1, 2 or 4 bytes")
            size, cell, elements = 1 << n, 4, (0,)
        case Elements.CHANNELS:
            size, cell, elements = 4, 4, channels_of(number(inst, "chan"))
        case Elements.QWORDS:
            size, cell, elements = 8, 8, tuple(range(1 << n))
        case Elements.BLOCKS:
            alignment = BLOCK_SIZES[min(len(BLOCK_SIZES) - 1, number(inst, "block"))]
            # The bytes of one lane are packed in its own dword or qword; larger blocks are in rows of one per lane.
            size, cell, elements = (
                (1 << n, max(4, 1 << n), (0,)) if alignment == 1 else (alignment, alignment, tuple(range(1 << n)))
            )
        case Elements.WIDTH:
            width = number(inst, "op")
            size = 2 if width & 0x20 else 8 if width & 0x40 else 4
            cell, elements = max(4, size), (0,)
        case Elements.SHAPE:
            data = data_size_of(inst)
            size, cell, first_byte = data.memory_bytes, data.register_bytes, 2 if data.high_half else 0
            single = (
                number(inst, "order") == codes.ORDER_TRANSPOSED
                and form.use in (MemoryUse.READ, MemoryUse.WRITE)
                and not inst.row.has(Trait.RESIDENCY)
            )
            elements = (0,)
            if form.use is not MemoryUse.ATOMIC:
                quad, count = inst.row.has(Trait.QUAD), codes.ELEMS_VALUE.get(number(inst, "elems"), 1)
                elements = channels_of(number(inst, "chmask")) if quad else tuple(range(count))
                # The pages require no alignment. Compilers read packed structures one element a lane at any byte, vectors
                # at multiples of four (qwords too: the printf buffer of PVC).
                alignment = min(4, size) if len(elements) > 1 or single else 1
    data_operand = raw_operand(inst, form.data)
    return ElementMessage(
        form.use, memory_of(inst), _addresses(inst, form, size), form.data, data_operand, size, cell, first_byte,
        elements, single, alignment or size, control_of(inst), guard_of(inst), inst.row.has(Trait.RESIDENCY),
        update_of(inst), form.sources, form.fetches and form.use is MemoryUse.READ and data_operand.var == 0,
    )  # fmt: skip


def _addresses(inst: Inst, form: ElementForm, size: int) -> Addresses:
    operand, common, unit = inst.get(form.address), inst.get("goff"), form.unit or size
    if not inst.row.has_field("addrtype"):
        type_ = ty.UQ if form.flat else ty.UD
        return Addresses(
            form.address,
            operand,
            type_,
            common=common,
            unit=unit,
            wraps=not form.flat and isinstance(operand, RawOperand),
        )
    type_, surface = _ADDRESS_TYPES.get(number(inst, "addrsize"), ty.UD), inst.get("surface")
    kind = number(inst, "addrtype", codes.ADDRTYPE_FLAT)
    strided = inst.row.has_field("pitch")
    based = kind in (codes.ADDRTYPE_FLAT, codes.ADDRTYPE_ARG) and isinstance(surface, General)
    return Addresses(
        form.address, operand, type_, number(inst, "immscale", 1) or 1, number(inst, "immoffset"),
        wraps=type_.size <= 4 and kind != codes.ADDRTYPE_FLAT, base=surface if based else None, strided=strided,
        pitch=inst.get("pitch") if strided else None, has_offset=True,
    )  # fmt: skip


def _texels(inst: Inst, form: TexelForm) -> TexelMessage:
    names, offsets, type_ = ("u", "v", "r", "lod"), inst.row.has_field("uoff"), ty.D
    if inst.row.has_field("addrsize"):
        type_ = _COORDINATE_TYPES[codes.ADDRSIZE_BYTES.get(number(inst, "addrsize"), 4)]
    u, v, r, last = (
        Coordinate(name, raw_operand(inst, name), number(inst, f"{name}off") if offsets else 0) for name in names
    )
    # A message of the load/store controller without channels moves red.
    mask = number(inst, "chan") if inst.row.has_field("chan") else number(inst, "chmask") & 15 or 1
    update, size = update_of(inst), 4
    if form.use is MemoryUse.ATOMIC:
        mask = 1
        size = 2 if number(inst, "op") & 0x20 or inst.row.update.startswith("bf") else 4
    return TexelMessage(
        form.use, memory_of(inst), (u, v, r), type_, channels_of(mask), form.data, raw_operand(inst, form.data),
        control_of(inst), guard_of(inst), form.alpha, last if inst.row.has(Trait.MULTISAMPLED) else None,
        inst.row.has(Trait.RESIDENCY), size, update, form.sources,
    )  # fmt: skip


def _block(inst: Inst, form: BlockForm) -> BlockMessage:
    is_matrix = not form.corner
    width, height = number(inst, "width"), number(inst, "height")
    size = data_size_of(inst).memory_bytes if is_matrix else 1
    blocks = max(1, number(inst, "blocks", 1))
    if not 0 < width * height <= MAX_BLOCK_BYTES:
        raise MessageError(f"a block of {width} bytes by {height} rows is too large")
    return BlockMessage(
        form.use, memory_of(inst), form.corner, (number(inst, "immx"), number(inst, "immy")), size,
        width, height, blocks, number(inst, "order") == codes.ORDER_TRANSPOSED, bool(number(inst, "vnni")), form.edge,
        form.data, raw_operand(inst, form.data), guard_of(inst), control_of(inst), bool(number(inst, "payload")),
    )  # fmt: skip


def sample_message_of(inst: Inst, type_of: Callable[[int], DataType | None]) -> SampleMessage:
    """Return the value of a message of the sampler. ``type_of``: the types of variables."""
    form = inst.row.meaning
    assert isinstance(form, SampleForm)
    control = control_of(inst)
    if form.older:
        control = ExecControl(16 if number(inst, "chan") & 0x10 else 8, 0, no_mask=True)
    channels = number(inst, "chan")
    null_mask = any(number(inst, name) & 0x100 for name in ("op", "op42", "op64"))
    return SampleMessage(
        memory_of(inst), inst.get("sampler"), number(inst, "sampleridx"), tuple(_parameters(inst, form, type_of)),
        (0, 1, 2, 3) if form.gathers else channels_of(channels), channels & 3 if form.gathers else -1,
        raw_operand(inst, "dst"), control, guard_of(inst), null_mask,
    )  # fmt: skip


OFFSETS: Final = "offsets"  # the parameter of texel offsets, in an operand of its own or in the low bits of another
_WHOLE_NUMBERS: Final = frozenset({"offu", "offv", OFFSETS})


def _parameters(
    inst: Inst, form: SampleForm, type_of: Callable[[int], DataType | None]
) -> Iterator[tuple[str, RawOperand, str]]:
    """Yield the parameters of a message of the sampler with operand and type; ``%null`` for absent ones."""
    payload, letter = inst.get("payload"), "f" if form.floats else "i"
    operands = [entry for entry in payload if isinstance(entry, RawOperand)] if isinstance(payload, tuple) else []
    if not inst.row.has_field("payload"):
        yield from (
            (name, raw_operand(inst, name), f"<{letter}4")
            for name in ("u", "v", "r", "lod")
            if inst.row.has_field(name)
        )
        return
    first_type = type_of(operands[0].var) if operands else None
    # Halves where the first variable has elements of 16 bits.
    size = 2 if first_type is not None and first_type.size == 2 else 4
    names = inst.row.half_parameters if inst.row.half_parameters and (letter, size) == ("i", 2) else inst.row.parameters
    for place, name in enumerate(names):
        operand = operands[place] if place < len(operands) else NULL_RAW
        word = next(part for part in name.split("+") if part != OFFSETS or part == name)
        yield word, operand, f"<{'i' if word in _WHOLE_NUMBERS else letter}{size}"
        if word != name:  # not masked: the low twelve bits of its fraction change no texel by more than 2**-11
            yield OFFSETS, operand, f"<i{size}"


def register_bytes(message: Message, grf_bytes: int) -> tuple[OperandBytes, ...]:
    """Return the bytes of the raw operands of a message, those of the null register too.

    With ``grf_bytes`` 1 no row and no block begins on a register of its own: the bytes that it needs on every platform.
    """
    return tuple(_register_bytes(message, grf_bytes))


def _register_bytes(message: Message, grf_bytes: int) -> Iterator[OperandBytes]:
    match message:
        case ElementMessage(address=address, cell=cell):
            lanes, count = message.control.exec_size, len(message.elements)
            if isinstance(address.operand, RawOperand):
                if message.single or address.strided:
                    yield OperandBytes(address.field, address.type.size)
                else:
                    yield OperandBytes(address.field, lanes * address.type.size, cell=address.type.size)
            if message.use is MemoryUse.TEST:
                yield OperandBytes(message.data_field, 4)
            elif message.single:
                yield OperandBytes(message.data_field, count * cell)
            else:
                row = message.row(grf_bytes)
                yield OperandBytes(message.data_field, lanes * cell, count, row, cell=cell)
                if message.residency:
                    yield OperandBytes(message.data_field, 4, after=count * row)
            yield from (OperandBytes(name, lanes * cell, cell=cell) for name in message.sources)
        case TexelMessage():
            lanes, count = message.control.exec_size, len(message.channels)
            for coordinate in (*message.coordinates, *((message.sample,) if message.sample else ())):
                yield OperandBytes(coordinate.field, lanes * message.type.size, cell=message.type.size)
            row = max(lanes * 4, grf_bytes)
            if message.use is not MemoryUse.TEST:
                yield OperandBytes(message.data_field, lanes * 4, count, row, cell=4)
            if message.residency:
                yield OperandBytes(message.data_field, 4, after=0 if message.use is MemoryUse.TEST else count * row)
            yield from (OperandBytes(name, lanes * 4, cell=4) for name in message.sources)
        case BlockMessage(is_matrix=True):
            last = message.cell(message.blocks - 1, message.height - 1, message.width - 1, grf_bytes)
            cells = last + 1 if grf_bytes == 1 else message.blocks * message.block_cells(grf_bytes)
            yield OperandBytes(message.data_field, cells * message.size)
        case BlockMessage():
            yield OperandBytes(message.data_field, message.width, message.height, message.pitch)
        case FenceMessage():
            return
