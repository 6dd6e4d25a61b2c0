"""The list of all rules: a new rule is one line of the import below, at the place of its code.

A rule module defines ``CHECK``, which turns problems of binding into findings, or finds mistakes itself by visiting
instructions, bodies or the text. The modules know nothing of each other's findings.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from visa_lsp.checks.rule import Check

# isort: off
from visa_lsp.checks.rules import (  # noqa: F401 - found by the function below
    # 0xx syntax
    syntax_error,
    unclosed_comment,
    version_line,
    unmatched_brace,
    literal_length,
    missing_kernel,
    # 1xx names, declarations, inputs
    undeclared_name,
    redeclared_name,
    missing_label,
    duplicate_label,
    indented_label,
    reserved_name,
    redeclared_kernel,
    incomplete_declaration,
    unknown_class,
    unknown_type,
    bad_alignment,
    element_count,
    alias_range,
    misaligned_alias,
    alias_class,
    seed_alias,
    unknown_attribute,
    attribute_value,
    input_class,
    overlapping_inputs,
    input_size,
    input_placement,
    input_alias,
    written_input,
    unused_variable,
    input_order,
    seed_declaration,
    seed_name,
    missing_attribute,
    never_read,
    never_written,
    misplaced_property,
    # 2xx operands, execution, platforms
    unknown_mnemonic,
    unknown_modifier,
    missing_modifier,
    operand_count,
    operand_class,
    operand_form,
    missing_exec_size,
    unexpected_exec_size,
    exec_size,
    unknown_mask,
    predicate_not_allowed,
    bad_predicate,
    number_range,
    bad_expression,
    immediate_form,
    misplaced_modifier,
    read_only_variable,
    predicate_size,
    mask_offset,
    wrong_platform,
    wrong_dialect,
    address_range,
    immediate_range,
    saturation,
    seed_mnemonic,
    seed_mask,
    seed_word,
    seed_operand,
    structured_flow,
    newer_form,
    matrix_size,
    narrow_conversion,
    refused_form,
    unread_text,
    # 3xx regions
    region_value,
    destination_stride,
    region_form,
    region_width,
    region_bounds,
    origin_range,
    region_span,
    # 4xx types
    operand_type,
    mixed_types,
    payload_type,
    # 5xx flow
    wrong_target,
    missing_return,
    unreachable_code,
    subroutine_jump,
    recursion,
    goto_without_join,
    dead_store,
    idle_in_loop,
    same_in_lanes,
    # 6xx memory
    raw_alignment,
    raw_bounds,
    media_block,
    lsc_address,
    lsc_data_shape,
    cache_control,
    slm_size,
    payload_size,
    message_size,
    lsc_message,
)
# isort: on


def _checks() -> tuple[Check, ...]:
    """Return the ``CHECK`` of every module that is imported here, in this order."""
    # Other modules are skipped, because pytest adds its own to modules that it rewrites.
    modules = [module for module in globals().values() if isinstance(module, ModuleType)]
    checks = tuple(module.CHECK for module in modules if module.__package__ == "visa_lsp.checks.rules")
    assert all(isinstance(check, Check) for check in checks)
    return checks


CHECKS: Final = _checks()
