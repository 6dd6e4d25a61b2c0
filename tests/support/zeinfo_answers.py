"""Common parts of tests of ``zeinfo emit``: a kernel with the compiler's document and with the made one, answers from the source."""

from __future__ import annotations

import contextlib
import re

import numpy as np

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.launch.program_info import hint_of
from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.payload_layout import registers
from visa_lsp.sim.launch.prepare import prepare
from visa_lsp.sim.machine import run
from visa_lsp.zeinfo.emit.emission import emit_with_doubts
from visa_lsp.zeinfo.emit.slots import EmitError, slots_of
from visa_lsp.zeinfo.emit.user_answers import read_answers
from visa_lsp.zeinfo.kernel_checks import disagreements
from visa_lsp.zeinfo.read_kernels import read
from visa_lsp.zeinfo.source import ZeInfoSource
from visa_lsp.zeinfo.validate import validate


def where(platform):
    known = platform_named(platform)
    return registers(known.grf_bytes, known.generation)


def same(left, right) -> bool:
    return left.keys() == right.keys() and all(
        np.array_equal(left[k].view(np.uint8), right[k].view(np.uint8)) for k in left
    )


def verdict(text, module, info, config, platform) -> tuple[str, str]:
    """How the launch of a kernel comes out with the made document, and what is wrong with that.

    ``text`` is that of the kernel, ``module`` the program, ``info`` what the compiler's document says of the kernel.
    """
    known = platform_named(platform)
    kernel = module.kernels[0]
    texts = kernel_texts(Analysis.of(text, platform), "k")
    wrong = []

    def buffers(described) -> dict:
        prepared = prepare(module, described, config, known)
        run(prepared.dispatch, ())
        return dict(prepared.arrays)

    def made(hints, said=None):
        found = emit_with_doubts([kernel], where(platform), hints, said)
        problems = (*validate(found.text), *disagreements(ZeInfoSource.of(found.text), texts, where(platform)))
        wrong.extend(f"emitted: {d.message}" for d in problems)
        return found

    with contextlib.suppress(EmitError):  # what only the arguments tell
        made(None)
    hints = {info.name: [hint_of(a) for a in config.args]}
    guessed = made(hints)
    expected = buffers(info)
    equal = same(expected, buffers(read(guessed.text)[0]))
    names = [s.name for s in slots_of(kernel)] + ["slm_size", "private_base_stateless", "sampler "]
    wrong += [
        f"this warning names nothing: {doubt.message}"
        for doubt in guessed.doubts
        if not any(n in doubt.message for n in names) and not re.search(r"arguments? \d", doubt.message)
    ]
    if not equal and not guessed.doubts:
        wrong.append("other buffers, and not a word of it")
    if guessed.doubts:
        told = made(hints, read_answers(answers(kernel, info, guessed.doubts)))
        if not same(expected, buffers(read(told.text)[0])):
            wrong.append(f"other buffers, though every warning is answered: {[d.message for d in told.doubts]}")
        if len(told.doubts) > len(guessed.doubts):
            wrong.append("answers bring further warnings")
    return f"{'equal' if equal else 'different'}, {'warned' if guessed.doubts else 'sure'}", "; ".join(wrong)


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
