"""``emit`` on every kernel of the corpus: the launch gives the compiler's buffers, or a warning names what is guessed.

Each kernel of ``run`` on each of its platforms is launched with the compiler's document and with the one that is made from
its text and its arguments. Where warnings stand, what they ask is answered from the compiler's document (``--say``), and then
the buffers are the same too. The counts are printed (``pytest -s``).
"""

import functools
from collections import Counter

import corpus_cases
import own_cases
import pytest
from corpus import HAS_MORE, HAS_OWN, place
from zeinfo_answers import verdict

from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.zebin import program_data
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.model import Module
from visa_lsp.sim.launch.config import LaunchConfig
from visa_lsp.zeinfo.read_kernels import read

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


def outcome(kernel, platform) -> tuple[str, str]:
    """How one kernel comes out, and what is wrong with that: nothing, mostly."""
    case = CASES[kernel, platform]
    zebin = place(f"run/{platform}/{case.source}/{case.source}.zebin")
    text, sections = program_data(zebin.read_bytes(), zebin)
    info = next(i for i in read(text) if i.name == kernel)
    config = LaunchConfig(
        kernel=kernel, groups=case.groups, local_size=case.local, args=case.args,
        global_offset=case.offset or (0, 0, 0), sections=sections,
    )  # fmt: skip
    code = (zebin.parent / f"{kernel}.visaasm").read_text()
    return verdict(code, program(case.source, kernel, platform), info, config, platform)


@pytest.mark.full
@pytest.mark.corpus
@pytest.mark.parametrize("platform", ["DG2", "TGLLP", "PVCXT"])
def test_buffers_are_the_same_or_a_warning_names_the_argument(platform, capsys):
    found = {kernel: outcome(kernel, platform) for kernel, where_ in CASES if where_ == platform}
    counts = Counter(kind for kind, _ in found.values())
    with capsys.disabled():
        print(f"\nemit on {len(found)} kernels of {platform}: {dict(sorted(counts.items()))}")
    assert {kernel: wrong for kernel, (_, wrong) in found.items() if wrong} == {}
    assert counts["different, sure"] == 0
    assert counts["equal, sure"] > (len(found) * 2 // 3 if HAS_MORE else len(found) // 2)
