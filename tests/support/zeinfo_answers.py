"""Common parts of tests of ``zeinfo emit``: registers of a platform, buffer comparison, answers from the source."""

from __future__ import annotations

import numpy as np

from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.payload_layout import registers
from visa_lsp.zeinfo.emit.slots import slots_of


def where(platform):
    known = platform_named(platform)
    return registers(known.grf_bytes, known.generation)


def same(left, right) -> bool:
    return left.keys() == right.keys() and all(
        np.array_equal(left[k].view(np.uint8), right[k].view(np.uint8)) for k in left
    )


def answers(kernel, info, doubts) -> list[str]:
    """Return the answers to the warnings of a user who knows the source, read off the compiler's document."""
    said = ["constant=none"]
    said += [f"{a.arg_index}=constant" for a in info.payload if a.addrspace == "constant"]
    said += [f"{a.arg_index}={a.image_type}" for a in info.payload if a.image_type]
    said += [f"{a.arg_index}={a.access_type}" for a in info.payload if a.image_type and a.access_type]
    for sampler in info.inline_samplers:
        normalized = " normalized" if sampler.normalized else ""
        said.append(f"sampler({sampler.sampler_index})={sampler.addrmode} {sampler.filtermode}{normalized}")
    shift = next(s.offset for s in slots_of(kernel) if s.type not in ("w", "uw")) - min(
        (a.offset for a in info.payload if a.size), default=0
    )
    places = {s.offset - shift: s.name for s in slots_of(kernel)}
    implicit = [a for a in info.payload if a.size and not a.arg_type.startswith(("arg_", "buffer_")) and a.offset]
    for entry in implicit:
        name = places.get(entry.offset)
        if name and any(name in d.message for d in doubts):
            index = f"({entry.arg_index})" if entry.arg_index >= 0 else ""
            said.append(f"{name}={entry.arg_type}{index}")
    return said
