"""Everything of a release that needs no account: ``python .ci/release.py [STEP...]``, all steps by default.

The workflow of a release calls the same steps; what it adds is handing the files on. Files go to ``build/release``. Needs the
packages ``build`` and ``twine``, the extra ``docs``, and for the extension Node. Invariant: nothing outside of ``build`` is written
but what the extension's own build leaves.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from changes import ROOT, VERSION, fragments, section, with_fragments

if TYPE_CHECKING:
    from collections.abc import Callable

OUT: Final = ROOT / "build" / "release"
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
NOT_FOR_USERS: Final = ("docs", "test")
_ROUNDS: Final = 7
# What extras bring that decides what an environment can do.
_HELD: Final = "from importlib.util import find_spec as f; print(*filter(f, ('numpy', 'llvmlite', 'tree_sitter')))"


def run(*words: str | Path, folder: Path = ROOT, **environment: str) -> str:
    """Return the output of a command. Raises SystemExit with it where the command fails."""
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env={**os.environ, **environment}, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}exit status {done.returncode}")
    return done.stdout


def version(out: Path = OUT) -> None:
    """Check that all files, the changelog and the tag (if there is one) name the same version."""
    with (ROOT / "pyproject.toml").open("rb") as stream:
        project = tomllib.load(stream)["project"]["version"]
    package = (ROOT / "visa_lsp" / "__init__.py").read_text(encoding="utf-8")
    said = {
        "pyproject.toml": project,
        "visa_lsp/__init__.py": re.findall(r'^__version__ = "(.*)"$', package, re.MULTILINE)[0],
        "vscode-extension/package.json": json.loads((ROOT / "vscode-extension" / "package.json").read_text("utf-8"))[
            "version"
        ],
    }
    mason = ROOT / "docs/editors/upstream/mason-registry/packages/visa-lsp/package.yaml"
    said[mason.name + " for mason"] = re.findall(r"pkg:pypi/visa-lsp@([^?\n]+)", mason.read_text(encoding="utf-8"))[0]
    tag = os.environ.get("GITHUB_REF_NAME", "") if os.environ.get("GITHUB_REF_TYPE") == "tag" else ""
    if tag:
        said["the tag"] = tag.removeprefix("v")
    if len(set(said.values())) > 1 or not VERSION.fullmatch(project):
        raise SystemExit(f"not one semantic version: {', '.join(f'{where} {what}' for where, what in said.items())}")
    changelog, left = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), fragments(ROOT / "docs" / "changes")
    if tag and (left or "(unreleased)" in changelog):
        raise SystemExit(f"the tag {tag} stands before python .ci/changes.py {project} DATE")
    notes = section(changelog, project)
    out.mkdir(parents=True, exist_ok=True)
    (out / "notes.md").write_text(with_fragments(notes, left), encoding="utf-8")
    print(f"{project} in {', '.join(said)}; notes of {len(notes.splitlines())} lines in {out / 'notes.md'}")


def packages(out: Path = OUT) -> None:
    """Build the source archive, and the wheel made from it; both pass ``twine check --strict`` and hold what they should."""
    shutil.rmtree(out / "dist", ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", out / "dist", ROOT)
    files = sorted((out / "dist").iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    with zipfile.ZipFile(_wheel(out)) as wheel:
        held = {name for name in wheel.namelist() if name.startswith("visa_lsp/")}
    source = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "visa_lsp").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    if lost := source - held:
        raise SystemExit(f"the wheel lacks {sorted(lost)}")
    print(
        f"{', '.join(f'{path.name} ({path.stat().st_size:,} bytes)' for path in files)}: sound, {len(held)} files in the wheel"
    )


def _wheel(out: Path) -> Path:
    return next((out / "dist").glob("*.whl"))


def pythons() -> dict[str, Path | None]:
    """Return the interpreters of this machine by version; None where there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[str, Path | None] = {}
    for wanted in PYTHONS:
        places = [*sorted(pyenv.glob(f"{wanted}.*/bin/python")), *filter(None, [shutil.which(f"python{wanted}")])]
        if f"{sys.version_info[0]}.{sys.version_info[1]}" == wanted:
            places.insert(0, sys.executable)
        found[wanted] = next((Path(place) for place in places), None)
    return found


def extras() -> list[str]:
    """Return the ways to install the package: alone, or with an extra."""
    with (ROOT / "pyproject.toml").open("rb") as stream:
        named = tomllib.load(stream)["project"]["optional-dependencies"]
    return ["", *(name for name in named if name not in NOT_FOR_USERS)]


def environments() -> None:
    """Try the wheel in an empty environment for each Python and extra: it checks, assembles and runs; what a start costs."""
    print("python  extra    modules of a check  CPU of --version  CPU of a check")
    for wanted, program in pythons().items():
        if program is None:
            print(f"{wanted:<7} not on this machine")
            continue
        for extra in extras():
            place = OUT / "environment"
            modules, cost, checking = environment(program, extra, _wheel(OUT), place)
            print(
                f"{wanted:<7} {extra or '-':<8} {modules:>18} {cost * 1e3:>14.0f} ms {checking * 1e3:>11.0f} ms",
                flush=True,
            )
            shutil.rmtree(place)


def environment(program: Path, extra: str, package: Path, place: Path) -> tuple[int, float, float]:
    """Install a wheel or source archive into an empty environment of a Python and use it.

    Gives the number of modules that a check loads, and the seconds of CPU that a start and a check cost, the least of several. Raises
    SystemExit where something does not work.
    """
    shutil.rmtree(place, ignore_errors=True)
    run(program, "-m", "venv", place)
    python, own = place / "bin" / "python", place / "bin" / "visa-lsp"
    run(python, "-m", "pip", "install", "--quiet", f"{package}[{extra}]" if extra else package)
    folder = place / "examples"
    shutil.copytree(ROOT / "examples", folder)
    outside = {"PYTHONPATH": "", "VISA_LSP_CACHE": str(place / "kept")}
    run(own, "check", ".", folder=folder, **outside)
    run(own, "asm", "saxpy.visaasm", folder=folder, **outside)
    run(own, "dis", "saxpy.isa", "-o", "again.visaasm", folder=folder, **outside)
    run(own, "diff", "saxpy.visaasm", "again.visaasm", folder=folder, **outside)
    held = set(run(python, "-c", _HELD).split())
    if "numpy" in held:
        # Without checks only the engine's name shows that a small launch was compiled.
        for options in ((), ("--checks", "none")):
            said = run(own, "run", "mandelbrot.visaasm", *options, folder=folder, **outside)
            engine = "jit" if options and "llvmlite" in held else "interp"
            if "expect arg 0: holds" not in said or f"TGLLP, {engine}:" not in said:
                raise SystemExit(said)
    else:
        done = subprocess.run([own, "run", "saxpy.visaasm"], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 2 or "visa-lsp[run]" not in done.stderr:
            raise SystemExit(f"run without NumPy says: {done.stderr}")
    if "tree_sitter" in held:
        run(own, "check", "--embedded", "scale.cl", folder=folder, **outside)
    script = "import sys; import visa_lsp.cli.main as m; m.main(['check', 'saxpy.visaasm']); print(len(sys.modules))"
    modules = int(run(python, "-c", script, folder=folder, **outside).split()[-1])
    return modules, _cpu([own, "--version"], folder), _cpu([own, "check", "saxpy.visaasm"], folder)


def _cpu(command: list[str | Path], folder: Path) -> float:
    """Return the seconds of CPU that a command costs, the least of some rounds: a busy machine makes it more, never less."""
    costs = []
    for _ in range(_ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(costs)


def site() -> None:
    """Build the documentation strictly."""
    config = ("--strict", "--quiet", "--config-file", "docs/site/mkdocs.yml", "--site-dir", OUT / "site")
    run(sys.executable, "-m", "mkdocs", "build", *config, NO_MKDOCS_2_WARNING="1")
    print(f"{sum(1 for _ in (OUT / 'site').rglob('*.html'))} pages in {OUT / 'site'}")


def extension() -> None:
    """Build the .vsix for all platforms; with VISA_TARGETS also those of the platforms that it names."""
    folder = ROOT / "vscode-extension"
    for target in ("", *os.environ.get("VISA_TARGETS", "").split()):
        run("npm", "run", "--silent", "package", *([target] if target else []), folder=folder, PYTHON=sys.executable)
        made = folder / (f"visa-lsp-{target}.vsix" if target else "visa-lsp.vsix")
        (OUT / "extension").mkdir(parents=True, exist_ok=True)
        shutil.move(made, OUT / "extension" / made.name)
        print(f"{made.name}: {(OUT / 'extension' / made.name).stat().st_size:,} bytes")


STEPS: Final[dict[str, Callable[[], None]]] = {
    step.__name__: step for step in (version, packages, environments, site, extension)
}


def main() -> int:
    """Do the steps that are named."""
    lines = "\n".join(f"  {name:<13} {str(step.__doc__).splitlines()[0]}" for name, step in STEPS.items())
    parser = argparse.ArgumentParser(
        description="Everything of a release that needs no account.", epilog=f"steps:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("step", nargs="*", metavar="STEP", help="all by default")
    steps = parser.parse_args().step or [*STEPS]
    if unknown := [name for name in steps if name not in STEPS]:
        parser.error(f"{unknown[0]!r} is not a step (known: {', '.join(STEPS)})")
    for name in steps:
        print(f"== {name}", flush=True)
        STEPS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
