"""Links functions that a program calls but lacks from the other texts and objects of its folder.

Compilers write each function into its own file. Files that a launch names are part of the program before the search.
Invariant: only called functions are linked, each with a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import structs

from visa_lsp.app.launch.program import decode_object, merge_modules, module_of_text, read_bytes, sources_of
from visa_lsp.companions import Beside, stem_of
from visa_lsp.isa.model import STRING_KINDS
from visa_lsp.program.suffixes import OBJECT
from visa_lsp.program.traits import FlowClass
from visa_lsp.safe_io import MIB
from visa_lsp.sim.launch.config import LaunchError
from visa_lsp.text import decode_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from visa_lsp.app.launch.body_source import BodySource
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Kernel, Module

_MAX_OBJECTS: Final = 200  # searched per folder
_MAX_TEXTS: Final = 16  # searched for one function
_MAX_READ_BYTES: Final = 64 * MIB  # read from them


def with_callees(
    module: Module,
    kernel: Kernel,
    path: Path,
    platform: Platform | None,
    finder: Beside,
    notes: list[str],
    texts: dict[str, BodySource],
) -> Module:
    """Return a program with the functions of its folder that a kernel calls, directly or indirectly.

    Adds their lines to ``texts`` and notes to ``notes``. Raises LaunchError if two files define a function, and TextProblems
    if the text of one has errors.
    """
    bodies = {body.name: body for body in module.bodies}
    sought, wanted = {kernel.name}, [kernel.name]
    objects: dict[Path, Module] | None = None
    folder: dict[str, list[Path]] | None = None
    simd = kernel.int_attribute("SimdSize") or 0
    while wanted:
        for name in list_names(bodies[wanted.pop()]):
            if name in sought:
                continue
            sought.add(name)
            if name not in bodies:
                folder = finder.texts_by_body(path) if folder is None else folder
                definition = _text_of_function(name, folder.get(name, []), platform, finder, simd, texts)
                if definition is None:
                    objects = _objects(path, finder) if objects is None else objects
                    definition = _object_of_function(name, objects)
                if definition is None:
                    continue
                source, function = definition
                module = merge_modules(
                    module, function, {body.name: "the program" for body in module.bodies}, str(source)
                )
                notes.append(f"function '{name}' is linked from {source.name}")
                bodies = {body.name: body for body in module.bodies}
            wanted.append(name)
    return module


def list_names(body: Kernel, *, calls: bool = True) -> Iterator[str]:
    """Yield the names whose address a body takes, and with ``calls`` those that it calls, each once."""
    names: dict[str, None] = {}
    for inst in body.instructions:
        if inst.row.marks_source is not None or (inst.row.flow is FlowClass.FUNCTION_CALL and not calls):
            continue
        for field in inst.row.fields:
            value = inst.get(field.name) if field.kind in STRING_KINDS else None
            if isinstance(value, int):
                names[body.string(value)] = None
    yield from names


def _text_of_function(
    name: str, paths: Sequence[Path], platform: Platform | None, finder: Beside, simd: int, texts: dict[str, BodySource]
) -> tuple[Path, Module] | None:
    modules = []
    for source in paths[:_MAX_TEXTS]:
        text = finder.opened(source)
        text = decode_text(read_bytes(source)) if text is None else text
        module = module_of_text(text, source, platform, [])
        if any(body.name == name for body in module.functions):
            modules.append((source, module, text))
    fitting = [m for m in modules if _simd_of(m[1], name) in (0, simd)]
    chosen = fitting or modules
    if len(chosen) > 1:
        raise _ambiguous(name, chosen[0][0], chosen[1][0])
    if not chosen:
        return None
    source, module, text = chosen[0]
    texts[name] = sources_of(module, text, source)[name]
    return source, _only(module, name)


def _objects(path: Path, finder: Beside) -> dict[Path, Module]:
    """Return the objects of a folder without a text of the same name."""
    programs = finder.programs(path)
    stems = {stem_of(p) for p in (*programs, path) if p.suffix != OBJECT}
    objects: dict[Path, Module] = {}
    room = _MAX_READ_BYTES
    for source in [p for p in programs if p.suffix == OBJECT and stem_of(p) not in stems][:_MAX_OBJECTS]:
        try:
            data = read_bytes(source)
            room -= len(data)
            if room < 0:
                break
            objects[source] = decode_object(data, source)
        except LaunchError:  # an error is ignored, because the user did not name the file
            continue
    return objects


def _object_of_function(name: str, objects: dict[Path, Module]) -> tuple[Path, Module] | None:
    definitions = [(source, m) for source, m in objects.items() if any(body.name == name for body in m.functions)]
    if len(definitions) > 1:
        raise _ambiguous(name, definitions[0][0], definitions[1][0])
    return (definitions[0][0], _only(definitions[0][1], name)) if definitions else None


def _ambiguous(name: str, path: Path, other: Path) -> LaunchError:
    return LaunchError(
        f"function '{name}', which the kernel calls, is in two files of its folder, {path.name} and {other.name}; select "
        f"one in a launch file, such as files: [{path.name}]"
    )


def _simd_of(module: Module, name: str) -> int:
    return next((body.int_attribute("SimdSize") or 0 for body in module.functions if body.name == name), 0)


def _only(module: Module, name: str) -> Module:
    """Return a program with one of its functions and the variables of file scope."""
    return structs.replace(module, kernels=(), functions=tuple(b for b in module.functions if b.name == name))
