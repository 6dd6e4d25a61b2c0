"""Packed programs are the programs that were packed, and bytes that are none are refused."""

import pickle
from pathlib import Path

import pytest
from programs import SKELETON

from visa_lsp.program.packed import PackedError, pack, unpack


def test_lines_rows_and_types_are_those_of_the_program():
    packed = unpack(pack(SKELETON))
    for inst, other in zip(SKELETON.instructions, packed.instructions, strict=True):
        assert inst.row is other.row
        assert inst.line == other.line
    assert [v.type for v in packed.variables] == [v.type for v in SKELETON.variables]
    assert all(v.type is other.type for v, other in zip(SKELETON.variables, packed.variables, strict=True))


@pytest.mark.parametrize(
    "data", [b"", b"no program", pickle.dumps(pytest.raises), pickle.dumps(Path), pack(SKELETON)[:-9]]
)
def test_other_bytes_are_refused(data):
    with pytest.raises(PackedError):
        unpack(data)
