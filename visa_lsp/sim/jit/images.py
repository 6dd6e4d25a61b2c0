"""Compiled messages that read and write images. The rules are those of ``sim.effects.images`` and ``sim.effects.sampling``.

A function of the module does a message for the images of one form, and for samplers of one state: which of them surface and
sampler variables stand for is tested when it runs. Sizes are numbers of the launch's table.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from llvmlite import ir

from visa_lsp.isa import types as ty
from visa_lsp.isa.message_forms import MemoryUse
from visa_lsp.program.message import (
    OFFSETS,
    BlockMessage,
    MemoryKind,
    SampleMessage,
    TexelMessage,
    sample_message_of,
    understood_message_of,
)
from visa_lsp.program.model import General, Immediate, RawOperand, State, Value
from visa_lsp.sim.effects import sampling
from visa_lsp.sim.filtering import filter_texels
from visa_lsp.sim.image_messages import axes
from visa_lsp.sim.jit import check_instrumentation, numbers, state
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.lane_formulas import LaneNumbers, LaneOperations
from visa_lsp.sim.jit.messages import may_leave
from visa_lsp.sim.jit.numbers import raw_lanes, raw_start, scalar
from visa_lsp.sim.jit.spaces import surface_place
from visa_lsp.sim.jit.writer import F16, F32, F64, I1, I8, I16, I32, I64, Node, constants, integer, splat, vector
from visa_lsp.sim.messages import SAMPLER_STATE_BYTES, SURFACE_STATE_BYTES
from visa_lsp.sim.registers import FIRST_HANDLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.program.message import MessageMemory
    from visa_lsp.sim.memory import ImageForm, Sampler
    from visa_lsp.sim.operands import Site

_MAX_FORMS: Final = 16  # pairs of an image's form and a sampler's state to compare unknown values with
_CHANNEL_TYPES: Final = {"u1": ty.UB, "i1": ty.B, "u2": ty.UW, "i2": ty.W, "u4": ty.UD, "i4": ty.D}


class _Image:
    """An image in the function of a message, by its row in the launch's table."""

    def __init__(self, e: Emitter, form: ImageForm, row: Node, lanes: int) -> None:
        self.e, self.form, self.row, self.lanes = e, form, row, lanes
        self.size, self.host = e.word(row, 8), e.word(row, 16)
        words = (e.word(row, state.IMAGE + 8 * k) for k in range(4))
        self.width, self.height, self.depth, self.pitch = (LaneNumbers(e, e.spread(word, lanes)) for word in words)

    def places(self, x: LaneNumbers, y: LaneNumbers, z: LaneNumbers) -> tuple[Node, Node, Node]:
        """Return the host's addresses of texels, whether they are inside, and as an integer whether there is memory, too."""
        e, size = self.e, self.form.texel_bytes
        inside = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height) & (z >= 0) & (z < self.depth)
        offsets = (z * self.height + y) * self.pitch + x * size
        there = inside & (offsets + size <= LaneNumbers(e, e.spread(self.size, self.lanes)))
        host = e.builder.add(offsets.node, e.spread(self.host, self.lanes))
        return host, inside.node, e.builder.bitcast(there.node, integer(self.lanes))

    def read(self, x: LaneNumbers, y: LaneNumbers, z: LaneNumbers, outside: int = 0) -> list[Node]:
        """Return the four channels as f32 or dwords; alpha is ``outside`` there."""
        e, builder, form, lanes = self.e, self.e.builder, self.form, self.lanes
        places, inside, there = self.places(x, y, z)
        size = form.channel_type.itemsize
        unit = form.texel_bytes if form.texel_bytes in (1, 2, 4, 8) else size
        channels = []
        for number in range(4):
            kind = I32 if form.kind == "int" else F32
            channel = splat(kind, int(number == 3), lanes)
            if number < form.channels:
                index, skipped = divmod(number * size, unit)
                if not skipped:
                    start = builder.add(places, splat(I64, index * unit, lanes))
                    word = e.gather(vector(integer(8 * unit), lanes), start, there, 1)
                bits = builder.lshr(word, splat(word.type.element, 8 * skipped, lanes))
                channel = self._number(numbers.resize(e, bits, 8 * size, signed=False))
            channels.append(builder.select(inside, channel, splat(kind, int(outside) if number == 3 else 0, lanes)))
        return channels

    def _number(self, bits: Node) -> Node:
        """Return a channel as f32 or a dword."""
        builder, form, lanes, size = self.e.builder, self.form, self.lanes, self.form.channel_type.itemsize
        signed = form.channel_type.kind == "i"
        if form.kind == "int":
            return numbers.resize(self.e, bits, 32, signed=signed)
        if form.kind == "float":
            own = builder.bitcast(bits, vector(F16 if size == 2 else F32, lanes))
            return own if size == 4 else builder.fpext(own, vector(F32, lanes))
        wide = (builder.sitofp if signed else builder.uitofp)(bits, vector(F64, lanes))
        o, share = LaneOperations(self.e, lanes), LaneNumbers(self.e, wide) / self._top
        return o.single(o.choose(share < -1.0, -1.0, share)).node

    @property
    def _top(self) -> float:
        kind = self.form.channel_type
        return float((1 << 8 * kind.itemsize - (kind.kind == "i")) - 1)

    def write(self, coordinates: Sequence[LaneNumbers], bits: Node, values: dict[int, Node]) -> None:
        """Store channels, given as dwords, into the texels of lanes whose bit is on; those outside are dropped."""
        e, builder, size = self.e, self.e.builder, self.form.channel_type.itemsize
        places, _, there = self.places(*coordinates)
        bits = builder.and_(bits, there)
        channels = [
            (self._channel(value), builder.add(places, splat(I64, number * size, self.lanes)))
            for number, value in values.items()
        ]
        with builder.if_then(builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))):
            for channel, there in channels:
                e.store_each(channel, there, bits)
            e.put_word(self.row, state.WRITTEN, 1)
        for channel, there in channels if e.mode.watched else ():  # lanes that store different values at one place race
            stored = e.gather(channel.type, there, bits, 1)
            lost = builder.and_(builder.icmp_unsigned("!=", stored, channel), e.lanes(bits, self.lanes))
            check_instrumentation.suspect(e, check_instrumentation.any_of(e, lost))

    def watch(self, coordinates: Sequence[LaneNumbers], bits: Node, use: int) -> None:
        """Suspect texels of the set lanes that are outside or that the argument forbids, and races; mark the use."""
        e, b = self.e, self.e.builder
        places, _, there = self.places(*coordinates)
        offsets, none = b.sub(places, e.spread(self.host, self.lanes)), ir.Constant(bits.type, 0)
        outside = b.icmp_unsigned("!=", b.and_(bits, b.not_(there)), none)
        check_instrumentation.suspect(e, outside)
        place = surface_place(e, self.row, use)
        check_instrumentation.access(e, place)
        with b.if_then(b.icmp_unsigned("!=", bits, none)):
            check_instrumentation.mark(e, place, offsets, self.form.texel_bytes, bits=bits)

    def _channel(self, value: Node) -> Node:
        """Return a channel in the bits that memory has, from a dword."""
        e, builder, form, lanes = self.e, self.e.builder, self.form, self.lanes
        kind = form.channel_type
        own = integer(8 * kind.itemsize)
        if form.kind == "int":
            name = f"{kind.kind}{kind.itemsize}"
            return numbers.from_integers(e, value, _CHANNEL_TYPES[name], sat=True, signed=kind.kind == "i")
        floats = builder.bitcast(value, vector(F32, lanes))
        if form.kind == "float":
            narrow = floats if kind.itemsize == 4 else builder.fptrunc(floats, vector(F16, lanes))
            return builder.bitcast(narrow, vector(own, lanes))
        o, wide = LaneOperations(e, lanes), LaneNumbers(e, builder.fpext(floats, vector(F64, lanes)))
        low = -1.0 if kind.kind == "i" else 0.0
        share = o.choose(o.is_nan(wide), 0.0, o.choose(wide < low, low, o.choose(wide > 1.0, 1.0, wide)))
        return numbers.resize(e, o.whole(o.nearest(share * self._top)).node, 8 * kind.itemsize, signed=True)


# ---- which image, which sampler


def _operand_value(e: Emitter, site: Site, operand: Value, offset: int) -> tuple[Node, int | None]:
    """Return the value of an operand that holds a state or a pointer to it, and the number that it is known to be."""
    if isinstance(operand, RawOperand):
        return e.builder.extract_element(raw_lanes(e, site, operand, I64, 1), ir.Constant(I32, 0)), None
    value = e.builder.add(scalar(e, site, operand) or ir.Constant(I64, 0), ir.Constant(I64, offset))
    return value, operand.bits & 0xFFFFFFFF if isinstance(operand, Immediate) else None


def _surface_value(e: Emitter, site: Site, memory: MessageMemory) -> tuple[Node, int | None]:
    """Return the value of a message's surface. Raises Uncompiled without one, or if only the interpreter finds it."""
    match memory.kind:
        case MemoryKind.VARIABLE:
            return _variable_value(e, site, State(False, memory.number, 0))
        case MemoryKind.BINDING:
            return ir.Constant(I64, memory.number), memory.number
        case MemoryKind.POINTER:
            return _operand_value(e, site, memory.operand, memory.index * SURFACE_STATE_BYTES)
        case MemoryKind.STATE if not memory.may_be_scratch:
            return _operand_value(e, site, memory.operand, 0)
    raise Uncompiled


def _variable_value(e: Emitter, site: Site, operand: State) -> tuple[Node, int | None]:
    (cell,) = e.layout.state_cells(site, operand, 1)
    return e.surface(cell), e.known_surfaces.get(cell)


def _sampler_value(e: Emitter, site: Site, message: SampleMessage) -> tuple[Node, int | None]:
    if isinstance(message.sampler, RawOperand | General):
        value, constant = _operand_value(e, site, message.sampler, message.sampler_index * SAMPLER_STATE_BYTES)
    else:
        value, constant = _variable_value(e, site, State(True, site.integer("sampler"), 0))
    tagged = e.builder.icmp_signed(">=", value, ir.Constant(I64, FIRST_HANDLE))
    value = e.builder.select(tagged, e.builder.and_(value, ir.Constant(I64, ~sampling.HANDLE_TAGS)), value)
    return value, constant & ~sampling.HANDLE_TAGS if constant is not None and constant >= FIRST_HANDLE else constant


def _meanings(value: int | None, meanings: dict[int, Any]) -> list[tuple[Any, list[int]]]:
    """Return the meanings that a value may have with the numbers that stand for each."""
    numbers_by_meaning: dict[Any, list[int]] = {}
    for number, meaning in meanings.items():
        if value is None or number == value:
            numbers_by_meaning.setdefault(meaning, []).append(number)
    return list(numbers_by_meaning.items())


def _emit_for_each(
    e: Emitter, site: Site, message: TexelMessage | BlockMessage | SampleMessage,
    emit: Callable[[ImageForm, Node, Sampler | None], Node], use: Callable[[Node], None] = lambda _: None,
    *, sampled: bool = False, plain: bool = True,
) -> None:  # fmt: skip
    """Emit a message for each image that its surface may be, ``plain`` buffers, too; ``use`` takes the result. Others are the interpreter's."""
    builder, bindings = e.builder, e.bindings
    images = {n: form for n, form in zip(bindings.surfaces, bindings.forms, strict=True) if plain or form.dims > 1}
    surface, constant = _surface_value(e, site, message.memory)
    forms, sampler = _meanings(constant, images), None
    states: list[tuple[Any, list[int]]] = [(None, [])]
    if sampled and isinstance(message, SampleMessage):
        sampler, constant = _sampler_value(e, site, message)
        states = _meanings(constant, dict(bindings.samplers))
    if not 0 < len(forms) * len(states) <= _MAX_FORMS:
        raise Uncompiled

    def one_of(value: Node, several: Sequence[int]) -> Node:
        equal: Node = ir.Constant(I1, not several)
        for number in several:
            equal = builder.or_(equal, builder.icmp_unsigned("==", value, ir.Constant(I64, number)))
        return equal

    with may_leave(e) as outside:
        results, (done,) = [], e.blocks("image_done")
        for (form, surfaces), (state_, handles) in product(forms, states):
            (other,) = e.blocks("other_image")
            e.leave_unless(builder.and_(one_of(surface, surfaces), one_of(sampler, handles)), other)
            offset: Node = ir.Constant(I64, 0)
            for number in surfaces:
                place = ir.Constant(I64, state.ENTRY * bindings.surfaces.index(number))
                offset = builder.select(one_of(surface, [number]), place, offset)
            row = builder.gep(e.table(state.SURFACES), [offset], source_etype=I8)
            results.append((emit(form, row, state_), builder.block))
            builder.branch(done)
            builder.position_at_end(other)
        builder.branch(outside)
        builder.position_at_end(done)
        phi = builder.phi(results[0][0].type)
        for pair in results:
            phi.add_incoming(*pair)
        use(phi)


def _outline_channels(
    e: Emitter, form: ImageForm, row: Node, name: object, given: Sequence[Node],
    body: Callable[..., list[Node]], size: int,
) -> Node:  # fmt: skip
    """Return an array of channels in elements of ``size`` bytes, by a function that ``body`` writes."""
    lanes: int = given[0].type.count
    kind = vector(integer(8 * size), lanes)

    def write(row: Node, *own: Node) -> Node:
        channels: Node = ir.Constant(ir.ArrayType(kind, 4), ir.Undefined)
        for number, channel in enumerate(body(_Image(e, form, row, lanes), *own)):
            value = channel
            if value.type.element is F32:
                value = value if size == 4 else e.builder.fptrunc(value, vector(F16, lanes))
                value = e.builder.bitcast(value, kind)
            channels = e.builder.insert_value(channels, numbers.resize(e, value, 8 * size, signed=False), number)
        return channels

    types = "_".join(str(node.type) for node in given)
    return e.outline(f"{name}_{form}_{types}_{size}", ir.ArrayType(kind, 4), [row, *given], write)


def _put_channels(e: Emitter, site: Site, message: TexelMessage | SampleMessage, channels: Node) -> None:
    """Put channels into the registers of the destination, for the lanes that are on."""
    lanes, size, chosen = site.lanes, channels.type.element.element.width // 8, message.channels
    row = max(lanes * size, site.grf)
    start = raw_start(site, message.data, (len(chosen) - 1) * row + lanes * size)
    enabled = e.lanes(e.enable(site), lanes)
    for number, channel in enumerate(chosen if start >= 0 else ()):
        e.store_lanes(start + number * row, range(lanes), e.builder.extract_value(channels, channel), enabled)


# ---- messages of the sampler


def _value_of(site: Site) -> SampleMessage:
    """Return the value of the message, and set its lanes."""
    message = sample_message_of(site.inst, site.code.kernel.variable_type)
    site.set_control(message.control)
    return message


def _coordinates(
    e: Emitter, site: Site, message: SampleMessage, *, floats: bool
) -> tuple[list[Node], tuple[int, int, int]]:
    """Return u, v, r, of loads level and sample, too, and the offsets along the first; zeros for what is not given.

    Raises Uncompiled for what has no compiled form.
    """
    given = site.inst.get("aoffimmi")
    parameters = {word: (operand, kind) for word, operand, kind in message.parameters}
    if not isinstance(given, Immediate | int | None) or message.null_mask:
        raise Uncompiled
    if parameters.keys() & {"offu", "offv", OFFSETS, "ref"}:
        raise Uncompiled
    kinds = {"<f4": F32, "<f2": F16, "<i4": I32, "<i2": I16}
    coordinates = []
    for name in ("u", "v", "r", *(() if floats else ("lod", "si"))):
        operand, kind = parameters.get(name, (RawOperand(0, 0), "<f4" if floats else "<i4"))
        bits = raw_lanes(e, site, operand, integer(8 * int(kind[2])), site.lanes)
        coordinates.append(e.builder.bitcast(bits, vector(kinds[kind], site.lanes)) if floats else bits)
    offset = scalar(e, site, given)
    return coordinates, sampling.texel_offset(0 if offset is None else int(offset.constant))


def _result_bytes(site: Site) -> int:
    kind = site.code.kernel.variable_type(site.raw("dst").var) or ty.F
    if kind.size not in (2, 4) or kind is ty.BF:
        raise Uncompiled
    return kind.size


def _texel_numbers(e: Emitter, form: ImageForm, own: Sequence[Node]) -> tuple[LaneNumbers, LaneNumbers, LaneNumbers]:
    """Return texel numbers from integer coordinates."""
    u, v, r = (LaneNumbers(e, numbers.resize(e, coordinate, 64, signed=True)) for coordinate in own)
    return axes(form, u, v, r, LaneNumbers(e, splat(I64, 0, own[0].type.count)))


def _emit_channels(
    e: Emitter, site: Site, message: SampleMessage, name: object, given: Sequence[Node],
    body: Callable[[_Image, Sampler | None, Sequence[Node]], list[Node]], size: int, *, sampled: bool = False,
) -> None:  # fmt: skip
    """Emit a message whose result are the channels that ``body`` writes for an image and a sampler."""

    def emit(form: ImageForm, row: Node, sampler: Sampler | None) -> Node:
        if sampler is not None and sampler.filter == "linear" and form.kind == "int":
            raise Uncompiled

        def channels(image: _Image, *own: Node) -> list[Node]:
            return body(image, sampler, own)

        return _outline_channels(e, form, row, (name, sampler), given, channels, size)

    put = partial(_put_channels, e, site, message)
    _emit_for_each(e, site, message, emit, put, sampled=sampled)


def _sample(e: Emitter, site: Site) -> None:
    message = _value_of(site)
    (given, offset), lanes = _coordinates(e, site, message, floats=True), site.lanes

    def body(image: _Image, sampler: Sampler | None, own: Sequence[Node]) -> list[Node]:
        assert sampler is not None
        o = LaneOperations(e, lanes)
        u, v, r = (LaneNumbers(e, e.builder.fpext(coordinate, vector(F64, lanes))) for coordinate in own)
        sizes = image.width, image.height, image.depth

        def texels(x: LaneNumbers, y: LaneNumbers, z: LaneNumbers) -> list[LaneNumbers]:
            return [LaneNumbers(e, channel) for channel in image.read(x, y, z)]

        return [c.node for c in filter_texels(o, image.form, sizes, sampler, (u, v, r), offset, texels)]

    _emit_channels(e, site, message, ("sample", offset), given, body, _result_bytes(site), sampled=True)


def _load(e: Emitter, site: Site) -> None:
    message = _value_of(site)
    (given, offset), lanes = _coordinates(e, site, message, floats=False), site.lanes

    def body(image: _Image, _: Sampler | None, own: Sequence[Node]) -> list[Node]:
        o = LaneOperations(e, lanes)
        wide = (LaneNumbers(e, numbers.resize(e, coordinate, 64, signed=True)) for coordinate in own[:3])
        u, v, r = (coordinate + n for coordinate, n in zip(wide, offset, strict=True))
        for outer in own[3:]:  # there is one level of detail, and one sample
            other = e.builder.icmp_unsigned("!=", outer, splat(outer.type.element, 0, lanes))
            u = o.choose(LaneNumbers(e, other), -1, u)
        return image.read(*_texel_numbers(e, image.form, (u.node, v.node, r.node)))

    _emit_channels(e, site, message, ("load", offset), given, body, _result_bytes(site))


def _resinfo(e: Emitter, site: Site) -> None:
    message = _value_of(site)
    level = raw_lanes(e, site, site.raw("lod"), I32, site.lanes)

    def body(image: _Image, _: Sampler | None, own: Sequence[Node]) -> list[Node]:
        form, none = image.form, splat(I32, 0, site.lanes)
        extents = image.width, image.height if form.dims > 1 else None, image.depth if form.dims > 2 else None
        if form.dims == 2 and form.layered and not form.tall:
            extents = image.width, image.depth, None
        top_level = e.builder.icmp_unsigned("==", own[0], none)
        sizes = [none if extent is None else numbers.resize(e, extent.node, 32, signed=False) for extent in extents]
        return [*(e.builder.select(top_level, size, none) for size in sizes), splat(I32, 1, site.lanes)]

    _emit_channels(e, site, message, "sizes", [level], body, 4)


# ---- typed messages


def emit_texels(e: Emitter, site: Site) -> None:
    """Emit a typed read or write. Raises Uncompiled if it has no compiled form."""
    message = understood_message_of(site.inst)
    moves = (MemoryUse.READ, MemoryUse.WRITE)
    if not isinstance(message, TexelMessage) or message.use not in moves or message.residency or message.sample:
        raise Uncompiled
    if message.data.var == 0:
        raise Uncompiled
    kind, lanes = integer(8 * message.type.size), site.lanes
    given = [raw_lanes(e, site, coordinate.operand, kind, lanes) for coordinate in message.coordinates]
    if any(coordinate.offset for coordinate in message.coordinates):
        wide = (numbers.resize(e, own, 64, signed=True) for own in given)
        given = [e.builder.add(u, splat(I64, c.offset, lanes)) for u, c in zip(wide, message.coordinates, strict=True)]
    chosen, write, alpha = message.channels, message.use is MemoryUse.WRITE, message.alpha
    bits, values = e.some(e.enable(site), site), []
    if write:
        row = max(lanes * 4, site.grf)
        start = raw_start(site, message.data, (len(chosen) - 1) * row + lanes * 4)
        values = [e.load_lanes(start + k * row, range(lanes), I32) for k in range(len(chosen))]

    def store(form: ImageForm, row: Node, bits: Node, *own: Node) -> None:
        image, coordinates = _Image(e, form, row, lanes), _texel_numbers(e, form, own[:3])
        if e.mode.watched:
            image.watch(coordinates, bits, check_instrumentation.WRITTEN if write else check_instrumentation.READ)
        if write:
            kept = {channel: own[3 + k] for k, channel in enumerate(chosen) if channel < form.channels}
            image.write(coordinates, bits, kept)

    def read(image: _Image, *own: Node) -> list[Node]:
        return image.read(*_texel_numbers(e, image.form, own), alpha)

    def emit(form: ImageForm, row: Node, _: Sampler | None) -> Node:
        size = ir.Constant(I64, form.texel_bytes)
        e.add_to(e.writes if write else e.reads, e.builder.mul(e.count_of(bits), size))
        if write or e.mode.watched:
            name = f"{('write' if write else 'watch', chosen)}_{form}_{given[0].type}"
            check_instrumentation.suspect_outlined(e, name, [row, bits, *given, *values], partial(store, form))
        return row if write else _outline_channels(e, form, row, ("typed", alpha), given, read, 4)

    use = partial(_put_channels, e, site, message) if not write else lambda _: None
    _emit_for_each(e, site, message, emit, use)


# ---- blocks of bytes, for the thread


def emit_block(e: Emitter, site: Site) -> None:
    """Move a rectangle of bytes; outside of the image reads give those at its ``edge`` or zero, and writes are dropped."""
    message, b = understood_message_of(site.inst), e.builder
    if not isinstance(message, BlockMessage) or message.is_matrix or message.guard is not None:
        raise Uncompiled
    width, height, pitch, zero = message.width, message.height, message.pitch, ir.Constant(I64, 0)
    write, size = message.use is MemoryUse.WRITE, (height - 1) * pitch + width
    start = raw_start(site, message.data, size)
    if start < 0:
        raise Uncompiled
    cells, corner = e.at(start, size), (scalar(e, site, site.inst.get(name)) or zero for name in message.corner)
    left, top = (
        b.add(b.sext(b.trunc(number, I32), I64), ir.Constant(I64, moved))
        for number, moved in zip(corner, message.offset, strict=True)
    )
    o, kind, none = LaneOperations(e, width), vector(I8, width), ir.Constant(integer(width), 0)
    x = LaneNumbers(e, b.add(e.spread(left, width), constants(I64, range(width))))

    def emit(form: ImageForm, row: Node, _: Sampler | None) -> Node:
        texel, image = form.texel_bytes, _Image(e, form, row, width)
        if texel & texel - 1:
            raise Uncompiled
        row_bytes = image.width * texel
        place = surface_place(e, row, check_instrumentation.WRITTEN if write else check_instrumentation.READ)
        if e.mode.watched:
            check_instrumentation.access(e, place)

        def move_row(number: Node) -> None:
            at_x, at_y = x, LaneNumbers(e, e.spread(b.add(top, number), width))
            if message.edge:
                within = at_x & (texel - 1)
                at_x = o.choose(at_x < 0, within, o.choose(at_x < row_bytes, at_x, row_bytes - texel + within))
                at_y = o.choose(at_y < 0, 0, o.choose(at_y < image.height, at_y, image.height - 1))
            offsets = at_y * image.pitch + at_x
            inside = (at_x >= 0) & (at_x < row_bytes) & (at_y >= 0) & (at_y < image.height)
            inside &= offsets < LaneNumbers(e, e.spread(image.size, width))
            bits = b.bitcast(inside.node, none.type)
            cell = b.gep(cells, [b.mul(number, ir.Constant(I64, pitch))], source_etype=I8)
            places = b.add(offsets.node, e.spread(image.host, width))
            own, other = b.load(cell, typ=kind, align=1), e.gather(kind, places, bits, 1)
            with b.if_then(b.icmp_unsigned("!=", bits, none)):
                if e.mode.watched:
                    unchanged = b.icmp_unsigned("==", own, other) if write else None
                    check_instrumentation.mark(e, place, offsets.node, 1, bits=bits, same=unchanged)
                if write:
                    e.store_each(own, places, bits)
                    e.put_word(row, state.WRITTEN, 1)
            if not write:
                b.store(other, cell, align=1)
            e.add_to(e.writes if write else e.reads, e.count_of(bits))

        e.loop(zero, ir.Constant(I64, height), move_row)
        return zero

    _emit_for_each(e, site, message, emit, plain=False)


SAMPLES: Final[dict[str, Callable[[Emitter, Site], None]]] = {
    "sample": _sample,
    "sample_3d": _sample,
    "load": _load,
    "load_3d": _load,
    "resinfo": _resinfo,
}
