"""ze_info that claims what the text does not have: no answer `proved` is contradicted by a run with the same ze_info."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from tiers import first

from visa_lsp.app.assemble import program_of_text
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.runner import run_launch
from visa_lsp.app.prove.document import ProofOptions, prove_kernel

pytest.importorskip("z3")

CASES = Path(__file__).parent / "cases"
PROPERTIES = {
    "data-race": "race", "out-of-bounds": "bounds", "barrier-divergence": "divergence", "uninitialised-read": "uninitialised",
}  # fmt: skip


class Claim(NamedTuple):
    """What is replaced in the right ze_info of cases/exchange.visaasm, and the type that `n` then has."""

    old: str
    new: str
    dtype: str = "int32"


COUNT = "offset:          56\n        size:            4"
SIMD = "simd_size:       32"
CLAIMS = {
    "nothing false": Claim("", ""),
    "a count of two bytes": Claim(COUNT, COUNT[:-1] + "2", "int16"),
    "a count of eight bytes": Claim(COUNT, COUNT[:-1] + "8", "int64"),
    "a count elsewhere": Claim(COUNT, COUNT.replace("56", "60")),
    "a buffer that is only read": Claim("access_type:     readwrite\n      - arg_type:        buffer_address", "access_type:     readonly\n      - arg_type:        buffer_address"),
    "a buffer that is only written": Claim("readonly", "writeonly"),
    "threads of 8 work items": Claim(SIMD, "simd_size:       8"),
    "local ids of half a thread": Claim("size:            192", "size:            96"),
    "no start of a buffer": Claim("      - arg_type:        buffer_offset\n        offset:          60\n        size:            4\n        arg_index:       0\n", ""),
    "surfaces exchanged": Claim("bti_value:       0\n        arg_index:       0\n      - bti_value:       1", "bti_value:       1\n        arg_index:       0\n      - bti_value:       0"),
    "elements of one byte": Claim("'int*;8'\n        type_qualifiers: const", "'char*;8'\n        type_qualifiers: const"),
    "elements of eight bytes": Claim("'int*;8'", "'long*;8'"),
    "sizes elsewhere": Claim("offset:          12\n", "offset:          16\n"),
    "shared memory of 64 bytes": Claim(SIMD, f"{SIMD}\n      slm_size: 64"),
}  # fmt: skip
# Groups, work items of a group, the count, and the bytes of the array of a group, of which an odd group needs one element more.
LAUNCHES = ((3, 16, 48, 64), (2, 10, 27, 40), (1, 32, 32, 128), (2, 33, 66, 132))
LAUNCH = """kernel: exchange
groups: [{groups}, 1, 1]
local_size: [{items}, 1, 1]
args:
  - {{buffer: {{dtype: int32, shape: [{size}], init: zeros}}}}
  - {{buffer: {{dtype: int32, shape: [{size}], init: arange}}}}
  - {{value: {count}, dtype: {dtype}}}
  - {{local: {bytes}}}
"""


@pytest.mark.parametrize("name", first(3, CLAIMS))
def test_no_run_contradicts_a_proof_by_a_false_ze_info(name, tmp_path):
    claim, source = CLAIMS[name], CASES / "exchange.visaasm"
    info = source.with_suffix(".zeinfo.yaml").read_text()
    assert claim.old in info
    path, text = tmp_path / source.name, source.read_text()
    path.write_text(text)
    path.with_suffix(".zeinfo.yaml").write_text(info.replace(claim.old, claim.new, 1))
    module = program_of_text(text, "TGLLP").module
    options = ProofOptions(seconds=30, platform="TGLLP")
    results = prove_kernel(module, module.kernels[0], path.name, path, text.encode(), options)
    proved = {(one.property, one.line) for one in results if one.answer == "proved"}
    assert len(proved) > 20
    faults = set()
    for groups, items, count, bytes_ in LAUNCHES:
        size = max(count, groups * items)
        launch = LAUNCH.format(groups=groups, items=items, size=size, count=count, dtype=claim.dtype, bytes=bytes_)
        run = RunOptions(path, "TGLLP", checks="all,item-races", engine="interp")
        report = run_launch(parse_launch(launch, path.with_name("exchange.launch.yaml")), run, text.encode())
        # Bytes of memory that were never written are no matter of a proof.
        shown = [one for one in report.faults if one.kind.value != "uninitialised-read" or one.variable]
        faults |= {(PROPERTIES.get(one.kind.value), line + 1) for one in shown for line in (one.line, one.other_line)}
    assert not faults & proved
    if not claim.old:
        assert "bounds" in {property_ for property_, _ in faults}  # of the odd group
