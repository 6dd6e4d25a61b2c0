"""Proofs for the language server: the answers of ``visa-lsp prove --format json`` for the text in the editor.

Counterexamples are run in the simulator, so that the server proves in trusted workspaces only. Invariant: a mistake in
the text, an assumption or an option is reported in the answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from visa_lsp.app.errors import UserError
from visa_lsp.app.inputs import read_bytes
from visa_lsp.app.prove.document import DEFAULT_SECONDS, ProofOptions, check_properties, prove_data
from visa_lsp.app.prove.report import as_text, needs_json, results_json
from visa_lsp.app.suggestions import seconds_of
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.lsp.jobs.model import Result, Stop


def prove(
    name: str, text: str | None, path: str | None, options: dict[str, Any], assume: Sequence[str],
    opened: Mapping[str, str], stop: Stop,
) -> Result:  # fmt: skip
    """Prove the kernels of a text, or of the object ``path`` if the text is None; ``stop`` ends the proof.

    ``text`` of the answer is for readers.

    Options: ``properties`` (with commas between), ``timeout`` (seconds for a kernel), ``kernel``, ``platform``.
    """
    try:
        seconds = DEFAULT_SECONDS if options.get("timeout") is None else seconds_of(options["timeout"])
        given = ProofOptions(
            check_properties(options.get("properties", "").split(",")), tuple(assume), seconds, options.get("kernel"),
            options.get("platform"),
        )  # fmt: skip
        data = read_bytes(path or "") if text is None else encode_text(text)
        proof = prove_data(
            name, Path(path) if path else None, data, given, opened=opened, is_wanted=lambda: not stop.asked
        )
    except (UserError, OSError, ValueError) as error:
        return {"ok": False, "error": str(error)}
    from visa_lsp.app.launch.printing import items_words  # loads NumPy

    results = results_json(proof)
    for fault in (fault for result in results for fault in result.get("faults", ())):
        fault["work_items"] = items_words(fault.get("items", ()))
        fault["other_work_items"] = items_words(fault.get("other_items", ()))
    return {"ok": True, "results": results, "needs": needs_json([proof]), "text": as_text([proof])}
