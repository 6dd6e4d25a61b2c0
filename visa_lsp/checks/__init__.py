"""The rules, collected by an explicit list, and the one function that runs them.

A rule module has ``CHECK``: it turns problems that binding found into findings, or looks for its own by visiting
instructions, bodies or the text. The modules know nothing of each other's findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.checks import (
    address_range,
    alias_class,
    alias_range,
    attribute_value,
    bad_alignment,
    bad_expression,
    bad_predicate,
    destination_stride,
    duplicate_label,
    element_count,
    exec_size,
    immediate_form,
    immediate_range,
    incomplete_declaration,
    indented_label,
    input_alias,
    input_class,
    input_placement,
    input_size,
    literal_length,
    lsc_address,
    lsc_data_shape,
    mask_offset,
    media_block,
    misaligned_alias,
    misplaced_modifier,
    missing_exec_size,
    missing_label,
    missing_modifier,
    missing_return,
    mixed_types,
    number_range,
    operand_class,
    operand_count,
    operand_form,
    operand_type,
    origin_range,
    overlapping_inputs,
    predicate_not_allowed,
    predicate_size,
    raw_alignment,
    raw_bounds,
    read_only_variable,
    recursion,
    redeclared_kernel,
    redeclared_name,
    region_bounds,
    region_form,
    region_span,
    region_value,
    region_width,
    reserved_name,
    saturation,
    seed_alias,
    slm_size,
    subroutine_jump,
    syntax_error,
    unclosed_comment,
    undeclared_name,
    unexpected_exec_size,
    unknown_attribute,
    unknown_class,
    unknown_mask,
    unknown_mnemonic,
    unknown_modifier,
    unknown_type,
    unmatched_brace,
    unreachable_code,
    unused_variable,
    version_line,
    written_input,
    wrong_dialect,
    wrong_platform,
    wrong_target,
)  # fmt: skip
from visa_lsp.checks.consequences import root_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from visa_lsp.checks.context import CheckContext
    from visa_lsp.checks.rule import Check, Visit
    from visa_lsp.diagnostics import Diagnostic, Rule

CHECKS: Final[tuple[Check, ...]] = tuple(
    sorted(
        (
            module.CHECK
            for module in (
                address_range, alias_class, alias_range, attribute_value, bad_alignment, bad_expression, bad_predicate,
                destination_stride, duplicate_label, element_count, exec_size, immediate_form, immediate_range,
                incomplete_declaration, indented_label, input_alias, input_class, input_placement, input_size,
                literal_length, lsc_address, lsc_data_shape, mask_offset, media_block, misaligned_alias,
                misplaced_modifier, missing_exec_size, missing_label, missing_modifier, missing_return, mixed_types,
                number_range, operand_class, operand_count, operand_form, operand_type, origin_range,
                overlapping_inputs, predicate_not_allowed, predicate_size, raw_alignment, raw_bounds,
                read_only_variable, recursion, redeclared_kernel, redeclared_name, region_bounds, region_form,
                region_span, region_value, region_width, reserved_name, saturation, seed_alias, slm_size,
                subroutine_jump, syntax_error, unclosed_comment, undeclared_name, unexpected_exec_size,
                unknown_attribute, unknown_class, unknown_mask, unknown_mnemonic, unknown_modifier, unknown_type,
                unmatched_brace, unreachable_code, unused_variable, version_line, written_input, wrong_dialect,
                wrong_platform, wrong_target,
            )
        ),
        key=lambda check: check.rule.code,
    )
)  # fmt: skip
RULES: Final[dict[str, Rule]] = {
    key: check.rule for check in CHECKS for key in (check.rule.code, check.rule.name)
}
_BY_PROBLEM: Final = {kind: report for check in CHECKS for kind, report in check.problems.items()}


def run_checks(ctx: CheckContext, extra: Collection[str] = ()) -> list[Diagnostic]:
    """All findings about a text, in text order. ``extra`` names opt-in rules, by code or slug, that run as well."""
    chosen = [c for c in CHECKS if c.default or c.rule.code in extra or c.rule.name in extra]
    found = [
        *_of_problems(ctx),
        *(d for check in chosen if check.text for d in check.text(ctx)),
        *(d for check in chosen if check.body for body in ctx.bound.bodies for d in check.body(ctx, body)),
        *_of_instructions(ctx, chosen),
    ]
    found.sort(key=lambda d: (d.span, d.code))
    return found


def _of_problems(ctx: CheckContext) -> Iterator[Diagnostic]:
    for problem in root_problems(ctx.document, ctx.bound):
        finding = _BY_PROBLEM[problem.kind](ctx, problem)
        if finding is not None:
            yield finding


def _of_instructions(ctx: CheckContext, chosen: list[Check]) -> Iterator[Diagnostic]:
    visits = [(check.instruction, check.wants) for check in chosen if check.instruction is not None]
    by_row: dict[int, tuple[Visit, ...]] = {}
    for body in ctx.bound.bodies:
        for bound in body.code:
            row = bound.row
            if row is None:
                continue
            wanted = by_row.get(id(row))
            if wanted is None:
                wanted = by_row[id(row)] = tuple(visit for visit, wants in visits if wants is None or wants(row))
            for visit in wanted:
                yield from visit(ctx, body, bound)


def rule_named(word: str) -> Rule | None:
    """The rule of a code or slug."""
    return RULES.get(word) or RULES.get(word.upper()) or RULES.get(word.lower())


def handles(kind: str) -> bool:
    """Whether some rule explains a kind of problem."""
    return kind in _BY_PROBLEM


__all__ = ["CHECKS", "RULES", "handles", "rule_named", "run_checks"]
