"""What processes keep for the next one is believed only where nobody else can have written it."""

from __future__ import annotations

import os
import sys

import pytest

from visa_lsp.kept import Kept

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners, modes and FIFOs of POSIX systems")


def filled(path) -> None:
    kept = Kept(path, "mark")
    kept.put("a", 1)
    kept.flush()


def test_what_is_kept_is_there_for_the_next(tmp_path):
    path = tmp_path / "new" / "facts"
    filled(path)
    assert Kept(path, "mark").get("a") == 1
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("beyond", ["fifo", "link to a device", "link to a file", "folder"])
def test_what_stands_in_the_place_of_the_file_is_neither_read_nor_waited_for(tmp_path, beyond):
    path = tmp_path / "facts"
    other = tmp_path / "other"
    filled(other)
    before = other.read_bytes()
    match beyond:
        case "fifo":
            os.mkfifo(path)
        case "link to a device":
            path.symlink_to("/dev/zero")
        case "link to a file":
            path.symlink_to(other)
        case _:
            path.mkdir()
    kept = Kept(path, "mark")
    assert kept.get("a") in (None, 1)
    kept.put("b", 2)
    kept.flush()
    kept.put("c", 3)
    kept.flush()
    assert other.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["facts", "other"], "nothing is left behind"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777, 0o702])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, mode):
    folder = tmp_path / "shared"
    folder.mkdir()
    filled(folder / "facts")
    before = (folder / "facts").read_bytes()
    folder.chmod(mode)
    kept = Kept(folder / "facts", "mark")
    assert kept.get("a") is None
    kept.put("b", 2)
    kept.flush()
    assert (folder / "facts").read_bytes() == before
    (folder / "facts").unlink()
    filled(folder / "facts")
    assert list(folder.iterdir()) == []


def test_a_file_that_others_may_write_to_is_not_believed(tmp_path):
    filled(tmp_path / "facts")
    (tmp_path / "facts").chmod(0o666)
    kept = Kept(tmp_path / "facts", "mark")
    assert kept.get("a") is None
    kept.put("b", 2)
    kept.flush()
    again = Kept(tmp_path / "facts", "mark")
    assert (again.get("a"), again.get("b")) == (None, 2), "it is begun again as one's own"
    assert (tmp_path / "facts").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_another_user_is_not_used(tmp_path):
    folder = tmp_path / "theirs"
    folder.mkdir()
    filled(folder / "facts")
    os.chown(folder, 12345, 12345)
    assert Kept(folder / "facts", "mark").get("a") is None


def test_scratch_names_cannot_be_known_before(tmp_path, monkeypatch):
    names = []
    real = os.open

    def noted(path, *rest):
        names.append(str(path))
        return real(path, *rest)

    monkeypatch.setattr(os, "open", noted)
    filled(tmp_path / "a")
    filled(tmp_path / "b")
    scratch = [n.rpartition(".")[2] for n in names if "." in n.rpartition("/")[2]]
    assert len(set(scratch)) == 2
    assert all(len(name) == 16 and str(os.getpid()) != name for name in scratch)
