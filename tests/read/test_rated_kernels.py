"""Kernels of the kinds that people read are printed as they would write them: loops, tiles, fields, 64-bit values, names."""

from pathlib import Path

from visa_lsp.app.read.pseudo_code import as_text, read_data

FOLDER = Path(__file__).with_name("rated")


def test_kernels_read_as_a_person_writes_them():
    found = []
    for path in sorted(FOLDER.glob("*.visaasm")):
        read = read_data(str(path), path.read_bytes(), None, say=found.append)
        assert read is not None, found
        found.append(as_text(read))
    assert "".join(found) == (FOLDER / "expected.c").read_text(encoding="utf-8")
