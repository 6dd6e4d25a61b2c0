"""Checks of load/store messages that only the finalizer of 2026 (text 4.2) has.

The forms differ by dialect: texts of Efficient64b (CRI and later) address surfaces by `surf(..)`, scale addresses and
give three cache controls; all others use `bti`, `ss` and `bss` and give two. Facts are those of the public source of
98fff71643f1 and of its verdicts on texts of one message. Pure look-ups; the calling rules report them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from visa_lsp.checks.support.facts import exec_control
from visa_lsp.checks.support.payloads import message_data
from visa_lsp.diagnostics import Severity
from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.model import Shape, Trait
from visa_lsp.isa.platforms import Platform, between, since
from visa_lsp.program.model import General, Immediate, Inst
from visa_lsp.sema.model import Bound, BoundOperand, Place
from visa_lsp.syntax import tree

STOPS: Final = "the finalizer of 2026 ends with an assertion"
_SURFACES: Final = frozenset({codes.ADDRTYPE_BSS, codes.ADDRTYPE_SS, codes.ADDRTYPE_BTI})
_STATES: Final = frozenset({codes.ADDRTYPE_BSS, codes.ADDRTYPE_SS})
_NO_DISCARD: Final = between("BMG", "PTL")
_COORDINATES: Final = 4
_MIN_LANES: Final = 16
_MIN_LANES_PVC: Final = 32  # of the base die
_MAX_REGISTERS: Final = 31
# A transposed block: the most elements of a row and the most rows, by the bytes of an element; up to Xe3 only two sizes.
_TRANSPOSED: Final = {1: (64, 32), 2: (32, 32), 4: (16, 32), 8: (8, 32)}
_TRANSPOSED_UNTIL_XE3: Final = {4: (16, 32), 8: (4, 8)}
Found = tuple[Place, str, Severity]


def judge_message(bound: Bound, inst: Inst, platform: Platform) -> Iterator[Found]:
    """Yield the objections of the finalizer of 2026 to a message, each with a severity: a warning if the finalizer crashes."""
    for operand in bound.operands:
        node, place = operand.node, Place(bound.line, operand.node.span)
        shape = operand.slot.shape
        if isinstance(node, tree.AddressRef):
            if shape in (Shape.LSC_ADDRESS, Shape.LSC_ADDRESS_STRIDED):
                yield from _address(inst, node, place, platform)
            elif shape is Shape.LSC_ADDRESS_TYPED:
                yield from _check_typed(inst, node, place, platform)
            elif shape is Shape.LSC_ADDRESS_2D:
                if node.items and not isinstance(node.items[0].base, tree.Ref):
                    yield place, "the base of a block must be a register, not a number", Severity.ERROR
            elif shape is Shape.LSC_SURFACE:
                yield from _surface(inst, node, place, platform)
        elif shape is Shape.LSC_DATA:
            yield from _channels(operand, place)
            yield from _counter(inst, operand, place, platform)
            yield from _registers(bound, place, platform)
        elif shape is Shape.LSC_DATA_2D:
            yield from _check_transposed(inst, place, platform)
    if inst.row.has(Trait.FENCE) and platform.name in _NO_DISCARD and inst.get("op") == codes.FENCE_OP["discard"]:
        assert isinstance(bound.statement, tree.Instruction)
        place = Place(bound.line, bound.statement.words[0].span)
        yield place, f"{platform.name} has no fence that discards lines ({STOPS})", Severity.WARNING


def _address(inst: Inst, node: tree.AddressRef, place: Place, platform: Platform) -> Iterator[Found]:
    kind, size, sfid = inst.get("addrtype"), inst.get("addrsize"), inst.get("sfid")
    if platform.efficient64b:
        if kind in _STATES:
            yield (
                place,
                f"a surface must be `surf(..)` in a text of Efficient64b, not `{node.model.text}(..)` ({STOPS})",
                Severity.WARNING,
            )
        elif sfid == codes.SFID_SLM and size != codes.ADDRSIZE_A32:
            yield place, f"shared local memory takes addresses of 32 bits; expected `:a32` ({STOPS})", Severity.WARNING
        elif sfid == codes.SFID_SLM and kind == codes.ADDRTYPE_ARG:
            yield place, f"`arg` addresses global memory; expected `.ugm` ({STOPS})", Severity.WARNING
        elif sfid == codes.SFID_UGM and kind == codes.ADDRTYPE_FLAT and size == codes.ADDRSIZE_A32:
            yield (
                place,
                f"offsets of 32 bits must be `:a32u` or `:a32s` in a text of Efficient64b ({STOPS})",
                Severity.WARNING,
            )
        elif sfid == codes.SFID_UGM and kind == codes.ADDRTYPE_SURF and size != codes.ADDRSIZE_A32U:
            yield place, f"an offset in a surface must be `:a32u` in a text of Efficient64b ({STOPS})", Severity.WARNING
        return
    surface = inst.get("surface")
    if kind == codes.ADDRTYPE_SURF:
        yield place, _only("`surf(..)`", platform), Severity.ERROR
    elif size in codes.ADDRSIZE_TEXT_ONLY:
        yield place, _only("`:a32u` and `:a32s`", platform), Severity.ERROR
    elif kind == codes.ADDRTYPE_FLAT and (
        (isinstance(surface, Immediate) and surface.bits) or (isinstance(surface, General) and surface.var)
    ):
        yield place, _only("a base, `flat(..)`,", platform), Severity.ERROR
    elif inst.get("immscale") != 1:
        yield place, f"{_only('a scale', platform)} ({STOPS})", Severity.WARNING
    elif kind == codes.ADDRTYPE_ARG and size != codes.ADDRSIZE_A32:
        yield place, f"addresses of `arg` must be `:a32` ({STOPS})", Severity.WARNING


def _only(what: str, platform: Platform) -> str:
    return (
        f"{what} exists in texts of Efficient64b only; {platform.name} compiles no such text"
        if platform.generation < 350
        else (f"{what} exists in texts of Efficient64b only; the build options of this text do not select it")
    )


def _check_typed(inst: Inst, node: tree.AddressRef, place: Place, platform: Platform) -> Iterator[Found]:
    if inst.row.has(Trait.MULTISAMPLED) and len(node.items) < _COORDINATES:
        yield place, f"`{inst.row.mnemonic}` takes u, v, r and the number of the sample ({STOPS})", Severity.WARNING
    if len(node.items) == _COORDINATES and node.items[-1].offset is not None:
        yield Place(place.line, node.items[-1].span), "the fourth coordinate takes no offset", Severity.ERROR
    yield from _kind_of_surface(inst, node, place, platform)


def _kind_of_surface(inst: Inst, node: tree.AddressRef, place: Place, platform: Platform) -> Iterator[Found]:
    kind = inst.get("addrtype")
    if platform.efficient64b and kind in _SURFACES:
        message = f"an image must be `surf(..)` in a text of Efficient64b, not `{node.model.text}(..)`"
        yield place, message, Severity.ERROR
    elif not platform.efficient64b and kind == codes.ADDRTYPE_SURF:
        yield place, _only("`surf(..)`", platform), Severity.ERROR


def _surface(inst: Inst, node: tree.AddressRef, place: Place, platform: Platform) -> Iterator[Found]:
    """Yield mistakes in the surface of a message without addresses of lanes."""
    if inst.row.has(Trait.ATOMIC):
        if platform.efficient64b and not node.items:
            message = f"an append counter needs brackets in a text of Efficient64b, as in `surf(..)[%null] V1 %null` ({STOPS})"
            yield place, message, Severity.WARNING
        return
    if inst.get("addrtype") in (codes.ADDRTYPE_FLAT, codes.ADDRTYPE_ARG):
        yield place, f"`{inst.row.mnemonic}` takes the state of a surface, not `{node.model.text}`", Severity.ERROR
    elif node.suffix is not None:
        message = "coordinates take no size here"
        yield Place(place.line, node.suffix.span), message, Severity.ERROR
    else:
        yield from _kind_of_surface(inst, node, place, platform)


def _channels(operand: BoundOperand, place: Place) -> Iterator[Found]:
    """Yield a data size with channels that the grammar of text 4.2 allows only after the older spelling."""
    tag = operand.node.suffix if isinstance(operand.node, tree.Ref) else None
    size, dot, _ = tag.text.partition(".") if tag is not None else ("", "", "")
    if dot and size.startswith("d") and "u" in size:
        older = size.replace("u", "c")
        yield (
            place,
            f"text 4.2 has no channels after `{size}`; write them after `{older}`, which means the same",
            Severity.ERROR,
        )


def _counter(inst: Inst, operand: BoundOperand, place: Place, platform: Platform) -> Iterator[Found]:
    """Yield data of an append counter that is not one dword per lane (one element in Efficient64b)."""
    tag = operand.node.suffix if isinstance(operand.node, tree.Ref) else None
    if not inst.row.has(Trait.ATOMIC) or inst.row.atomic is not None or tag is None:
        return
    if platform.efficient64b and "x" in tag.text:
        yield place, f"an append counter takes one element per lane, not `{tag.text}`", Severity.ERROR
    elif not platform.efficient64b and tag.text not in ("d32", "u32"):
        yield place, f"an append counter takes one `d32` per lane, not `{tag.text}` ({STOPS})", Severity.WARNING


def _registers(bound: Bound, place: Place, platform: Platform) -> Iterator[Found]:
    """Yield data that needs more registers than a message has; the unit counts at least sixteen lanes."""
    data, control = message_data(bound, newest=True), exec_control(bound)
    if data is None or control is None or data.transposed:
        return
    least = _MIN_LANES_PVC if platform.name == "PVC" else _MIN_LANES
    registers = data.registers(max(control.exec_size, least), platform.grf_bytes)
    if registers > _MAX_REGISTERS:
        message = f"the message moves {registers} registers, as many as for {least} lanes; at most {_MAX_REGISTERS} are allowed"
        yield place, f"{message} ({STOPS})", Severity.WARNING


def _check_transposed(inst: Inst, place: Place, platform: Platform) -> Iterator[Found]:
    if inst.get("order") != codes.ORDER_TRANSPOSED:
        return
    size = codes.DATASIZES[number_of(inst, "datasize")].memory_bytes
    width, height = number_of(inst, "width"), number_of(inst, "height")
    late = platform.name in since("CRI")
    limits = (_TRANSPOSED if late else _TRANSPOSED_UNTIL_XE3).get(size)
    if limits is None:
        message = f"a transposed block has elements of `d32` or `d64` on {platform.name}"
    elif width > limits[0] or height > limits[1] or (size == 8 and not late and height != limits[1]):
        rows = f"{limits[1]} rows" if size == 8 and not late else f"at most {limits[1]} rows"
        message = f"a transposed block of `d{8 * size}` can have rows of at most {limits[0]} elements and {rows} on {platform.name}"
    else:
        return
    yield place, f"{message} ({STOPS})", Severity.WARNING


def counts_as_prefetch(inst: Inst, platform: Platform | None) -> bool:
    """Return whether a loaded block has the looser limits of a prefetch.

    From CRI on it is a block without a destination; in texts of Efficient64b the finalizer checks the interleaving
    instead.
    """
    if platform is not None and platform.name not in since("CRI"):
        return False
    if platform is not None and platform.efficient64b:
        return not inst.get("vnni")
    dst = inst.get("dst")
    return getattr(dst, "var", None) == 0


def number_of(inst: Inst, field: str) -> int:
    """Return the value of a field that holds a number; 0 for other fields."""
    value = inst.get(field)
    return value if isinstance(value, int) else 0
