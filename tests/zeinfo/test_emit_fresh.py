"""``check`` and ``emit`` on kernels that ocloc compiles on the spot: no finding in the compiler's pairs, and no silent guess.

The kernels of ``fresh/`` have the arguments that the corpus has few of. Each is launched with the compiler's document, with the
made one, and with the made one once the warnings are answered.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tiers import first
from zeinfo_answers import verdict, where

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.zebin import program_data
from visa_lsp.ide.zeinfo.kernel_texts import kernel_texts
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.launch.config import BufferArg, ImageArg, LaunchConfig, LocalArg, SamplerArg, ValueArg
from visa_lsp.zeinfo.emit.emission import emit_with_doubts
from visa_lsp.zeinfo.kernel_checks import disagreements
from visa_lsp.zeinfo.read_kernels import read
from visa_lsp.zeinfo.source import ZeInfoSource
from visa_lsp.zeinfo.validate import validate

HERE = Path(__file__).parent

DEVICES = {"pvc": "PVCXT", "skl": "SKL", "tgllp": "TGLLP", "acm-g10": "DG2"}
# The 2022 compiler knows images of OpenCL 3 only where the device has samplers, and OpenCL 2 is enough for the others.
STANDARD = {"pvc": "-cl-std=CL2.0"}
KINDS = {"char": "int8", "short": "int16", "int": "int32", "long": "int64", "float": "float32", "half": "float16"}
IMAGES = {
    "image1d_t": (64, 1, 1),
    "image1d_buffer_t": (64, 1, 1),
    "image3d_t": (16, 8, 4),
    "image2d_array_t": (16, 8, 4),
}


def compiled(folder: Path, source: str, device: str) -> Path:
    """Return a zebin, and the dump of each kernel beside it under the kernel's name."""
    shutil.copy(HERE / "fresh" / f"{source}.cl", folder)
    done = subprocess.run(
        ["ocloc", "compile", "-file", f"{source}.cl", "-device", device, "--format", "zebin", "-output", f"{source}.zebin",
         "-output_no_suffix", "-options", STANDARD.get(device, "-cl-std=CL3.0")],
        cwd=folder, env={**os.environ, "IGC_ShaderDumpEnable": "1", "IGC_DumpToCurrentDir": "1"},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for path in sorted(folder.glob("*entry*.visaasm")):
        name = re.search(r'^\.kernel "(\w+)"', path.read_text(), re.MULTILINE)
        path.rename(folder / f"{name[1]}.visaasm")
    return folder / f"{source}.zebin"


def argument(told, rng):
    """Something to give for an argument, by what the document says of its type."""
    name, _, size = told.type_name.partition(";")
    if told.address_qualifier == "__local":
        return LocalArg(1024)
    if name.startswith("image"):
        dims = IMAGES.get(name, (16, 8, 1))
        shape = [n for n in reversed(dims) if n > 1]
        return ImageArg(rng.random((*shape, 4)).astype(np.float32), "float32", 4, dims)
    if name.startswith("sampler"):
        return SamplerArg("clamp_to_edge", "linear", normalized=True)
    if name.endswith("*"):
        floats = "float" in name
        return BufferArg(rng.random(1024).astype(np.float32) if floats else rng.integers(0, 50, 1024).astype(np.int32))
    plain = re.fullmatch(r"(u?)(char|short|int|long|float|half)(\d*)", name)
    if plain is None:  # a struct
        return ValueArg(rng.integers(0, 40, int(size)).astype(np.uint8))
    count = int(plain[3] or 1)
    kind = plain[1] + KINDS[plain[2]]
    values = rng.integers(1, 9, 4 if count == 3 else count).astype(kind)
    return ValueArg(values if count > 1 else values[0])


def outcome(path: Path, info, text: str, sections, platform: str) -> tuple[str, str]:
    """How one kernel comes out, and what is wrong with that."""
    code = path.read_text()
    kernels = kernel_texts(Analysis.of(code, platform), path.name)
    differ = [d.message for d in disagreements(ZeInfoSource.of(text), kernels, where(platform))]
    arguments = tuple(argument(told, np.random.default_rng(told.index)) for told in info.arguments)
    local = info.env.required_work_group_size if any(info.env.required_work_group_size) else (16, 2, 1)
    config = LaunchConfig(kernel=info.name, groups=(2, 2, 1), local_size=local, args=arguments, sections=sections)
    module = module_of_text(code, None, platform_named(platform), [])
    emit_with_doubts(module.kernels, where(platform), None)  # is not refused
    kind, wrong = verdict(code, module, info, config, platform)
    return kind, "; ".join([*(words for words in differ if "has_no_stateless" not in words), wrong]).strip("; ")


@pytest.mark.parametrize("device", first(1, DEVICES))
def test_fresh_kernels(device, tmp_path, capsys):
    if shutil.which("ocloc") is None:
        pytest.skip("ocloc is not installed (Debian: intel-opencl-icd)")
    found = {}
    for source in ("arguments",) if device == "pvc" else ("arguments", "images"):
        folder = tmp_path / source
        folder.mkdir()
        zebin = compiled(folder, source, device)
        text, sections = program_data(zebin.read_bytes(), zebin)
        assert [d.message for d in validate(text)] == []
        for info in read(text):
            path = folder / f"{info.name}.visaasm"
            if path.is_file():
                found[info.name] = outcome(path, info, text, sections, DEVICES[device])
    counts = Counter(kind for kind, _ in found.values())
    with capsys.disabled():
        print(f"\nemit on {len(found)} fresh kernels for {device}: {dict(sorted(counts.items()))}")
    assert {name: wrong for name, (_, wrong) in found.items() if wrong} == {}
    assert len(found) >= 15
