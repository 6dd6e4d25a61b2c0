"""Reading confined to some folders, for a process that works for an agent."""

import pytest

from visa_lsp.safe_io import OutsideError, is_limited, is_readable_place, is_regular, limit_reading, read_file


@pytest.fixture
def folders(tmp_path):
    """Yield a folder that may be read and one that may not, each with a file; no limits afterwards."""
    for name in ("in", "inner", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x")
    yield tmp_path / "in", tmp_path / "out"
    limit_reading(None)


def test_only_files_in_the_folders_are_read(folders):
    inside, outside = folders
    (inside / "link").symlink_to(outside / "file")
    (outside / "link").symlink_to(inside / "file")
    assert not is_limited()
    limit_reading([inside])
    assert is_limited()
    assert read_file(inside / "file") == b"x"
    assert read_file(outside / "link") == b"x"
    for path in (outside / "file", inside / "link", inside / ".." / "out" / "file", outside.parent / "inner" / "file"):
        assert not is_regular(path)
        with pytest.raises(OutsideError):
            read_file(path)
    assert read_file(outside / "file", own=True) == b"x"
    assert is_readable_place(inside)


def test_without_folders_nothing_is_read_and_without_a_limit_everything(folders):
    inside, outside = folders
    limit_reading([])
    with pytest.raises(OutsideError):
        read_file(inside / "file")
    limit_reading(None)
    assert read_file(outside / "file") == b"x"
