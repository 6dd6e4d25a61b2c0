"""Zebins made on the spot, for every device that the local ocloc takes: what is in them, and what we make of their text.

ocloc itself is asked which devices there are; the list is printed (``pytest -s``). For each device the sections and the
bytes of ze_info are compared with those that ``readelf`` and the file itself give, the document is checked alone and
against the compiler's own dump, and the dump is packed into a zebin that ``readelf -a`` reads without a word.
"""

import os
import re
import shutil
import subprocess

import pytest
from tiers import first

from visa_lsp.cli.main import main
from visa_lsp.zeinfo.validate import validate
from visa_lsp.zeinfo.zebin import read_zebin

SOURCE = """\
constant int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
struct pair { int a; short b; };
kernel void k(global int *out, int n, local int *tmp, struct pair p) {
  int i = get_global_id(0);
  tmp[get_local_id(0)] = i < n ? out[i] : p.a;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = table[tmp[get_local_id(0) ^ 1] & 7] + p.b;
}
"""
# Names of whole families, of which ocloc makes archives.
FEW = ("skl", "tgllp", "acm-g10", "pvc")
FAMILIES = re.compile(r"gen\d.*|xe(-.*)?|version")


def ocloc(*arguments, cwd=None, **environment):
    return subprocess.run(
        ["ocloc", *arguments], cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=300
    )  # fmt: skip


def devices() -> list[str]:
    """Return the devices that the help names, the deprecated ones too."""
    text = ocloc("compile", "--help").stdout
    lists = re.findall(r"<device_type> can be: ([^\n.]*)", text)
    names = [
        re.sub(r" or hex.*", "", name).strip() for part in lists for name in part.replace(" version", "").split(",")
    ]
    return [name for name in dict.fromkeys(names) if name and not FAMILIES.fullmatch(name)]


@pytest.fixture
def visa_lsp(capsys, monkeypatch):
    """Return the program, in a folder: (status, output, messages)."""

    def run(*arguments, cwd):
        monkeypatch.chdir(cwd)
        capsys.readouterr()
        status = main([str(a) for a in arguments])
        return status, *capsys.readouterr()

    return run


@pytest.fixture(scope="module", params=first(1, [False, True]), ids=["one of each family", "all"])
def made(request, tmp_path_factory):
    """Return a folder with z.zebin and k.visaasm per device, and the devices for which this ocloc makes no zebin."""
    if shutil.which("ocloc") is None:
        pytest.skip("ocloc is not installed (Debian: intel-opencl-icd)")
    found, refused = {}, {}
    for device in devices() if request.param else FEW:
        folder = tmp_path_factory.mktemp(device)
        (folder / "k.cl").write_text(SOURCE)
        done = ocloc(
            "compile", "-file", "k.cl", "-device", device, "--format", "zebin", "-output", "z", "-output_no_suffix",
            cwd=folder, IGC_ShaderDumpEnable="1", IGC_DumpToCurrentDir="1",
        )  # fmt: skip
        text = next((p for p in sorted(folder.glob("*entry*.visaasm")) if '.kernel "k"' in p.read_text()), None)
        if done.returncode or not (folder / "z").is_file() or text is None:
            refused[device] = (done.stdout + done.stderr).strip().splitlines()[-1:] or ["no zebin"]
            continue
        (folder / "z").rename(folder / "k.zebin")
        text.rename(folder / "k.visaasm")
        found[device] = folder
    return found, refused


@pytest.mark.full
def test_the_devices_are_printed(made, capsys):
    found, refused = made
    with capsys.disabled():
        print(f"\nzebins of {len(found)} devices: {', '.join(found)}; this ocloc makes none for: {refused or 'none'}")
    assert len(found) > 10 or list(found) == list(FEW)
    assert set(FEW) <= set(found)


def test_sections_and_ze_info_of_every_device(made, visa_lsp):
    for device, folder in made[0].items():
        data = (folder / "k.zebin").read_bytes()
        zebin = read_zebin(data)
        names = {s.name for s in zebin.sections}
        assert {".text.k", ".ze_info", ".symtab", ".strtab"} <= names, device
        section = zebin.section(".ze_info")
        assert data[section.offset : section.offset + section.size] == zebin.ze_info_bytes
        assert [d.message for d in validate(zebin.ze_info)] == [], device
        status, listed, messages = visa_lsp("dis", "k.zebin", "--summary", cwd=folder)
        assert (status, messages) == (0, ""), device
        if shutil.which("readelf"):
            theirs = subprocess.run(
                ["readelf", "-SW", "k.zebin"], cwd=folder, capture_output=True, text=True, check=True
            ).stdout
            told = {line.split()[2] for line in listed.splitlines() if line.startswith("  section")}
            assert told == {name for name in names if name}
            assert all(name in theirs for name in told), device
        assert visa_lsp("dis", "k.zebin", "-o", "out", cwd=folder)[0] == 0
        assert (folder / "out/k.zeinfo.yaml").read_bytes() == zebin.ze_info_bytes


@pytest.mark.full
def test_document_and_dump_of_every_device_agree(made, visa_lsp):
    for device, folder in made[0].items():
        status, found, messages = visa_lsp("zeinfo", "check", "k.zebin", cwd=folder)
        # For BDW the compiler says that there is no write by address, and makes some: a remark.
        rest = [line for line in found.splitlines() if not ("information" in line and "has_no_stateless_write" in line)]
        assert (status, rest, messages) == (0, [], ""), device


@pytest.mark.parametrize("beside", [True, False], ids=["the compiler's document", "a made document"])
def test_our_zebin_of_every_device_is_clean(made, beside, visa_lsp):
    for device, folder in made[0].items():
        work = folder / ("ours" if beside else "made")
        work.mkdir()
        shutil.copy(folder / "k.visaasm", work)
        if beside:
            (work / "k.zeinfo.yaml").write_bytes(read_zebin((folder / "k.zebin").read_bytes()).ze_info_bytes)
        status, _, messages = visa_lsp("asm", "--zebin", "k.visaasm", cwd=work)
        assert status == 0, (device, messages)
        zebin = read_zebin((work / "k.zebin").read_bytes())
        assert list(zebin.visa) == ["k"]
        if beside:
            assert zebin.ze_info_bytes == (work / "k.zeinfo.yaml").read_bytes()
        status, found, _ = visa_lsp("zeinfo", "check", "k.zebin", cwd=work)
        assert status == 0, (device, found)
        if shutil.which("readelf"):
            read = subprocess.run(["readelf", "-aW", "k.zebin"], cwd=work, capture_output=True, text=True, check=True)
            assert read.stderr == ""
            assert not re.search("warning|error", read.stdout, re.IGNORECASE)
