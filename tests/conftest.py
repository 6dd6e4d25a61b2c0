"""For all tests: what processes keep on disk between them goes to a folder of this run, not to the user's."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

if "VISA_LSP_CACHE" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="visa-lsp-tests-")
    os.environ["VISA_LSP_CACHE"] = _folder  # xdist's workers and all servers inherit it
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
