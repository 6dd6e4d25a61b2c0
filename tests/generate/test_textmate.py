import json
import re

from lsp_client import ROOT

from visa_lsp.generate.textmate import grammar
from visa_lsp.isa.table import TABLE


def test_every_mnemonic_is_coloured():
    patterns = [re.compile(p["match"]) for p in grammar()["repository"]["instructions"]["patterns"]]
    for row in TABLE.rows:
        if not row.opens_label:
            hits = [m for p in patterns if (m := p.match(f"    {row.mnemonic} (M1, 8)"))]
            assert [row.mnemonic] == [m.group(1) for m in hits]


def test_the_language_of_the_extension_has_both_extensions():
    package = json.loads((ROOT / "vscode-extension" / "package.json").read_text())
    languages = {language["id"]: language.get("extensions", []) for language in package["contributes"]["languages"]}
    assert languages == {
        "visa": [".visaasm", ".isaasm"],
        "visa-listing": [],
        "opencl": [".cl", ".clh", ".clcpp", ".ocl"],
        "ze_info": [".ze_info", ".zeinfo"],
        "visa-launch": [".launch.yaml", ".launch.yml"],
        "visacode": [".visacode"],
        "gen-asm": [],
    }
    assert package["contributes"]["configuration"]["properties"]["visa.serverPath"]["scope"] == "machine"


def test_the_lock_file_names_no_registry():
    lock = json.loads((ROOT / "vscode-extension" / "package-lock.json").read_text())
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]
