"""What the server offers because it has the handlers; made by ``python -m visa_lsp.generate``. Loads nothing.

Options that no handler tells stand in ``capabilities``, which lays them over these.
"""

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
    "executeCommandProvider": {
        "commands": [
            "visa.assemble",
            "visa.disassemble",
            "visa.zebin",
            "visa.run",
            "visa.runAll",
            "visa.showControlFlow",
            "visa.showZeInfo",
            "visa.explain",
            "visa.words",
            "visa.launchTemplate",
            "visa.showReferences",
            "visa.instructionsOf",
        ],
    },
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
