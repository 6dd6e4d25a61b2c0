// Launch files are a language of their own: their findings, a quick fix, the schema for other extensions.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('./shared.js');

const { until, code } = shared;
const { file, run, findings, ...tools } = shared.tools(vscode);
const LAUNCH = 'mandelbrot.launch.yaml';
let document;

const at = (text, inside = 0) => shared.at(document, text, inside);
const replace = (from, to) => tools.replace(document, from, to);
const clean = () => until('no finding', () => vscode.languages.getDiagnostics(document.uri).length === 0);

module.exports = {
  async 'a launch file has a language of its own'() {
    document = await vscode.workspace.openTextDocument(file(LAUNCH));
    await vscode.window.showTextDocument(document);
    assert.equal(document.languageId, 'visa-launch');
    await until('the server', () => vscode.extensions.getExtension('visa-lsp.visa-lsp').exports?.server.running);
  },
  async 'findings, and a quick fix for a misspelt key'() {
    await replace('groups:', 'group:');
    const [found] = await findings(document.uri);
    assert.equal(code(found), 'V801');
    assert.deepEqual([found.range.start.line, found.range.end.character], [at('group:').line, 5]);
    const fixes = await run('vscode.executeCodeActionProvider', document.uri, found.range);
    const fix = fixes.find((action) => action.title === "change to 'groups'");
    assert.ok(fix, fixes.map((action) => action.title).join(', '));
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    await clean();
    assert.ok(document.getText().includes('\ngroups: ['));
  },
  async 'the schema is there for the YAML extension'() {
    const extension = vscode.extensions.getExtension('visa-lsp.visa-lsp');
    const [said] = extension.packageJSON.contributes.yamlValidation;
    const url = vscode.Uri.joinPath(extension.extensionUri, said.url);
    const schema = JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(url)));
    assert.ok(schema.properties.groups && schema.definitions.Argument);
  },
};
