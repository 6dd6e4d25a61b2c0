"""The skill of the examples: it can be loaded, and names tools and arguments that there are."""

import re

from agents import ROOT
from ruamel.yaml import YAML

from visa_lsp.mcp.tools import BY_NAME

TEXT = (ROOT / "examples" / "skills" / "visa" / "SKILL.md").read_text(encoding="utf-8")
# Members of answers and words of launch files that stand in code marks too.
OTHERS = {
    "error",
    "assumed",
    "faults",
    "failed",
    "fixes",
    "edits",
    "new_text",
    "code",
    "different",
    "shl",
    "mul",
    "add",
}


def test_the_head_is_that_of_a_skill():
    _, head, _ = TEXT.split("---\n", 2)
    said = YAML(typ="safe").load(head)
    assert set(said) == {"name", "description"}
    assert said["name"] == "visa"
    assert len(said["description"]) <= 1024


def test_what_it_names_is_there():
    arguments = {name for tool in BY_NAME.values() for name in tool.input_schema()["properties"]}
    named = set(re.findall(r"`([a-z_]+)(?:: true)?`", TEXT))
    assert named - arguments - set(BY_NAME) - OTHERS == set()
    assert set(BY_NAME) <= named
