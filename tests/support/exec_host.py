"""What ``visa-lsp exec`` needs on this machine for programs of OpenCL.

``needs_host`` is a mark for tests of it, which are skipped where something is missing.
"""

import shutil
import sys
from pathlib import Path

import pytest

_MISSING = [name for name in ("gcc", "ocloc") if shutil.which(name) is None]
_MISSING += [
    str(path)
    for path in (Path("/etc/OpenCL/vendors/pocl.icd"), Path("/usr/include/CL/cl_layer.h"))
    if not path.exists()
]
needs_host = pytest.mark.skipif(
    bool(_MISSING) or sys.platform != "linux", reason=f"not installed: {', '.join(_MISSING)}"
)
