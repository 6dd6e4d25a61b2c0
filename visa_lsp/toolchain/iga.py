"""Disassembles machine code with Intel's assembler ``iga64``: finding it, running it safely, its JSON.

The JSON is that of releases since 2024 (version 2.0); that of older ones (1.0, Debian 12's), which know platforms up to PVC, is
brought into this form. Knows bytes and JSON, not instructions.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from visa_lsp.children import temporary_folder
from visa_lsp.toolchain.process import ToolError, run_program

PROGRAM: Final = "iga64"
SECONDS: Final = 30.0
_CODE: Final = "code.bin"
_LISTING: Final = "listing.asm"
_VERSION: Final = "2.0"
_OLD_VERSION: Final = "1.0"
_ADVICE: Final = (
    "`verify` needs the iga64 of Intel's compiler (Debian and Ubuntu: package libigc2-tools, in older releases libigc-tools); "
    "put it on PATH or name it with --iga PATH"
)
# Version 1.0 prints the payload of a message without braces if its descriptor is in a register.
_UNBRACED: Final = re.compile(r'^(\s+)("kind":.*"defs":\[\]),$', re.MULTILINE)
_OLD_KEYS: Final = {"Vt": "v", "Wi": "w", "Hz": "h"}
# The assembler's names of platforms.
_NAMES: Final = {
    "TGLLP": "12p1", "XeHP_SDV": "12p5", "DG2": "12p71", "MTL": "12p71", "ARL": "12p74", "PVC": "12p72", "PVCXT": "12p72",
    "BMG": "2", "PTL": "3",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Disassembly:
    """The elements of the JSON, and the text of each instruction in order."""

    elements: tuple[dict[str, Any], ...]
    texts: tuple[str, ...]


def find_iga(named: str | None, compilers: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the command of iga64: the ``named`` one, one beside a compiler, or that on PATH.

    A compiler unpacked into a folder of its own has its assembler in ``unpacked``, with a C library of its own. Raises
    ToolError with advice if there is none.
    """
    if named:
        program = shutil.which(named)
        if program is None:
            raise ToolError(f"{named}: no such program; {_ADVICE}")
        return _command(Path(program))
    for compiler in (*compilers, shutil.which("ocloc") or ""):
        folder = Path(compiler).resolve().parent if compiler else None
        for path in (folder / PROGRAM, folder / "unpacked/usr/bin" / PROGRAM) if folder else ():
            if path.is_file():
                return _command(path)
    on_path = shutil.which(PROGRAM)
    if on_path is None:
        raise ToolError(f"{PROGRAM} is not installed: {_ADVICE}")
    return _command(Path(on_path))


def _command(path: Path) -> tuple[str, ...]:
    loaders = sorted(path.parents[1].glob("lib/*/ld-linux-*.so.*")) if path.parent.name == "bin" else []
    if not loaders or path.is_relative_to("/usr/bin") or path.is_relative_to("/bin"):
        return (str(path.absolute()),)
    return (str(loaders[0]), "--library-path", str(loaders[0].parent), str(path))


def _name_of(platform: str, verb: str) -> str:
    """Return the assembler's name of a platform. Raises ToolError if it is not known."""
    name = _NAMES.get(platform)
    if name is None:
        raise ToolError(f"machine code of {platform} is not {verb}; known platforms: {', '.join(_NAMES)}")
    return name


def disassemble(command: tuple[str, ...], code: bytes, platform: str, seconds: float = SECONDS) -> Disassembly:
    """Return the instructions of machine code for a platform, named as in ``isa.platforms``.

    Raises ToolError if the assembler cannot start, is too old, or cannot read the code.
    """
    name = _name_of(platform, "disassembled")
    with temporary_folder() as folder:
        (folder / _CODE).write_bytes(code)
        base = [*command, "-d", "-q", f"-p={name}", "-Xprint-hex-floats"]
        ran = run_program([*base, "-Xprint-json", "-o", "out.json", _CODE], folder, seconds)
        said = _read(folder / "out.json")
        shown = run_program([*base, "-Xprint-pc", "-o", "out.txt", _CODE], folder, seconds)
        lines = _read(folder / "out.txt").splitlines()
    if ran.failure or shown.failure:
        raise ToolError(f"{PROGRAM} {ran.failure or shown.failure}")
    elements = _elements_of(said) if ": error: " not in ran.said else None
    if elements is None:
        words = next((line.strip() for line in ran.said.splitlines() if "error" in line), "")
        reason = words[:200] or f"it is too old for this code or for the platform; {_ADVICE}"
        raise ToolError(f"{command[-1]} cannot read machine code of {platform}: {reason}")
    texts = tuple(line.partition("*/")[2].strip() for line in lines if line.startswith("/* ["))
    return Disassembly(tuple(e for e in elements if isinstance(e, dict)), texts)


def _elements_of(said: str) -> list[Any] | None:
    """Return the elements of the JSON in the form of version 2.0; None if it has neither version."""
    try:
        document = json.loads(_UNBRACED.sub(r"\1{\2},", said))
        version, elements, old = document.get("version"), document.get("elems"), document.get("insts")
        if version == _OLD_VERSION and isinstance(old, list):
            elements = [_modern(element) for element in old]
    except (ValueError, AttributeError, KeyError, TypeError):
        return None
    return elements if version in (_VERSION, _OLD_VERSION) and isinstance(elements, list) else None


def _modern(element: dict[str, Any]) -> dict[str, Any]:
    """Return an element of version 1.0 in the form of version 2.0."""
    if element["kind"] == "L":
        return {"kind": "L", "symbol": element["value"]}
    converted = {key: value for key, value in element.items() if value is not None and value is not False}
    if "dst" in converted:
        converted["dst"] = _modern_operand(converted["dst"])
    converted["srcs"] = [_modern_operand(source) for source in element["srcs"]]
    if "sbid" in converted:
        token, dot, use = str(converted["sbid"]).partition(".")
        converted["sbid"] = {"id": int(token.removeprefix("$")), "func": dot + use}
    return converted


def _modern_operand(operand: dict[str, Any]) -> dict[str, Any]:
    if operand["kind"] == "AD":
        surface, address = operand.get("surf") or {}, operand["addr"]
        return {
            "kind": "AD", "areg": address["reg"], "alen": address["len"], "aoff": operand["offset"],
            "stype": surface.get("type", ""), "soff": surface.get("offset"),
        }  # fmt: skip
    converted = {key: value for key, value in operand.items() if value is not None and value is not False}
    if operand["kind"] == "RI" and "rgn" not in converted:
        raise ValueError("version 1.0 does not print regions of indirect operands")
    if "rgn" in converted:
        converted["rgn"] = {_OLD_KEYS.get(key, key): value for key, value in converted["rgn"].items()}
    return converted


def assemble(command: tuple[str, ...], listing: str, platform: str, seconds: float = SECONDS) -> bytes:
    """Return the machine code of a listing of the finalizer. Raises ToolError if the assembler refuses it."""
    name = _name_of(platform, "assembled")
    with temporary_folder() as folder:
        (folder / _LISTING).write_text(listing + "\n", "utf-8", "replace")
        ran = run_program([*command, "-a", "-q", f"-p={name}", "-o", _CODE, _LISTING], folder, seconds)
        binary = folder / _CODE
        if ran.failure or not binary.is_file():
            words = next((line.strip() for line in ran.said.splitlines() if "error" in line), ran.failure)
            raise ToolError(f"{PROGRAM} cannot assemble the listing: {words[:200]}")
        return binary.read_bytes()


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
