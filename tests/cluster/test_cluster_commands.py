"""What commands print on a cluster is what they print without one, byte for byte, with the same exit status."""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
import threading
from importlib import util
from pathlib import Path

import pytest
from tiers import first

from benchmarks.disguise import disguise_text
from visa_lsp.app.check.formats.table import FORMATS
from visa_lsp.app.clusters import InputFile
from visa_lsp.app.errors import UserError
from visa_lsp.cli.main import main
from visa_lsp.cluster.crew import workers_here

pytest.importorskip("distributed", reason="the extra cluster is not installed")
REPOSITORY = Path(__file__).resolve().parents[2]
OWN = REPOSITORY / "tests" / "own"
SWEEP = """\
file: saxpy.visaasm
groups: [ceil(n / 16), 1, 1]
local_size: [16]
sweep: {n: [1, 15, 16, 17], seed: [1, 2, 3]}
args:
  x: {buffer: {dtype: float32, shape: [n], init: random}}
  y: {buffer: {dtype: float32, shape: [n], init: ones}}
  a: {value: 2.5}
  n: {value: n}
expect: [{arg: y, values: [3.5]}]
"""


@pytest.fixture
def both(address, here, capsys):
    """Run a command here and on the cluster; gives what both printed, which has to be the same."""

    def call(*words, cluster=address):
        here = main(list(words)), *capsys.readouterr()
        there = main([*words, "--cluster", cluster]), *capsys.readouterr()
        assert there == here
        return here

    return call


def texts(folder: Path, count: int) -> None:
    """So many texts of our own in disguise, some of them with mistakes, and one that is none."""
    draw = random.Random(7)
    sources = sorted(OWN.glob("dev/*/*.visaasm"))
    for number in range(count):
        text, _ = disguise_text(sources[number % len(sources)].read_text(), draw)
        if number % 5 == 0:
            text = re.sub(r"(?m)^( +)mov ", r"\1nov ", text, count=3)
        (folder / f"k{number:04}.visaasm").write_text(text)
    (folder / "object.visaasm").write_bytes(b"CISA\x04\x01")


@pytest.mark.full
@pytest.mark.parametrize("name", first(1, FORMATS))
def test_every_format_of_check_is_the_same(both, name):
    shutil.copytree(OWN / "errors", "errors")
    status, out, _ = both(
        "check", "errors", "missing.visaasm", "--no-cache", "--extend-select", "ALL", "--format", name
    )
    assert status == 2
    assert len(out) > 10_000


@pytest.mark.full
def test_many_texts_on_four_workers_are_as_on_none(both):
    Path("many").mkdir()
    texts(Path("many"), 24)
    with workers_here(4) as address:
        status, out, err = both("check", "many", "--no-cache", "--statistics", cluster=address)
    assert status == 2
    assert out.count("unknown-mnemonic") > 10
    assert "expected a text, found an object" in err


def test_every_command_prints_the_same_where_inputs_are_sent(address, here, capsys):
    for name in ("a", "b"):
        Path(name).mkdir()
        texts(Path(name), 6)
    shutil.copy(REPOSITORY / "examples" / "saxpy.launch.yaml", ".")
    for words in (
        ["check", "a", "saxpy.launch.yaml", "gone", "--no-cache"],
        ["stats", *map(str, Path("a").iterdir())],
        ["diff", "a", "b"],
    ):
        here = main(words), *capsys.readouterr()
        assert (main([*words, "--cluster", address, "--send"]), *capsys.readouterr()) == here


@pytest.mark.skipif(sys.platform == "win32", reason="a FIFO of POSIX systems")
@pytest.mark.parametrize("words", [["check", "pipe", "--no-cache"], ["stats", "pipe"]])
def test_a_pipe_is_read_here(address, here, capsys, words):
    os.mkfifo("pipe")
    text = (REPOSITORY / "examples" / "saxpy.visaasm").read_bytes() + b"\nnonsense\n"
    done = []
    for more in ([], ["--cluster", address]):
        writer = threading.Thread(target=Path("pipe").write_bytes, args=(text,), daemon=True)
        writer.start()
        done.append((main([*words, *more]), *capsys.readouterr()))
        writer.join(10)
    assert done[0] == done[1]
    assert done[0][0] == 1


@pytest.mark.full
def test_fixes_are_made_and_baselines_kept_as_ever(address, here, monkeypatch, capsys):
    done = []
    for name, more in (("here", []), ("there", ["--cluster", address])):
        shutil.copytree(OWN / "errors", here / name / "errors")
        monkeypatch.chdir(here / name)
        words = ["check", "errors", "--no-cache", "--extend-select", "ALL"]
        first = (
            main([*words, "--write-baseline", "known.json", *more]),
            main([*words, "--baseline", "known.json", *more]),
        )
        second = main([*words, "--fix", *more])
        files = {path.name: path.read_bytes() for path in Path("errors").iterdir()}
        done.append((first, second, *capsys.readouterr(), files, Path("known.json").read_bytes()))
    assert done[0] == done[1]
    assert "fixed in" in done[0][3]


@pytest.mark.parametrize("name", first(0, ["text", "json"]))
def test_figures_are_the_same(both, name):
    texts(Path(), 10)
    status, out, err = both("stats", *sorted(map(str, Path().iterdir())), "missing", "--format", name)
    assert (status, out.count("\n") > 8, "missing: no such file" in err) == (2, True, True)


@pytest.mark.full
@pytest.mark.parametrize("name", ["text", "json", "html"])
def test_comparisons_of_folders_are_the_same(both, name):
    for folder in ("a", "b"):
        Path(folder).mkdir()
        texts(Path(folder), 6)
    for path in sorted(Path("b").glob("*[1-9].visaasm")):
        path.write_text(re.sub(r"0x[0-9a-f]+:d\b", "0x77:d", path.read_text(), count=1))
    Path("b/k0003.visaasm").rename("b/other.visaasm")
    status, out, err = both("diff", "a", "b", "--format", name)
    assert status == 2
    assert "k0004" in out
    assert "nov" in err


@pytest.mark.parametrize("every", first(1, [6, 1]))
def test_launches_are_run_the_same(both, every):
    pytest.importorskip("numpy")
    shutil.copytree(REPOSITORY / "examples", "examples")
    shutil.copytree(OWN / "run" / "DG2" / "axpy", "axpy")
    launches = [
        *sorted(map(str, Path("examples").glob("*.launch.yaml")))[::every],
        *sorted(map(str, Path("axpy").glob("*.visaasm"))),
    ]
    status, out, err = both("run", *launches, "gone.launch.yaml", "--trace", "0,0")
    assert (status, f"{len(launches) + 1} launches" in out, "gone" in err) == (2, True, True)


@pytest.mark.full
def test_points_of_a_sweep_are_run_the_same_but_for_the_time_that_they_take(address, here, capsys):
    pytest.importorskip("numpy")
    shutil.copy(REPOSITORY / "examples" / "saxpy.visaasm", ".")
    Path("s.launch.yaml").write_text(SWEEP)
    told = []
    for more in ([], ["--cluster", address]):
        status = main(["run", "--sweep", "s.launch.yaml", "--format", "json", *more])
        told.append((status, re.sub(r'"seconds": [0-9.e-]+', "", capsys.readouterr().out)))
    assert told[0] == told[1]
    assert told[0][0] == 1
    assert told[0][1].count('"status"') == 12


def test_what_holds_a_file_is_no_longer_read(tmp_path):
    path = tmp_path / "k.visaasm"
    path.write_bytes(b"text")
    sent = InputFile(str(path)).pack(whole=True)
    gone = InputFile(str(tmp_path / "gone")).pack(whole=True)
    path.unlink()
    assert sent.read() == b"text"
    (tmp_path / "gone").write_bytes(b"there now")
    with pytest.raises(UserError, match="no such file"):
        gone.read()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", ".", "--cluster", "here"], "--cluster: 'here' is not an address: expected HOST:PORT"),
        (["check", ".", "--send"], "--send needs --cluster"),
        (["check", ".", "--send", "--fix", "--cluster", "local"], "--send excludes --fix and --diff"),
        (["stats", "k", "--cluster", "local:0"], "expected local:N with N from 1 to 64"),
        (["diff", "a", "b", "--cluster", "local:x"], "expected local:N with N from 1 to 64"),
        (["run", "k.visaasm", "--cluster", "x"], "'x' is not an address"),
    ],
)
def test_wrong_words_are_usage_errors(here, capsys, words, said):
    assert main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.full
def test_without_dask_the_command_that_installs_it_is_told(refused, tmp_path, monkeypatch):
    found = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name, *more: None if name == "distributed" else found(name, *more))
    for words in (["check", "."], ["stats", "k"], ["diff", "a", "b"], ["run", "k.visaasm"]):
        err = refused(*words, "--cluster", "local")
        assert err == "visa-lsp: --cluster needs Dask: pip install 'visa-lsp[cluster]'\n"
