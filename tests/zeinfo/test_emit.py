"""Documents that are made: valid, in agreement with their kernel, and good for a launch.

The kernels of the corpus are launched with the compiler's document and with the made one; the buffers are the same.
"""

from pathlib import Path

import numpy as np
import own_cases
import pytest
from corpus import HAS_MORE, HAS_OWN, place
from tiers import one_of_each
from zeinfo_answers import where

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.launch.file import read_launch_file
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.cli.zeinfo import EmitArguments, execute
from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts
from visa_lsp.isa.platforms import platform_named
from visa_lsp.isa.types import type_named
from visa_lsp.sim.launch.config import BufferArg, LaunchConfig, LocalArg, ValueArg
from visa_lsp.sim.launch.prepare import prepare
from visa_lsp.sim.machine import run
from visa_lsp.zeinfo.emit.emission import ArgumentHint, EmitError, emit, emit_with_doubts
from visa_lsp.zeinfo.emit.entries import type_bytes
from visa_lsp.zeinfo.input_use import InputUse
from visa_lsp.zeinfo.kernel_checks import disagreements
from visa_lsp.zeinfo.read_kernels import read
from visa_lsp.zeinfo.source import ZeInfoSource
from visa_lsp.zeinfo.validate import validate
from visa_lsp.zeinfo.write import document

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.visaasm"))


def made(text: str, hints=None, platform: str = "TGLLP") -> str:
    """Return the document of a text, which is checked to be valid and to agree."""
    kernels = kernel_texts(Analysis.of(text, platform), "k.visaasm")
    assert kernels
    out = emit([k.kernel for k in kernels], where(platform), hints)
    assert [d.message for d in validate(out)] == []
    assert [d.message for d in disagreements(ZeInfoSource.of(out), kernels, where(platform))] == []
    return out


BODY = """\
.version 4.1
.kernel "k"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl local_size v_type=G type=ud num_elts=3 align=GRF
.decl data v_type=G type=uq num_elts=1 align=qword
.decl n v_type=G type=ud num_elts=1 align=dword
.decl surf v_type=T num_elts=1
.input local_id_x offset=32 size=32
.input local_size offset=64 size=12
.input n offset=76 size=4
.input data offset=80 size=8
.input surf offset=88 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    ret (M1, 1)
"""


def test_emit_places_arguments_by_name_and_type():
    (info,) = read(made(BODY))
    assert [(a.arg_type, a.offset, a.size, a.arg_index, a.addrmode) for a in info.payload] == [
        ("local_size", 0, 12, -1, ""),
        ("arg_byvalue", 12, 4, 0, ""),
        ("arg_bypointer", 16, 8, 1, "stateless"),
        ("arg_bypointer", 24, 4, 2, "bindless"),
    ]
    assert [(a.arg_type, a.offset, a.size) for a in info.per_thread] == [("local_id", 0, 32)]
    assert [a.name for a in info.arguments] == ["n", "data", "surf"]


def test_emit_reads_the_code():
    code = (
        "    barrier\n    svm_atomic.inc (M1, 16) a.0 %null.0 %null.0 %null.0\n"
        "    scatter4_scaled.R (M1, 16) %slm 0x0:ud o.0 x.0\n    lsc_load.ugm (M1, 16) x:d32 bti(0x3)[o]:a32\n    ret (M1, 1)\n"
    )
    decls = (
        ".decl a v_type=G type=uq num_elts=16 align=GRF\n.decl o v_type=G type=ud num_elts=16 align=GRF\n"
        ".decl x v_type=G type=f num_elts=16 align=GRF\n"
    )
    text = BODY.replace("    ret (M1, 1)\n", code).replace(".input local_id_x", decls + ".input local_id_x", 1)
    text = text.replace('Target="cm"', 'Target="cm"\n.kernel_attr NumGRF=256\n.kernel_attr SLMSize=2')
    (info,) = read(made(text, platform="DG2"))
    assert (info.env.grf_count, info.env.slm_size, info.env.barrier_count) == (256, 2048, 1)
    assert "has_global_atomics: true" in made(text, platform="DG2")
    assert [(b.bti_value, b.arg_index) for b in info.bindings] == [(3, 3)]


@pytest.mark.parametrize(
    ("message", "typed"), [("lsc_load_quad.tgm (M1, 16) x:d32.x", True), ("lsc_load.ugm (M1, 16) x:d32", False)]
)
def test_a_surface_that_a_typed_message_reaches_is_typed(message, typed):
    decls = ".decl o v_type=G type=ud num_elts=16 align=GRF\n.decl x v_type=G type=f num_elts=16 align=GRF\n"
    text = BODY.replace("    ret", f"    {message} bti(0x3)[o]:a32\n    ret").replace(".input", decls + ".input", 1)
    (kernel,) = kernel_texts(Analysis.of(text, "DG2"), "k.visaasm")
    assert InputUse(kernel.kernel).surfaces[3].typed == typed


@pytest.mark.parametrize(("address", "is_doubted"), [("of.0", False), ("o.0", True)])
def test_shared_memory_beside_that_of_arguments_is_doubted(address, is_doubted):
    decls = (
        ".decl o v_type=G type=ud num_elts=16 align=GRF\n.decl of v_type=G type=ud num_elts=16 align=GRF\n"
        ".decl x v_type=G type=f num_elts=16 align=GRF\n"
    )
    code = (
        f"    mov (M1, 16) of(0,0)<1> surf_at(0,0)<0;1,0>\n    scatter4_scaled.R (M1, 16) %slm 0x0:ud {address} x.0\n"
    )
    text = BODY.replace("    ret", f"{code}    ret").replace(".input", decls + ".input", 1)
    text = text.replace(".decl surf v_type=T", ".decl surf_at v_type=G type=ud").replace(
        ".input surf ", ".input surf_at "
    )
    kernels = kernel_texts(Analysis.of(text, "TGLLP"), "k.visaasm")
    hints = {"n": ArgumentHint("value"), "data": ArgumentHint("buffer"), "surf_at": ArgumentHint("local")}
    found = emit_with_doubts([kernels[0].kernel], where("TGLLP"), {"k": hints})
    assert any(doubt.message.startswith("slm_size: ") for doubt in found.doubts) == is_doubted


def test_numbers_by_value_have_the_sizes_of_their_types():
    names = ("ud", "d", "uw", "w", "ub", "b", "f", "hf")
    assert {name: type_bytes(name) for name in names} == {name: type_named(name).size for name in names}


def test_emit_takes_hints_by_name():
    hints = {
        "k": {
            "n": ArgumentHint("value"),
            "data": ArgumentHint("buffer"),
            "surf": ArgumentHint("image", image_type="image_3d"),
            "bti(5)": ArgumentHint("buffer"),
        }
    }
    (info,) = read(made(BODY, hints))
    assert info.payload[3].image_type == "image_3d"
    assert [b.bti_value for b in info.bindings] == [5]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "offset=32 size=32",
            "offset=96 size=32",
            "in ze_info local ids are words directly after r0: local_id_x offset=32 size=32",
        ),
        (
            "local_size offset=64",
            "local_size offset=48",
            "(offset=48) lies before byte 64, where the cross-thread payload starts",
        ),
        (".input local_size offset=64 size=12", ".input local_size offset=64 size=16", "local_size has 12"),
    ],
)
def test_emit_refuses_what_ze_info_cannot_say(old, new, words):
    text = BODY.replace(old, new, 1)
    if "size=16" in new:
        text = text.replace("n offset=76", "n offset=92")
    with pytest.raises(EmitError) as error:
        emit([k.kernel for k in kernel_texts(Analysis.of(text, "TGLLP"), "k")], where("TGLLP"))
    assert words in str(error.value)


def test_emit_refuses_hints_that_do_not_fit():
    for hints in (
        {"n": ArgumentHint("buffer"), "data": ArgumentHint("buffer"), "surf": ArgumentHint("buffer")},
        {"n": ArgumentHint("value")},
    ):
        with pytest.raises(EmitError):
            made(BODY, {"k": hints})


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_runs_with_the_document_that_is_made(path, tmp_path):
    launch = path.with_suffix(".launch.yaml")
    out = tmp_path / f"{path.stem}.zeinfo.yaml"
    args = EmitArguments(input=str(path), launch=str(launch), output=str(out))
    assert execute(args) == 0
    text = path.read_text()
    assert [d.message for d in validate(out.read_text())] == []
    (tmp_path / path.name).write_text(text)
    file = launch.read_text().replace(f"ze_info: {path.stem}.zeinfo.yaml", "")
    for array in path.parent.glob("*.npy"):
        (tmp_path / array.name).write_bytes(array.read_bytes())
    (tmp_path / launch.name).write_text(file)
    report = run_text(text, read_launch_file(tmp_path / launch.name), RunOptions(tmp_path / path.name, engine="interp"))
    assert report.expectations or report.expected_faults
    assert report.ok


def floats(*shape):
    return BufferArg(np.random.default_rng(1).uniform(-2, 2, shape).astype(np.float32))


def ints(*shape, dtype=np.int32):
    return BufferArg(np.random.default_rng(2).integers(0, 100, shape).astype(dtype))


def i32(value):
    return ValueArg(np.array(value, np.int32))


def f32(value):
    return ValueArg(np.array(value, np.float32))


LAUNCHES = {
    "saxpy/saxpy": ((2, 1, 1), (64, 1, 1), (floats(100), floats(100), f32(1.5), i32(100))),
    "mandelbrot/mandel": (
        (1, 2, 1),
        (16, 4, 1),
        (ints(8, 16, 4, dtype=np.uint8), i32(16), i32(8), f32(-2), f32(-1), f32(0.1), i32(20)),
    ),
    "matmul_naive/mm": ((1, 1, 1), (8, 8, 1), (floats(8, 5), floats(5, 8), floats(8, 8), i32(8), i32(8), i32(5))),
    "matmul_tiled/mmt": ((1, 1, 1), (16, 16, 1), (floats(16, 16), floats(16, 16), floats(16, 16), i32(16))),
    "reduce_local/reduce_minmax": ((1, 1, 1), (64, 1, 1), (ints(64), ints(1, 2))),
    "nbody/nbody": ((1, 1, 1), (64, 1, 1), (floats(64, 4), floats(64, 4), floats(64, 4), i32(64), f32(0.01), f32(0.1))),
    "transpose/transpose_naive": ((1, 1, 1), (8, 4, 1), (floats(4, 8), floats(8, 4), i32(8), i32(4))),
    "transpose/transpose_tile": ((1, 1, 1), (16, 16, 1), (ints(16, 16), ints(16, 16), i32(16))),
    "transpose/transpose_c16": ((1, 1, 1), (16, 1, 1), (ints(1024, dtype=np.int8), ints(1024, dtype=np.int8))),
    "stencil/stencil2d": ((1, 1, 1), (16, 4, 1), (floats(4, 16), floats(4, 16), i32(16), i32(4))),
}
OWN_KERNELS = [
    "saxpy",
    "smooth",
    "julia",
    "plain",
    "tiles",
    "total",
    "ends",
    "straight",
    "tiled",
    "bytes4",
    "box3",
    "deque",
    "things",
    "where3",
]
LAUNCHES = {
    f"{case.source}/{case.kernel}": (case.groups, case.local, case.args)
    for case in own_cases.cases()
    if HAS_OWN and case.kernel in OWN_KERNELS and case.offset is None
} | (LAUNCHES if HAS_MORE else {})


def launched(module, info, case, platform):
    groups, local, args = case
    prepared = prepare(module, info, LaunchConfig(groups=groups, local_size=local, args=args), platform)
    return prepared.arrays, run(prepared.dispatch, ())


def hint(arg) -> ArgumentHint:
    kinds = {BufferArg: "buffer", ValueArg: "value", LocalArg: "local"}
    return ArgumentHint(kinds[type(arg)], arg.array.size if isinstance(arg, ValueArg) else 1)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "case",
    one_of_each(
        [(n, p) for n in LAUNCHES for p in ("TGLLP", "PVCXT") if place(f"run/{p}/{n}.visaasm").exists()],
        lambda case: case[0].partition("/")[0],
    ),
    ids="-".join,
)
def test_launch_is_the_same_with_the_made_document(case):
    name, platform = case
    source, kernel = name.split("/")
    folder = place(f"run/{platform}/{source}")
    known = platform_named(platform)
    text = (folder / f"{kernel}.visaasm").read_text()
    module = module_of_text(text, None, known, [])
    compilers = next(i for i in read((folder / f"{source}.zeinfo.yaml").read_text()) if i.name == kernel)
    (ours,) = read(made(text, {kernel: [hint(a) for a in LAUNCHES[name][2]]}, platform))
    expected, _ = launched(module, compilers, LAUNCHES[name], known)
    found, result = launched(module, ours, LAUNCHES[name], known)
    assert result.faults == ()
    assert expected.keys() == found.keys()
    assert all(np.array_equal(expected[k].view(np.uint8), found[k].view(np.uint8)) for k in expected)


def test_written_values_read_back():
    from visa_lsp.zeinfo.yaml import load

    value = {
        "a": [{"b": "x y", "c": "y", "d": "it's"}, {"b": "null", "c": "1.20", "d": "tab\tand é"}],
        "e": [1, 2],
        "f": {"g": True},
        "h": -3,
    }
    assert load(document(value)).plain() == value
