"""``emit`` on every kernel of the corpus: the launch gives the compiler's buffers, or a warning names what is guessed.

Each kernel of ``run`` on each of its platforms is launched with the compiler's document and with the one that is made from
its text and its arguments. Where warnings stand, what they ask is answered from the compiler's document (``--say``), and then
the buffers are the same too. The counts are printed (``pytest -s``).
"""

import functools
import re
from collections import Counter

import corpus_cases
import own_cases
import pytest
from corpus import HAS_MORE, HAS_OWN, place
from zeinfo_answers import answers, same, where

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.program_info import hint_of
from visa_lsp.app.launch.zebin import program_data
from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.model import Module
from visa_lsp.sim.launch.config import LaunchConfig
from visa_lsp.sim.launch.prepare import prepare
from visa_lsp.sim.machine import run
from visa_lsp.zeinfo.emit.emission import emit_with_doubts
from visa_lsp.zeinfo.emit.slots import slots_of
from visa_lsp.zeinfo.emit.user_answers import read_answers
from visa_lsp.zeinfo.kernel_checks import disagreements
from visa_lsp.zeinfo.read_kernels import read
from visa_lsp.zeinfo.source import ZeInfoSource
from visa_lsp.zeinfo.validate import validate

CASES: dict = {}
for _case in (*(own_cases.cases() if HAS_OWN else ()), *(corpus_cases.cases() if HAS_MORE else ())):
    for _platform in _case.platforms:
        CASES.setdefault((_case.kernel, _platform), _case)


@functools.cache
def program(source, kernel, platform) -> Module:
    folder = place(f"run/{platform}/{source}")
    entry = (folder / f"{source}.zeinfo.yaml").read_text()
    modules = [
        module_of_text(path.read_text(), path, platform_named(platform), [])
        for path in sorted(folder.glob("*.visaasm"))
        if path.stem == kernel or f"name:            {path.stem}\n" not in entry
    ]
    first = next(m for m in modules if m.kernels)
    return Module(first.version, first.kernels, first.variables, tuple(f for m in modules for f in m.functions))


def buffers(module, info, case, platform, sections) -> dict:
    config = LaunchConfig(
        kernel=case.kernel, groups=case.groups, local_size=case.local, args=case.args,
        global_offset=case.offset or (0, 0, 0), sections=sections,
    )  # fmt: skip
    prepared = prepare(module, info, config, platform_named(platform))
    run(prepared.dispatch, ())
    return dict(prepared.arrays)


def verdict(kernel, platform) -> tuple[str, str]:
    """How one kernel comes out, and what is wrong with that: nothing, mostly."""
    case = CASES[kernel, platform]
    zebin = place(f"run/{platform}/{case.source}/{case.source}.zebin")
    text, sections = program_data(zebin.read_bytes(), zebin)
    info = next(i for i in read(text) if i.name == kernel)
    module = program(case.source, kernel, platform)
    hints = {kernel: [hint_of(a) for a in case.args]}
    made = emit_with_doubts([module.kernels[0]], where(platform), hints)
    (texts,) = kernel_texts(Analysis.of((zebin.parent / f"{kernel}.visaasm").read_text(), platform), "k")
    wrong = [
        d.message for d in (*validate(made.text), *disagreements(ZeInfoSource.of(made.text), [texts], where(platform)))
    ]
    expected = buffers(module, info, case, platform, sections)
    equal = same(expected, buffers(module, read(made.text)[0], case, platform, sections))
    names = [s.name for s in slots_of(module.kernels[0])] + ["slm_size", "private_base_stateless", "sampler "]
    wrong += [
        f"this warning names nothing: {doubt.message}"
        for doubt in made.doubts
        if not any(n in doubt.message for n in names) and not re.search(r"arguments? \d", doubt.message)
    ]
    if not equal and not made.doubts:
        wrong.append("other buffers, and not a word of it")
    if made.doubts:
        said = read_answers(answers(module.kernels[0], info, made.doubts))
        told = emit_with_doubts([module.kernels[0]], where(platform), hints, said)
        if not same(expected, buffers(module, read(told.text)[0], case, platform, sections)):
            wrong.append("other buffers, though every warning is answered")
        if len(told.doubts) > len(made.doubts):
            wrong.append("answers bring further warnings")
    kind = f"{'equal' if equal else 'different'}, {'warned' if made.doubts else 'sure'}"
    return kind, "; ".join(wrong)


@pytest.mark.full
@pytest.mark.corpus
@pytest.mark.parametrize("platform", ["DG2", "TGLLP", "PVCXT"])
def test_buffers_are_the_same_or_a_warning_names_the_argument(platform, capsys):
    found = {kernel: verdict(kernel, platform) for kernel, where_ in CASES if where_ == platform}
    counts = Counter(kind for kind, _ in found.values())
    with capsys.disabled():
        print(f"\nemit on {len(found)} kernels of {platform}: {dict(sorted(counts.items()))}")
    assert {kernel: wrong for kernel, (_, wrong) in found.items() if wrong} == {}
    assert counts["different, sure"] == 0
    assert counts["equal, sure"] > (len(found) * 2 // 3 if HAS_MORE else len(found) // 2)
