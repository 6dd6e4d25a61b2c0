// Launch files in VS Code, inside its extension host: findings against the kernel's ze_info, completion of keys and arguments,
// hover, links and a quick fix. Each test prints one JSON line.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('../host_shared.js');

const { until, words, code } = shared;
const { file, run, findings, ...tools } = shared.tools(vscode);
const LAUNCH = 'mandelbrot.launch.yaml';
let document;

const at = (text, inside = 0) => shared.at(document, text, inside);
const replace = (from, to) => tools.replace(document, from, to);
const write = (text) => {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
  return vscode.workspace.applyEdit(edit);
};
const clean = () => until('no finding', () => vscode.languages.getDiagnostics(document.uri).length === 0);
const labels = (list) => list.items.map((item) => item.label.label ?? item.label);

/** What is proposed behind a text, once the server has proposed something of a label. */
async function proposed(behind, label) {
  return until(`the proposal ${label}`, async () => {
    const list = await run('vscode.executeCompletionItemProvider', document.uri, at(behind, behind.length));
    return labels(list).includes(label) && list.items;
  });
}

const tests = {
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
  async 'an argument that does not fit its kernel'() {
    await replace('{value: 36}', '{local: 36}');
    const [found] = await findings(document.uri);
    assert.equal(code(found), 'V812');
    assert.match(found.message, /argument 1 \(w: int\) is passed by value/);
    assert.equal(found.range.start.line, at('{local: 36}').line);
    await replace('{local: 36}', '{value: 36}');
    await clean();
  },
  async 'completion of keys, words and arguments'() {
    const before = document.getText();
    await write(before.replace('args:', 'glo\nargs:'));
    const keys = await proposed('\nglo', 'global_offset');
    assert.ok(!keys.some((item) => item.label === 'groups'), 'a key that is there');
    await write(before);
    const types = await proposed('{dtype: ', 'float16');
    assert.ok(types.some((item) => item.label === 'uint8'));
    await write(before.replace('  - {value: 20}', '  - '));
    const offered = (await proposed('{value: 36} # w\n  - ', '{value: 1}')).find((item) => item.label === '{value: 1}');
    assert.equal(offered.detail, '2 h: int');
    await write(before);
    await clean();
  },
  async 'hover on keys and arguments'() {
    const key = words(await run('vscode.executeHoverProvider', document.uri, at('local_size', 3)));
    assert.match(key, /\*\*local_size\*\* \(LaunchFile\).*Type: one to three numbers/s);
    const argument = words(await run('vscode.executeHoverProvider', document.uri, at('{buffer:', 3)));
    assert.match(argument, /Argument 0 `img` of `mandel`: uchar4\*, global/);
  },
  async 'links and definition'() {
    const links = await run('vscode.executeLinkProvider', document.uri);
    const names = links.map((link) => link.target.path.split('/').pop());
    assert.deepEqual(names.sort(), ['mandelbrot.npy', 'mandelbrot.visaasm', 'mandelbrot.zeinfo.yaml']);
    const [place] = await run('vscode.executeDefinitionProvider', document.uri, at('kernel: mandel', 10));
    assert.equal((place.targetUri ?? place.uri).path.split('/').pop(), 'mandelbrot.visaasm');
  },
  async 'the schema is there for the YAML extension'() {
    const extension = vscode.extensions.getExtension('visa-lsp.visa-lsp');
    const [said] = extension.packageJSON.contributes.yamlValidation;
    const url = vscode.Uri.joinPath(extension.extensionUri, said.url);
    const schema = JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(url)));
    assert.ok(schema.properties.groups && schema.definitions.Argument);
  },
};

exports.run = shared.runner(tests);
