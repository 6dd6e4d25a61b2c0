"""Objects: valid ones of every layout, and damaged ones; ``dis`` refuses or prints what assembles to the same."""

from __future__ import annotations

import random
import struct
from typing import TYPE_CHECKING, Final

from msgspec import structs

from benchmarks.attack.core import EXAMPLES, Target, Wrong
from benchmarks.attack.kernels import Kernels
from benchmarks.attack.texts import without_errors
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.assemble import assemble_text
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.codec.errors import CodecError
from visa_lsp.codec.object_reader import summary
from visa_lsp.isa.attributes import KERNEL_ATTRIBUTES
from visa_lsp.isa.model import STRING_KINDS, FieldKind
from visa_lsp.isa.platforms import DEFAULT_PLATFORM, platform_named
from visa_lsp.program.grf import default_platform, grf_of
from visa_lsp.program.model import (
    Address,
    AddressOf,
    General,
    Indirect,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
)
from visa_lsp.program.operand_text import string_name
from visa_lsp.program.text_form import module_text, names_of
from visa_lsp.sema.predefined_symbols import pool_prefix

if TYPE_CHECKING:
    from visa_lsp.isa.model import Field
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Inst, Kernel, Module

PLATFORM = platform_named(DEFAULT_PLATFORM)
_BASES: Final = 60
_OLD: Final = (*((3, minor) for minor in range(8)), (4, 0))
_EDGES: Final = (0, 1, 2, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def old_object(draw: random.Random, version: tuple[int, int], code: bytes) -> bytes:
    """Return an object of an old version: some variables and inputs, and this code."""

    def index(value: int) -> bytes:
        return struct.pack("<H" if version < (3, 4) else "<I", value)

    strings = [b"V32", b"V33", b"Usage", b"SimdSize"]
    body = index(len(strings)) + b"".join(s + b"\0" for s in strings) + index(0)
    variables = draw.randrange(1, 4)
    body += index(variables)
    for number in range(variables):
        bits = draw.choice((0, 1, 2, 7)) | 5 << 4
        body += index(1 + number % 2) + bytes([bits]) + struct.pack("<H", draw.choice((1, 8, 16))) + index(0)
        body += bytes([0, 0, 0, 0])
    body += bytes(2) + bytes(2) + bytes(2)  # addresses, predicates, labels
    body += bytes([0, 1]) + index(1) + struct.pack("<HB", 1, 1) + index(3) + b"\4\2\0\0\0"
    body += bytes([0])  # vme
    inputs = len(body)
    body += (b"\1" if version < (3, 5) else struct.pack("<I", 1)) + b"\0" + index(32) + struct.pack("<hH", 32, 64)
    body += struct.pack("<IIH", len(code), len(body) + 10, 0)
    body += code
    name = b"old"
    head = b"CISA" + bytes(version) + struct.pack("<H", 1)
    head += struct.pack("<B" if version < (3, 7) else "<H", len(name)) + name
    start = len(head) + 12 + 2 + 2 + 1 + 9 + 2 + 2
    head += struct.pack("<III", start, len(body), start + inputs)
    head += struct.pack("<HHB", 0, 0, 1) + struct.pack("<BII", 5, start + len(body), 4) + bytes(4)
    return head + body + b"GEN!"


class Objects(Target):
    """Objects that ``asm`` writes and hand-made old ones, with bits, counts and pieces changed."""

    name = "objects"
    suffix = ".isa"

    def __init__(self) -> None:
        self._bases: dict[int, bytes] = {}
        self._code: bytes = b""

    def base(self, number: int) -> bytes:
        """Return a valid object, always the same for a number."""
        known = self._bases.get(number)
        if known is None:
            texts = sorted(EXAMPLES.glob("*.visaasm"))
            if number < len(texts):
                known = assemble_text(texts[number].read_text("utf-8")).data
            else:
                known = clean_object(random.Random(f"base/{number}"))
            assert known is not None
            self._bases[number] = known
        return known

    def make(self, draw: random.Random) -> bytes:
        """Return an object with some damage, or none."""
        data = bytearray(self.base(draw.randrange(_BASES)))
        if draw.random() < 0.25:
            found = summary(bytes(data)).kernels[0]
            code = data[found.offset + found.size - found.code_size : found.offset + found.size]
            data = bytearray(old_object(draw, draw.choice(_OLD), bytes(code) if draw.random() < 0.5 else b""))
        places = code_place(bytes(data)) if draw.random() < 0.5 else None
        if draw.random() < 0.1:
            data[4:6] = bytes(draw.choice((*_OLD, (4, 2), (3, 255), (255, 255), (0, 0))))
        for _ in range(draw.choice((0, 1, 1, 1, 2, 4))):
            damage(draw, data, self.base(draw.randrange(_BASES)), places)
        return bytes(data)

    def attempt(self, case: bytes, draw: random.Random) -> str:
        """Read the object; what can be read is printed, and what can be assembled of that is the same program."""
        try:
            summary(case)
        except CodecError as error:
            in_file(error, case)
        try:
            module = decode(case)
        except CodecError as error:
            in_file(error, case)
            return "refused"
        name = draw.choice((None, None, "TGLLP", "PVCXT"))
        platform = platform_named(name) if name else None
        module_text(module, platform, comments=False)
        text = module_text(module, platform)
        made = assemble_text(text, name)
        if made.data is None:
            if not any(d.severity.value == "error" for d in made.diagnostics):
                raise Wrong("no object of our text, and no error that says why")
            return "printed, and the text refused"
        if made.data == case:
            return "the same bytes"
        again = decode(made.data)
        unknown = any(
            body.string(a.name_index) not in KERNEL_ATTRIBUTES for body in module.bodies for a in body.attributes
        )
        if module_text(again, platform) != text and unknown:
            return "an unknown attribute, whose value asm does not keep"
        if module_text(again, platform) != text and ".divS" in text:
            return "a word that asm does not keep"
        if module_text(again, platform) != text:
            raise Wrong(
                f"what our text assembles to is printed otherwise: {first_difference(text, module_text(again, platform))}"
            )
        return self._compare(made.data, module, again, platform or default_platform(grf_of(module).bytes))

    def _compare(self, made: bytes, module: Module, again: Module, platform: Platform) -> str:
        """Names may be stored otherwise; the bytes of the instructions may not."""
        for one, other in zip(module.bodies, again.bodies, strict=True):
            if len(one.instructions) != len(other.instructions):
                raise Wrong(f"{len(one.instructions)} instructions become {len(other.instructions)}")
        if module.version < (4, 1):
            return "the same program, written as 4.1"
        first, second = (tuple(name_instructions(body, platform) for body in m.bodies) for m in (module, again))
        for one, other in zip(first, second, strict=True):
            for number, (mine, others) in enumerate(zip(one, other, strict=True)):
                if mine != others:
                    raise Wrong(f"instruction {number} becomes another: {mine} and {others}")
        # Where the instructions of the case lie is for its header to say, which may be damaged as well.
        if not all(map(variables_in_order, module.bodies)):
            return "the same program with other numbers"
        if codes(encode(clear_numbers(module))) != codes(encode(clear_numbers(again))):
            raise Wrong("the same instructions have other bytes")
        if all(map(has_numbers_by_mention, module.bodies)):
            first, second = (encode(clear_numbers(m, numbers=True)) for m in (module, again))
            if codes(first) != codes(second):
                raise Wrong("labels or strings have other numbers")
        return "the same code" if codes(encode(module)) == codes(made) else "the same program with other numbers"


def clean_object(draw: random.Random) -> bytes:
    """Return the object of a made text without the lines that have errors."""
    while True:
        text = without_errors(Analysis.of(Kernels(draw).text(draw.choice((10, 30, 60)))))
        made = assemble_text(text).data
        if made is not None and summary(made).kernels:
            return made


def name_instructions(kernel: Kernel, platform: Platform) -> list[str]:
    """Return the instructions of a body with the names of strings and variables in place of their numbers."""
    names = names_of(kernel, platform)
    tables = {General: names.general, AddressOf: names.general, RawOperand: names.general, Address: names.address}
    tables |= {Indirect: names.address, PredicateOperand: names.predicate, Predicate: names.predicate}

    def name_value(value: object, kind: FieldKind) -> str:
        if isinstance(value, tuple):
            return str([name_value(item, kind) for item in value])
        if isinstance(value, int):
            table = {FieldKind.LABEL: names.labels, FieldKind.LABELS: names.labels, FieldKind.SURFACE: names.surface}
            if kind in STRING_KINDS:
                return string_name(names, value)
            letter = {FieldKind.LABEL: "L", FieldKind.LABELS: "L", FieldKind.SURFACE: "T", FieldKind.SAMPLER: "S"}.get(
                kind, ""
            )
            return table.get(kind, names.sampler if kind is FieldKind.SAMPLER else {}).get(value, f"{letter}{value}")
        if isinstance(value, State):
            return f"{(names.sampler if value.sampler else names.surface).get(value.var)}({value.offset})"
        if isinstance(value, AddressOf) and value.var in names.types:
            # An address has many forms, by row and column: the text says the bytes.
            return f"&{names.general.get(value.var)}+{value.row * names.grf_bytes + value.col * names.types[value.var].size}"
        numbered = getattr(value, "var", None)
        found = tables.get(type(value), {}).get(numbered, numbered) if numbered is not None else ""
        return f"{found} {structs.replace(value, var=0) if numbered is not None else value}"  # type: ignore[type-var]

    out = []
    for inst in kernel.instructions:
        pairs = zip(inst.row.fields, inst.values, strict=True)
        # The class of a lifetime's variable is in another field: its number alone is ambiguous.
        out.append(
            " ".join(
                [inst.row.mnemonic, *(name_value(v, f.kind) for f, v in pairs if f.kind is not FieldKind.VARIABLE)]
            )
        )
    return out


def variables_in_order(body: Kernel) -> bool:
    """Return whether the pool has variables in the order of their numbers: declared in this order, they get the same numbers."""
    for kind in (body.variables, body.addresses, body.predicates, body.samplers, body.surfaces):
        names = [variable.name_index for variable in kind]
        if names != sorted(names):
            return False
    return True


def clear_numbers(module: Module, *, numbers: bool = False) -> Module:
    """Return the module with 0 for each label, string and place of an address in its code: what they mean has been compared.

    With ``numbers`` those of labels and strings stay.
    """

    def without(body: Kernel) -> Kernel:
        return structs.replace(body, instructions=tuple(_clear_numbers(i, numbers) for i in body.instructions))

    bodies = tuple(map(without, module.kernels)), tuple(map(without, module.functions))
    return structs.replace(module, kernels=bodies[0], functions=bodies[1])


def _clear_numbers(inst: Inst, numbers: bool) -> Inst:
    values = []
    for field, value in zip(inst.row.fields, inst.values, strict=True):
        if isinstance(value, AddressOf):
            values.append(structs.replace(value, row=0, col=0))  # many forms are one address
        elif numbers:
            values.append(value)
        elif field.kind in (FieldKind.LABEL, *STRING_KINDS):
            values.append(0)
        elif field.kind is FieldKind.LABELS and isinstance(value, tuple):
            values.append((0,) * len(value))
        else:
            values.append(value)
    return structs.replace(inst, values=tuple(values))


def has_numbers_by_mention(body: Kernel) -> bool:
    """Return whether labels and strings have the numbers of the assembler, in the order of the text."""
    predefined = len(pool_prefix(body.name))
    found = list_declared_names(body)
    labels: dict[int, None] = {}
    in_text = names_of(body, PLATFORM).labels
    for inst in body.instructions:
        for field, value in zip(inst.row.fields, inst.values, strict=True):
            if field.kind in STRING_KINDS and isinstance(value, int):
                found.append(value)
            for number in label_numbers(field, value):
                if number in labels:
                    continue
                labels[number] = None
                if in_text[number] != body.string(body.labels[number].name_index):
                    return False  # the text has another name, which the pool may have or not
                found.append(body.labels[number].name_index)
    return list(labels) == list(range(len(labels))) and found == list(range(predefined, predefined + len(found)))


def list_declared_names(body: Kernel) -> list[int]:
    """Return the strings of declarations and of attributes, as the text mentions them."""
    kinds = (body.variables, body.addresses, body.predicates, body.samplers, body.surfaces)
    variables = sorted((v for kind in kinds for v in kind), key=lambda v: v.name_index)
    found = [index for v in variables for index in (v.name_index, *(a.name_index for a in v.attributes))]
    # The assembler appends a Target that it assumes: behind the last name in the code.
    found += [a.name_index for a in body.attributes if a.name_index != len(body.strings) - 1]
    return found


def label_numbers(field: Field, value: object) -> list[int]:
    """Return the labels that a field names."""
    if field.kind is FieldKind.LABEL and isinstance(value, int):
        return [value]
    if field.kind is FieldKind.LABELS and isinstance(value, tuple):
        return [one for one in value if isinstance(one, int)]
    return []


def codes(data: bytes) -> list[bytes]:
    """Return the bytes of the instructions of each body."""
    found = summary(data)
    return [data[b.offset + b.size - b.code_size : b.offset + b.size] for b in (*found.kernels, *found.functions)]


def in_file(error: CodecError, data: bytes) -> None:
    """Check that an error has a message, and a place in the file."""
    if not str(error) or error.offset is None or not 0 <= error.offset <= len(data):
        raise Wrong(f"an error without a place in the file: {error} at {error.offset} of {len(data)}")


def first_difference(one: str, other: str) -> str:
    """Return the first lines that differ."""
    pairs = zip(one.split("\n"), other.split("\n"), strict=False)
    return next((f"{a!r} and {b!r}" for a, b in pairs if a != b), "one is longer")


def code_place(data: bytes) -> range | None:
    """Return the place of the first kernel's instructions."""
    found = summary(data).kernels[0]
    end = found.offset + found.size
    return range(end - found.code_size, end) if found.code_size else None


def damage(draw: random.Random, data: bytearray, other: bytes, places: range | None = None) -> None:
    """Change one byte or field, anywhere or at one of these places."""
    at = draw.randrange(len(data)) if data else 0
    if places is not None and data:
        at = min(draw.choice(places), len(data) - 1)
    match draw.randrange(9):
        case 0 if data:
            data[at] ^= 1 << draw.randrange(8)
        case 1 if data:
            data[at] = draw.randrange(256)
        case 2:
            del data[at : at + draw.choice((1, 1, 2, 4, 40))]
        case 3:
            data[at:at] = draw.randbytes(draw.choice((1, 2, 4, 40)))
        case 4:
            size = draw.choice((1, 2, 4))
            value = draw.choice(_EDGES) & (1 << 8 * size) - 1
            data[at : at + size] = value.to_bytes(size, "little")
        case 5:
            del data[at:]
        case 6:
            start = draw.randrange(len(other))
            size = draw.choice((4, 16, 100))
            data[at : at + size] = other[start : start + size]
        case 7:
            size = draw.choice((1, 2, 4))
            value = int.from_bytes(data[at : at + size], "little") + draw.choice((-1, 1, 1, 2, -2, 16))
            data[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        case _:
            size = draw.choice((8, 50))
            start = draw.randrange(len(data)) if data else 0
            data[at:at] = data[start : start + size]
