// What the tests inside the extension host have in common. `vscode` is handed in: it is another module for each extension.

const assert = require('node:assert');

/** Looks until there is something, and gives it. */
async function until(what, look, seconds = 90) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await look();
    if (value) {
      return value;
    }
    assert.ok(Date.now() < end, `waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

exports.until = until;
exports.words = (hovers) => hovers.flatMap((h) => h.contents.map((c) => c.value ?? c)).join('\n');
exports.code = (finding) => finding.code?.value ?? finding.code;
exports.at = (document, text, inside = 0) => document.positionAt(document.getText().indexOf(text) + inside);

exports.tools = (vscode) => ({
  file: (name) => vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, name),
  run: (command, ...args) => vscode.commands.executeCommand(command, ...args),
  replace: async (document, from, to) => {
    const edit = new vscode.WorkspaceEdit();
    const start = exports.at(document, from);
    edit.replace(document.uri, new vscode.Range(start, start.translate(0, from.length)), to);
    assert.ok(await vscode.workspace.applyEdit(edit));
  },
  findings: (uri, what = 'a finding') =>
    until(what, () => {
      const all = vscode.languages.getDiagnostics(uri);
      return all.length > 0 && all;
    }),
});

/** The entry of a test folder: each test prints one JSON line. */
exports.runner = (tests) => async () => {
  let failed = 0;
  for (const [name, work] of Object.entries(tests)) {
    const start = Date.now();
    try {
      await work();
      console.log(JSON.stringify({ test: name, ok: true, seconds: (Date.now() - start) / 1000 }));
    } catch (error) {
      failed++;
      console.log(JSON.stringify({ test: name, ok: false, error: String(error.stack).slice(0, 800) }));
    }
  }
  if (failed > 0) {
    throw new Error(`${failed} failed`);
  }
};
