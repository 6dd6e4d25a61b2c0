"""Imports point down only, and never round: the table of allowed edges, read off the sources with ``ast``."""

import re
from collections import Counter
from pathlib import Path

import pytest
from import_graph import graph_of, loops_of, run_time_names, sources_of

import visa_lsp

PACKAGE = Path(__file__).resolve().parents[1] / "visa_lsp"
ARCHITECTURE = PACKAGE.parent / "docs" / "architecture.md"

L1 = {"text", "diagnostics", "isa", "syntax", "program"}
L2 = L1 | {"sema", "flow"}
SIM = {"faults", "group", "interp", "memory", "operands", "registers", "values"}
ALLOWED = {
    "text": set(),
    "suggest": set(),
    "children": set(),
    "job_process": {"children"},
    "message_frames": set(),
    "disk_cache": {"safe_io"},
    "build_id": {"disk_cache", "syntax"},
    "cluster": {"children", "build_id", "job_process"},
    "isa": set(),
    "diagnostics": {"text"},
    "syntax": {"text", "diagnostics"},
    "program": {"text", "isa"},
    "safe_io": set(),
    "sema": L1,
    "flow": {"isa", "program"},
    "compare": {"isa", "program"},
    "checks": L2 | {"suggest"},
    "codec": {"text", "diagnostics", "isa", "program"},
    "sim": {"text", "diagnostics", "isa", "program", "flow", "suggest"},
    "toolchain": {"children", "text", "diagnostics", "safe_io"},
    "zeinfo": {"text", "diagnostics", "program", "flow", "suggest"},
    "companions": {"program", "safe_io", "text", "zeinfo"},
    "launchfile": {"text", "diagnostics", "isa", "program", "zeinfo", "safe_io", "companions", "suggest"},
    "analysis": L2 | {"checks"},
    "ide": L2 | {"analysis", "checks", "codec", "zeinfo", "launchfile", "disk_cache"},
    "embed": L2 | {"ide", "analysis", "checks"},
    "debug": {"text", "program", "sim"},
    "eu": {"isa", "program", "sim", "toolchain"},
    "app": L2 | {
        "analysis", "companions", "checks", "children", "cluster", "codec", "compare", "embed", "ide", "build_id", "disk_cache",
        "eu", "job_process", "launchfile", "safe_io", "sim", "suggest", "toolchain", "zeinfo",
    },
    "lsp": L2 | {
        "analysis", "app", "companions", "codec", "compare", "embed", "ide", "job_process", "launchfile", "message_frames", "safe_io", "sim",
        "suggest", "toolchain", "zeinfo",
    },
    "mcp": {"app", "compare", "isa", "job_process", "safe_io", "sim", "text", "toolchain", "zeinfo"},
    "dap": {"app", "companions", "debug", "ide", "message_frames", "text", "diagnostics"},
    "opencl": {"app", "children", "disk_cache", "isa", "sim"},
    "cli": L1 | {
        "analysis", "app", "companions", "cluster", "codec", "dap", "embed", "ide", "disk_cache", "lsp", "mcp", "opencl", "safe_io", "sim",
        "suggest", "toolchain", "zeinfo",
    },
    # Rooms inside of rooms: what of the room around them they may import.
    "checks.support": {"rule"},
    "checks.rules": {"rule", "support"},
    "app.captures": {"compile", "errors", "launch", "output_files", "zebins"},
    "app.check": {
        "baselines", "clusters", "errors", "inputs", "output_files", "parallel", "rule_registry", "settings", "suggestions",
        "visible_text",
    },
    "app.compare_runs": {"errors", "inputs", "launch", "progress"},
    "app.compile": {"check", "errors", "inputs", "launch", "output_files", "external_tools"},
    "app.diff": {"assemble", "clusters", "errors", "folders", "inputs", "progress", "visible_text"},
    "app.exec": {"compile", "errors", "external_tools", "inputs", "kernel_source", "launch"},
    "app.gen": {"assemble", "check", "compile", "errors", "inputs", "external_tools", "told_platform"},
    "app.launch": {"assemble", "clusters", "compile", "ze_info", "errors", "exits", "inputs", "kernel_source", "output_files", "parallel"},
    "app.prove": {"assemble", "ze_info", "errors", "inputs", "kernel_source", "launch", "read", "suggestions"},
    "app.read": {"assemble", "ze_info", "errors", "gen", "inputs", "kernel_source", "suggestions"},
    "app.stats": {"assemble", "baselines", "check", "errors", "folders", "inputs", "external_tools"},
    "app.verify": {"errors", "exits", "external_tools", "gen", "inputs", "launch"},
    "app.why": {"compare_runs", "errors", "launch", "suggestions"},
    "generate.site": {"support_records", "support_table"},
    "ide.index": set(),
    "ide.prose": {"index"},
    "ide.features": {"index", "prose"},
    "ide.yaml": set(),
    "ide.zeinfo": {"index", "prose", "features", "yaml"},
    "ide.launchfile": {"prose", "features", "yaml", "zeinfo"},
    "isa.rows": {"lane", "lsc_codes", "message_forms", "model", "operands", "platforms", "render_target", "types"},
    "lsp.transport": {"capabilities", "visa_server"},
    "lsp.handlers": {
        "capabilities", "convert", "deferred_findings", "encode", "work_progress", "visa_server", "transport", "jobs",
    },
    "lsp.jobs": set(),
    "sim.effects": SIM | {
        "exact", "filtering", "image_messages", "integer_formulas", "lane_formulas", "lanes", "messages",
    },
    "sim.observers": SIM | {"dispatch", "effects", "messages"},
    "sim.analyses": SIM | {"observers"},
    "sim.jit": SIM | {
        "analyses", "contents", "dispatch", "effects", "exact", "filtering", "image_messages", "integer_formulas", "interp", "lane_formulas", "lanes",
        "machine", "memory", "messages", "observers", "odd_formulas", "words",
    },
    "sim.launch": {"dispatch", "memory", "operands", "registers", "wellformed"},
    "zeinfo.emit": {"facts", "input_use", "closed_words", "write"},
}  # fmt: skip
ALLOWED["api"] = {
    "app", "companions", "codec", "diagnostics", "isa", "launchfile", "program", "safe_io", "sim", "text", "zeinfo",
}  # fmt: skip
ALLOWED["pytest_plugin"] = {"app", "launchfile"}
ALLOWED["__main__"] = {"cli"}
ALLOWED["generate"] = {"app", "checks", "codec", "ide", "isa", "launchfile", "lsp", "mcp", "program", "sim", "zeinfo"}
# Third parties that only these rooms may import.
THIRD_PARTY = {
    "parsimonious": {"syntax"},
    "numpy": {"sim", "debug", "eu", "app", "cli", "api", "opencl"},
    "pytest": {"pytest_plugin"},
    "pyarrow": {"app"},
    "llvmlite": {"sim"},
    "ruamel": {"zeinfo"},
    "elftools": {"zeinfo"},
    "pygls": {"lsp"},
    "lsprotocol": {"lsp", "generate"},
    "mcp": {"mcp"},
    "mcp_types": {"mcp"},
    "anyio": {"mcp"},
    "dask": {"cluster"},
    "distributed": {"cluster"},
    "z3": {"app"},
    "tree_sitter": {"embed"},
    "tree_sitter_c": {"embed"},
    "tree_sitter_cpp": {"embed"},
    "tree_sitter_python": {"embed"},
}


def bad_edges(room: str, source: str) -> list[str]:
    """Every import of a source that its room may not make, or the room inside of it (``room.inner``)."""
    outer, _, inner = room.partition(".")
    wrong = set()
    for name in run_time_names(source, types=True):  # wherever and for whomever
        parts = name.split(".")
        if parts[0] in THIRD_PARTY and outer not in THIRD_PARTY[parts[0]]:
            wrong.add(f"{room} -> {parts[0]}")
        if (
            parts[0] != "visa_lsp"
            or len(parts) < 2
            or (parts[1] == "__version__" and outer in {"app", "cli", "opencl"})
        ):
            continue
        if parts[1] != outer:
            if parts[1] not in ALLOWED[outer]:
                wrong.add(f"{room} -> {parts[1]}")
        elif inner and len(parts) > 2 and parts[2] != inner and parts[2] not in ALLOWED[room]:
            wrong.add(f"{room} -> {parts[2]}")
    return sorted(wrong)


def room_of(path: Path) -> str:
    """Return the room of a module, and behind a dot the one inside of it."""
    relative = path.relative_to(PACKAGE)
    return ".".join(relative.parts[:-1][:2]) or relative.stem


SOURCES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


def test_imports_point_down():
    bad = {str(path): bad_edges(room_of(path), path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {path: edges for path, edges in bad.items() if edges} == {}


@pytest.mark.parametrize(
    ("room", "source", "edge"),
    [
        ("isa", "from visa_lsp.syntax import tree", "isa -> syntax"),
        ("syntax", "import visa_lsp.sema.bind", "syntax -> sema"),
        ("flow", "from visa_lsp.sema.model import Body", "flow -> sema"),
        ("codec", "from visa_lsp.sim.machine import Machine", "codec -> sim"),
        ("ide", "def f():\n    from visa_lsp.sim import launch", "ide -> sim"),
        ("lsp", "from visa_lsp.cli.check import check_command", "lsp -> cli"),
        ("app", "from visa_lsp import lsp", "app -> lsp"),
        ("cli", "from visa_lsp.api import load", "cli -> api"),
        ("mcp", "from visa_lsp.cli.check import check_command", "mcp -> cli"),
        ("mcp", "from visa_lsp.lsp.jobs.command_answers import gen", "mcp -> lsp"),
        ("app", "from visa_lsp.mcp import tools", "app -> mcp"),
        ("checks", "import pygls", "checks -> pygls"),
        ("sema", "import parsimonious", "sema -> parsimonious"),
        ("codec", "import_module('visa_lsp.sim.machine')", "codec -> sim"),
        ("checks.support", "from visa_lsp.checks.rules import recursion", "checks.support -> rules"),
        ("ide.features", "from visa_lsp.ide.zeinfo.info_document import at", "ide.features -> zeinfo"),
        ("lsp.transport", "from visa_lsp.lsp import handlers", "lsp.transport -> handlers"),
        ("sim.launch", "from visa_lsp.codec.encode import encode", "sim.launch -> codec"),
        ("app.check", "def f():\n    from visa_lsp.app.launch import runner", "app.check -> launch"),
    ],
)
def test_bad_import_is_found(room, source, edge):
    assert [edge] == bad_edges(room, source)


def test_every_room_has_a_rule():
    rooms = {room_of(path) for path in SOURCES}
    assert rooms <= set(ALLOWED)


def test_every_rule_is_about_rooms_that_are_there():
    rooms = {room_of(path) for path in SOURCES}
    assert set(ALLOWED) == rooms
    for room, below in ALLOWED.items():
        outer, _, inner = room.partition(".")
        beside = {path.stem for path in (PACKAGE / outer).iterdir()} if inner else {*ALLOWED}
        assert below <= beside, room


# ---- names


def test_names_of_files_that_stand_often_are_explained():
    names = Counter(name.rpartition(".")[2] for name in sources_of(PACKAGE))
    section = ARCHITECTURE.read_text(encoding="utf-8").partition("## Names of files\n")[2].partition("\n## ")[0]
    explained = {
        name for cell in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)
    }
    assert {name for name, count in names.items() if count > 2} == explained


# ---- loops


def test_no_modules_import_each_other():
    """Every import counts that some line can make at run time, in functions too: a loop is none the better for being late.

    What stands below ``if TYPE_CHECKING:`` has a test of its own; of a package counts what its ``__init__`` imports, but for the names
    that the outermost one gives when a user asks for them.
    """
    sources = sources_of(PACKAGE)
    assert not {name for name in run_time_names(sources["visa_lsp"], at_once=True) if name.startswith("visa_lsp")}
    graph = graph_of({**sources, "visa_lsp": ""})
    loops = loops_of(graph)
    assert not loops, "\n".join(" <-> ".join(loop) for loop in loops)


# Rooms whose modules name each other for type checkers, with the reason.
KNOW_EACH_OTHER = {
    "sim": "a machine runs effects, and each effect gets the machine's thread and memory",
    "sim.jit": "the emitter of a body has emitters for kinds of instructions, which get the body",
}


def test_modules_that_name_each_other_for_type_checkers_have_a_reason():
    sources = {module: source for module, source in sources_of(PACKAGE).items() if module != "visa_lsp"}
    rooms = [{room_of_module(module) for module in loop} for loop in loops_of(graph_of(sources, types=True))]
    outer = [{room for room in loop if not any(room.startswith(f"{other}.") for other in loop)} for loop in rooms]
    assert {room for loop in outer for room in loop} == set(KNOW_EACH_OTHER)


def room_of_module(name: str) -> str:
    """Return the room of a dotted module name, and behind a dot the one inside of it."""
    parts = name.split(".")[1:]
    return room_of(PACKAGE.joinpath(*parts).with_suffix(".py"))


def test_no_module_goes_by_way_of_the_names_for_users():
    for module, source in sources_of(PACKAGE).items():
        taken = {f"visa_lsp.{name}" for name in visa_lsp.__all__} & run_time_names(source)
        assert not taken, module


@pytest.mark.parametrize(
    "back",
    [
        "import p.a",
        "from p import a",
        "from p.a import name",
        "def f():\n    from p.a import name",
        "class C:\n    def f(self):\n        if self:\n            import p.a",
        "import_module('p.a')",
        "importlib.import_module('p.a')",
        "try:\n    import p.a\nexcept ImportError:\n    pass",
        "from p.q.c import name",
    ],
)
def test_a_loop_is_found(back):
    sources = {
        "p": "",
        "p.a": "import p.b\nimport os",
        "p.b": back,
        "p.q": "from p import a",
        "p.q.c": "",
        "p.d": "import p.a",
    }
    (loop,) = loops_of(graph_of(sources))
    assert {"p.a", "p.b"} <= set(loop) <= {"p.a", "p.b", "p.q"}


@pytest.mark.parametrize("back", ["", "import p", "if TYPE_CHECKING:\n    import p.a", "from p.c import a"])
def test_what_is_no_loop_is_none(back):
    assert loops_of(graph_of({"p": "", "p.a": "import p.b, p.c", "p.b": back, "p.c": "import p"})) == []


def test_an_init_that_imports_its_own_modules_is_a_loop_with_them():
    sources = {"p": "from p import a", "p.a": "from p.b import name", "p.b": "import os"}
    assert loops_of(graph_of(sources)) == [["p", "p.a"]]
