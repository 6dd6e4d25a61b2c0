"""Messages of the load/store controller, untyped: the pseudo-code of the page LSC_UNTYPED, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.model.memory import Space
from tests.support.model.messages import serve
from tests.support.model.numbers import decode, encode
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.program.model import General, Immediate, RawOperand

if TYPE_CHECKING:
    from tests.support.model.state import State

KIND = {1: "uw", 2: "ud", 3: "uq", 5: "ud", 6: "d"}
# data size code: bytes in memory, bytes in a register, first byte in the register (docs/format.md, "Load/store operands")
DATA = {1: (1, 1, 0), 2: (2, 2, 0), 3: (4, 4, 0), 4: (8, 8, 0), 5: (1, 4, 0), 6: (2, 4, 0), 7: (2, 4, 2)}


def space_of(state: State, inst) -> tuple[Space, int]:
    """Return the space of a message, and a base that is added to its addresses."""
    operand, kind = inst.get("surface"), inst.get("addrtype")
    if inst.get("sfid") == codes.SFID_SLM:
        return Space(state, -1), state.scalar(operand) if isinstance(operand, General) else 0
    if kind in (codes.ADDRTYPE_FLAT, codes.ADDRTYPE_ARG):
        return Space(state, None), state.scalar(operand) if isinstance(operand, General) else 0
    value = operand.bits if isinstance(operand, Immediate) else state.scalar(operand) & 0xFFFFFFFF
    # r0.5 holds where the state of the thread's scratch space lies, in units of 16 bytes.
    scratch = kind == codes.ADDRTYPE_SS and value == state.header[5] >> 4
    return Space(state, -2 if scratch else value), 0


def addresses(state: State, inst, lanes: int, base: int) -> list[int]:
    """Return base + scale * address + offset; addresses into surfaces have 32 bits."""
    kind = KIND[inst.get("addrsize")]
    raw = [state.number(inst.get("src0"), i, kind) for i in range(lanes)]
    found = [a * (inst.get("immscale") or 1) + inst.get("immoffset") for a in raw]
    if kind != "uq" and inst.get("addrtype") != codes.ADDRTYPE_FLAT:
        found = [a % (1 << 32) for a in found]
    return [a + base for a in found]


def numbers_of(inst, *, quad: bool) -> list[int]:
    """Return the numbers of the elements behind an address that move."""
    if quad:
        return [c for c in range(4) if inst.get("chmask") >> c & 1]
    return list(range(codes.ELEMS_VALUE[inst.get("elems")]))


def _transfer(*, write: bool, quad: bool = False, strided: bool = False):
    def body(state: State, inst) -> None:
        memory, register, first = DATA[inst.get("datasize")]
        on = state.compute_enable(inst)
        lanes, chosen = len(on), numbers_of(inst, quad=quad)
        space, base = space_of(state, inst)
        data = inst.get("src1" if write else "dst")
        transposed = inst.get("order") == codes.ORDER_TRANSPOSED
        at = addresses(state, inst, 1 if strided or transposed else lanes, base)
        if strided:
            pitch = state.scalar(inst.get("pitch")) or len(chosen) * memory
            at = [at[0] + i * pitch for i in range(lanes)]
        row = max(state.grf, -(-lanes * register // state.grf) * state.grf)
        for m, v in enumerate(chosen):
            for i in range(1 if transposed else lanes):
                if not on[i]:
                    continue
                place = m * register if transposed else m * row + i * register
                where = at[i] + v * memory
                if write:
                    space.write(where, state.peek(data, place + first, memory))
                    continue
                cell = bytes(first) + space.read(where, memory)
                state.poke(inst, data, place, cell.ljust(register, b"\0"))

    return body


LEGACY = {
    "iinc": "inc", "idec": "dec", "iadd": "add", "isub": "sub", "store": "xchg", "smin": "minsint", "smax": "maxsint",
    "umin": "min", "umax": "max",
}  # fmt: skip


def atomic_word(inst) -> str:
    """Return the operation that a mnemonic names, as ``memory.update`` calls it."""
    word = inst.row.mnemonic.removeprefix("lsc_atomic_")
    return LEGACY.get(word, word)


def atomic(state: State, inst) -> None:
    """Read, combine, write back, one lane after the other."""
    memory, register, _ = DATA[inst.get("datasize")]
    on = state.compute_enable(inst)
    space, base = space_of(state, inst)
    at = addresses(state, inst, len(on), base)
    serve(state, inst, space, at, memory, register, atomic_word(inst), ("src1", "src2"), on)


def _block2d(*, write: bool):
    def body(state: State, inst) -> None:
        if not any(state.compute_enable(inst)):
            return
        size = DATA[inst.get("datasize")][0]
        width, height, blocks = inst.get("width"), inst.get("height"), max(1, inst.get("blocks"))
        transposed, vnni = inst.get("order") == codes.ORDER_TRANSPOSED, bool(inst.get("vnni"))
        numbers = [state.scalar(inst.get(f"addr{i}")) for i in range(6)]
        if inst.get("payload"):
            # One register: base in two dwords, then width, height, pitch, x and y (text 4.2).
            words = [state.number(RawOperand(inst.get("addr0").var, 0), i, "ud") for i in range(7)]
            numbers = [words[0] | words[1] << 32, *words[2:]]
        base, bytes_wide, last_row, pitch = numbers[0], numbers[1] + 1, numbers[2], numbers[3] + 1
        x0, y0 = (decode(encode(n, "d"), "d") for n in numbers[4:])
        x0, y0 = x0 + inst.get("immx"), y0 + inst.get("immy")
        minor, major = (height, width) if transposed else (width, height)
        row_pitch = 1
        while row_pitch < minor:
            row_pitch *= 2
        group = max(1, 4 // size) if vnni else 1
        per_register = state.grf // size
        rows = -(-major // group) * group
        block_pitch = -(-row_pitch * rows // per_register) * per_register
        space, data = Space(state, None), inst.get("src1" if write else "dst")
        if not write:
            state.poke(inst, data, 0, bytes(blocks * block_pitch * size))
        for b in range(blocks):
            for y in range(height):
                for x in range(width):
                    line, column = (x, y) if transposed else (y, x)
                    place = b * block_pitch + line // group * group * row_pitch + column * group + line % group
                    px, py = x0 + b * width + x, y0 + y
                    if not (px >= 0 and (px + 1) * size <= bytes_wide and 0 <= py <= last_row):
                        continue
                    where = base + py * pitch + px * size
                    if write:
                        space.write(where, state.peek(data, place * size, size))
                    else:
                        state.poke(inst, data, place * size, space.read(where, size))

    return body


def _status(*, quad: bool):
    def body(state: State, inst) -> None:
        memory, register, _ = DATA[inst.get("datasize")]
        on = state.compute_enable(inst)
        chosen = numbers_of(inst, quad=quad)
        row = max(state.grf, -(-len(on) * register // state.grf) * state.grf)
        space, base = space_of(state, inst)
        if quad:
            _transfer(write=False, quad=True)(state, inst)
        if not any(on):
            return
        at = addresses(state, inst, len(on), base)
        bits = sum(1 << i for i in range(len(on)) if on[i] and space.find(at[i], (max(chosen) + 1) * memory))
        state.poke(inst, inst.get("dst"), len(chosen) * row if quad else 0, bits.to_bytes(4, "little"))

    return body


EFFECTS = {
    "lsc_load": _transfer(write=False),
    "lsc_store": _transfer(write=True),
    "lsc_load_quad": _transfer(write=False, quad=True),
    "lsc_store_quad": _transfer(write=True, quad=True),
    "lsc_load_strided": _transfer(write=False, strided=True),
    "lsc_store_strided": _transfer(write=True, strided=True),
    "lsc_load_block2d": _block2d(write=False),
    "lsc_store_block2d": _block2d(write=True),
    "lsc_atomic": atomic,
    "lsc_load_status": _status(quad=False),
    "lsc_load_quad_status": _status(quad=True),
}
