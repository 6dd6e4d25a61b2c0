"""The capabilities that follow from the handlers alone, as JSON values; a test compares them with the handlers.

Loads nothing. ``capabilities`` adds options to some of them.
"""

# fmt: off
OFFERED = {
    "callHierarchyProvider": True,
    "codeActionProvider": True,
    "codeLensProvider": {"resolveProvider": True},
    "completionProvider": {},
    "declarationProvider": True,
    "definitionProvider": True,
    "diagnosticProvider": {"interFileDependencies": False, "workspaceDiagnostics": True},
    "documentFormattingProvider": True,
    "documentHighlightProvider": True,
    "documentLinkProvider": {"resolveProvider": False},
    "documentRangeFormattingProvider": True,
    "documentSymbolProvider": True,
    "executeCommandProvider": {"commands": [
        "visa.assemble", "visa.disassemble", "visa.zebin", "visa.diff", "visa.read", "visa.run",
        "visa.why", "visa.stats", "visa.runAll", "visa.gen", "visa.compile", "visa.checkWithCompiler",
        "visa.prove", "visa.showControlFlow", "visa.showZeInfo", "visa.explain", "visa.words",
        "visa.platformOf", "visa.launchTemplate", "visa.instructionsOf", "visa.showReferences",
        "visa.openBlock", "visa.runBlock", "visa.writeBlock",
    ]},
    "foldingRangeProvider": True,
    "hoverProvider": True,
    "implementationProvider": True,
    "inlayHintProvider": {"resolveProvider": False},
    "inlineValueProvider": True,
    "linkedEditingRangeProvider": True,
    "referencesProvider": True,
    "renameProvider": True,
    "selectionRangeProvider": True,
    "signatureHelpProvider": {},
    "textDocumentSync": {"openClose": True, "change": 2, "save": True},
    "typeDefinitionProvider": True,
    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}, "fileOperations": {}},
    "workspaceSymbolProvider": {"resolveProvider": False},
}
# fmt: on
