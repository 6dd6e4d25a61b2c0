"""Our OpenCL sources by the compiler of 2026, on six devices: texts without findings, pocl's results, the same verdicts.

The compiler is the one that VISA_LSP_TEST_OCLOC names; ``.ci/run`` installs it where Debian's release can be reached.
``benchmarks.newest`` does the same, and more, with any release.
"""

import re

import newest
import pytest
from corpus import OWN

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(bool(newest.why_missing()), reason=newest.why_missing() or "there is a compiler"),
]

SOURCES = [
    path for path in newest.sources()
    # Macros with assembly are read, not run: their kernels have no launch.
    if not path.is_relative_to(newest.BESIDE) and path.parent.name != "macro_sources"
]  # fmt: skip
LAUNCHES = newest.launches()
# Refusals that are no fault of ours: a device lacks doubles, a width, or the matrix unit, and the compiler crashes without it.
LACKS = re.compile("cl_khr_fp64|required subgroup size 8|Internal Compiler Error")


def title(program):
    return f"{program[0].stem}-{program[1]}"


@pytest.mark.parametrize(
    "program", sorted(((path, device) for path in SOURCES for device in newest.DEVICES), key=title), ids=title
)
def test_texts_have_no_findings_and_kernels_compute_what_they_should(program):
    path, device = program
    build = newest.compile_source(path, device, newest.INSTALLED)
    if build.program is None:
        assert LACKS.search(" ".join(finding.message for finding in build.findings))
        return
    assert newest.findings_in(build) == []
    if path.parent == OWN / "cl":
        for case in LAUNCHES[path.stem]:
            newest.check_launch(case, build)


@pytest.mark.parametrize("device", newest.DEVICES)
def test_forms_have_the_verdict_of_the_compiler(device):
    forms = newest.own_forms()
    texts = [newest.whole_text(form, device) for form in forms]
    verdicts = newest.compiler_verdicts(texts, device, newest.INSTALLED)
    assert verdicts.count("accept") > 100
    assert verdicts.count("reject") > 20
    assert [
        (form, verdict)
        for form, text, verdict in zip(forms, texts, verdicts, strict=True)
        if verdict != "crash" and newest.is_accepted(text, device) != (verdict == "accept")
    ] == []
