"""Names of variables and arguments, and types in the syntax of C."""

from __future__ import annotations

import re
from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.read.prelude import prelude_names
from visa_lsp.flow.storage import storage_of
from visa_lsp.isa import predefined
from visa_lsp.isa import types as ty
from visa_lsp.isa.platforms import PLATFORMS
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import General, Kernel, RawOperand
from visa_lsp.program.text_form import names_of
from visa_lsp.sim.launch.layout import Geometry, LaunchLayout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType
    from visa_lsp.program.operand_text import OperandNames
    from visa_lsp.program.payload import KernelInfo, PayloadArgument, Record

_C_TYPES: Final[dict[DataType, str]] = {
    ty.UD: "uint", ty.D: "int", ty.UW: "ushort", ty.W: "short", ty.UB: "uchar", ty.B: "char", ty.DF: "double",
    ty.F: "float", ty.UQ: "ulong", ty.Q: "long", ty.HF: "half", ty.BF: "bfloat", ty.BOOL: "bool",
}  # fmt: skip
_R0: Final = next(number for number, one in enumerate(predefined.VARIABLES) if one.name == "%r0")
_GROUP_IDS: Final = (1, 6, 7)  # dwords of r0
_CONTROL: Final = next(number for number, one in enumerate(predefined.VARIABLES) if one.name == "%cr0")
_STATE: Final = 13  # %sr0
_THREAD_VALUES: Final = {12: "hw_id", 13: "sr0", 20: "msg0"}
_GROUP_VARIABLES: Final = {1: 0, 2: 1, 3: 0, 4: 1, 5: 2}
_MAX_LOCAL_ID: Final = 0x7FFF  # no device has larger groups
_TRIPLES: Final = (4, 8, 12)  # bytes: values of the launch, one per dimension
_HANDLES: Final = {  # by kind of argument: the bytes of its value, and what that is
    "buffer": ((8,), "(ulong){}"), "image": ((4, 8), "handle_of({})"), "sampler": ((4, 8), "handle_of({})"), "local": ((4,), "slm_offset({})"),
}  # fmt: skip
_UNSIGNED: Final = {1: ty.UB, 2: ty.UW, 4: ty.UD, 8: ty.UQ}
_VECTOR: Final = re.compile(r"(u?(?:char|short|int|long)|half|float|double)(2|3|4|8|16)?")
BY_NAME: Final = {name: type_ for type_, name in _C_TYPES.items()}
_OPAQUE: Final = re.compile(r"(?:image\w+|sampler|event|queue|pipe|opaque)_t")
_SCALARS: Final = {"bool": ty.UB, "size_t": ty.UQ, "uintptr_t": ty.UQ, "intptr_t": ty.Q, "ptrdiff_t": ty.Q}

# Names that programs give to numbers of so many bits.
_ALIASES: Final = {
    f"{prefix}{bits}{suffix}": f"{sign}{word}"
    for sign, prefixes in (("u", ("u", "uint")), ("", ("i", "s", "int")))
    for prefix in prefixes
    for bits, word in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))
    for suffix in ("", "_t")
}


def c_type(type_: DataType) -> str:
    """Return the name of a type in C; that of vISA for other types."""
    return _C_TYPES.get(type_, type_.name)


class PointerArgument(Struct, frozen=True):
    """A pointer argument: its name, and the C type of its elements (empty if unknown)."""

    name: str
    element: str = ""


class NamedArray(Struct, frozen=True):
    """An array in shared local memory: its name and elements, its bytes, and its lengths."""

    pointer: PointerArgument
    start: int
    end: int
    shape: tuple[int, ...]

    @property
    def item_bytes(self) -> int:
        """The bytes of an element."""
        return (self.end - self.start) // prod(self.shape)


class Bound(Struct, frozen=True):
    """A value of the launch in registers: its text in C, its type, the size of its components (0: none), its variable."""

    text: str
    type: DataType
    unit: int = 0
    variable: str = ""
    high: int = -1  # the highest value, if it is known
    structure: str = ""  # of an element of a structure, whose type is that of its uses


class Parameter(Struct, frozen=True):
    """A parameter: its name and declaration, and the index of the argument."""

    name: str
    text: str
    index: int


class ReadingNames(Struct, frozen=True):
    """The names in the pseudo-code of a body: those of the text, and those of ze_info for variables that a launch fills."""

    kernel: Kernel
    text: OperandNames
    variables: Mapping[int, str]
    grf_bytes: int
    simd: int
    surfaces: Mapping[int, PointerArgument]  # binding table index -> argument
    pointers: Mapping[tuple[int, int], PointerArgument]  # (root variable, byte) with an address -> argument
    shared: PointerArgument | None  # the argument at the start of shared local memory
    local_arrays: tuple[NamedArray, ...]  # that the kernel declares
    parameters: tuple[Parameter, ...]
    bound: Mapping[tuple[int, int, int], Bound]  # (root variable, byte, size) -> the value that a launch puts there
    inputs: Mapping[int, int]  # root variable -> its first byte in the registers that a launch fills
    launch_values: Mapping[str, tuple[int, int]]  # name -> its first byte in these registers, its size
    # argument -> its parts: byte in the argument, first byte in these registers, size
    addresses: Mapping[int, Sequence[tuple[int, int, int]]]
    # root variable -> parts of structures in it: first byte, byte in the structure, size, argument, structure
    parts: Mapping[int, Sequence[tuple[int, int, int, str, str]]]
    offsets: frozenset[int]  # root variables with offsets of buffers
    structures: Mapping[str, int]  # structures passed by value -> bytes
    slm_bytes: int  # of shared local memory, without that of arguments
    private_bytes: int  # of scratch memory, for the arrays of all lanes
    group_size: tuple[int, ...]  # that a launch must have; zeros for any
    records: Mapping[str, Record]  # structures of the source by name
    ids: tuple[int, int, int]  # the first byte of local ids in these registers, the step between axes, number of axes

    def variable(self, number: int) -> str:
        """Return the name of a general variable."""
        return self.variables.get(number) or f"V{number}"

    def find_bound(self, root: int, byte: int, size: int) -> Bound | None:
        """Return the value of the launch in some bytes; a part of a longer integer too."""
        bound, part = self.bound.get((root, byte, size)), _UNSIGNED.get(size)
        if bound is not None or part is None:
            return bound
        for start, within, length, name, structure in self.parts.get(root, ()):
            if start <= byte and byte + size <= start + length:
                place = f"{name}.at{within + byte - start}"
                return Bound(place, part, 0, place, structure=structure)
        for (other, start, length), value in self.bound.items():
            inside = other == root and start <= byte and byte + size <= start + length
            if inside and not value.unit and value.type.is_int:
                inner = f"({value.text} >> {8 * (byte - start)})" if byte > start else value.text
                return Bound(f"({c_type(part)}){inner}", part)
        return None


def names_for(kernel: Kernel, platform: Platform, info: KernelInfo | None) -> ReadingNames:
    """Return the names of a body; ``info`` is its description in ze_info."""
    text = names_of(kernel, platform)
    taken = {*RESERVED, *prelude_names()}
    parameters: list[Parameter] = []
    for argument in info.arguments if info is not None else ():
        type_name = argument.type_name.partition(";")[0]
        qualifier = argument.address_qualifier.strip("_")
        space = f"{qualifier} " if qualifier in ("global", "local", "constant") else ""
        name = _take(argument.name, taken)
        declared = f"{space}{_parameter_type(type_name)} {name}".replace("* ", " *").replace("  ", " ")
        parameters.append(Parameter(name, declared, argument.index))
    arrays: list[NamedArray] = []
    for array in info.local_arrays if info is not None else ():
        pointer = PointerArgument(_take(array.name, taken), _parameter_type(array.element))
        arrays.append(NamedArray(pointer, array.start, array.start + array.size, array.shape))
    variables = {number: _take(name, taken) for number, name in text.general.items()}
    simd = kernel.int_attribute("SimdSize") or 0
    launch = _LaunchNames(kernel, platform, info, parameters, simd)
    bindings = info.bindings if info is not None else ()
    surfaces = {binding.bti_value: launch.pointer(binding.arg_index) for binding in bindings}
    sizes = (
        (info.env.slm_size, info.env.private_size or _scratch_bytes(info), info.env.required_work_group_size)
        if info is not None
        else (0, 0, (0, 0, 0))
    )
    return ReadingNames(
        kernel, text, variables, platform.grf_bytes, simd or _widest(kernel), surfaces, launch.pointers, launch.find_shared(),
        tuple(arrays), tuple(parameters), launch.bound, launch.inputs, launch.values, launch.addresses, launch.parts,
        frozenset(launch.offsets), launch.structures, *sizes,
        {identifier(one.name): one for one in info.records} if info is not None else {}, launch.ids,
    )  # fmt: skip


def _scratch_bytes(info: KernelInfo) -> int:
    return sum(buffer.size for buffer in info.thread_buffers if buffer.type == "scratch")


def _widest(kernel: Kernel) -> int:
    controls = (value for inst in kernel.instructions for value in inst.values if isinstance(value, ExecControl))
    return max((control.mask_offset + control.exec_size for control in controls), default=1)


def type_named(name: str) -> DataType:
    """Return the type of a name in C; bytes for a name without one."""
    return BY_NAME.get(name) or _SCALARS.get(name, ty.UB)


def _parameter_type(name: str) -> str:
    """Return a type of OpenCL as the prelude knows it."""
    base = name.rstrip("*").strip()
    if base in _ALIASES:
        return _ALIASES[base] + " *" * name.count("*")
    if _VECTOR.fullmatch(base) or base in _SCALARS or base == "void" or _OPAQUE.fullmatch(base):
        return name
    return f"struct {identifier(base.removeprefix('struct '))}{' *' * name.count('*')}"


RESERVED: Final = frozenset(
    re.findall(
        r"\w+",
        """auto break case char const continue default do double else enum extern float for goto if inline int long register restrict
        return short signed sizeof static struct switch typedef union unsigned void volatile while half uchar ushort uint ulong
        bool true false kernel function global constant local shared lane payload slm scratch once work_dimensions printf_buffer
        private_base_stateless const_base global_base scratch_state cr0 fence barrier""",
    )
)


_SCRATCH_STATE: Final = 20  # the byte of r0 where the number of the thread's scratch space stands, times 16
_THREAD_NUMBER: Final = 8  # the byte of r0 with the number of the thread in its group
_PROPERTIES: Final = ("image_", "flat_image_", "sampler_", "buffer_size")  # of an argument, beside its value


class _LaunchNames:
    """The values that a launch puts into registers, by their places in the payload."""

    def __init__(
        self, kernel: Kernel, platform: Platform, info: KernelInfo | None, parameters: list[Parameter], simd: int
    ) -> None:
        self.kernel, self.info = kernel, info
        self.names = {parameter.index: parameter.name for parameter in parameters}
        self.bound: dict[tuple[int, int, int], Bound] = {}
        self.pointers: dict[tuple[int, int], PointerArgument] = {}
        self.inputs: dict[int, int] = {}
        self.values: dict[str, tuple[int, int]] = {}
        self.addresses: dict[int, list[tuple[int, int, int]]] = {}
        self.structures: dict[str, int] = {}
        self.parts: dict[int, list[tuple[int, int, int, str, str]]] = defaultdict(list)
        self.offsets: set[int] = set()
        self.ids = (0, 0, 0)
        self.storage = storage_of(kernel, platform.grf_bytes)
        for entry in kernel.arguments:
            here = self.storage.general.get(entry.id)
            if not entry.kind & 7 and here is not None:
                self.inputs[here.root] = entry.offset - here.offset
        self.bound[_CONTROL, 0, 4] = Bound("cr0", ty.UD, 0, "cr0")
        for number, name in _THREAD_VALUES.items():
            declared = predefined.VARIABLES[number]
            self.bound[number, 0, declared.type.size] = Bound(f'thread_value("{name}")', declared.type)
        self.bound[_STATE, 8, 4] = Bound("thread_lanes()", ty.UD)
        for number, axis in _GROUP_VARIABLES.items():
            declared = predefined.VARIABLES[number]
            self.bound[number, 0, declared.type.size] = Bound(f"group_id({axis})", declared.type)
        if kernel.is_kernel and not _writes_r0(kernel):
            self.inputs[_R0] = 0
            for axis, dword in enumerate(_GROUP_IDS):
                self.bound[_R0, 4 * dword, 4] = Bound(f"group_id({axis})", ty.UD)
            self.bound[_R0, _SCRATCH_STATE, 4] = Bound("scratch_state", ty.UD)
            self.bound[_R0, _THREAD_NUMBER, 1] = Bound("sub_group_id()", ty.UB)
        if info is not None:
            geometry = Geometry(simd or info.env.simd_size, platform.grf_bytes, (1, 1, 1), (1, 1, 1))
            # A text does not say its platform, and others with such registers may lay out the payload in another way.
            for other in (platform, *(like for like in PLATFORMS if like.grf_bytes == platform.grf_bytes)):
                layout = LaunchLayout.of(info, geometry, other)
                if layout.holds(kernel, info):
                    self._fill(layout, other, geometry.simd)
                    break

    def pointer(self, index: int) -> PointerArgument:
        """Return the name and the element type of a pointer argument."""
        assert self.info is not None
        entry = next((argument for argument in self.info.arguments if argument.index == index), None)
        if entry is None or not entry.name:
            return PointerArgument(f"arg{index}")
        element, star, _ = entry.type_name.partition(";")[0].rpartition("*")
        return PointerArgument(self.names[index], _parameter_type(element.strip()) if star else "")

    def find_shared(self) -> PointerArgument | None:
        """Return the first local argument of a kernel without local arrays; it starts where the memory does."""
        if self.info is None or self.info.env.slm_size:
            return None
        local = {entry.arg_index for entry in self.info.payload if entry.kind == "local"}
        return self.pointer(min(local)) if local else None

    def _fill(self, layout: LaunchLayout, platform: Platform, simd: int) -> None:
        assert self.info is not None
        self.ids = (platform.grf_bytes, layout.geometry.id_stride, layout.payload.id_dimensions)
        roots = {root: start for root, start in self.inputs.items() if root != _R0}
        for root, start in roots.items():
            axis, within = divmod(start - platform.grf_bytes, layout.geometry.id_stride)
            if start < layout.payload.cross_start and axis < layout.payload.id_dimensions and within % 2 == 0:
                for lane in range(min(simd, self.storage.room.get(root, 0) // 2)):
                    self.bound[root, 2 * lane, 2] = Bound(f"local_id({axis})", ty.UD, high=_MAX_LOCAL_ID)
        for entry in self.info.payload:
            if not entry.size:
                continue
            place = layout.payload.place(entry.offset)
            if entry.arg_index < 0:
                number = str(entry.sampler_index) if entry.arg_type == "inline_sampler" else ""
                self.values[entry.arg_type + number] = place, entry.size
            elif entry.arg_type != "buffer_offset" and not entry.arg_type.startswith(_PROPERTIES):
                self.addresses.setdefault(entry.arg_index, []).append((entry.source_offset, place, entry.size))
            for root, start in roots.items():
                byte = place - start
                inside = 0 <= byte < self.storage.room.get(root, 0)
                if inside or (-entry.size < byte < 0 and entry.kind == "value"):
                    self._bind(entry, root, byte)

    def _bind(self, entry: PayloadArgument, root: int, byte: int) -> None:
        size = ty.UD.size if entry.kind == "local" else entry.size  # kernels read the lower half of an offset
        type_ = _UNSIGNED.get(size, ty.UD)
        if entry.arg_index < 0:
            word = entry.arg_type + (f"({entry.sampler_index})" if entry.arg_type == "inline_sampler" else "")
            if size == ty.UQ.size:
                self.bound[root, byte, size] = Bound(word, ty.UQ)
            elif size in _TRIPLES:
                for axis in range(size // 4):
                    text = f"{word}({axis})" if size == _TRIPLES[2] else word
                    self.bound[root, byte + 4 * axis, 4] = Bound(text, ty.UD)
            return
        name = self.names.get(entry.arg_index, f"arg{entry.arg_index}")
        sizes, text = _HANDLES.get(entry.kind, ((), ""))
        if entry.arg_type == "buffer_offset":
            self.bound[root, byte, 4] = Bound("0", ty.UD, high=0)  # the pointer includes it
            self.offsets.add(root)
        elif entry.arg_type.startswith(_PROPERTIES):
            self.bound[root, byte, size] = Bound(f"{entry.arg_type}({name})", type_)
        elif entry.kind == "value":
            self._bind_value(entry, root, byte, name)
        elif size in sizes:
            self.bound[root, byte, size] = Bound(text.format(name), type_)
            self.pointers[root, byte] = self.pointer(entry.arg_index)

    def _bind_value(self, entry: PayloadArgument, root: int, byte: int, name: str) -> None:
        assert self.info is not None
        type_name = _parameter_type(self.info.type_of(entry.arg_index))
        vector = _VECTOR.fullmatch(type_name)
        start = max(0, entry.source_offset)
        if vector is None and type_name not in _SCALARS:
            whole, skipped = type_name, max(0, -byte)
            sizes = (a.type_name.rpartition(";")[2] for a in self.info.arguments if a.index == entry.arg_index)
            bytes_text = next(sizes, "")
            self.structures[whole] = int(bytes_text) if bytes_text.isdecimal() and len(bytes_text) < 6 else 0
            self.parts[root].append((byte + skipped, start + skipped, entry.size - skipped, name, whole))
            return
        type_ = type_named(vector[1] if vector else type_name)
        count = int(vector[2] or 1) if vector else 1
        if byte >= 0:
            size, unit = (type_.size, 0) if count == 1 else (entry.size, type_.size)
            self.bound[root, byte, size] = Bound(name, type_, unit, name)
        for number in range(start // type_.size, min(count, (start + entry.size) // type_.size)) if count > 1 else ():
            part, place = f"{name}.{component(number, count)}", byte + number * type_.size - start
            if place >= 0:
                self.bound[root, place, type_.size] = Bound(part, type_, 0, name)


def fields_text(fields: Sequence[tuple[int, int, str]], size: int, names: Mapping[int, str] | None = None) -> str:
    """Return the fields of a structure of so many bytes, given the first byte, the bytes and the type of those that are known.

    ``names`` are those of the source by the first byte, with the brackets of arrays.
    """
    out, end = [], 0
    for start, length, word in fields:
        if start >= end:
            out += [f"uchar pad{end}[{start - end}];"] if start > end else []
            out.append(f"{word} {(names or {}).get(start, f'at{start}')};")
            end = start + length
    return " ".join([*out, *([f"uchar pad{end}[{size - end}];"] if end < size else [])])


def component(number: int, count: int) -> str:
    """Return the name of a component of a vector."""
    return "xyzw"[number] if count <= 4 else f"s{number:x}"


def _writes_r0(kernel: Kernel) -> bool:
    aliases = {
        predefined.FIRST_VARIABLE + index
        for index, declared in enumerate(kernel.variables)
        if declared.alias_index == _R0
    }
    written = (inst.get("dst") for inst in kernel.instructions)
    return any(isinstance(target, General | RawOperand) and target.var in {_R0, *aliases} for target in written)


def identifier(name: str) -> str:
    """Return a name as C allows it."""
    word = re.sub(r"\W", "_", name.removeprefix("%")) or "_"
    return f"_{word}" if word[0].isdigit() else word


def _take(name: str, taken: set[str]) -> str:
    """Return a name as C allows it, other than those of its types and those that are taken, to which it is added."""
    word = identifier(name)
    while word in taken or _VECTOR.fullmatch(word):
        word += "_"
    taken.add(word)
    return word
