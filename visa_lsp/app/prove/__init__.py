"""Proofs that kernels have no race and no access out of bounds in any launch, or a launch with the fault."""

from typing import Final

from msgspec import Struct

PROPERTIES: Final = ("race", "bounds", "divergence", "uninitialised")
BY_CONTENTS: Final = (
    "its address depends on the value that line"  # the reason for an access that contents of a buffer lead anywhere
)


class ProofResult(Struct, frozen=True):
    """The answer for a property and a line of the text, from 1.

    ``answer`` is proved, refuted, unknown, or bounded (proved for the first rounds of loops only). ``launch`` is the
    text of a launch file that shows the fault.
    """

    property: str
    kernel: str
    line: int
    answer: str
    assumptions: tuple[str, ...] = ()
    launch: str | None = None
    reason: str | None = None
