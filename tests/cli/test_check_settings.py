"""Settings files: which one holds, what it may say, and how the command line is laid over it."""

import pytest

pytestmark = pytest.mark.usefixtures("words")


def put(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_nearest_file_holds_and_own_file_goes_first(words, check):
    put(
        words,
        {
            "pyproject.toml": "[tool.visa-lsp]\nignore = ['V901']\n",
            "a.visaasm": "BAD ODD\n",
            "sub/pyproject.toml": "[tool.other]\n",
            "sub/b.visaasm": "BAD ODD\n",
            "own/visa-lsp.toml": "ignore = ['V902']\n",
            "own/pyproject.toml": "[tool.visa-lsp]\nignore = ['ALL']\n",
            "own/deep/c.visaasm": "BAD ODD\n",
        },
    )
    found = [(f["path"], f["code"]) for f in check(".")[1]]
    assert found == [("./a.visaasm", "V902"), ("./own/deep/c.visaasm", "V901"), ("./sub/b.visaasm", "V902")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("igore = []", "unknown key 'igore'; did you mean 'ignore'?"),
        ("zzz = 1", "known keys: platform"),
        ("ignore = 'V901'", "a list of selectors"),
        ("ignore = ['V999']", "unknown rule 'V999'"),
        ("max-warnings = true", "a whole number"),
        ("exit-zero = 1", "true or false"),
        ("platform = 'TGLP'", "did you mean"),
        ("platform = 3", "the name of a platform"),
        ("format = 'sarf'", "did you mean 'sarif'?"),
        ("per-file-ignores = []", "a table"),
        ("ignore = [", "visa-lsp.toml: "),
    ],
)
def test_mistakes_in_a_file_are_one_line_and_status_2(words, run, text, message):
    put(words, {"visa-lsp.toml": text, "a.visaasm": "BAD\n"})
    status, out, err = run("check", "a.visaasm")
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("settings", "options", "status"),
    [
        ("exit-zero = true", [], 0),
        ("max-warnings = 1", [], 0),
        ("max-warnings = 1", ["--max-warnings", "0"], 1),
        ("max-warnings = 1\nerror-on-warning = true", [], 1),
        ("error-on-warning = true", ["--max-warnings", "1"], 0),
        ("select = ['V901']", [], 0),
        ("select = ['V901']", ["--select", "V902"], 1),
        ("ignore = ['V902']", ["--select", "V902"], 1),
        ("ignore = ['V902']", ["--ignore", "V901"], 0),
        ("exclude = ['sub']", [], 0),
        ("exclude = ['sub/*.visaasm']", [], 0),
        ("exclude = ['other/**']", [], 1),
        ("[per-file-ignores]\n'sub/**' = ['V902']", [], 0),
        ("[per-file-ignores]\n'*.isaasm' = ['V902']", [], 1),
    ],
)
def test_command_line_lies_over_settings(words, run, settings, options, status):
    put(words, {"visa-lsp.toml": settings, "sub/a.visaasm": "ODD\n"})
    assert status == run("check", *options, "sub")[0]


def test_settings_hold_where_the_file_is_not_where_we_are(words, run, monkeypatch):
    put(words, {"p/pyproject.toml": "[tool.visa-lsp]\nformat = 'json'\nignore = ['ALL']\n", "p/a.visaasm": "BAD\n"})
    (words / "elsewhere").mkdir()
    monkeypatch.chdir(words / "elsewhere")
    assert run("check", "../p/a.visaasm")[:2] == (0, "[]\n")


def test_named_files_are_never_excluded(words, run):
    put(words, {"visa-lsp.toml": "exclude = ['*.visaasm']", "a.visaasm": "BAD\n"})
    assert run("check", "a.visaasm")[0] == 1


def test_baseline_of_settings_is_beside_them(words, run):
    put(words, {"p/visa-lsp.toml": "baseline = 'known.json'", "p/a.visaasm": "BAD\n"})
    assert run("check", "--write-baseline", "p/known.json", "p")[0] == 0
    assert run("check", "p")[0] == 0


def test_show_settings(printed, words):
    put(words, {"visa-lsp.toml": "platform = 'tgl' \n".replace("tgl", "dg1") + "[per-file-ignores]\n'a*' = ['V9']\n"})
    out = printed("check", "--show-settings", "--ignore", "V901")
    assert "visa-lsp.toml\n" in out
    assert 'platform = "TGLLP"  # from the file\n' in out
    assert 'ignore = ["V901"]\n' in out
    assert '[per-file-ignores]\n"a*" = ["V9"]\n' in out


def test_platform_reaches_the_analysis(words, run, monkeypatch):
    seen = []
    monkeypatch.setattr("visa_lsp.checks.run.run_checks", lambda ctx: seen.append(ctx.platform) or [])
    put(words, {"visa-lsp.toml": "platform = 'DG2'", "a.visaasm": "", "none/visa-lsp.toml": "", "none/b.visaasm": ""})
    run("check", "a.visaasm", "none/b.visaasm")
    run("check", "--platform", "pvc", "a.visaasm")
    assert [str(p) for p in seen] == ["DG2", "None", "PVCXT"]
