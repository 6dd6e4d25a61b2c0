"""Object code that one run has left is what the next one runs, and nothing that is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from compiled_engine import compile_at_once
from test_compiled_faults import ran

import visa_lsp
from visa_lsp.sim.jit import body as bodies
from visa_lsp.sim.jit import native

# A sum of integers, and a product of floats, which is an instruction that LLVM does not look into.
BODY = "    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x7:d\n    mul (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 2.5:f\n    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n"


@pytest.fixture(autouse=True)
def _kept(monkeypatch, tmp_path):
    monkeypatch.setenv("VISA_LSP_CACHE", str(tmp_path / "kept"))
    compile_at_once(monkeypatch.setattr)


def result():
    report = ran(BODY, "jit", groups=1, checks="none")
    assert report.engine == "jit"
    return report.buffers[0].array.tolist()


def without_compiler(monkeypatch):
    def refuse(*_):
        raise AssertionError("compiled again")

    monkeypatch.setattr(native, "_pass_builder", refuse)


def test_the_second_run_compiles_nothing(monkeypatch):
    first = result()
    without_compiler(monkeypatch)
    assert result() == first


def test_another_kernel_is_compiled(monkeypatch):
    result()
    without_compiler(monkeypatch)
    with pytest.raises(AssertionError, match="compiled again"):
        ran(BODY.replace("0x7", "0x8"), "jit", groups=1, checks="none")


def test_a_damaged_file_is_no_loss(tmp_path):
    first = result()
    (file,) = (tmp_path / "kept").glob("native-*")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0x11
    file.write_bytes(bytes(data))
    assert result() == first


def test_nothing_is_kept_where_that_is_not_wanted(monkeypatch, tmp_path):
    monkeypatch.setenv("VISA_LSP_CACHE", "off")
    result()
    assert not list(tmp_path.glob("kept/*"))


def test_a_loaded_program_is_written_and_compiled_once(monkeypatch):
    """Launches of other arrays, numbers and counts of groups find it; one whose last thread is not full is another."""
    monkeypatch.setattr(native, "LEVEL", 0)
    made = []
    before = bodies.CompiledBody.__init__
    monkeypatch.setattr(bodies.CompiledBody, "__init__", lambda self, *a, **k: made.append(a) or before(self, *a, **k))
    kernel = visa_lsp.load(Path(__file__).parents[2] / "examples" / "saxpy.visaasm").kernels["saxpy"]
    counts = []
    for groups, local, a in ((2, 32, 2.0), (5, 32, 3.0), (3, 32, 2.0), (2, 24, 2.0), (4, 24, 5.0)):
        x, y = np.arange(groups * local, dtype=np.float32), np.ones(groups * local, np.float32)
        result = kernel.launch(
            groups, local, {"x": x, "y": y, "a": a, "n": x.size}, engine="jit", checks="none", threads=1
        )
        assert result.ok
        assert result.instructions == 11 * groups * (2 if local > 16 else 1)
        assert (y == a * x + 1).all()
        counts.append(len(made))
    assert counts == [1, 1, 1, 2, 2]
