"""Converts bound text to the resolved program, and a text to a module."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.isa.operands import ALIGN_BY_BYTES, ALIGN_CODE
from visa_lsp.isa.platforms import Platform, platform_named
from visa_lsp.isa.table import TABLE, InstructionTable
from visa_lsp.program import object_bits
from visa_lsp.program.grf import default_platform, grf_by_contents, grf_in_comment, needs_grf
from visa_lsp.program.model import Inst, Kernel, LabelEntry, Module, RawOperand, StateVariable, Variable
from visa_lsp.sema.bind import bind
from visa_lsp.sema.binding_pass import HARMLESS
from visa_lsp.sema.model import Body, BoundModule, Symbol, SymbolKind
from visa_lsp.syntax.document import BYTE_ORDER_MARK, Document


class ResolvedText(Struct, frozen=True):
    """A text as a resolved program. ``module`` is None if problems prevent a program."""

    document: Document
    bound: BoundModule
    module: Module | None


def lower(bound: BoundModule) -> Module | None:
    """Return the program of a bound text; None if an instruction or a name has no meaning."""
    if any(problem.kind not in HARMLESS for problem in bound.problems):
        return None
    kernels = tuple(_kernel(body) for body in bound.bodies if body.is_kernel)
    functions = tuple(_kernel(body) for body in bound.bodies if not body.is_kernel)
    return Module((4, 1), kernels, (), functions)


def resolve_text(text: str | Document, platform: str | None = None, table: InstructionTable = TABLE) -> ResolvedText:
    """Parse, bind and lower a text. ``platform`` is the name of a platform or device; an unknown name counts as none."""
    document = text if isinstance(text, Document) else Document.parse(text)
    chosen = platform_named(platform) if platform else None
    return resolve_bound(document, bind(document, chosen, table), chosen, table)


def resolve_bound(
    document: Document, bound: BoundModule, platform: Platform | None, table: InstructionTable = TABLE
) -> ResolvedText:
    """Lower a text that was bound for a platform."""
    if platform is None:
        bound = with_shown_grf(document, bound, table)
    return ResolvedText(document, bound, _with_object_bits(document, lower(bound)))


def program_of(document: Document, platform: Platform | None = None) -> Module | None:
    """Return the program of a text; None if problems prevent it."""
    return resolve_bound(document, bind(document, platform), platform).module


def with_shown_grf(document: Document, bound: BoundModule, table: InstructionTable = TABLE) -> BoundModule:
    """Bind a text without a platform; bind it again if it states or implies another size of GRF rows than the default.

    The size follows the rule of ``dis``, so that an object's text assembles to its bytes again.
    """
    if "&" not in document.text:  # because nothing depends on the size
        return bound
    platform = _find_grf_platform(document, lower(bound))
    return bound if platform is None else bind(document, platform, table)


def _find_grf_platform(document: Document, module: Module | None) -> Platform | None:
    """Return a platform with the size of GRF rows that a text states or implies; None for the default size."""
    text = document.text.removeprefix(BYTE_ORDER_MARK)
    if "&" not in text:
        return None
    size = grf_in_comment(text)
    if size is None and module is not None and needs_grf(module.bodies):
        shown = grf_by_contents(module.bodies)
        size = shown.bytes if shown is not None else None
    return None if size in (None, default_platform().grf_bytes) else default_platform(size)


def _with_object_bits(document: Document, module: Module | None) -> Module | None:
    """Return the program with the bits in comments of its lines."""
    if module is None or not any(object_bits.MARK in chunk.text for chunk in document.chunks):
        return module

    def kernel(original: Kernel) -> Kernel:
        code = (object_bits.with_comment(inst, document.line_text(inst.line)) for inst in original.instructions)
        return replace(original, instructions=tuple(code))

    return replace(module, kernels=tuple(map(kernel, module.kernels)), functions=tuple(map(kernel, module.functions)))


def _states(body: Body, kind: SymbolKind) -> tuple[StateVariable, ...]:
    return tuple(StateVariable(s.name_index, s.num_elements & 0xFFFF, s.attributes) for s in body.of_kind(kind))


def _in_matrices(code: list[Inst]) -> set[int]:
    """Return the variables that matrix instructions use as registers, which the finalizer always aligns."""
    return {v.var for inst in code if inst.row.family == "matrix" for v in inst.values if isinstance(v, RawOperand)}


def _align_code(align: int, grf_bytes: int) -> int:
    """Return the alignment code that the finalizer keeps; it keeps `GRF`, `2GRF` and larger ones."""
    whole = ALIGN_BY_BYTES[grf_bytes]
    return align if align in (ALIGN_CODE["GRF"], ALIGN_CODE["2GRF"]) else max(align, whole)


def _variable(symbol: Symbol, grf_bytes: int = 0) -> Variable:
    assert symbol.type is not None
    align = _align_code(symbol.align, grf_bytes) if grf_bytes else symbol.align
    alias, offset = (symbol.alias[0].id, symbol.alias[1] & 0xFFFF) if symbol.alias else (0, 0)
    return Variable(
        symbol.name_index, symbol.type, align, symbol.num_elements & 0xFFFF, alias, offset, 0, symbol.attributes
    )


def _kernel(body: Body) -> Kernel:
    labels = tuple(
        LabelEntry(label.name_index, int(label.kind is SymbolKind.SUBROUTINE))
        for label in sorted(body.labels.values(), key=lambda s: s.id)
    )
    code: list[Inst] = [bound.inst for bound in body.code if bound.inst is not None]
    matrices, grf = _in_matrices(code), body.platform.grf_bytes
    return Kernel(
        body.is_kernel,
        tuple(body.strings),
        tuple(_variable(s, grf if s.id in matrices else 0) for s in body.of_kind(SymbolKind.GENERAL)),
        _states(body, SymbolKind.ADDRESS),
        _states(body, SymbolKind.PREDICATE),
        labels,
        _states(body, SymbolKind.SAMPLER),
        _states(body, SymbolKind.SURFACE),
        (),
        tuple(body.inputs),
        tuple(attribute for attribute, _ in body.attributes),
        tuple(code),
    )
