"""The functions that a kernel calls by name, directly or through others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.isa.lane import effect_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.program.model import Inst, Kernel


def called_name(kernel: Kernel, inst: Inst) -> str | None:
    """Return the name of the function that an instruction calls; None if it calls none by name."""
    number = inst.get("name") if effect_of(inst.row.meaning) == "fcall" else None
    return kernel.string(number) if isinstance(number, int) else None


def find_called(kernel: Kernel, functions: Mapping[str, Kernel]) -> dict[str, Kernel]:
    """Return the functions of a program that a kernel may enter by calls of names."""
    called: dict[str, Kernel] = {}
    callers = [kernel] if functions else []
    while callers:
        caller = callers.pop()
        names = {called_name(caller, inst) for inst in caller.instructions}
        new = {name: functions[name] for name in names if name and name in functions and name not in called}
        called |= new
        callers += new.values()
    return called
