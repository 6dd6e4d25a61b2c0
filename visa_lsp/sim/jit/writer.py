"""Writes functions of LLVM: types, constants, and the common operations of bodies and schedulers of groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from llvmlite import ir

Node = Any  # a value of llvmlite, which has no types

I1: Final = ir.IntType(1)
I8: Final = ir.IntType(8)
I16: Final = ir.IntType(16)
I32: Final = ir.IntType(32)
I64: Final = ir.IntType(64)
F16: Final = ir.HalfType()
F32: Final = ir.FloatType()
F64: Final = ir.DoubleType()
PTR: Final = ir.PointerType()


def integer(bits: int) -> Any:
    """Return the integer type with a number of bits."""
    return ir.IntType(bits)


def lanes_of(value: Node) -> int:
    """Return the number of lanes of a vector."""
    count: int = value.type.count
    return count


def vector(element: Any, lanes: int) -> Any:
    """Return a vector type."""
    return ir.VectorType(element, lanes)


def constants(element: Any, values: Sequence[float]) -> Node:
    """Return a constant vector."""
    return ir.Constant(vector(element, len(values)), [ir.Constant(element, v) for v in values])


def splat(element: Any, value: float, lanes: int) -> Node:
    """Return a constant vector of equal lanes."""
    return constants(element, [value] * lanes)


def bytes_of(kind: Any) -> int:
    """Return the number of bytes of an element type."""
    if isinstance(kind, ir.IntType):
        return int(kind.width) // 8
    return {"half": 2, "float": 4, "double": 8}[str(kind)]


def type_of_bytes(size: int) -> Any:
    """Return the type with a number of bytes."""
    return vector(I32, size // 4) if size % 4 == 0 else vector(I8, size)


def suffix_of(kind: Any) -> str:
    """Return the name of a vector type in the names of intrinsics."""
    element = kind.element
    name = f"i{element.width}" if isinstance(element, ir.IntType) else f"f{8 * bytes_of(element)}"
    return f"v{kind.count}{name}"


class Writer:
    """A function while it is written. ``builder`` appends the next operation."""

    def __init__(self, function: ir.Function) -> None:
        self.function, self.module = function, function.module
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))

    def blocks(self, *names: str) -> list[ir.Block]:
        """Return new blocks of the function."""
        return [self.function.append_basic_block(name) for name in names]

    # ---- control flow

    def go_to(self, block: ir.Block) -> None:
        """Branch to a block, and continue there."""
        self.builder.branch(block)
        self.builder.position_at_end(block)

    def leave_if(self, condition: Node, target: ir.Block, *, rarely: bool = False) -> None:
        """Branch to a block if a bit is set; else continue in a new one."""
        (onward,) = self.blocks("onward")
        branch = self.builder.cbranch(condition, target, onward)
        if rarely:
            branch.set_weights([1, 999])
        self.builder.position_at_end(onward)

    def leave_unless(self, condition: Node, target: ir.Block) -> None:
        """Branch to a block unless a bit is set; else continue in a new one."""
        (onward,) = self.blocks("onward")
        self.builder.cbranch(condition, onward, target)
        self.builder.position_at_end(onward)

    def repeat(self, initial: Node, body: Callable[[Node, ir.Block], Node]) -> None:
        """Emit a loop over a value; ``body`` leaves it to a block, and returns the next value."""
        before, (head, done) = self.builder.block, self.blocks("head", "done")
        self.go_to(head)
        value = self.builder.phi(initial.type)
        value.add_incoming(initial, before)
        following = body(value, done)
        value.add_incoming(following, self.builder.block)
        self.builder.branch(head)
        self.builder.position_at_end(done)

    # ---- numbers in memory

    def address(self, base: Node, offset: int) -> Node:
        """Return the address of a number of a block."""
        return self.builder.gep(base, [ir.Constant(I64, offset)], source_etype=I8)

    def word(self, base: Node, offset: int, kind: Any = I64) -> Node:
        """Return a number of a block."""
        return self.builder.load(self.address(base, offset), typ=kind)

    def put_word(self, base: Node, offset: int, value: Node | int) -> None:
        """Write a number of a block."""
        node = ir.Constant(I64, value) if isinstance(value, int) else value
        self.builder.store(node, self.address(base, offset))

    def variable(self, value: Node) -> Node:
        """Return a new cell of the function with an initial value."""
        cell = self.builder.alloca(value.type)
        self.builder.store(value, cell)
        return cell

    def place_of(self, cell: Node) -> Node:
        """Return the address of a cell."""
        return cell

    def get(self, cell: Node, kind: Any = I32) -> Node:
        """Return the value of a cell."""
        return self.builder.load(self.place_of(cell), typ=kind)

    def set(self, cell: Node, value: Node) -> None:
        """Write a cell."""
        self.builder.store(value, self.place_of(cell))

    def add_to(self, cell: Node, value: Node | int) -> None:
        """Add to a cell of 64 bits."""
        node = ir.Constant(I64, value) if isinstance(value, int) else value
        self.set(cell, self.builder.add(self.get(cell, I64), node))

    # ---- operations that LLVM has as functions, and loops

    def intrinsic(self, name: str, result: Any, *arguments: Node) -> Node:
        """Call an LLVM intrinsic by its full name."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        return self.builder.call(self.module.globals.get(name) or ir.Function(self.module, kind, name), arguments)

    def each(self, name: str, operand: Node, *others: Node) -> Node:
        """Call an intrinsic that works lane by lane: its name lacks the type."""
        return self.intrinsic(f"{name}.{suffix_of(operand.type)}", operand.type, operand, *others)

    def loop(self, start: Node, end: Node, body: Callable[[Node], None]) -> None:
        """Emit a loop that runs ``body`` for each number."""

        def step(number: Node, done: ir.Block) -> Node:
            self.leave_unless(self.builder.icmp_signed("<", number, end), done)
            body(number)
            return self.builder.add(number, ir.Constant(I64, 1))

        self.repeat(start, step)

    # ---- lanes

    def spread(self, element: Node, lanes: int) -> Node:
        """Return a vector whose lanes are all the same value."""
        kind = vector(element.type, lanes)
        inserted = self.builder.insert_element(ir.Constant(kind, ir.Undefined), element, ir.Constant(I32, 0))
        if lanes == 1:
            return inserted
        return self.builder.shuffle_vector(inserted, ir.Constant(kind, ir.Undefined), splat(I32, 0, lanes))

    def lanes(self, bits: Node | None, lanes: int) -> Node | None:
        """Return the bits of an integer as a vector of bits."""
        return None if bits is None else self.builder.bitcast(bits, vector(I1, lanes))

    def count_of(self, bits: Node) -> Node:
        """Return the number of set bits of an integer, in 64 bits."""
        return self.builder.zext(self.intrinsic(f"llvm.ctpop.i{bits.type.width}", bits.type, bits), I64)

    def all_on(self, lanes: int) -> Node:
        """Return an integer with all bits set."""
        return ir.Constant(integer(lanes), (1 << lanes) - 1)

    def keep_lanes(self, value: Node) -> Node:
        """Store lanes in memory for access by number; return the place."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(value.type)
        self.builder.store(value, place)
        return place

    def lane_of(self, place: Node, lane: Node, kind: Any) -> Node:
        """Return a stored lane by number."""
        return self.builder.load(self.builder.gep(place, [lane], source_etype=kind), typ=kind)

    def store_at(self, place: Node, value: Node) -> None:
        """Store at an address of the host, a number."""
        self.builder.store(value, self.builder.inttoptr(place, PTR), align=1)

    def each_lane(self, bits: Node, body: Callable[[Node], object]) -> None:
        """Emit a loop that runs ``body`` for each set bit, lowest first."""
        builder, kind = self.builder, bits.type

        def step(left: Node, done: ir.Block) -> Node:
            self.leave_unless(builder.icmp_unsigned("!=", left, ir.Constant(kind, 0)), done)
            lane = self.intrinsic(f"llvm.cttz.i{kind.width}", kind, left, ir.Constant(I1, 1))
            body(builder.zext(lane, I64))
            return builder.and_(left, builder.sub(left, ir.Constant(kind, 1)))

        self.repeat(bits, step)

    def places(self, base: Node, offsets: Node) -> Node:
        """Return the host's addresses at byte offsets, 64 bits for each lane, from a base address."""
        return self.builder.add(offsets, self.spread(self.builder.ptrtoint(base, I64), lanes_of(offsets)))

    def gather(self, kind: Any, places: Node, bits: Node, align: int) -> Node:
        """Return the elements at the addresses of the lanes that are set in ``bits``, an integer; zeros elsewhere."""
        lanes = kind.count
        pointers = self.builder.inttoptr(places, vector(PTR, lanes))
        name, none = f"llvm.masked.gather.{suffix_of(kind)}.v{lanes}p0", splat(kind.element, 0, lanes)
        return self.intrinsic(name, kind, pointers, ir.Constant(I32, align), self.lanes(bits, lanes), none)

    def scatter(self, value: Node, places: Node, bits: Node, align: int) -> None:
        """Store the lanes that are set in ``bits`` at their addresses, the lowest lane first."""
        lanes = lanes_of(value)
        pointers = self.builder.inttoptr(places, vector(PTR, lanes))
        name = f"llvm.masked.scatter.{suffix_of(value.type)}.v{lanes}p0"
        self.intrinsic(name, ir.VoidType(), value, pointers, ir.Constant(I32, align), self.lanes(bits, lanes))

    def store_each(self, value: Node, places: Node, bits: Node) -> None:
        """Store like ``scatter``, one by one, because machines rarely have an instruction for this."""
        kept, values = self.keep_lanes(places), self.keep_lanes(value)
        kind = value.type.element
        self.each_lane(
            bits, lambda lane: self.store_at(self.lane_of(kept, lane, I64), self.lane_of(values, lane, kind))
        )
