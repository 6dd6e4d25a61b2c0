"""A text that has not changed since another run is not checked again, and nobody can tell by what is reported."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tiers import first

from visa_lsp.app.check import kept_verdicts, runner
from visa_lsp.app.check.formats.table import FORMATS
from visa_lsp.cli.main import main

OWN = Path(__file__).resolve().parents[1] / "own"


@pytest.fixture
def folder(here):
    """Return a folder to work in, with texts that have findings of all kinds."""
    shutil.copytree(OWN / "errors", "errors")
    return here / "errors"


@pytest.fixture
def checked(folder, monkeypatch, capsys):
    """Check the folder with a cache; gives status, report, what else was said, and how many texts were looked at."""
    looked = []
    read = runner.source_of
    monkeypatch.setattr(runner, "source_of", lambda task: (looked.append(task.name), read(task))[1])

    def call(*words, cache="cache"):
        looked.clear()
        more = ["--cache-dir", cache] if cache else ["--no-cache"]
        status = main(["check", "--jobs", "1", *more, *words, "errors"])
        return status, *capsys.readouterr(), len(looked)

    return call


@pytest.mark.parametrize("name", first(1, FORMATS))
def test_the_report_is_the_same_in_every_format(checked, name):
    words = ["--format", name, "--extend-select", "ALL"]
    plain = checked(*words, cache="")
    first, later = checked(*words), checked(*words)
    assert plain == first
    assert later[:3] == plain[:3]
    assert (first[3] > 40, later[3]) == (True, 0)


def test_how_many_were_kept_is_told_with_the_statistics(checked, folder):
    count = len(list(folder.glob("*.visaasm")))
    assert checked("--statistics")[1].endswith(f"\n0 of {count} files read from the cache\n")
    assert checked("--statistics")[1].endswith(f"\n{count} of {count} files read from the cache\n")
    assert "as they were found" not in checked("--statistics", cache="")[1]


def test_only_what_changed_is_checked_whatever_its_name_and_time(checked, folder):
    checked()
    texts = sorted(folder.iterdir())
    texts[0].write_text(texts[0].read_text() + "\n// more\n")
    texts[1].rename(folder / "another.visaasm")
    os.utime(texts[2])
    fresh, kept = checked(cache=""), checked()
    assert kept[:3] == fresh[:3]
    assert "another.visaasm" in kept[1]
    assert kept[3] == 1


@pytest.mark.parametrize(
    ("words", "again"),
    [
        (["--platform", "DG2"], True),
        (["--ignore", "V2"], False),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in (
                (["--extend-select", "ALL"], True),
                (["--select", "V1,V2"], False),
                (["--per-file-ignores", "V201*:ALL"], False),
                (["--max-errors", "3"], False),
            )
        ),
    ],
)
def test_settings_are_honoured(checked, words, again):
    checked()
    plain, kept = checked(*words, cache=""), checked(*words)
    assert kept[:3] == plain[:3]
    assert (kept[3] > 0) == again


def test_baselines_are_honoured(checked, folder):
    checked()
    assert checked("--write-baseline", "known.json")[0] == 0
    plain, kept = checked("--baseline", "known.json", cache=""), checked("--baseline", "known.json")
    assert kept[:3] == plain[:3] == (0, "", "")
    assert kept[3] == 0


@pytest.mark.full
def test_fixes_are_made_all_the_same(checked, folder):
    checked("--extend-select", "ALL")
    shutil.copytree(folder, folder.parent / "before")
    kept = checked("--extend-select", "ALL", "--fix")
    mended = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.rmtree(folder)
    (folder.parent / "before").rename(folder)
    plain = checked("--extend-select", "ALL", "--fix", cache="")
    assert kept[:3] == plain[:3]
    assert mended == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert 0 < kept[3] < plain[3]
    assert checked("--extend-select", "ALL", "--fix")[3] == 0, "mended texts are known"


def test_suppressed_findings_stay_so(checked, folder):
    text = sorted(folder.glob("*.visaasm"))[5]
    text.write_text("// visa: ignore-file\n" + text.read_text())
    first, later = checked(), checked()
    assert first[:3] == later[:3]
    assert later[3] == 0


@pytest.mark.parametrize(
    "harm", first(4, ["garbage", "truncated", "another's values", "read-only", "no files", "a file", "foreign"])
)
def test_a_cache_that_is_no_good_is_harmless(checked, folder, harm):
    plain = checked(cache="")
    checked()
    cache = folder.parent / "cache"
    for path in cache.glob("checked-*"):
        data = path.read_bytes()
        match harm:
            case "garbage":
                path.write_bytes(os.urandom(10_000))
            case "truncated":
                path.write_bytes(data[: len(data) * 2 // 3])
            case "another's values":
                path.write_bytes(re.sub(rb"(?m)^[0-9a-f]{8}(\t[^\t\n]+\t).*$", rb"00000000\1[[1,2]]", data))
            case "no files":
                path.unlink()
                path.mkdir()
            case "read-only":
                path.chmod(0o400)
    match harm:
        case "a file":
            shutil.rmtree(cache)
            cache.write_text("no folder")
        case "foreign":
            cache.chmod(0o777)
        case "read-only":
            cache.chmod(0o500)
    try:
        assert checked()[:3] == plain[:3]
        assert checked()[:3] == plain[:3]
    finally:
        if cache.is_dir():
            cache.chmod(0o700)


def test_a_wrong_value_of_a_right_form_is_not_taken(checked, folder):
    """Bytes that fail their checksum are none; what has one but no form of a verdict is none either."""
    from visa_lsp.app.check.kept_verdicts import KeptVerdicts

    plain = checked(cache="")
    store = KeptVerdicts(folder.parent / "cache", "checked")
    checked()
    for kept in store._kept.values():
        kept.get("")
        for key in list(kept._entries):
            kept.put(key.decode().strip('"'), [["V999", {}, "error", "", "", "", [], []]])
    store.flush()
    assert checked()[:3] == plain[:3]


@pytest.mark.full
def test_processes_that_write_at_once_do_not_harm_each_other(folder, capsys):
    main(["check", "errors", "--no-cache"])
    plain = capsys.readouterr().out
    words = [sys.executable, "-m", "visa_lsp", "check", "errors", "--jobs", "1", "--cache-dir", "cache"]
    for _ in range(2):
        started = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        assert [process.communicate()[0] for process in started] == [plain] * 4


@pytest.mark.full
def test_the_size_is_bounded(checked, folder, monkeypatch):
    monkeypatch.setattr(kept_verdicts, "_MAX_CACHE_FILE_BYTES", 2_000)
    for number in range(6):
        for path in folder.iterdir():
            path.write_text(path.read_text() + f"\n// {number}\n")
        checked()
    sizes = [path.stat().st_size for path in (folder.parent / "cache").glob("checked-*")]
    assert len(sizes) <= 16
    assert max(sizes) < 2_000 + 60_000, "a file is begun anew when it is too large; what one run adds comes on top"


def test_a_setting_names_the_folder(printed, folder):
    (folder.parent / "visa-lsp.toml").write_text('cache-dir = "of-the-project"\n')
    main(["check", "errors"])
    assert list((folder.parent / "of-the-project").glob("checked-*"))
    assert 'of-the-project"  # from the file' in printed("check", "errors", "--show-settings")


def test_nothing_is_kept_where_that_is_not_wanted(folder, monkeypatch):
    for wish, words in (("off", ["errors"]), ("own", ["errors", "--no-cache"])):
        monkeypatch.setenv("VISA_LSP_CACHE", wish)
        main(["check", *words])
        assert not list(folder.parent.glob("*/checked-*"))
    main(["check", "errors"])
    assert list(Path("own").glob("checked-*"))


def test_a_launch_file_is_judged_anew_for_it_is_judged_with_other_files(checked, folder):
    for name in ("saxpy.visaasm", "saxpy.launch.yaml"):
        shutil.copy(OWN.parents[1] / "examples" / name, folder.parent)
    checked("saxpy.launch.yaml")
    assert checked("saxpy.launch.yaml")[3] == 1


def test_of_a_clean_text_that_is_known_no_rule_is_loaded(folder, monkeypatch):
    text = folder.parent / "clean.visaasm"
    text.write_text('.version 4.1\n.kernel "k"\n    ret (M1, 1)\n')
    monkeypatch.setenv("VISA_LSP_CACHE", str(folder.parent / "own"))
    code = (
        "import sys; from visa_lsp.cli.main import main; status = main(['check', 'clean.visaasm']);"
        "print(sorted({name.split('.')[1] for name in sys.modules if name.startswith('visa_lsp.')} & {'checks', 'analysis', 'sema'}), status)"
    )
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout for _ in "12"
    ]
    assert [s.splitlines()[-1] for s in said] == ["['analysis', 'checks', 'sema'] 0", "[] 0"]
