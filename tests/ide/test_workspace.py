from visa_lsp.ide.workspace import UserSettings, Workspace, read_settings

TEXT = '.version 4.1\n.kernel "k"\nret (M1, 1)\n'


def test_a_document_is_known_while_it_is_open():
    workspace = Workspace()
    workspace.open("a", 1, TEXT)
    opened = workspace.get("a")
    assert opened is not None
    assert (opened.version, opened.analysis.document.text) == (1, TEXT)
    workspace.close("a")
    workspace.close("a")
    assert workspace.get("a") is None


def test_an_update_leaves_the_old_snapshot_as_it_was():
    workspace = Workspace()
    first = workspace.open("a", 1, TEXT)
    second = workspace.update("a", 2, first.analysis.document.edit(0, 0, "// x\n"))
    assert first.analysis.document.text == TEXT
    assert second.analysis.document.text == "// x\n" + TEXT
    assert workspace.get("a") is second


def test_settings_give_every_document_a_new_analysis():
    workspace = Workspace()
    before = workspace.open("a", 1, TEXT)
    assert workspace.configure(UserSettings("DG2"))
    after = workspace.get("a")
    assert after is not None
    assert after.analysis.platform is not None
    assert (after.analysis.platform.name, after.version) == ("DG2", 1)
    assert before.analysis.platform is None
    assert not workspace.configure(UserSettings("DG2"))


def test_settings_are_read_with_and_without_their_section():
    settings, _ = read_settings({"visa": {"platform": "DG2"}})
    assert settings == UserSettings("DG2") == read_settings({"platform": "DG2"})[0]
    for value in (None, 7, {"visa": None}, {"visa": {"platform": 7}}, {"platform": "NONE"}, []):
        assert read_settings(value)[0] == UserSettings()
