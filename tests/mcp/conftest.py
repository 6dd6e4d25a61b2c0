"""An agent with a folder of examples and dumps of its own, and a server that all the tests of this folder share."""

import shutil

import pytest
from agents import ROOT, agent

DUMPS = ROOT / "tests" / "own" / "dev"


@pytest.fixture(scope="session")
def workspace(tmp_path_factory):
    """Return the folder that agents may use: the examples, and dumps of kernels for three platforms."""
    folder = tmp_path_factory.mktemp("agent") / "work"
    shutil.copytree(ROOT / "examples", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for platform in ("TGLLP", "DG2", "BDW"):
        shutil.copytree(DUMPS / platform, folder / platform)
    shutil.copytree(ROOT / "tests" / "own" / "run" / "TGLLP" / "gemm", folder / "gemm")
    (folder.parent / "secret.visaasm").write_text('.version 4.1\n.kernel "secret"\n    ret (M1, 1)\n', encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
async def one(workspace):
    """Yield the agent."""
    async with agent(workspace) as found:
        yield found
