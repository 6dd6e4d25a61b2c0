"""Sources of captures open no file outside of the capture, however they ask for it."""

import subprocess
from pathlib import Path

import pytest

from visa_lsp.app.captures.file_access import refuse_file_access
from visa_lsp.app.errors import UserError
from visa_lsp.toolchain.confine import can_confine, confine_command

REFUSED = {
    '#include "/etc/passwd"': "includes a file",
    "#include </etc/passwd>": "includes a file",
    '#include "../../etc/passwd"': "includes a file",
    '#inc\\\nlude "/etc/passwd"': "includes a file",
    '#inc\\ \t\r\nlude "/etc/passwd"': "includes a file",
    '%:include "/etc/passwd"': "includes a file",
    '??=include "/etc/passwd"': "includes a file",
    '#inc??/\nlude "/etc/passwd"': "unknown directive",
    '#import "/etc/passwd"': "includes a file",
    '#include_next "/etc/passwd"': "includes a file",
    '#embed "/etc/passwd"': "includes a file",
    '#define F "/etc/passwd"\n#include F': "includes a file",
    '/* a */ # /* b */ include /* c */ "/etc/passwd"': "includes a file",
    '#\u00a0include "/etc/passwd"': "includes a file",
    'int x;\r#include "/etc/passwd"\r': "includes a file",
    '#define S "/*"\n#include "/etc/passwd"': "includes a file",
    '#define S \'"\'\n#include "/etc/passwd" //"': "includes a file",
    '#if 0\n#include "/etc/passwd"\n#endif': "includes a file",
    '#if __has_include("/etc/passwd")\n#endif': "tests for a file",
    '#define H __has_include\n#if H("/etc/passwd")\n#endif': "tests for a file",
    "#define C(a, b) a##b\n#define D(a, b) C(a, b)\n#if D(__has_, include)(F)\n#endif": "pastes tokens",
    '#pragma GCC dependency "/etc/passwd"': "pragma",
    '_Pragma("GCC dependency \\"/etc/passwd\\"")': "pragma",
    "#\\u0069nclude": "unknown directive",
    'constant char *s = R"(")"; ': "raw string",
}
TAKEN = [
    '// #include "/etc/passwd"\n/* \n#include "/etc/passwd"\n*/\n// \\\n#include "/etc/passwd"',
    '#include "util.h"\n#include <cl/util.h>',
    'constant char *s = "#include </etc/passwd>";',
    "#ifdef __has_include\n#endif\n#if defined(__has_include) && __has_include(<a.h>)\n#endif",
    '#define CAT(a, b) a##b\n#if __OPENCL_VERSION__ >= 200\n#elif 1\n#else\n#endif\n#\n#line 3 "x.cl"\n# 4 "x.cl"',
    '#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#define UNROLL _Pragma("unroll")\n#error no\n#warning "no"\n#undef X',
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_a_source_that_may_open_another_file_is_refused(text):
    with pytest.raises(UserError, match=REFUSED[text]):
        refuse_file_access("k.cl", f"{text}\nkernel void k() {{}}\n")


@pytest.mark.parametrize("text", TAKEN)
def test_other_directives_and_comments_are_taken(text):
    refuse_file_access("k.cl", text)


def test_definitions_of_the_options_count():
    text = '#if P(__has_, include)("/etc/passwd")\n#endif'
    refuse_file_access("k.cl", text, '-cl-std=CL2.0 -DN=4 -D WORDS="a b"')
    with pytest.raises(UserError, match="pastes tokens"):
        refuse_file_access("k.cl", text, '-D"P(a,b)=a##b"')
    with pytest.raises(UserError, match="tests for a file"):
        refuse_file_access("k.cl", "", '-DN -DX="__has_include" -g')


def test_a_confined_program_opens_only_its_own_files(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("s")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "own").write_text("o")
    line = 'cat own; cat "$1"; echo w > made; cat made; echo w > ../other'
    command = confine_command(["/bin/sh", "-c", line, "sh", str(secret)], folder)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout == ("ow\n" if can_confine() else "osw\n")
    assert Path(tmp_path / "other").exists() is not can_confine()
    assert confine_command(["/bin/true"], folder, [secret])[-1] == "/bin/true"
