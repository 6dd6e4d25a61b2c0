"""The SARIF report against the format's own schema, as the package ``sarif-pydantic`` holds it (models of SARIF 2.1.0).

No package of PyPI ships the JSON schema itself; where the models are not installed, the test is skipped.
"""

import json

import pytest
from corpus import place


@pytest.mark.parametrize("folder", ["errors", "run/TGLLP/axpy"])
def test_report_is_a_sarif_log(run, folder):
    sarif = pytest.importorskip(
        "sarif_pydantic", reason="sarif-pydantic (the schema of SARIF as models) is not installed"
    )
    _, out, _ = run("check", "--format", "sarif", "--platform", "TGLLP", place(folder))
    log = sarif.Sarif.model_validate(json.loads(out), strict=False)
    assert log.version == "2.1.0"
    assert len(log.runs) == 1
    assert len(log.runs[0].results or []) == len(json.loads(out)["runs"][0]["results"])
