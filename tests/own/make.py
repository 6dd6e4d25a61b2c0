"""Makes everything of this folder that a tool gives, or with ``--check`` says what is not as the tools make it.

    python tests/own/make.py [--check] [PART...]     parts: texts programs expected forms errors

Needs Debian's ``intel-opencl-icd`` (ocloc), ``libigc-tools`` (GenX_IR) and ``pocl-opencl-icd``, and pyopencl. What is
written by hand is never changed: ``cl/``, ``own_cases.py``, ``faults.tsv``, ``forms.txt``, ``template.visaasm.part``,
``dev42/``.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

OWN = Path(__file__).resolve().parent
sys.path[:0] = [str(OWN), str(OWN.parents[1]), *(str(OWN.parent / room) for room in ("support", "oracle"))]

import opencl  # noqa: E402
import own_cases  # noqa: E402
from corpus import code_of_lines, frame_form  # noqa: E402
from finalizer import compile_source, finalizer, find_agreed_object, why_missing  # noqa: E402

from visa_lsp.codec.decode import decode  # noqa: E402
from visa_lsp.sema.lower import resolve_text  # noqa: E402
from visa_lsp.zeinfo.zebin import read_zebin  # noqa: E402

DEVICES = {
    "bdw": "BDW", "skl": "SKL", "glk": "BXT", "icllp": "ICLLP", "tgllp": "TGLLP", "xe_hp_sdv": "XeHP_SDV", "acm-g10": "DG2",
    "pvc": "PVCXT",
}  # fmt: skip
VARIANTS = {
    "base": ("", 0), "o0": ("-cl-opt-disable", 0), "g": ("-g", 0), "fast": ("-cl-fast-relaxed-math -cl-mad-enable", 0),
    "s8": ("", 8), "s16": ("", 16), "s32": ("", 32),
}  # fmt: skip
# device: variant: sources
TEXTS = {
    "tgllp": {"base": "deep pixels", "o0": "axpy", "g": "axpy gemm", "fast": "lookup", "s8": "vecs", "s16": "bins"},
    "acm-g10": {"base": "pixels axpy halves", "o0": "axpy", "g": "spaces", "s8": "lookup", "s16": "bins"},
    "pvc": {"base": "doubles axpy spaces", "o0": "lookup", "g": "folds", "s16": "julia", "s32": "masks"},
    "skl": {"base": "axpy blur teams pixels", "g": "lookup"},
    "bdw": {"base": "axpy gemm folds blur", "s16": "pixels"},
    "glk": {"base": "axpy lookup scratch bins", "fast": "folds"},
    "icllp": {"base": "axpy bins teams blur", "s8": "halves"},
    "xe_hp_sdv": {"base": "axpy lookup bins vecs blur", "o0": "axpy"},
}  # fmt: skip
PROGRAM_DEVICES = ("tgllp", "acm-g10", "pvc")
OPTIONS = {"spaces": "-cl-std=CL2.0", "teams": "-cl-std=CL2.0"}
# What the compiler adds to a program of its own accord.
HIDDEN = {"Intel_Symbol_Table_Void_Program", "__intel_memfence_optnone"}
FORM_PLATFORMS = ("SKL", "TGLLP", "XeHP_SDV", "DG2", "PVCXT")


class Body(NamedTuple):
    """One text of a program: a kernel, or a function with a stack."""

    name: str
    is_kernel: bool
    text: str


class Program(NamedTuple):
    bodies: tuple[Body, ...]
    ze_info: bytes
    zebin: bytes


def program(source: str, device: str, variant: str, room: Path) -> Program:
    """Return the files that the compiler writes for a source; a kernel of several widths has the one in its ze_info."""
    options, simd = VARIANTS[variant]
    folder = room / f"{source}.{variant}.{device}"
    code = (OWN / "cl" / f"{source}.cl").read_text()
    options = " ".join(filter(None, (OPTIONS.get(source, ""), options)))
    found = compile_source(folder, code, device, options, simd)
    zebin = (folder / "z").read_bytes()
    ze_info = read_zebin(zebin).ze_info_bytes
    assert ze_info is not None
    widths = dict(re.findall(r"name: +(\w+)\n.*?simd_size: +(\d+)", ze_info.decode(), re.DOTALL))
    bodies = {}
    for path in found:
        # With -g the text says where the source lies, which is another folder each time.
        text = path.read_text().replace(f"{folder}/k.cl", f"{source}.cl")
        start = re.search(r'^\.(kernel|global_function) "(\w+)"', text, re.MULTILINE)
        assert start is not None
        width = re.search(r"SimdSize=(\d+)", text)
        kernel, name = start[1] == "kernel", start[2]
        if name in HIDDEN or (kernel and width is not None and width[1] != widths[name]):
            continue
        bodies[name] = Body(name, kernel, text)
    assert {b.name for b in bodies.values() if b.is_kernel} <= set(widths) <= {*bodies, *HIDDEN}, (
        bodies.keys(),
        widths,
    )
    return Program(tuple(bodies[name] for name in sorted(bodies)), ze_info, zebin)


def tasks() -> Iterator[tuple[str, str, str]]:
    for device, variants in TEXTS.items():
        for variant, sources in variants.items():
            for source in sources.split():
                yield source, device, variant


def in_parallel(function: Callable, arguments: list) -> list:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda each: function(*each), arguments))


def make_texts(out: Path, room: Path) -> None:
    """``dev/``: texts of many devices and variants with their objects and ze_info; ``dev/index.tsv`` names them all.

    ``dev/stock/`` holds objects as the tool writes them: truncated.
    """
    rows = []

    def one(source: str, device: str, variant: str) -> list[list[str]]:
        made, platform = program(source, device, variant, room), DEVICES[device]
        folder = out / "dev" / platform
        folder.mkdir(parents=True, exist_ok=True)
        ze_info = f"{source}.{variant}.{device}.zeinfo.yaml"
        (folder / ze_info).write_bytes(made.ze_info)
        rows = []
        for body in made.bodies:
            name = f"{source}.{variant}.{body.name}"
            data = find_agreed_object(room / f"{name}.{device}.object", body.text, platform)
            (folder / f"{name}.visaasm").write_text(body.text)
            (folder / f"{name}.isa").write_bytes(data)
            if source == "axpy" and variant == "base":
                stock = out / "dev" / "stock"
                stock.mkdir(exist_ok=True)
                shutil.copy(room / f"{name}.{device}.object" / "written" / "k.isa", stock / f"{name}.{platform}.isa")
            instructions = sum(len(b.instructions) for b in decode(data).bodies)
            rows.append([
                f"{platform}/{name}.visaasm", f"{platform}/{name}.isa", platform, device, variant, f"cl/{source}.cl",
                "kernel" if body.is_kernel else "function", body.name, str(body.text.count("\n")), str(instructions),
                str(len(data)), f"{platform}/{ze_info}",
            ])  # fmt: skip
        return rows

    for found in in_parallel(one, list(tasks())):
        rows += found
    head = [
        "text",
        "isa",
        "platform",
        "device",
        "variant",
        "source",
        "object_kind",
        "object_name",
        "lines",
        "instructions",
        "isa_bytes",
        "ze_info",
    ]
    write_table(out / "dev" / "index.tsv", [head, *sorted(rows)])


def make_programs(out: Path, room: Path) -> None:
    """``run/``: every kernel of ``cl/`` as the compiler prints it by default, with ze_info and zebin."""

    def one(source: str, device: str) -> None:
        made = program(source, device, "base", room / "run")
        folder = out / "run" / DEVICES[device] / source
        folder.mkdir(parents=True)
        for body in made.bodies:
            find_agreed_object(room / "run" / f"{source}.{body.name}.{device}.object", body.text, DEVICES[device])
            (folder / f"{body.name}.visaasm").write_text(body.text)
        (folder / f"{source}.zeinfo.yaml").write_bytes(made.ze_info)
        (folder / f"{source}.zebin").write_bytes(made.zebin)

    wanted = {
        (case.source, device)
        for case in own_cases.cases()
        for device in PROGRAM_DEVICES
        if DEVICES[device] in case.platforms
    }
    in_parallel(one, sorted(wanted))


def make_expected(out: Path, room: Path) -> None:
    """Write ``expected/``: the buffers after the launches, without those that are unchanged."""
    folder = out / "expected"
    folder.mkdir()
    for case in own_cases.cases():
        arrays = [getattr(arg, "array", None) for arg in case.args]
        printed: list[str] = []
        if case.reference is not None:
            # What depends on the width of dispatch is asked with the width that each platform has.
            widths = {platform: simd_of(out, case.source, case.kernel, platform) for platform in case.platforms}
            found = {f".simd{simd}": case.reference(arrays, simd) for simd in sorted(set(widths.values()))}
            first, *others = found.values()
            if all(np.array_equal(first[i], other[i]) for other in others for i in first):
                found = {"": first}
        else:
            source = (OWN / "cl" / f"{case.source}.cl").read_text()
            source = source.replace("%v4d", "%v4hld")  # without a length pocl refuses vectors
            if case.fused:
                source = source.replace("mad(", "fma(")
            options = (*case.options, *OPTIONS.get(case.source, "").split())
            found = {
                "": opencl.run(source, case.kernel, case.groups, case.local, case.args, options, case.offset, printed)
            }
        for suffix, buffers in found.items():
            for index, array in buffers.items():
                if not np.array_equal(array, arrays[index]):
                    np.save(folder / f"{case}{suffix}.{index}.npy", array)
        if any(printed):
            (folder / f"{case}.printed.txt").write_text("\n".join(sorted("".join(printed).splitlines())) + "\n")


def simd_of(out: Path, source: str, kernel: str, platform: str) -> int:
    name = f"run/{platform}/{source}/{kernel}.visaasm"
    path = next(root / name for root in (out, OWN) if (root / name).exists())
    found = re.search(r"SimdSize=(\d+)", path.read_text())
    assert found is not None
    return int(found[1])


def make_forms(out: Path, room: Path) -> None:
    """``forms/forms.tsv``: each line of ``forms.txt`` in the template, on each platform: verdict, message, bytes."""

    def one(number: int, form: str, platform: str) -> tuple[str, str, str, str]:
        text, lines = frame_form(form)
        folder = room / f"{number}.{platform}"
        folder.mkdir(parents=True)
        (folder / "k.visaasm").write_text(text)
        done = finalizer(folder, "k.visaasm", platform, "-outputCisaBinaryName", "k.isa")
        code = b""
        if done.returncode == 0:
            data = find_agreed_object(folder / "object", text, platform, as_printed=False)
            body = resolve_text(text, platform).module.bodies[0]  # decoded, it would not know its lines
            code = code_of_lines(data, body, lines)
        return form, str(done.returncode), message(done.stderr), code.hex()

    asked = [(n, form, platform) for n, form in enumerate(lines_of("forms.txt")) for platform in FORM_PLATFORMS]
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for (_, _, platform), row in zip(asked, in_parallel(one, asked), strict=True):
        rows.setdefault(row, []).append(platform)
    table = [[form, ",".join(platforms), status, told, code] for (form, status, told, code), platforms in rows.items()]
    write_table(out / "forms" / "forms.tsv", [["form", "platform", "rc", "message", "bytes"], *table])
    shutil.copy(OWN / "template.visaasm.part", out / "forms")


def make_errors(out: Path, room: Path) -> None:
    """``errors/``: a text per line of ``faults.tsv`` and ``verdicts.tsv``, the finalizer's verdict on each."""
    folder = out / "errors"
    folder.mkdir()
    base = (OWN / "template.visaasm.part").read_text()
    rows = []
    for line in lines_of("faults.tsv"):
        name, platform, expects, instead, text, fault = line.split("\t")
        text = text.replace("\\n", "\n")
        if instead == "+":
            whole = f"{base}    {text}\n    ret (M1, 1)\n" if text else f"{base}    ret (M1, 1)\n"
        elif instead == "*":
            whole = text
        else:
            start = base.index(instead)
            end = base.index("\n", start) + 1
            whole = base[:start] + text + ("\n" if text else "") + base[end:] + "    ret (M1, 1)\n"
        (folder / f"{name}.visaasm").write_text(whole)
        place = room / name
        place.mkdir(parents=True)
        (place / "k.visaasm").write_text(whole)
        done = finalizer(place, "k.visaasm", platform, "-outputCisaBinaryName", "k.isa")
        accepted = done.returncode == 0
        verdict = "agree" if accepted == (expects == "accept") else "TOOL_SILENT" if accepted else "TOOL_REJECTS"
        rows.append([name, platform, fault, expects, verdict, str(done.returncode), message(done.stderr)])
    head = ["id", "platform", "fault", "seed_expects", "verdict", "rc", "stderr"]
    write_table(folder / "verdicts.tsv", [head, *rows])


def message(told: str) -> str:
    """Return the first line of what the tool says that tells something."""
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return lines[0].replace("\t", " ") if lines else ""


def lines_of(name: str) -> list[str]:
    lines = (OWN / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def write_table(path: Path, rows: list[list[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    out = io.StringIO()
    csv.writer(out, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, lineterminator="\n").writerows(rows)
    path.write_text(out.getvalue())


PARTS = {
    "texts": (make_texts, ("dev",)),
    "programs": (make_programs, ("run",)),
    "expected": (make_expected, ("expected",)),
    "forms": (make_forms, ("forms",)),
    "errors": (make_errors, ("errors",)),
}


def same(ours: Path, theirs: Path) -> bool:
    """Arrays may differ as much between two processors as between pocl and us."""
    if ours.read_bytes() == theirs.read_bytes():
        return True
    kernel = ours.name.split("-")[1] if "-" in ours.name else ""
    if ours.suffix != ".npy" or kernel not in own_cases.ACCURACY:
        return False
    rtol, atol, _, _ = own_cases.ACCURACY[kernel]
    return np.allclose(np.load(ours), np.load(theirs), rtol=rtol, atol=atol, equal_nan=True)


def differences(made: Path, folders: tuple[str, ...]) -> list[str]:
    found = []
    for folder in folders:
        names = [
            {p.relative_to(root).as_posix() for p in (root / folder).rglob("*") if p.is_file()} for root in (OWN, made)
        ]
        found += [f"{name}: no tool makes it" for name in sorted(names[0] - names[1])]
        found += [f"{name}: is missing" for name in sorted(names[1] - names[0])]
        found += [f"{name}: differs" for name in sorted(names[0] & names[1]) if not same(OWN / name, made / name)]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if something is not as it is made")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    given = parser.parse_args()
    if not set(given.parts) <= set(PARTS):
        parser.error(f"parts are {', '.join(PARTS)}")
    if why := why_missing() or opencl.why_missing():
        print(f"make.py: {why}", file=sys.stderr)
        return 2
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        for part in given.parts or PARTS:
            make, folders = PARTS[part]
            made = Path(scratch, "made")
            made.mkdir(exist_ok=True)
            make(made, Path(scratch, part))
            if given.check:
                wrong += differences(made, folders)
                continue
            for folder in folders:
                shutil.rmtree(OWN / folder, ignore_errors=True)
                shutil.copytree(made / folder, OWN / folder)
    print("\n".join(wrong) if wrong else "all is as it is made")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
