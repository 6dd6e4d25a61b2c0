"""Zebins: the corpus's are read (fresh ones: ``test_zebin_devices``); ours are accepted by the reader and by readelf."""

import random
import shutil
import subprocess

import pytest
from corpus import at_least, files, place
from tiers import first

from visa_lsp.zeinfo.pack import pack_zebin
from visa_lsp.zeinfo.zebin import MACHINE, ZebinError, read_zebin


@pytest.mark.corpus
def test_every_zebin_of_the_corpus_has_its_ze_info():
    paths = files("run/*/*/*.zebin")
    assert len(paths) >= at_least(40, 100)
    for path in paths:
        zebin = read_zebin(path.read_bytes())
        assert zebin.ze_info_bytes == path.with_suffix(".zeinfo.yaml").read_bytes()
        assert zebin.machine == MACHINE
        assert zebin.kernels


def test_data_symbols_and_relocations():
    zebin = read_zebin((place("run/TGLLP/lookup/lookup.zebin")).read_bytes())
    assert zebin.data_symbols() == {"WAVE": (".data.const", 0, 64), "STEP": (".data.const", 64, 96)}
    assert [(r.section, r.symbol, r.type) for r in zebin.relocations][:2] == [
        (".text.lut", "WAVE", 2),
        (".text.lut", "WAVE", 3),
    ]
    assert ("IntelGT", 4, b"1.20\0") in [(n.owner, n.type, n.data) for n in zebin.notes]
    strings = read_zebin((place("run/DG2/talk/talk.zebin")).read_bytes())
    section = strings.section(".data.const.string")
    assert section is not None
    assert section.data.startswith(b"item %d has %f")


def test_packed_zebin_reads_back():
    data = pack_zebin("k", b"CISA" + bytes(range(99)), "version: '1.14'\n")
    zebin = read_zebin(data)
    assert zebin.visa == {"k": b"CISA" + bytes(range(99))}
    assert zebin.ze_info == "version: '1.14'\n"
    assert [s.name for s in zebin.sections] == [
        "",
        ".visaasm.k",
        ".ze_info",
        ".note.intelgt.compat",
        ".symtab",
        ".strtab",
    ]
    assert (zebin.machine, zebin.type) == (MACHINE, 1)


def test_readelf_accepts_a_packed_zebin(tmp_path):
    if shutil.which("readelf") is None:
        pytest.skip("readelf is not installed (Debian: binutils)")
    (tmp_path / "k.zebin").write_bytes(pack_zebin("k", b"CISA" + bytes(41), "version: '1.14'\n"))
    found = subprocess.run(["readelf", "-aW", "k.zebin"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stderr == ""
    assert "Intel Graphics Technology" in found.stdout
    assert "Warning" not in found.stdout
    assert "Error" not in found.stdout


def test_sections_that_are_too_large_are_refused():
    data = bytearray(pack_zebin("k", b"CISA" + bytes(41), "version: '1.14'\n"))
    table = int.from_bytes(data[40:48], "little")
    data[table + 64 + 4 : table + 64 + 8] = (8).to_bytes(4, "little")  # the first section: no bytes in the file
    data[table + 64 + 32 : table + 64 + 40] = (1 << 40).to_bytes(8, "little")
    with pytest.raises(ZebinError, match="more bytes than the file can hold"):
        read_zebin(bytes(data))


@pytest.mark.parametrize("rounds", first(1, [300, 1500]))
def test_damaged_bytes_end_in_a_zebin_error(rounds):
    good = pack_zebin("k", b"CISA" + bytes(41), "version: '1.14'\n")
    for bad in (b"", b"CISA", b"\x7fELF", good[:70], good[:-40]):
        with pytest.raises(ZebinError):
            read_zebin(bad)
    rng = random.Random(1)
    for _ in range(rounds):
        data = bytearray(good)
        for _ in range(rng.randrange(1, 6)):
            data[rng.choice([rng.randrange(64), rng.randrange(len(data))])] = rng.randrange(256)
        try:
            read_zebin(bytes(data[: rng.choice([len(data), rng.randrange(len(data))])]))
        except ZebinError:
            continue
