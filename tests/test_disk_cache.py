"""What processes keep for the next one is believed only where nobody else can have written it."""

from __future__ import annotations

import os
import sys
import zlib

import pytest
from tiers import first

from visa_lsp.disk_cache import Kept

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


def test_facts_of_one_version_do_not_get_into_the_file_of_another(tmp_path):
    path = tmp_path / "facts"
    filled(path)
    old = Kept(path, "mark")
    assert old.get("a") == 1
    new = Kept(path, "another mark")
    new.put("a", 2)
    new.flush()
    old.put("a", 3)
    old.flush()
    assert Kept(path, "another mark").get("a") == 2


@pytest.mark.parametrize("begun", first(1, [True, False]))
def test_ten_processes_that_write_at_once_leave_whole_lines(tmp_path, begun):
    path = tmp_path / "facts"
    if begun:
        filled(path)
    value = {f"key {n}": [n, "x" * (n * 397 % 2000)] for n in range(25)}
    children = []
    for _ in range(10):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                kept = Kept(path, "mark")
                for key, fact in value.items():
                    kept.put(key, fact)
                    kept.flush()
                    status = int(Kept(path, "mark").get(key) not in (fact, None))
                    if status:
                        break
            finally:
                os._exit(status)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 10
    kept = Kept(path, "mark")
    assert {key: kept.get(key) for key in value} == value
    lines = path.read_bytes().split(b"\n")
    assert (lines[0], lines[-1]) == (b"mark", b"")
    assert all(int(line[:8], 16) == zlib.crc32(line[9:]) for line in lines[1:-1])
    assert [one.name for one in tmp_path.iterdir()] == ["facts"]


def damaged(data: bytes, how: str) -> bytes:
    match how:
        case "cut in a line":
            return data[: len(data) - 7]
        case "cut in the mark":
            return data[:3]
        case "empty":
            return b""
        case "zeros at the end":
            return data[: len(data) // 2] + bytes(len(data) // 2)
        case "a wrong bit":
            return data[:-20] + bytes([data[-20] ^ 4]) + data[-19:]
        case "the mark alone":
            return data.partition(b"\n")[0] + b"\n"
        case _:
            return b"something else\n" * 30


@pytest.mark.parametrize(
    "how",
    ["cut in a line", "cut in the mark", "empty", "zeros at the end", "a wrong bit", "the mark alone", "foreign"],
)
def test_a_damaged_file_is_mended_by_the_next_process(tmp_path, how):
    path = tmp_path / "facts"
    facts = {f"key {n}": [n, "x" * n] for n in range(20)}
    for _ in range(2):
        kept = Kept(path, "mark")
        for key, fact in facts.items():
            kept.put(key, fact)
        kept.flush()
        path.write_bytes(damaged(path.read_bytes(), how))
    for _ in range(2):
        kept = Kept(path, "mark")
        missing = [key for key in facts if kept.get(key) is None]
        assert all(kept.get(key) in (None, fact) for key, fact in facts.items())
        for key in missing:
            kept.put(key, facts[key])
        kept.flush()
    kept = Kept(path, "mark")
    # The first line behind a torn one is lost once more: the process after next has it.
    assert {key: kept.get(key) for key in facts} == facts
