"""All sources of the corpus, compiled for three devices: ``python -m benchmarks.sources [--run]``.

Each program's texts are compared with those of the corpus, which the same release of the compiler printed. A text of
another SIMD size than the program's ze_info was discarded by the compiler; there ours is the one that is in the
program.
With ``--run`` each kernel is run besides, once, as a launch is made up for it where there is no launch file. What a
kernel does with made-up arguments may be wrong; the benchmark counts kernels that load, launch and end.
Exit status 1 where a source is not compiled, a text differs otherwise, or a kernel cannot be run.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.inputs import CORPUS
from benchmarks.measure import PRODUCT
from visa_lsp.app.compile.build import build_source, read_source
from visa_lsp.toolchain.ocloc import COMPILERS_OWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.compile.build import Build

# The device of the corpus by the name of its folder.
_DEVICES = {"TGLLP": "tgllp", "DG2": "acm-g10", "PVCXT": "pvc"}
_SIMD = re.compile(r"^\.kernel_attr SimdSize=(\d+)", re.MULTILINE)
_SECONDS = 120
_RUN = (0, 1)  # 1: something was found; 2: nothing was run, for the launch or the program is not to be had


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile, compare, run and print; the exit status."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sources", description=__doc__, formatter_class=form)
    parser.add_argument("--run", action="store_true", help="also run each kernel (takes minutes)")
    parser.add_argument(
        "--device", choices=tuple(_DEVICES), action="append", help="compile only for this device (repeatable)"
    )
    args = parser.parse_args(arguments)
    if shutil.which("ocloc") is None:
        print("ocloc is not installed: apt-get install intel-opencl-icd")
        return 2
    wrong = 0
    for platform in args.device or _DEVICES:
        counts: Counter[str] = Counter()
        for folder in sorted((CORPUS / "run" / platform).iterdir()):
            for verdict, words in _of_source(platform, folder, run=args.run):
                counts[verdict] += 1
                if words:
                    print(f"{platform} {folder.name}: {words}", flush=True)
        wrong += counts["differ"] + counts["not compiled"] + counts["cannot be run"]
        print(f"{platform}: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}", flush=True)
    return 1 if wrong else 0


def _of_source(platform: str, folder: Path, *, run: bool) -> Iterator[tuple[str, str]]:
    """Yield the outcomes of a source, with words for failures."""
    sources = CORPUS / ("cl" if (CORPUS / "cl").is_dir() else "dev/cl")
    path = sources / f"{folder.name}.cl"
    build = _build(path, _DEVICES[platform])
    if build.program is None:
        yield "not compiled", f"not compiled: {build.findings[0].message if build.findings else 'no word'}"
        return
    texts = {text.name: text for text in build.texts}
    for stored in sorted(folder.glob("*.visaasm")):
        made, text = texts.get(stored.stem), stored.read_text(encoding="utf-8")
        size = _SIMD.search(text)
        if stored.stem == COMPILERS_OWN:
            continue
        if made is not None and made.text == text:
            yield "texts equal", ""
        elif made is not None and size is not None and int(size[1]) != made.simd:
            words = (
                f"{stored.stem}: the corpus has the attempt for SIMD{size[1]}, the program the one for SIMD{made.simd}"
            )
            yield "of another attempt", words
        else:
            yield "differ", f"{stored.stem}: {'is not there' if made is None else 'another text'}"
    if run:
        yield from _runs(build)


def _build(path: Path, device: str) -> Build:
    build = build_source(read_source(str(path)), device)
    return build if build.program is not None else build_source(read_source(str(path)), device, "-cl-std=CL2.0")


def _runs(build: Build) -> Iterator[tuple[str, str]]:
    """Run each kernel of a build from the files that ``compile`` would write, without a launch file."""
    from visa_lsp.app.compile.outputs import file_name, files_of

    with tempfile.TemporaryDirectory() as folder:
        for name, data in files_of(build).items():
            (Path(folder) / name).write_bytes(data)
        for text in build.texts:
            if not text.is_kernel:
                continue
            others = [f"{file_name(one.name)}.visaasm" for one in build.texts if not one.is_kernel]
            command = [*PRODUCT, "run", f"{file_name(text.name)}.visaasm", *others, "--format", "json"]
            try:
                done = subprocess.run(
                    [*command, "--platform", build.platform], cwd=folder, capture_output=True, text=True,
                    timeout=_SECONDS, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                yield "cannot be run", f"{text.name}: no end within {_SECONDS} seconds"
                continue
            if done.returncode in _RUN and json.loads(done.stdout or "{}").get("kernel") == text.name:
                yield "kernels run", ""
            else:
                said = (done.stderr or done.stdout).strip().splitlines()
                yield "cannot be run", f"{text.name}: {said[-1] if said else f'status {done.returncode}'}"


if __name__ == "__main__":
    raise SystemExit(main())
