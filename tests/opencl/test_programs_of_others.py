"""Programs and test suites of others under ``visa-lsp exec``: ``benchmarks.exec_suites`` runs them, and counts what passes.

Those of Debian are ``clinfo``, ``clblast-tests``, ``clfft-client``, ``clpeak`` and ``hashcat``; pyopencl's sources and dpnp
come from the index of packages, Khronos' conformance tests are built from their sources. `docs/exec.md` has all that were ever run, with the reasons for what fails.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from exec_host import needs_host

from benchmarks.exec_suites import run, suites

pytestmark = needs_host


@pytest.fixture
def run_suite(monkeypatch, tmp_path, tmp_path_factory):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("VISA_LSP_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))

    def run_named(name, seconds, python=sys.executable, pyopencl=None, conformance=None):
        command, host = suites(python, pyopencl, conformance, None)[name]
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed")
        result = run(command, host, seconds, tmp_path)
        print(f"{name}: {result.row()}")
        return result

    return run_named


def test_clinfo_describes_the_device(run_suite, tmp_path):
    result = run_suite("clinfo", 60)
    assert (result.status, result.faults, result.refused) == ("0", [], [])
    assert "visa-lsp simulator of TGLLP" in (tmp_path / "output").read_text()


def test_a_client_of_clblast_gets_right_results(run_suite):
    result = run_suite("clblast xscal", 120)
    assert (result.status, result.failed, result.faults, result.refused) == ("0", 0, [], [])
    assert result.passed == result.enqueues > 30


@pytest.mark.full
@pytest.mark.parametrize(
    ("suite", "least", "failures", "words"),
    [
        ("clblast xaxpy", 108, 0, ""),
        ("clfft", 14, 2, ""),  # sizes with the factors 11 and 13, which fail on pocl alone too
        ("hashcat", 1, 0, "readonly"),  # what the host calls CL_MEM_READ_ONLY
    ],
)
def test_programs_of_debian_pass_their_tests(run_suite, suite, least, failures, words):
    result = run_suite(suite, 600)
    assert (result.passed >= least, result.failed) == (True, failures)
    assert result.refused == []
    assert all(words and words in fault for fault in result.faults)


@pytest.fixture(scope="module")
def pyopencl(tmp_path_factory):
    """Return the folder of pyopencl's sources, of the version that is installed."""
    version = pytest.importorskip("pyopencl").VERSION_TEXT
    folder = tmp_path_factory.mktemp("pyopencl")
    words = ["--no-deps", "--no-binary", "pyopencl", f"pyopencl=={version}", "-d", str(folder)]
    loaded = subprocess.run([sys.executable, "-m", "pip", "download", "-q", *words], capture_output=True, check=False)
    if loaded.returncode:
        pytest.skip("pip cannot load pyopencl's sources")
    shutil.unpack_archive(next(folder.glob("*.tar.gz")), folder, filter="data")
    return folder / f"pyopencl-{version}"


@pytest.mark.full
@pytest.mark.parametrize(
    ("suite", "least", "failures"),
    [
        ("pyopencl test_wrapper", 40, 1),  # which fails in itself
        ("pyopencl test_enqueue_copy", 1, 0),
        ("pyopencl test_arrays_in_structs", 1, 0),
        ("pyopencl test_clmath", 22, 2),  # `atan`, and complex numbers of doubles
    ],
)
def test_pyopencl_passes_its_own_tests(run_suite, pyopencl, suite, least, failures):
    result = run_suite(suite, 900, pyopencl=pyopencl)
    assert (result.passed >= least, result.failed <= failures) == (True, True)


@pytest.mark.full
@pytest.mark.skipif(
    "VISA_LSP_TEST_DPNP" not in os.environ, reason="VISA_LSP_TEST_DPNP names no interpreter with dpnp (3 GB)"
)
@pytest.mark.parametrize(
    ("suite", "least"), [("absolute", 146), ("sum", 100), ("sort", 50), ("linalg", 20), ("random", 31)]
)
def test_dpnp_passes_its_own_tests(run_suite, suite, least):
    result = run_suite(f"dpnp {suite}", 240, python=os.environ["VISA_LSP_TEST_DPNP"])
    assert (result.passed >= least, result.failed) == (True, 0)


@pytest.mark.full
@pytest.mark.skipif(
    "VISA_LSP_TEST_OCLOC" not in os.environ,
    reason="VISA_LSP_TEST_OCLOC names no compiler of 2026, and that of Debian crashes at the source of clpeak",
)
def test_clpeak_measures_the_cost_of_a_launch(run_suite, monkeypatch, tmp_path):
    compiler = Path(os.environ["VISA_LSP_TEST_OCLOC"]).parent
    monkeypatch.setenv("PATH", f"{compiler}{os.pathsep}{os.environ['PATH']}")
    result = run_suite("clpeak", 500)
    assert "Kernel launch latency" in (tmp_path / "output").read_text()
    assert (result.status, result.enqueues, result.refused) == ("1", 20002, [])
    assert all("were never written" in fault for fault in result.faults)  # it reads a buffer that it has not filled


@pytest.mark.full
@pytest.mark.skipif(
    "VISA_LSP_TEST_CONFORMANCE" not in os.environ,
    reason="VISA_LSP_TEST_CONFORMANCE names no folder with Khronos' conformance tests, built by their CMake",
)
@pytest.mark.parametrize(
    ("suite", "least", "failures"),  # those that fail do so on pocl alone too
    [
        ("api", 90, 2), ("basic", 5, 0), ("buffers", 700, 0), ("atomics", 2, 0), ("events", 10, 0), ("image facts", 6, 0),
        ("copied images", 6, 3), ("filled images", 4, 0), ("read and written images", 6, 0), ("image methods", 1, 0),
    ],
)  # fmt: skip
def test_conformance_tests_pass_in_a_minute_and_a_half(run_suite, suite, least, failures):
    result = run_suite(f"conformance {suite}", 90, conformance=Path(os.environ["VISA_LSP_TEST_CONFORMANCE"]))
    assert (result.passed >= least, result.failed) == (True, failures)
