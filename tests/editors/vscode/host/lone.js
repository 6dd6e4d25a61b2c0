// A window without a folder, inside the extension host of VS Code: the file that is open wakes the extension. Each test prints
// one JSON line.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('./shared.js');

const { findings } = shared.tools(vscode);
const extension = () => vscode.extensions.getExtension('visa-lsp.visa-lsp');

const tests = {
  async 'a lone .ze_info file wakes the extension'() {
    assert.equal(vscode.workspace.workspaceFolders, undefined);
    const editor = await shared.until('the file', () => vscode.window.activeTextEditor);
    assert.equal(editor.document.languageId, 'ze_info');
    await shared.until('the extension, which nobody asked for', () => extension().isActive);
    await shared.until('the server', () => extension().exports.server.running);
    assert.deepEqual((await findings(editor.document.uri)).map(shared.code), ['V702']);
  },
};

exports.run = shared.runner(tests);
