"""``visa_lsp.load`` and ``launch``: arrays in and out, sizes, findings, what is refused. The programs are the examples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corpus import place

import visa_lsp

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = EXAMPLES / "saxpy.visaasm"
COUNT = 100
EXPECTED = 2.5 * np.arange(COUNT, dtype=np.float32) + 1


@pytest.fixture(scope="module")
def saxpy():
    return visa_lsp.load(SAXPY).kernels["saxpy"]


@pytest.fixture
def x():
    return np.arange(COUNT, dtype=np.float32)


@pytest.fixture
def y():
    return np.ones(COUNT, np.float32)


def by_name(x, y, a=2.5, n=COUNT):
    return {"x": x, "y": y, "a": a, "n": n}


@pytest.mark.parametrize("engine", ["interp", "auto"])
def test_an_array_is_written_in_place_and_given_back(saxpy, x, y, engine):
    result = saxpy.launch(groups=7, local_size=16, args=by_name(x, y), engine=engine)
    assert result.ok
    assert result["y"] is y
    assert result.args["x"] is x
    assert (y == EXPECTED).all()
    assert (result.groups, result.threads, result.instructions, result.opcodes["mad"]) == (7, 7, 77, 7)
    assert (result.bytes_read, result.bytes_written, result.barriers) == (800, 400, 0)
    assert (result.kernel, result.platform) == ("saxpy", "TGLLP")


def test_arguments_go_by_index_too(saxpy, x, y):
    result = saxpy.launch([7], (16, 1), [2.5, COUNT, x, y])
    assert result[3] is y
    assert (y == EXPECTED).all()


def test_a_run_works_on_the_callers_memory_and_not_on_a_copy(saxpy, x, y, monkeypatch):
    from visa_lsp.sim.launch import world

    seen = []
    real = world.Buffer
    monkeypatch.setattr(world, "Buffer", lambda name, array: seen.append(array) or real(name, array))
    saxpy.launch(7, 16, by_name(x, y))
    assert [np.shares_memory(array, given) for array, given in zip(seen, (x, y), strict=True)] == [True, True]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: np.ones((COUNT, 2), np.float32)[:, 0], id="every other element"),
        pytest.param(lambda: np.ones(COUNT, ">f4"), id="big endian"),
        pytest.param(lambda: np.frombuffer(bytearray(4 * COUNT + 4), np.uint8)[1:-3].view("f4"), id="odd address"),
        pytest.param(lambda: np.ones((10, 10), np.float32, order="F").T, id="transposed twice"),
    ],
)
def test_an_array_that_cannot_be_shared_is_written_all_the_same(saxpy, x, make):
    y = make()
    y[...] = 1
    result = saxpy.launch(7, 16, by_name(x, y))
    assert result["y"] is y
    assert (y.reshape(-1) == EXPECTED).all()


def test_what_cannot_be_written_may_only_be_read(saxpy, x, y):
    x.flags.writeable = False
    assert saxpy.launch(7, 16, by_name(x, y)).ok
    y.flags.writeable = False
    result = saxpy.launch(7, 16, by_name(x, y))
    assert {fault.kind for fault in result.faults} == {"wrong-access"}


@pytest.mark.parametrize("engine", ["interp", "auto"])
def test_elements_that_a_launch_does_not_know_are_bytes(saxpy, x, engine):
    pairs = np.zeros(COUNT // 2, [("real", "f4"), ("imaginary", "f4")])
    complexes = np.ones(COUNT // 2, np.complex64)
    saxpy.launch(7, 16, by_name(x, complexes), engine=engine)
    saxpy.launch(7, 16, by_name(x, pairs), engine=engine)
    assert (complexes.imag == EXPECTED[1::2] - 1).all()
    assert (pairs["real"] == EXPECTED[::2] - 1).all()


def test_an_array_that_is_given_twice_is_one_buffer(saxpy, x):
    twice = visa_lsp.load(SAXPY).kernels["saxpy"].launch(7, 16, by_name(x, x))
    assert twice["x"] is twice["y"] is x
    assert (x == 3.5 * np.arange(COUNT)).all()
    strided = np.repeat(np.arange(COUNT, dtype=np.float32), 2)[::2]
    saxpy.launch(7, 16, by_name(strided, strided))
    assert (strided == 3.5 * np.arange(COUNT)).all()


def test_arrays_that_share_elements_are_refused(saxpy):
    v = np.ones(150, np.float32)
    with pytest.raises(visa_lsp.LaunchError, match="arguments x and y: the arrays overlap in memory"):
        saxpy.launch(groups=7, local_size=16, args=by_name(v[50:], v[:100]))
    v = np.ones(200, np.float32)
    assert saxpy.launch(groups=7, local_size=16, args=by_name(v[::2], v[1::2])).ok
    assert v[:4].tolist() == [1, 3.5, 1, 3.5]


def test_each_of_several_runs_starts_from_the_same_memory(saxpy, x, y):
    result = saxpy.launch(7, 16, by_name(x, y), repeat=3)
    assert (y == EXPECTED).all()
    assert len(result.time.run) == 3


def test_scalars_have_their_own_type_or_that_of_the_parameter(saxpy, x, y):
    for a, n in ((2.5, COUNT), (np.float32(2.5), np.uint32(COUNT)), (np.array(2.5, "f4"), np.array([COUNT], "u4")[0])):
        y[:] = 1
        assert saxpy.launch(7, 16, by_name(x, y, a, n)).ok
        assert (y == EXPECTED).all()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"a": np.float64(2.5)}, "1 x float64"),
        ({"a": "2.5"}, "expected a NumPy array"),
        ({"a": 10**30}, "of at most 64 bits"),
        ({"a": []}, "expected a number or a list of numbers"),
        ({"a": [[1], [2, 3]]}, "expected a number or a list of numbers"),
        ({"x": np.array([object()])}, "unsupported"),
        ({"x": np.zeros(3, "V0")}, "unsupported"),
        ({"a": visa_lsp.Sampler()}, "sampler does not fit"),
        ({"a": np.zeros(3)}, "buffer needs 8"),
        ({"x": visa_lsp.Local(0)}, "1 to 16777216 bytes"),
        ({"x": visa_lsp.Local("16")}, "1 to 16777216 bytes"),
        ({"x": visa_lsp.Sampler(address="round")}, "unknown address of a sampler 'round'; known: "),
        ({"x": visa_lsp.Image(np.zeros((4, 4), np.float64))}, "an image cannot hold float64"),
        ({"x": visa_lsp.Image(np.zeros((4, 4), np.uint8), format="float32")}, "texels of uint8 are unorm8 or uint8"),
        ({"x": visa_lsp.Image(np.zeros((4, 4), np.uint8), channels=3)}, "not 3 channels"),
        ({"x": visa_lsp.Buffer([1, 2])}, "expected a NumPy array, got list"),
        (
            {"x": visa_lsp.Buffer(np.zeros(4), access="often")},
            "unknown access 'often'; known: readonly, writeonly, readwrite",
        ),
        ({"z": 1}, "z"),
        ({5: 1}, "expected the names of arguments, got"),
    ],
)
def test_an_argument_that_cannot_be_is_refused(saxpy, x, y, changed, words):
    with pytest.raises(visa_lsp.LaunchError, match=words):
        saxpy.launch(7, 16, {**by_name(x, y), **changed})


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"groups": 0}, "groups: expected one to three whole numbers >= 1"),
        ({"groups": (1, 2, 3, 4)}, "one to three"),
        ({"groups": 1.5}, "whole numbers"),
        ({"groups": True}, "whole numbers"),
        ({"groups": "7"}, "whole numbers"),
        ({"groups": 1 << 40}, "whole numbers"),
        ({"local_size": 1 << 20}, "work items"),
        ({"local_size": None}, "local_size is missing"),
        ({"global_size": 10}, "exclude each other"),
        ({"engine": "fast"}, "unknown engine 'fast'"),
        ({"checks": "all,nothing"}, "unknown check 'nothing'"),
        ({"repeat": 0}, "repeat: expected a whole number >= 1"),
        ({"media_threads": (1, 2, 3)}, "media_threads: expected two whole numbers"),
    ],
)
def test_a_size_or_word_that_cannot_be_is_refused(saxpy, x, y, how, words):
    with pytest.raises(visa_lsp.LaunchError, match=words):
        saxpy.launch(**{"groups": 7, "local_size": 16, "args": by_name(x, y), **how})


def test_a_global_size_needs_no_groups(saxpy, x, y):
    result = saxpy.launch(global_size=112, local_size=16, args=by_name(x, y), checks=["bounds", "races"])
    assert result.groups == 7
    assert (y == EXPECTED).all()
    assert saxpy.launch(global_size=100, local_size=16, args=by_name(x, y)).groups == 7


def test_findings_are_values_with_a_place():
    x = np.random.default_rng(1).random(32, np.float32)
    result = visa_lsp.load(EXAMPLES / "average.visaasm").launch(groups=2, local_size=16, args=[x])
    assert not result.ok
    first, second = result.faults
    assert (first.kind, first.severity, first.kernel, first.group) == ("out-of-bounds", "fault", "average", (1, 0, 0))
    assert (first.thread, first.lane, first.line) == (0, 15, 39)
    assert first.message == "reads bytes 128-131, element 32 of argument 0, which has 128 bytes (32 elements)"
    assert first.place.endswith("average.visaasm:39")
    assert first.excerpt.startswith("gather4_scaled")
    assert second.kind == "data-race"
    assert second.other
    assert result.findings == [*result.faults]
    assert str(first) in str(result)


def test_the_report_is_that_of_the_command_line(saxpy, x, y, run):
    result = saxpy.launch(7, 16, by_name(x, y))
    _, printed, _ = run("run", str(SAXPY))
    assert str(result).splitlines()[1:] == [
        *printed.splitlines()[1:-2],
        "  ran, no fault found; no result was compared",
    ]
    assert result.to_dict()["buffers"][1]["written"] is True
    assert repr(result) == "<saxpy on TGLLP, interp: 7 groups, 77 instructions, ok>"


def test_a_buffer_that_is_not_there_is_a_key_error(saxpy, x, y):
    result = saxpy.launch(7, 16, by_name(x, y))
    with pytest.raises(KeyError, match="unknown buffer argument 'z'; known: x, y"):
        result["z"]


# ---- launch files


def test_a_launch_file_is_launched_as_it_says():
    program = visa_lsp.load(EXAMPLES / "saxpy.launch.yaml")
    for _ in range(2):  # nothing is left of the first launch
        result = program.launch()
        assert result.ok
        assert [e.ok for e in result.expectations] == [True]
        assert (result["y"] == EXPECTED).all()
    assert program.kernels["saxpy"].launch(engine="interp", checks="none").ok


def test_arguments_of_a_launch_file_are_replaced_by_name_or_index(y):
    program = visa_lsp.load(EXAMPLES / "saxpy.launch.yaml")
    result = program.launch(args={"n": 3, "y": y})
    assert result["y"] is y
    assert y[:5].tolist() == [1, 3.5, 6, 1, 1]
    assert result.expectations == ()
    mandelbrot = visa_lsp.load(EXAMPLES / "mandelbrot.launch.yaml").kernels["mandel"]
    drawn = mandelbrot.launch()
    assert drawn.ok
    assert (mandelbrot.launch(args={6: 1})[0] != drawn[0]).any()
    assert drawn["img"].shape == (20, 36, 4)
    with pytest.raises(visa_lsp.LaunchError, match="arguments 0 to 6"):
        mandelbrot.launch(args={7: 1})


def test_a_launch_file_without_a_program_or_with_a_mistake_is_refused(tmp_path):
    path = tmp_path / "alone.launch.yaml"
    path.write_text("groups: [1, 1, 1]\n")
    with pytest.raises(visa_lsp.LaunchError, match="no program"):
        visa_lsp.load(path)
    path.write_text("groups: [0, 1, 1]\n")
    with pytest.raises(visa_lsp.LaunchError, match=r"alone.launch.yaml:1:10: .*"):
        visa_lsp.load(path)


# ---- programs


def test_texts_objects_and_paths_load_alike(x, tmp_path):
    text = SAXPY.read_text()
    path = tmp_path / "object.isa"
    path.write_bytes(visa_lsp.assemble(text))
    for source in (text, str(SAXPY), SAXPY, path, path.read_bytes(), text.encode()):
        y = np.ones(COUNT, np.float32)
        program = visa_lsp.load(source)
        assert program.launch(groups=7, local_size=16, args=by_name(x, y)).ok
        assert (y == EXPECTED).all()
    assert visa_lsp.load(text).path is None


def test_a_text_by_itself_knows_no_folder(here, x, y):
    (here / "saxpy.zeinfo.yaml").write_text("version: '1.39'\nkernels:\n  - name: saxpy\n")
    assert visa_lsp.load(SAXPY.read_text()).launch(groups=7, local_size=16, args=by_name(x, y)).ok


def test_a_ze_info_is_a_file_or_a_text():
    text, ze_info = ((EXAMPLES / f"mandelbrot.{end}").read_text() for end in ("visaasm", "zeinfo.yaml"))
    for given in (ze_info, ze_info.encode(), EXAMPLES / "mandelbrot.zeinfo.yaml"):
        kernel = visa_lsp.load(text, ze_info=given).kernels["mandel"]
        assert [a.name for a in kernel.arguments] == ["img", "w", "h", "x0", "y0", "d", "maxit"]
        assert (kernel.arguments[0].kind, kernel.arguments[0].type) == ("buffer", "uchar4*")
    image = np.zeros((20, 36, 4), np.uint8)
    kernel.launch((3, 5), (16, 4), [image, 36, 20, -2.25, -1.25, 0.0903, 40])
    assert (image == np.load(EXAMPLES / "mandelbrot.npy")).all()
    with pytest.raises(visa_lsp.LaunchError, match="'saxpy'"):
        visa_lsp.load(SAXPY, ze_info=ze_info).launch(local_size=16)
    assert "'saxpy'" in repr(visa_lsp.load(SAXPY, ze_info=ze_info).kernels["saxpy"])


def test_arguments_go_by_the_names_of_the_ze_info():
    image = np.zeros((20, 36, 4), np.uint8)
    args = {"img": image, "w": 36, "h": 20, "x0": -2.25, "y0": -1.25, "d": 0.0903, "maxit": 40}
    result = visa_lsp.load(EXAMPLES / "mandelbrot.visaasm").launch(groups=(3, 5), local_size=(16, 4), args=args)
    assert result["img"] is image
    assert (image == np.load(EXAMPLES / "mandelbrot.npy")).all()


def test_an_array_of_another_type_than_the_kernels_is_refused():
    folder = place("run/TGLLP/axpy")
    kernel = visa_lsp.load(folder / "saxpy.visaasm", ze_info=folder / "axpy.zeinfo.yaml").kernels["saxpy"]
    x, y = np.ones(32, np.float32), np.zeros(32, np.float64)
    with pytest.raises(
        visa_lsp.LaunchError, match=r"argument 0: the array has float64, but the kernel's type is float\* \(float32\)"
    ):
        kernel.launch(groups=1, local_size=32, args=[y, x, 2.0, 32])
    assert "<td>1</td><td>x</td><td>buffer</td><td>float*</td>" in kernel._repr_html_()


def test_the_arguments_of_a_kernel_are_told_without_a_ze_info(saxpy):
    assert [str(a) for a in saxpy.arguments] == ["a: float", "n: uint", "x: buffer", "y: buffer"]
    assert saxpy.simd_size == 16
    assert repr(saxpy) == "<kernel saxpy(a: float, n: uint, x: buffer, y: buffer)>"


def test_a_text_with_errors_raises_them(tmp_path):
    bad = SAXPY.read_text().replace("mad (M1, 16)", "mud (M1, 16)")
    with pytest.raises(visa_lsp.TextError, match="unknown-mnemonic") as raised:
        visa_lsp.load(bad)
    assert {finding.name for finding in raised.value.findings} >= {"unknown-mnemonic"}
    with pytest.raises(visa_lsp.TextError) as raised:
        visa_lsp.assemble(bad)
    assert raised.value.findings[0].path == "text"


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("nowhere.visaasm", FileNotFoundError),
        (b"CISA\x04\x01", visa_lsp.LaunchError),
        (b"\x7fELF\x02\x01\x01", visa_lsp.LaunchError),
        (b"\xff\xfe\x00", visa_lsp.TextError),
        ("__kernel void k(__global int *x) {\n}\n", visa_lsp.LaunchError),
        ("", OSError),
        (None, TypeError),
        (7, TypeError),
    ],
)
def test_what_is_no_program_is_refused(source, error):
    with pytest.raises(error):
        visa_lsp.load(source)


def test_a_zebin_without_a_program_says_what_to_do():
    zebin = next((Path(__file__).parents[1] / "own" / "run").rglob("*.zebin"))
    with pytest.raises(visa_lsp.LaunchError, match="no vISA; load its text and pass the zebin as ze_info"):
        visa_lsp.load(zebin)


def test_an_unknown_platform_is_refused_and_a_known_one_taken(x, y):
    with pytest.raises(ValueError, match="unknown platform 'GEN99'; known platforms:"):
        visa_lsp.load(SAXPY, platform="GEN99")
    assert visa_lsp.load(SAXPY, platform="dg2").launch(groups=7, local_size=16, args=by_name(x, y)).platform == "DG2"


def test_a_media_kernel_has_threads_and_no_groups():
    text = """.version 4.1
.kernel "k"
.decl out v_type=T num_elts=1
.decl at v_type=G type=ud num_elts=1 align=GRF
.decl value v_type=G type=ud num_elts=1 align=GRF
.input out offset=32 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=1
    mul (M1_NM, 1) at(0,0)<1> %thread_y(0,0)<0;1,0> 0x5:ud
    add (M1_NM, 1) at(0,0)<1> at(0,0)<0;1,0> %thread_x(0,0)<0;1,0>
    mov (M1_NM, 1) value(0,0)<1> at(0,0)<0;1,0>
    shl (M1_NM, 1) at(0,0)<1> at(0,0)<0;1,0> 0x2:ud
    scatter4_scaled.R (M1_NM, 1) out 0x0:ud at.0 value.0
    ret (M1_NM, 1)
"""
    out = np.zeros((3, 5), np.uint32)
    result = visa_lsp.load(text).launch(media_threads=(5, 3), args=[out])
    assert result.threads == 15
    assert (out.reshape(-1) == np.arange(15)).all()
