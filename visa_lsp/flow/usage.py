"""Writes and reads of a variable anywhere in a body."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from visa_lsp.flow.steps import AccessPurpose, Step


class Usage(Struct):
    """The use of a variable in a body, aliases counted with their root."""

    written: bool = False
    read: bool = False
    taken: bool = False  # its address is taken: indirect accesses may read and write it


def usage_of(steps: Iterable[Step]) -> dict[int, Usage]:
    """Return the usage of every variable that some step touches, by its key."""
    found: dict[int, Usage] = {}
    for step in steps:
        for access in step.accesses:
            usage = found.get(access.variable)
            if usage is None:
                usage = found[access.variable] = Usage()
            if access.purpose is AccessPurpose.TAKEN:
                usage.taken = True
            elif access.writes:
                usage.written = True
            else:
                usage.read = True
    return found
