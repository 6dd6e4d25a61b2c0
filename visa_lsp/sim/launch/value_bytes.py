"""The encoding of arguments by value.

Knows numbers only. Invariant: the bytes of a value have the size of the parameter, or a ``LaunchError`` is raised.
"""

from __future__ import annotations

import numpy as np

from visa_lsp.program.elements import GivenNumbers, chosen_element, misfit
from visa_lsp.sim.launch.config import LaunchError, ValueArg


def value_bytes(arg: ValueArg, size: int, natural: str, key: int | str) -> bytes:
    """Return the ``size`` bytes of a value; a value without a dtype has the type ``natural``, or one of its size.

    Raises LaunchError if the value has another size, does not fit its type, or is a float instead of an integer.
    """
    array = arg.array
    if array.dtype.name == natural and array.nbytes == size:
        return bytes(array.tobytes())
    whole = array.dtype.kind != "f" or bool(np.all(array == np.trunc(array)))
    low, high = (array.min().item(), array.max().item()) if array.size else (0, 0)
    given = GivenNumbers(array.size, array.dtype.name, arg.typed, low, high, whole)
    words = misfit(given, size, natural, f"argument {key}")
    if words:
        raise LaunchError(words, key)
    with np.errstate(over="ignore"):  # a float of fewer bits may be infinite
        data = array.astype(chosen_element(given, size, natural)).tobytes()
    return data + bytes(size - len(data))
