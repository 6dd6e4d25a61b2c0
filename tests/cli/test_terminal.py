"""What a shell and a terminal get: colours, completions, the manual page, help."""

import contextlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from visa_lsp.app.visible_text import visible
from visa_lsp.cli.colours import ink_of
from visa_lsp.cli.main import COMMANDS, main

EXAMPLES = Path(__file__).parents[2] / "examples"
SGR = re.compile(r"\033\[[0-9;]*m")


@pytest.mark.parametrize(
    ("line", "coloured"),
    [
        ("run average.visaasm", "expected fault:"),
        ("why saxpy.visaasm --value y[37]", "#1"),
        ("read saxpy.visaasm", "if"),
        ("stats saxpy.visaasm", "needs up to 7 GRF rows"),
    ],
)
def test_reports_have_colours_on_demand_and_say_the_same(line, coloured, capsys, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("NO_COLOR", "1")
    main(line.split())
    plain = capsys.readouterr().out
    main([*line.split(), "--color", "always"])
    painted = capsys.readouterr().out
    assert SGR.sub("", painted) == plain
    assert re.search(rf"\033\[[0-9;]+m *{re.escape(coloured)}", painted)


def test_answers_of_proofs_have_colours(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = "k.visaasm:3: race refuted: two groups write y[0]\nk.visaasm: k: bounds: 2 proved, 1 unknown\n"
    assert ink_of("prove", "auto")(text) == text
    painted = visible(ink_of("prove", "always")(text))
    assert re.findall(r"\033\[1;3\dm(.*?)\033\[0m", painted) == ["refuted", "2 proved", "1 unknown"]


def test_files_get_no_colours(tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    assert main(["read", "saxpy.visaasm", "--color", "always", "-o", str(tmp_path / "k.txt")]) == 0
    assert "\033" not in (tmp_path / "k.txt").read_text()


def test_completions_exist_for_each_shell(printed):
    for shell in ("bash", "zsh", "fish"):
        script = printed("completions", shell)
        assert all(name in script for name in COMMANDS)
        assert "--max-errors" in script or "-l max-errors" in script
        assert "TGLLP" in script


# What is typed behind `visa-lsp`, and the word that completes it.
TRIES = {
    "ru": "run", "run saxpy.l": "saxpy.launch.yaml", "run --engine j": "jit", "check --platform DG": "DG2", "help exp": "explain",
}  # fmt: skip


def _complete_in_bash(script):
    lines = [f"source {script}"]
    for words in (line.split() for line in TRIES):
        before = words[-2] if len(words) > 1 else "visa-lsp"
        lines += [
            f"COMP_WORDS=(visa-lsp {' '.join(words)}); COMP_CWORD={len(words)}; COMPREPLY=()",
            f'_shtab_visa_lsp visa-lsp {words[-1]} {before}; echo "${{COMPREPLY[*]}}"',
        ]
    return subprocess.check_output(["bash", "-c", "\n".join(lines)], text=True, cwd=EXAMPLES).splitlines()


def _complete_in_fish(script):
    lines = [f"source {script}", *(f"complete -C 'visa-lsp {line}'" for line in TRIES)]
    command = ["fish", "-N", "-c", "\n".join(lines)]
    environment = {**os.environ, "HOME": str(script.parent), "XDG_CONFIG_HOME": str(script.parent)}
    answers = subprocess.check_output(command, text=True, cwd=EXAMPLES, env=environment)
    return [answer.partition("\t")[0] for answer in answers.splitlines()]


def _complete_in_zsh(script):
    """Type the lines on a terminal, because zsh completes nowhere else; a key writes each completed line to a file."""
    script.rename(script.with_name("_visa-lsp"))
    lines = script.with_name("lines")
    start = (
        f"fpath=({script.parent} $fpath); autoload -U compinit; compinit -u -D\n"
        f"record() {{ print -r -- $BUFFER >> {lines}; BUFFER= }}\n"
        "zle -N record; bindkey '^X' record; bindkey '^I' complete-word\n"
    )
    typed = "".join(f"visa-lsp {line}\t\x18" for line in TRIES)
    leader, follower = os.openpty()
    environment = {**os.environ, "TERM": "dumb"}
    with subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=follower, stdout=follower, stderr=follower, cwd=EXAMPLES, env=environment, start_new_session=True
    ):  # fmt: skip
        os.close(follower)
        os.write(leader, f"{start}{typed}\nexit\n".encode())
        with contextlib.suppress(OSError):  # at its end
            while os.read(leader, 4096):
                pass
    os.close(leader)
    return [line.split()[-1] for line in lines.read_text().splitlines()]


@pytest.mark.parametrize("complete", [_complete_in_bash, _complete_in_fish, _complete_in_zsh])
def test_a_shell_completes_commands_options_and_files(complete, capsys, tmp_path):
    shell = complete.__name__.rpartition("_")[2]
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    main(["completions", shell])
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    assert complete(script) == list(TRIES.values())


def test_the_manual_page_has_every_command_and_option(printed):
    page = printed("help", "--man")
    assert page.startswith(".TH VISA-LSP 1")
    assert re.findall(r"^\.SS visa\\-lsp (\S+)$", page, re.MULTILINE) == [name.replace("-", "\\-") for name in COMMANDS]
    assert "\\fB\\-\\-max\\-errors\\fR \\fIN\\fR" in page
    requests = {line.split()[0] for line in page.splitlines() if line.startswith(("'", "."))}
    assert requests == {".TH", ".SH", ".SS", ".TP", ".B", ".br"}


def test_help_describes_a_command(capsys):
    main(["help", "zeinfo", "emit"])
    assert capsys.readouterr().out.startswith("usage: visa-lsp zeinfo emit")
