"""Proofs that kernels have no race and no access out of bounds in any launch, or a launch with the fault."""

from typing import Final

PROPERTIES: Final = ("race", "bounds", "divergence", "uninitialised")
