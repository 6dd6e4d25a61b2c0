// A folder that has nothing but ze_info, also where it is called YAML, wakes the extension. Each test prints one JSON line.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('./shared.js');

const { until, words, code } = shared;
const { file, run, findings } = shared.tools(vscode);
let document;

const at = (text, inside = 0) => shared.at(document, text, inside);

const tests = {
  async 'ze_info wakes the extension'() {
    const extension = vscode.extensions.getExtension('visa-lsp.visa-lsp');
    await until('the extension, which nobody asked for', () => extension.isActive);
    await until('the server', () => extension.exports.server.running);
  },
  async 'findings in a .ze_info file'() {
    const wrong = await vscode.workspace.openTextDocument(file('wrong.ze_info'));
    assert.equal(wrong.languageId, 'ze_info');
    assert.deepEqual((await findings(wrong.uri)).map(code), ['V702']);
  },
  async 'hover on a key'() {
    document = await vscode.workspace.openTextDocument(file('mandelbrot.zeinfo.yaml'));
    await vscode.window.showTextDocument(document);
    assert.equal(document.languageId, 'yaml');
    const found = await until('a hover', async () => {
      const hovers = await run('vscode.executeHoverProvider', document.uri, at('grf_count', 2));
      return hovers.length > 0 && hovers;
    });
    assert.match(words(found), /grf_count.*ExecutionEnv/s);
    assert.match(words(found), /Required/);
  },
};

exports.run = shared.runner(tests);
