// vISA in the strings of OpenCL and C++, without a server of those languages and with one: findings, what both say, a block opened as
// a text of its own and saved back, a block run, formatting.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('./shared.js');

const { file, run, findings } = shared.tools(vscode);
const HOSTS = ['kernel.cl', 'kernel.cpp'];
const documents = {};
let second = [];

const open = async (name) => {
  documents[name] = await vscode.workspace.openTextDocument(file(`hosts/${name}`));
  return vscode.window.showTextDocument(documents[name], vscode.ViewColumn.One);
};
const hover = async (document, words) => shared.words(await run('vscode.executeHoverProvider', document.uri, shared.at(document, words, 1)));
const lenses = async (document) => (await run('vscode.executeCodeLensProvider', document.uri)).filter((l) => l.command?.title === 'Open as vISA');

/** What a server of C++ and OpenCL would be to the editor: it answers everywhere, also inside of strings. */
function secondServer() {
  const languages = [{ language: 'cpp' }, { language: 'opencl' }];
  const place = new vscode.Range(0, 0, 0, 1);
  const said = vscode.languages.createDiagnosticCollection('host');
  HOSTS.forEach((name) => said.set(file(`hosts/${name}`), [new vscode.Diagnostic(place, 'said by the server of the language')]));
  return [
    said,
    vscode.languages.registerHoverProvider(languages, { provideHover: () => new vscode.Hover('a word of the host language') }),
    vscode.languages.registerDocumentFormattingEditProvider(languages, { provideDocumentFormattingEdits: () => [] }),
  ];
}

async function eachAnswers(alone) {
  for (const name of HOSTS) {
    await open(name);
    const document = documents[name];
    const found = await shared.until('our finding', () => {
      const ours = vscode.languages.getDiagnostics(document.uri).filter((d) => shared.code(d) === 'V101');
      return ours.length > 0 && ours;
    });
    assert.equal(found.length, 1);
    assert.equal(document.getText(found[0].range), 'nope');
    assert.equal(vscode.languages.getDiagnostics(document.uri).length, alone ? 1 : 2);
    const [inside, outside] = [await hover(document, 'mul (M1'), await hover(document, 'value;')];
    assert.match(inside, /Multiply/);
    assert.equal(/host language/.test(inside), !alone);
    assert.equal(outside, alone ? '' : 'a word of the host language');
  }
}

module.exports = {
  async 'alone on the language'() {
    await vscode.workspace.getConfiguration('visa').update('embedded.enabled', true, vscode.ConfigurationTarget.Workspace);
    const editor = await open('kernel.cpp');
    const extension = vscode.extensions.getExtension('visa-lsp.visa-lsp');
    await extension.activate();
    await shared.until('the server', () => extension.exports.server.running);
    assert.equal(editor.document.languageId, 'cpp');
    await eachAnswers(true);
  },
  async 'beside another server of the language'() {
    second = secondServer();
    await eachAnswers(false);
  },
  async 'a document is not formatted by two'() {
    const edits = await run('vscode.executeFormatDocumentProvider', documents['kernel.cpp'].uri, { tabSize: 2, insertSpaces: true });
    assert.ok(!edits || edits.length === 0);
  },
  async 'a block is formatted by its action'() {
    const document = documents['kernel.cpp'];
    const at = shared.at(document, 'mul (M1');
    const actions = await run('vscode.executeCodeActionProvider', document.uri, new vscode.Range(at, at));
    const format = actions.find((a) => a.title === 'Format this vISA block');
    assert.ok(format, actions.map((a) => a.title).join(', '));
    assert.ok(await vscode.workspace.applyEdit(format.edit));
    assert.match(document.getText(), /"mul \(M1, 16\) %0\(0,0\)<1> %0\(0,0\)<1;1,0> %1/);
  },
  async 'a block is opened from its lens and saved back'() {
    for (const name of HOSTS) {
      await open(name);
      const document = documents[name];
      const [lens] = await shared.until('a lens', async () => {
        const all = await lenses(document);
        return all.length > 0 && all;
      });
      await run(lens.command.command, ...lens.command.arguments);
      const shown = vscode.window.activeTextEditor.document;
      assert.equal(shown.languageId, 'visa');
      assert.match(shown.uri.toString(), /^visa-block:/);
      assert.match(shown.getText(), /\.decl value v_type=G type=f num_elts=\d+ align=GRF {2}\/\/ %0 "\+rw"\(value\)/);
      const [found] = await findings(shown.uri);
      const edit = new vscode.WorkspaceEdit();
      edit.replace(shown.uri, found.range, 'value');
      edit.insert(shown.uri, shown.lineAt(found.range.start.line + 1).range.start, '// "done"\n');
      assert.ok(await vscode.workspace.applyEdit(edit));
      assert.ok(await shown.save());
      await shared.until('the host', () => document.getText().includes('mov (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0>\\n"\n      "// \\"done\\"\\n"'));
      assert.ok(document.isDirty);
      assert.ok(!shown.isDirty);
      await shared.until('no finding of ours', () => vscode.languages.getDiagnostics(document.uri).length === 1);
    }
  },
  async 'an edit of the host is shown in the block'() {
    const document = documents['kernel.cpp'];
    const shown = vscode.workspace.textDocuments.find((d) => d.uri.scheme === 'visa-block' && d.uri.path.includes('cpp'));
    const edit = new vscode.WorkspaceEdit();
    const start = shared.at(document, 'done');
    edit.replace(document.uri, new vscode.Range(start, start.translate(0, 4)), 'seen');
    assert.ok(await vscode.workspace.applyEdit(edit));
    await shared.until('the change', () => shown.getText().includes('// "seen"'));
  },
  async 'a block is run from its lens'() {
    const { uri } = documents['kernel.cpp'];
    const lens = (await run('vscode.executeCodeLensProvider', uri)).find((l) => l.command?.title === 'Run this block');
    const report = await run(lens.command.command, ...lens.command.arguments);
    assert.ok(report.ok, report.error);
    const [buffer] = report.buffers;
    assert.deepEqual([buffer.arg, buffer.shape, buffer.written], ['value_buffer', [16], true]);
    assert.deepEqual(buffer.head.slice(0, 4), [0, 1, 4, 9]);
    const shown = vscode.workspace.textDocuments.find((d) => d.uri.path.endsWith('kernel.cpp.1.run.visaasm'));
    assert.match(shown.getText(), /\.input value_buffer offset=64 size=4/);
  },
  async 'the compiler is asked'() {
    const { uri } = documents['kernel.cl'];
    const answer = await run('visa.compilerCheck', uri);
    assert.ok(answer.ok || /ocloc/.test(answer.error), answer.error);
    if (answer.ok && !answer.compiled) {
      assert.ok(vscode.languages.getDiagnostics(uri).some((d) => d.source === 'ocloc'));
    }
  },
  async 'what a string cannot say is refused'() {
    const shown = vscode.workspace.textDocuments.find((d) => d.uri.scheme === 'visa-block' && d.uri.path.endsWith('cpp.1.visaasm'));
    const before = documents['kernel.cpp'].getText();
    const edit = new vscode.WorkspaceEdit();
    edit.delete(shown.uri, new vscode.Range(0, 0, shown.lineCount, 0));
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.ok(!(await shown.save().then((ok) => ok, () => false)));
    assert.equal(documents['kernel.cpp'].getText(), before);
    second.forEach((one) => one.dispose());
  },
};
