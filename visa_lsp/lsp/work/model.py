"""What the server lets others do: work that needs rooms that ``lsp`` may not import.

The values are functions that take plain values and give JSON objects; whoever starts the server provides them. They may
take long and are called off the event loop; what goes wrong with a user's text or file is a result with ``ok`` false.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.diagnostics import Rule

Result = dict[str, Any]
# Text or None, path, options, and the seconds after which the run is ended.
RunJob = tuple[str | None, str | None, dict[str, Any], float | None]


class Stop:
    """Asks work on another thread to end; asked before the work has begun, it is ended at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked = False
        self._how: Callable[[], None] | None = None

    def ask(self) -> None:
        """End the work."""
        with self._lock:
            self._asked, how = True, self._how
        if how is not None:
            how()

    @property
    def asked(self) -> bool:
        """Whether the work is to end."""
        with self._lock:
            return self._asked

    def by(self, how: Callable[[], None]) -> None:
        """Say how the work is ended; ``how`` may be called on any thread."""
        with self._lock:
            self._how, asked = how, self._asked
        if asked:
            how()


def _everything(_rule: Rule) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class FileRules:
    """What the settings files of a folder say of a file: its platform, rules that run besides, which findings show."""

    platform: str = ""
    extra: frozenset[str] = frozenset()
    shows: Callable[[Rule], bool] = field(default=_everything, compare=False)
    problem: str = ""


def _plain_rules(_path: str, _ignore: tuple[str, ...], _extend: tuple[str, ...]) -> FileRules:
    return FileRules()


@dataclass(frozen=True, slots=True)
class Services:
    """A path None means a text that is not saved yet.

    * ``assemble(text, path, platform)`` writes the object beside the text
    * ``run(text or None, path, options, stop)``: ``launch``, ``launchText`` or ``quick``, ``platform``, ``engine``,
      ``checks``, ``data``; without a text the program is the object ``path``, or what the launch file says, with the
      texts of ``opened`` (by path) instead of their files
    * ``run_all(jobs, stop, tell)``: the same for one job after another; ``tell`` gets each answer with its number, on any
      thread
    * ``stats(text or None, path, options, stop)``: the figures of a text's kernels, or of the object ``path``; ``platform``,
      ``lives``
    * ``disassemble(text or None, path or None, platform)``: an object's file as text, or a text by way of its object
    * ``diff((text or bytes, name), (text or bytes, name), platform)``: how two programs differ
    * ``zebin(path, platform)``: what is in a zebin: sections, kernels, ze_info, vISA as text
    * ``zeinfo(text, path, platform, opened)`` and ``launch_template(text, path, options)``: ``platform``, ``kernel``, ``quick``,
      ``opened``; both take the other texts of the folder from ``opened`` where it has them
    * ``explain(word, platform)``, and ``words()`` that it knows
    * ``gen(text, path, options, stop)``: the machine code of a text by the finalizer; ``platform``, ``tool``, ``options``,
      ``timeout``, ``html``, ``columns``, ``source``
    * ``compile(path, options, stop)``: the texts of a source's kernels by the OpenCL compiler; ``device``, ``platform``,
      ``options``, ``tool``, ``timeout``
    * ``compiler_check(text, path, options, stop)``: what the OpenCL compiler says of a source; ``platform``, ``device``, ``tool``,
      ``options``
    * ``file_rules(path, ignore, extend)``: the settings of a file, with those of the editor laid over them
    """

    assemble: Callable[[str, str | None, str | None], Result]
    run: Callable[[str | None, str | None, dict[str, Any], Stop], Result]
    run_all: Callable[[Sequence[RunJob], Stop, Callable[[int, Result], None]], Result]
    stats: Callable[[str | None, str | None, dict[str, Any], Stop], Result]
    disassemble: Callable[[str | None, str | None, str | None], Result]
    zebin: Callable[[str, str | None], Result]
    diff: Callable[[tuple[str | bytes, str], tuple[str | bytes, str], str | None], Result]
    zeinfo: Callable[[str, str | None, str | None, dict[str, str]], Result]
    launch_template: Callable[[str, str | None, dict[str, Any]], Result]
    explain: Callable[[str, str | None], Result]
    words: Callable[[], Result]
    gen: Callable[[str, str | None, dict[str, Any], Stop], Result]
    compile: Callable[[str, dict[str, Any], Stop], Result]
    compiler_check: Callable[[str, str | None, dict[str, Any], Stop], Result]
    file_rules: Callable[[str, tuple[str, ...], tuple[str, ...]], FileRules] = _plain_rules
