from visa_lsp.ide.workspace import Settings, Workspace

TEXT = '.version 4.1\n.kernel "k"\nret (M1, 1)\n'


def test_a_document_is_known_while_it_is_open():
    workspace = Workspace()
    workspace.open("a", 1, TEXT)
    opened = workspace.get("a")
    assert opened is not None
    assert (1, TEXT) == (opened.version, opened.analysis.document.text)
    workspace.close("a")
    workspace.close("a")
    assert workspace.get("a") is None


def test_an_update_leaves_the_old_snapshot_as_it_was():
    workspace = Workspace()
    first = workspace.open("a", 1, TEXT)
    second = workspace.update("a", 2, first.analysis.document.edit(0, 0, "// x\n"))
    assert TEXT == first.analysis.document.text
    assert "// x\n" + TEXT == second.analysis.document.text
    assert workspace.get("a") is second


def test_settings_give_every_document_a_new_analysis():
    workspace = Workspace()
    before = workspace.open("a", 1, TEXT)
    assert workspace.configure(Settings("PVC"))
    after = workspace.get("a")
    assert after is not None
    assert after.analysis.platform is not None
    assert ("PVC", 1) == (after.analysis.platform.name, after.version)
    assert before.analysis.platform is None
    assert not workspace.configure(Settings("PVC"))
