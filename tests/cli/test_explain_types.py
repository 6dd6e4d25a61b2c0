"""``explain`` tells which types meet on which platform, as the rows have it, and knows the words that a run prints."""

import pytest

from visa_lsp.app.launch.ready_run import ENGINES
from visa_lsp.isa.glossary import term_called
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.observers.checkers import CHECKERS


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("fcvt", "- `dst` `b`, `src0` `hf`: PTL and later; unmasked"),
        ("fcvt", "- `dst` `ub`, `src0` `hf`: PVC and later; unmasked"),
        ("fcvt", "- `.sat`: PTL and later"),
        ("srnd", "- `dst` `ub`, `b`, `src0` `hf`, `bf`, `src1` `uw`, `ub`, `f`, `hf`: PTL and later; unmasked"),
        ("sin", "- with a `bf` among them every operand is `bf`: CRI and later"),
        ("add", "- with a `bf` among them every operand is `f`, `bf`: XeHP_SDV to DG2, ARL and later"),
        ("div", "- no integer as result: XeHP_SDV and later"),
        ("mod", "- no `.sat`"),
        ("dpas", "- platforms: XeHP_SDV DG2 ARL PVC PVCXT BMG PTL CRI NVL"),
    ],
)
def test_types_of_an_instruction(printed, word, line):
    assert line in printed("explain", word).splitlines()


def test_every_word_of_a_run_is_explained():
    words = {kind.value for kind in FaultKind} | set(CHECKERS) | set(ENGINES) - {"auto"}
    masks = {f"M{number}" for number in range(1, 9)}
    assert [word for word in sorted(words | masks | {"NoMask", "spill"}) if term_called(word) is None] == []
