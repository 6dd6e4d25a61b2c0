"""Steps of a resolved body, from text or from an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.flow.bit_accesses import accesses_of, exec_control_of, touches_indirectly
from visa_lsp.flow.steps import Step
from visa_lsp.program.model import Combine, Inst, Kernel, Predicate

if TYPE_CHECKING:
    from visa_lsp.flow.storage import Storage


def steps_of(kernel: Kernel, storage: Storage | None = None) -> list[Step]:
    """Return the steps of a body; without ``storage`` they have no accesses. Labels are numbers."""
    return [step_of(inst, kernel, storage) for inst in kernel.instructions]


def step_of(inst: Inst, kernel: Kernel, storage: Storage | None = None) -> Step:
    """Return one instruction as a step."""
    row, control = inst.row, exec_control_of(inst)
    label = inst.get("label")
    number = label if isinstance(label, int) else None
    several = inst.get("labels")
    if isinstance(several, tuple):
        targets = tuple(one for one in several if isinstance(one, int))
    else:
        targets = () if number is None or row.opens_label else (number,)
    reads, writes = touches_indirectly(inst) if storage is not None else (False, False)
    return Step(
        row.flow,
        inst.line,
        number if row.opens_label else None,
        targets,
        condition_text(inst, kernel),
        control.exec_size,
        control.no_mask,
        accesses_of(inst, storage) if storage is not None else (),
        reads,
        writes,
    )


def condition_text(inst: Inst, kernel: Kernel) -> str:
    """Return the predicate in front of an instruction as text; empty without one."""
    pred = inst.get("pred")
    if not isinstance(pred, Predicate) or not pred.var:
        return ""
    declared = kernel.predicates[pred.var - 1 : pred.var]
    name = kernel.string(declared[0].name_index) if declared else f"P{pred.var}"
    combine = {Combine.NONE: "", Combine.ANY: ".any", Combine.ALL: ".all"}[pred.combine]
    return f"{'!' if pred.inverse else ''}{name}{combine}"
