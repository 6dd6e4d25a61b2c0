"""The suffixes of the names of programs."""

from typing import Final

TEXTS: Final = (".visaasm", ".isaasm")
OBJECT: Final = ".isa"
PROGRAMS: Final = (*TEXTS, OBJECT)
