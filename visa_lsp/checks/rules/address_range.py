"""An address operand reaches past the elements of its variable, or an indirect offset does not fit its field.

Why: the elements after the variable belong to another variable, so the addresses in them are undefined.

Example:

    .decl A0 v_type=A num_elts=8
    addr_add (M1, 1) A0(9)<1> &V33 0x4:uw

Instead:

    .decl A0 v_type=A num_elts=8
    addr_add (M1, 1) A0(7)<1> &V33 0x4:uw

Authority: seed 004, address operands and `indirect_offset` ([-512, 511]); the finalizer accepts the text silently, except for
more addresses than there are registers and, from Xe2 on, for an `addr_add` that writes past them.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import exec_control, operand_place
from visa_lsp.isa.model import Role, Shape
from visa_lsp.isa.platforms import address_registers
from visa_lsp.program.model import Address, Indirect

RULE = rule("V222", "address-range", WARNING, __doc__)
# The generation of Xe2: finalizers that know it check the elements that `addr_add` writes.
_FIRST_CHECKED_GENERATION = 200


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    for operand in bound.operands:
        value = operand.value
        if not isinstance(value, (Address, Indirect)):
            continue
        symbol = ctx.facts(body).addresses.get(value.var)
        if symbol is None:
            continue
        control = exec_control(bound)
        lanes = control.exec_size if control else 1
        if isinstance(value, Address):
            first_element, count = value.offset, lanes if operand.slot.role is Role.WRITE else value.width
        else:
            first_element = value.addr_offset
            count = lanes // (value.region.width or 1) if value.region.vert_stride is None and value.region.width else 1
        place = operand_place(bound, operand)
        registers = address_registers(ctx.platform)
        if isinstance(value, Indirect) and count > registers:
            message = f"the operand needs {count} addresses, but there are {registers} address registers"
            yield ctx.report(RULE, place, message, severity=ERROR)
            continue
        related = [(symbol.place, f"`{symbol.name}` is declared here")] if symbol.place else []
        past_all = isinstance(value, Address) and operand.slot.role is Role.WRITE and first_element + count > registers
        if past_all and ctx.platform is not None and ctx.platform.generation >= _FIRST_CHECKED_GENERATION:
            message = f"the instruction writes elements {first_element} to {first_element + count - 1}, but there are {registers} address registers"
            yield ctx.report(RULE, place, message, related=related, severity=ERROR)
        elif first_element + count > symbol.num_elements:
            what = (
                f"element {first_element}" if count <= 1 else f"elements {first_element} to {first_element + count - 1}"
            )
            message = f"`{symbol.name}` has {symbol.num_elements} elements; {what} cannot be used (the finalizer does not check)"
            yield ctx.report(RULE, place, message, related=related)
        elif isinstance(value, Indirect) and not -512 <= value.offset <= 511:
            message = f"indirect offset {value.offset} is out of range; it must be between -512 and 511 (the finalizer does not check)"
            yield ctx.report(RULE, place, message)


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: any(s.shape is Shape.VECTOR for s in row.slots))
