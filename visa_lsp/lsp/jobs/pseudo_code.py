"""The pseudo-code of an editor's texts, in a separate process, so that typing does not wait for it.

``python -m visa_lsp.lsp.jobs.pseudo_code`` is the process. ``lsp.jobs.run_client`` starts it and keeps it running,
because it reads only changed kernels of a text again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NoReturn

from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import read_bytes
from visa_lsp.app.read.pseudo_code import Kept, as_json, read_data
from visa_lsp.job_process import answer_jobs
from visa_lsp.lsp.jobs.command_answers import finder_of

if TYPE_CHECKING:
    from visa_lsp.lsp.jobs.model import Result

_MAX_TEXTS: Final = 8


def main() -> NoReturn:
    """Read and answer jobs until the input ends."""
    reader = Reader()
    answer_jobs(lambda job: json.dumps(reader.read(json.loads(job))).encode())


class Reader:
    """Reads texts, and caches the results for the last ones."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    def read(self, job: dict[str, Any]) -> Result:
        """Return the kernels of texts, as in ``read --format json``.

        A job has ``path`` (of the texts' folder; None), ``platform``, ``opened`` (texts by path) and ``parts``: for
        each text its name, the text (None: the object ``path``), and the line of the editor for each of its lines
        (None: the same).
        """
        kernels: list[Result] = []
        finder, path = finder_of(job.get("opened")), job.get("path") or ""
        for name, text, numbers in job["parts"]:
            said: list[str] = []
            try:
                data = read_bytes(path) if text is None else text.encode()
                kept = self._find_kept(name)
                program = read_data(path or name, data, job.get("platform"), finder=finder, say=said.append, kept=kept)
            except (UserError, OSError) as error:
                return {"ok": False, "error": str(error)}
            if program is None:
                return {"ok": False, **_mistake(path or name, said, numbers)}
            kernels += as_json(program)["kernels"] if numbers is None else _place(as_json(program)["kernels"], numbers)
        return {"ok": True, "kernels": kernels}

    def _find_kept(self, name: str) -> Kept:
        kept = self._kept[name] = self._kept.pop(name, {})
        if len(self._kept) > _MAX_TEXTS:
            del self._kept[next(iter(self._kept))]
        return kept


def _place(kernels: list[Result], numbers: list[int | None]) -> list[Result]:
    """Return kernels with the line numbers of the editor."""
    for kernel in kernels:
        for line in kernel["lines"]:
            line["visa"] = sorted({place for number in line["visa"] if (place := numbers[number - 1]) is not None})
    return kernels


def _mistake(name: str, said: list[str], numbers: list[int | None] | None) -> Result:
    """Return the first error of a text, and its line in the editor."""
    error = next(line for line in said if ": error " in line).removeprefix(f"{name}:")
    number, _, words = error.partition(":")
    line = int(number) if numbers is None else numbers[int(number) - 1]
    return {"error": words.partition(": error ")[2], **({} if line is None else {"line": line})}


if __name__ == "__main__":
    main()
