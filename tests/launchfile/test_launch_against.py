"""A launch file against its kernel: what is said is what a run refuses, and a launch that runs has no finding."""

from __future__ import annotations

import random
import shutil

import pytest
from corpus import files
from tiers import one_of_each

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.isa.platforms import platform_named
from visa_lsp.launchfile.folder import LaunchFolder
from visa_lsp.launchfile.judge import judge
from visa_lsp.launchfile.source import launch_source
from visa_lsp.launchfile.templates import template
from visa_lsp.sema.lower import resolve_text
from visa_lsp.sim.launch.config import LaunchError
from visa_lsp.sim.launch.prepare import prepare
from visa_lsp.zeinfo.read_kernels import read

POOL = (
    "{buffer: {dtype: float32, shape: [64], init: ones}}", "{buffer: null}", "{value: 1}", "{value: 2.5}", "{value: -3}",
    "{value: 2.5, dtype: float32}", "{value: 1, dtype: int64}", "{values: [1, 2, 3, 4], dtype: float32}", "{value: .nan}",
    "{values: [1, 2]}", "{value: 300, dtype: uint16}", "{value: 18446744073709551615}", "{local: 256}",
    "{image: {dtype: uint8, shape: [4, 4, 4]}}", "{sampler: {filter: linear}}",
)  # fmt: skip
DOCUMENTS = files("run/TGLLP/*/*.zeinfo.yaml")
KERNELS = [
    (document, path)
    for document in DOCUMENTS[:20]
    for path in sorted(document.parent.glob("*.visaasm"))
    if f'.kernel "{path.stem}"' in path.read_text()
]


@pytest.mark.parametrize("kernel", one_of_each(KERNELS, lambda kernel: kernel[0]), ids=lambda kernel: kernel[1].stem)
def test_what_is_said_is_what_a_run_refuses(kernel, tmp_path):
    """Arguments drawn for each place: the kernel's own, or any other. By default one kernel of each program."""
    document, path = kernel
    shutil.copy(document, tmp_path)
    shutil.copy(path, tmp_path)
    info = next(kernel for kernel in read(document.read_text()) if kernel.name == path.stem)
    module = resolve_text(path.read_text(), "TGLLP").module
    platform = platform_named("TGLLP")
    draw = random.Random(path.stem)
    folder = LaunchFolder(tmp_path / f"{path.stem}.launch.yaml")
    local = list(info.env.required_work_group_size) if any(info.env.required_work_group_size) else [16]
    seen = set()
    for odd in (0, 0, *[1] * 12, 2, 3):
        args = [template(info, index) for index in range(info.argument_count)]
        for _ in range(min(odd, len(args))):
            args[draw.randrange(len(args))] = draw.choice(POOL)
        if odd == 2:
            args.append("{value: 1}")
        if odd == 3 and args:
            args.pop()
        named = draw.random() < 0.5 and odd < 2 and all(info.argument_name(i) for i in range(info.argument_count))
        lines = [f"  {info.argument_name(i)}: {a}" if named else f"  - {a}" for i, a in enumerate(args)]
        text = f"groups: [1]\nlocal_size: {local}\nze_info: {document.name}\n" + "\n".join(
            ["args:" if lines else "", *lines]
        )
        found = judge(launch_source(text), folder).diagnostics
        try:
            prepare(module, info, parse_launch(text, folder.launch).config, platform)
            refusal = ""
        except LaunchError as error:
            refusal = error.message
        assert bool(found) == bool(refusal), (text, found, refusal)
        assert all(d.code in ("V811", "V812", "V813") for d in found), found
        seen.add(bool(found))
    assert True in seen
    assert False in seen


def test_there_are_kernels_with_ze_info():
    assert len(KERNELS) >= 15


@pytest.fixture
def saxpy(tmp_path):
    """Return the folder of saxpy, whose ze_info has the name of the source."""
    for path in files("run/TGLLP/axpy/*"):
        shutil.copy(path, tmp_path)
    return LaunchFolder(tmp_path / "first.launch.yaml")


def said(folder, text):
    return [(d.code, d.message) for d in judge(launch_source(text), folder).diagnostics]


ARGS = "groups: [1]\nlocal_size: [32]\nargs:\n  y: {buffer: {dtype: float32, shape: [64]}}\n  x: {buffer: {dtype: float32, shape: [64]}}\n  a: {value: 2}\n  n: {value: 64}\n"


def test_the_ze_info_is_found_by_the_kernels_name(saxpy):
    assert said(saxpy, f"file: saxpy.visaasm\n{ARGS}") == []
    assert said(saxpy, f"file: saxpy.visaasm\n{ARGS.replace('  n:', '  count:')}") == [
        ("V811", "kernel 'saxpy' needs argument 3 n: int, not given"),
        ("V810", "kernel 'saxpy' has no argument 'count'; known arguments: y, x, a, n"),
    ]


def test_of_several_documents_the_one_of_the_texts_simd_size_counts(saxpy):
    """A dump of a compiler has a document for each try; their arguments need not be the same."""
    document = saxpy.launch.with_name("axpy.zeinfo.yaml")
    right = document.read_text()
    document.rename(saxpy.launch.with_name("b.zeinfo.yaml"))
    wrong = right.replace("simd_size:       32", "simd_size:       16").replace(
        "name:            n\n", "name:            m\n"
    )
    assert wrong.count("name:            m\n") == 1
    saxpy.launch.with_name("a.zeinfo.yaml").write_text(wrong)
    saxpy.launch.with_name("axpy.zebin").unlink()
    assert said(saxpy, f"file: saxpy.visaasm\n{ARGS}") == []


def test_a_missing_argument_is_named_with_its_type(saxpy):
    text = f"file: saxpy.visaasm\n{ARGS}".replace("  n: {value: 64}\n", "")
    assert [code for code, _ in said(saxpy, text)] == ["V811"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("file: saxpy.visaasm\nkernel: saxpi", "the program has no kernel 'saxpi'; did you mean 'saxpy'?"),
        ("kernel: saxpi\nze_info: axpy.zeinfo.yaml", "has no kernel 'saxpi'; did you mean 'saxpy'?"),
        ("kernel: saxpi\nzebin: axpy.zebin", "has no kernel 'saxpi'; did you mean 'saxpy'?"),
    ],
)
def test_a_kernel_that_is_not_there(saxpy, lines, words):
    ((code, message),) = said(saxpy, f"{lines}\n{ARGS}")
    assert code == "V814"
    assert words in message


def test_a_program_of_several_kernels_needs_a_name(saxpy):
    program = saxpy.launch.with_name("two.visaasm")
    program.write_text('.version 4.1\n.kernel "a"\n    ret (M1, 1)\n.kernel "b"\n    ret (M1, 1)\n')
    assert said(saxpy, "file: two.visaasm\ngroups: [1]") == [
        ("V814", "the program has several kernels; name one: kernel: a | b")
    ]
    assert said(saxpy, "file: two.visaasm\nkernel: b\ngroups: [1]") == []


def test_nothing_is_said_of_arguments_that_are_wrong_by_themselves(saxpy):
    text = f"file: saxpy.visaasm\n{ARGS}".replace("a: {value: 2}", "a: {valeu: 2}")
    assert [code for code, _ in said(saxpy, text)] == ["V801"]
