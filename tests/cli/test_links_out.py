"""Outputs by default follow no symbolic link out of their folder; named outputs do."""

import shutil
from pathlib import Path

import pytest

from visa_lsp.app.errors import UserError
from visa_lsp.app.output_files import write_file
from visa_lsp.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    work = tmp_path / "work"
    work.mkdir()
    for name in ("saxpy.visaasm", "saxpy.launch.yaml"):
        shutil.copy(EXAMPLES / name, work)
    (tmp_path / "theirs").write_bytes(b"theirs")
    monkeypatch.chdir(work)
    return work


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("asm saxpy.visaasm", "saxpy.isa"),
        ("run saxpy.visaasm --out out", "out/argy.npy"),
        ("check . --write-baseline", "visa-lsp-baseline.json"),
        ("stats . --write-baseline", "visa-lsp-stats.json"),
    ],
)
@pytest.mark.parametrize("target", ["theirs", "missing"])
def test_an_output_by_default_stays_in_its_folder(line, output, target, folder, capsys):
    (folder / output).parent.mkdir(exist_ok=True)
    (folder / output).symlink_to(folder.parent / target)
    assert main(line.split()) == 2
    assert f"is a symbolic link out of its folder, to {folder.parent / target}" in capsys.readouterr().err
    assert (folder.parent / "theirs").read_bytes() == b"theirs"
    assert not (folder.parent / "missing").exists()


def test_a_named_output_follows_a_link(folder):
    (folder / "named.isa").symlink_to(folder.parent / "theirs")
    assert main(["asm", "saxpy.visaasm", "-o", "named.isa"]) == 0
    assert (folder.parent / "theirs").read_bytes() != b"theirs"


def test_a_link_inside_of_the_folder_is_followed(folder):
    (folder / "inside").mkdir()
    (folder / "saxpy.isa").symlink_to("inside/saxpy.isa")
    assert main(["asm", "saxpy.visaasm"]) == 0
    assert (folder / "inside" / "saxpy.isa").stat().st_size > 0
    (folder / "up.isa").symlink_to("inside/../../theirs")
    with pytest.raises(UserError, match="out of its folder"):
        write_file("up.isa", b"", is_default=True)


def test_fixes_of_a_folder_stay_in_it(folder):
    text = '.version 4.1\n.kernel "k"\n    mov (M1, 1) %r0(0,0)<1> 0x1:d\n    ret (M1, 1)\n'.replace("%r0", "r0")
    outside = folder.parent / "k.visaasm"
    outside.write_text(text)
    (folder / "k.visaasm").symlink_to(outside)
    main(["check", "--fix", "--unsafe-fixes", "."])
    assert outside.read_text() == text
