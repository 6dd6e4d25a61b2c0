"""Where one is in a YAML text that is being typed: by lines, by brackets, in texts that are no YAML."""

import random

import pytest

from visa_lsp.ide.yaml.path import path_at

# A text with a mark where the place is, the steps to it, the key whose value is there, the other keys of its map, the word.
PLACES = [
    ("gro^", (), None, "", "gro"),
    ("groups: ^", (), "groups", "", ""),
    ("file: sax^py.visaasm", (), "file", "", "saxpy.visaasm"),
    ("groups: [1, ^]", ("groups",), 1, "", ""),
    ("groups: [1]\n^\nargs: []", (), None, "args groups", ""),
    ("args:\n  - {buffer: {dt^}}", ("args", 0, "buffer"), None, "", "dt"),
    ("args:\n  - {value: 1}\n  - {buffer: {dtype: flo^, shape: [2]}}", ("args", 1, "buffer"), "dtype", "shape", "flo"),
    ("args:\n  - value: 1\n    dt^", ("args", 0), None, "value", "dt"),
    ("args:\n- value: 1\n- ^", ("args", 1), None, "", ""),
    ("args:\n  x: {value: 1}\n  ^\n  z: {value: 2}", ("args",), None, "x z", ""),
    ("args:\n  x:\n    buffer:\n      dtype: ^", ("args", "x", "buffer"), "dtype", "", ""),
    ("args: [{value: 1}, {value: 2}, {^}]", ("args", 2), None, "", ""),
    ("args: [{value: 1},\n  {va^}]", ("args", 1), None, "", "va"),
    ("args:\n  - {buffer: {dtype: float32,\n     sh^ape: [1]}}", ("args", 0, "buffer"), None, "dtype", "shape"),
    ("symbols: {'a b': {dtype: ^}}", ("symbols", "a b"), "dtype", "", ""),
    ("platform: 'TG^'", (), "platform", "", "TG"),
    # Brackets that stay open end where a line begins outside of them.
    ("args:\n  - {value: 1\n  - {buffer: {dtype: flo^", ("args", 1, "buffer"), "dtype", "", "flo"),
    ("args: [{value: 1\nexp^", (), None, "args", "exp"),
    ("args: [{value: 1\nexpect:\n  - {arg: ^", ("expect", 0), "arg", "", ""),
    ("groups: [1, {, ]}, [\nkernel: ^", (), "kernel", "groups", ""),
    # What closes nothing, and a bracket in quotes or a comment, opens nothing either.
    ("a: ]]}\nb: ^", (), "b", "a", ""),
    ("a: '{' # [\nb: ^", (), "b", "a", ""),
]


@pytest.mark.parametrize(("text", "steps", "key", "keys", "word"), PLACES)
def test_place(text, steps, key, keys, word):
    offset = text.index("^")
    text = text.replace("^", "", 1)
    found = path_at(text, offset)
    assert (found.steps, found.key, found.keys) == (steps, key, set(keys.split()))
    assert text[found.word.start : found.word.end] == word


@pytest.mark.parametrize("text", ["# com^ment", "groups: 1 # com^ment", "args: [ # {^"])
def test_a_comment_is_no_place(text):
    assert path_at(text.replace("^", ""), text.index("^")) is None


def test_any_text_has_places():
    draw = random.Random(5)
    words = [
        "a",
        ":",
        " ",
        "\n",
        "  ",
        "- ",
        "{",
        "}",
        "[",
        "]",
        ",",
        "#",
        "'",
        '"',
        "é",
        "𝄞",
        "\t",
        "\r",
        "&x",
        "|",
        "key: ",
    ]
    for _ in range(300):
        text = "".join(draw.choices(words, k=draw.randrange(40)))
        for offset in range(len(text) + 1):
            found = path_at(text, offset)
            assert found is None or found.word.start <= offset <= found.word.end <= len(text)
