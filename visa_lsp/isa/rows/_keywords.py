"""The keyword arguments that helpers of the rows pass on to ``Instruction``: members by names and types.

For type checkers only; never imported at run time. Invariant: every entry is a member of ``Instruction`` with a default, of the
same type (tests/test_types.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.isa.lsc_codes import Atomic
    from visa_lsp.isa.model import (
        BrainFloat,
        Dialect,
        ExecStyle,
        FlowClass,
        Lack,
        Operation,
        PredicateUse,
        Refusal,
        Saturation,
        Together,
        Trait,
    )
    from visa_lsp.isa.operands import OperandClass
    from visa_lsp.isa.types import DataType


class More(TypedDict, total=False):
    """The optional members of a row, except those that every helper takes itself."""

    exec_style: ExecStyle
    exec_sizes: tuple[int, ...]
    exec_optional: bool
    predicable: bool
    predicate_lost: bool
    opens_label: bool
    dialects: frozenset[Dialect]
    platforms: frozenset[str]
    seed_opcode: int | None
    flow: FlowClass
    traits: Trait
    predicate_use: PredicateUse
    mask_refused: bool
    exec_stored: Mapping[int, int]
    exec_verified: tuple[int, ...] | None
    saturation: Saturation | None
    verified: Mapping[str, frozenset[DataType]]
    together: tuple[Together, ...]
    limited: frozenset[DataType]
    refusals: tuple[Refusal, ...]
    families: tuple[frozenset[str], ...]
    brain: BrainFloat | None
    lacks: tuple[Lack, ...]
    operations: Mapping[str, Operation]
    atomic: Atomic | None
    update: str
    chooses: bool
    negates: bool
    inverts: bool
    unmodified: frozenset[str]
    unmodified_newest: bool
    narrow_immediates: bool
    saturation_dropped: bool
    needs: OperandClass
    unmixed: OperandClass
    parameters: tuple[str, ...]
    half_parameters: tuple[str, ...]
    foreign: Mapping[str, str]
    pitfalls: tuple[str, ...]
    seed: str | None


class Forms(More, total=False):
    """The optional members of a row with several spellings."""

    only42: bool
    recorded: bool
