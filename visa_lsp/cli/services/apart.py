"""The server's side of a run: a process for it, a job to that process, its answer.

The other side, the process, is ``cli.services.runs``: it needs what the server does not load. Invariant: whatever becomes
of the process, there is an answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from visa_lsp.lsp.services import Result, Stop


def run_in_subprocess(text: str | None, path: str | None, options: dict[str, Any], stop: Stop) -> Result:
    """Run in another process and give its answer; ``stop`` ends it."""
    job = json.dumps({"text": text, "path": path, "options": options}).encode()
    # -P: what lies in the folder the server was started in is none of our modules.
    command = [sys.executable, "-P", "-m", "visa_lsp.cli.services.runs"]
    with tempfile.TemporaryFile() as said:
        try:
            child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)
        except OSError as error:
            return {"ok": False, "error": f"a process for the run cannot be started: {error.strerror or error}"}
        stop.by(child.kill)
        with child:
            if child.stdin is None or child.stdout is None:
                raise AssertionError("both are pipes")
            try:
                child.stdin.write(job + b"\n")
                child.stdin.flush()
                answer = child.stdout.read()
            except BrokenPipeError:  # stopped, or ended by the system
                answer = b""
        if answer:
            result: Result = json.loads(answer)
            return result
        said.seek(0)
        words = said.read().decode(errors="replace").strip().splitlines()
        reason = words[-1] if words else f"its process ended with status {child.returncode}"
        return {"ok": False, "error": f"the run has no result: {reason}", "stopped": True}
