"""Which document of a folder speaks of a kernel: by the kernel's name, in a known order, at a bounded cost."""

from __future__ import annotations

import os
import sys

import pytest

from visa_lsp import companions as beside
from visa_lsp.companions import Beside, list_kernels, stem_of
from visa_lsp.zeinfo.pack import pack_zebin


def ze_info(*names: str, simd: int = 16) -> str:
    kernels = "".join(
        f"  - name:            {name}\n    execution_env:\n      grf_count:       128\n      simd_size:       {simd}\n"
        for name in names
    )
    return f"---\nversion:         '1.16'\nkernels:\n{kernels}...\n"


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes documents, given by name and subject."""

    def write(name: str, *kernels: str, simd: int = 16):
        path = tmp_path / name
        text = ze_info(*kernels, simd=simd)
        path.write_bytes(pack_zebin("m", b"", text) if not name.endswith(beside.ENDINGS) else text.encode())
        return path

    write.place = tmp_path / "slerp.visaasm"
    return write


def test_a_document_is_found_by_the_kernels_name(folder):
    folder("other.zeinfo.yaml", "mul")
    found = folder("quat.zeinfo.yaml", "mul2", "slerp")
    told = Beside().description("slerp", folder.place)
    assert (told.path, told.simd_size, told.is_zebin) == (found, 16, False)
    assert Beside().description("sler", folder.place) is None


@pytest.mark.parametrize("name", ["quat.zebin", "quat.bin", "z"])
def test_a_zebin_is_found_whatever_it_is_called(folder, name):
    found = folder(name, "slerp")
    told = Beside().description("slerp", folder.place)
    assert (told.path, told.is_zebin) == (found, True)
    assert Beside().zebin("slerp", folder.place) == told
    assert list_kernels(told.text) == {"slerp": 16}


def test_the_texts_own_name_comes_first_then_the_kernels_then_the_alphabet(folder):
    names = ("a.ze_info", "b.zeinfo", "x.zeinfo.yml", "slerp.zebin", "k.ze_info", "c.zeinfo.yaml", "a.zebin")
    paths = {name: folder(name, "k") for name in names}
    found = [told.path for told in Beside().descriptions("k", folder.place)]
    order = ("slerp.zebin", "k.ze_info", "a.ze_info", "b.zeinfo", "c.zeinfo.yaml", "x.zeinfo.yml", "a.zebin")
    assert found == [paths[name] for name in order]


def test_a_dumps_program_comes_before_the_others_of_its_folder(folder):
    folder("OCL_asm0.progbin", "k")
    whole = folder("OCL_asm1.progbin", "k")
    folder("a.zeinfo.yaml", "k")
    folder.place = folder.place.with_name("OCL_asm1_simd16_entry_0001.visaasm")
    assert Beside().description("k", folder.place).path == whole


def test_the_document_of_the_texts_simd_size_is_preferred_but_not_to_its_own(folder):
    folder("a.zeinfo.yaml", "k", simd=16)
    fits = folder("b.zeinfo.yaml", "k", simd=32)
    assert Beside().description("k", folder.place, simd_size=32).path == fits
    assert Beside().description("k", folder.place, simd_size=8).path.name == "a.zeinfo.yaml"
    own = folder("slerp.zeinfo.yaml", "k", simd=16)
    assert Beside().description("k", folder.place, simd_size=32).path == own


def test_a_document_counts_as_the_editor_has_it(folder):
    folder("a.zeinfo.yaml", "other")
    closed = folder("b.zeinfo.yaml", "k")
    opened = {folder.place.with_name("a.zeinfo.yaml"): ze_info("k", simd=8)}
    assert Beside(opened.get).description("k", folder.place).simd_size == 8
    opened = {closed: ze_info("other")}
    assert Beside(opened.get).description("k", folder.place) is None


def test_what_changes_is_seen(folder):
    asked = Beside()
    path = folder("quat.zeinfo.yaml", "mul")
    assert asked.description("slerp", folder.place) is None
    path.write_text(ze_info("mul", "slerp"))
    assert asked.description("slerp", folder.place).path == path
    path.unlink()
    assert asked.description("slerp", folder.place) is None
    assert folder("new.zeinfo.yaml", "slerp") == asked.description("slerp", folder.place).path


def test_a_large_folder_is_read_once(folder, monkeypatch):
    for number in range(300):
        folder(f"{number}.zeinfo.yaml", f"k{number}")
        (folder.place.parent / f"{number}.ll").write_text("slerp")
    last = folder("z.zeinfo.yaml", "slerp")
    os.utime(folder.place.parent, ns=(1, 1))  # a folder that has long been as it is
    read, parsed, listed = [], [], []
    real = beside.read_file, beside.list_kernels, beside._list_names
    monkeypatch.setattr(beside, "read_file", lambda p, most: read.append(p) or real[0](p, most))
    monkeypatch.setattr(beside, "list_kernels", lambda text: parsed.append(text) or real[1](text))
    monkeypatch.setattr(beside, "_list_names", lambda path: listed.append(path) or real[2](path))
    asked = Beside()
    for _ in range(3):
        assert asked.description("slerp", folder.place).path == last
    assert (len(parsed), len(listed)) == (1, 1)
    assert len(read) == 303  # the one that speaks of it is read for its text each time
    assert all(path.suffix == ".yaml" for path in read)


def test_no_more_than_a_bound_is_read(folder, monkeypatch):
    for number in range(5):
        folder(f"{number}.zeinfo.yaml", "k")
    monkeypatch.setattr(beside, "_MAX_READ_BYTES", 300)
    assert len(list(Beside().descriptions("k", folder.place))) == 2
    monkeypatch.setattr(beside, "_MAX_READ_BYTES", 1 << 20)
    monkeypatch.setattr(beside, "MAX_DOCUMENTS", 3)
    assert len(list(Beside().descriptions("k", folder.place))) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="FIFOs of POSIX systems")
def test_what_is_no_regular_file_is_passed_over(folder):
    for name in ("a.zeinfo.yaml", "b.zebin", "c", "d.visaasm"):
        os.mkfifo(folder.place.with_name(name))
    folder.place.with_name("e.zeinfo.yaml").mkdir()
    folder.place.with_name("f.zebin").write_bytes(b"\x7fELF k")
    folder.place.with_name("g.zeinfo.yaml").write_bytes(b"\xff\xfe name: k [")
    found = folder("z.zeinfo.yaml", "k")
    assert [told.path for told in Beside().descriptions("k", folder.place)] == [found]
    assert Beside().texts_of("k", folder.place) == []


def test_a_text_is_found_by_the_bodies_in_it(folder):
    def text(name: str, words: str):
        path = folder.place.with_name(name)
        path.write_text(words)
        return path

    one = text("OCL_asm0_simd16_entry_0001.visaasm", '.version 4.1\n.kernel "slerp"\n')
    two = text("f.isaasm", ".version 4.1\n  .global_function slerp\n")
    text("call.visaasm", '.kernel "k"\n.function "slerp"\n  fcall (M1, 8) slerp 1 1 // .kernel slerp\n')
    assert Beside().texts_of("slerp", folder.place) == [one, two]
    opened = {two: ".kernel other"}
    assert Beside(opened.get).texts_of("slerp", folder.place) == [one]


@pytest.mark.parametrize(
    "name", ["k.launch.yaml", "k.launch.yml", "k.zeinfo.yaml", "k.ze_info", "k.visaasm", "k.isa", "k"]
)
def test_the_stem_of_a_file(folder, name):
    assert stem_of(folder.place.with_name(name)) == "k"
