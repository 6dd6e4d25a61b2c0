// An OpenCL source and the text that it was compiled to with -g: from each to the other.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('./shared.js');

const { file, run } = shared.tools(vscode);
let text;
let source;

const counts = async () => {
  const found = await run('vscode.executeInlayHintProvider', source.uri, new vscode.Range(0, 0, source.lineCount, 0));
  return found.map((hint) => [hint.position.line + 1, hint.label[0].value]);
};
const turn = (on) => vscode.workspace.getConfiguration('visa', source.uri).update('sourceLens', on, vscode.ConfigurationTarget.Workspace);

module.exports = {
  async 'an instruction leads to the source'() {
    text = await vscode.workspace.openTextDocument(file('compiled/axpy.visaasm'));
    await vscode.window.showTextDocument(text);
    const extension = vscode.extensions.getExtension('visa-lsp.visa-lsp');
    await shared.until('the server', () => extension.isActive && extension.exports.server.running);
    const [found] = await run('vscode.executeDefinitionProvider', text.uri, shared.at(text, 'cmp.lt', 1));
    assert.equal((found.targetUri ?? found.uri).path, file('compiled/axpy.cl').path);
    assert.equal((found.targetRange ?? found.range).start.line, 3);
    const [name] = await run('vscode.executeDefinitionProvider', text.uri, shared.at(text, 'P1 V0053', 4));
    assert.equal((name.targetUri ?? name.uri).path, text.uri.path);
  },
  async 'faults of a run are marked in text and source, until an edit'() {
    const { runner } = vscode.extensions.getExtension('visa-lsp.visa-lsp').exports;
    const short = { buffer: { dtype: 'float32', shape: [20] } };
    const quick = { args: [short, { buffer: { dtype: 'float32', shape: [40] } }, 2, 40] };
    const marks = (uri) => vscode.languages.getDiagnostics(uri).filter((found) => found.source === 'visa-lsp run');
    await runner.quick(text.uri, quick);
    const [read] = marks(text.uri);
    assert.match(read.message, /^reads bytes 80-83, element 20 of .*\nwork items: lanes 20 to 31: global /s);
    assert.match(text.lineAt(read.range.start.line).text.slice(read.range.start.character), /^gather4_scaled/);
    const cl = file('compiled/axpy.cl');
    assert.deepEqual(marks(cl).map((found) => [found.range.start.line, found.code]), marks(text.uri).map(() => [3, 'out-of-bounds']));
    await shared.tools(vscode).replace(text, '.version', ' .version');
    assert.deepEqual([marks(text.uri), marks(cl)], [[], []]);
    await run('undo');
    await runner.quick(text.uri, quick);
    assert.ok(marks(text.uri).length > 0);
    await runner.quick(text.uri, {}); // large enough
    assert.deepEqual(marks(text.uri), []);
  },
  async 'a setting turns on counts in the source, which lead back'() {
    source = await vscode.workspace.openTextDocument(file('compiled/axpy.cl'));
    assert.equal(source.languageId, 'opencl');
    await vscode.window.showTextDocument(source);
    assert.deepEqual(await counts(), []);
    const lenses = await run('vscode.executeCodeLensProvider', source.uri, 9);
    assert.deepEqual(lenses.map((lens) => [lens.range.start.line, lens.command.title]), ['Run', 'Prove', 'Debug', 'Show vISA', 'Compile for...'].map((title) => [1, title]));
    await turn(true);
    const found = await shared.until('counts', async () => {
      const all = await counts();
      return all.length > 0 && all;
    });
    assert.deepEqual(found, [
      [3, '7 vISA instructions'],
      [4, '23 vISA instructions'],
      [5, '1 vISA instruction'],
    ]);
    // What a click on the second does; VS Code may let go of a hint's own command while it gives the hints.
    assert.equal(await run('visa.showInstructions', source.uri, 3), 1);
  },
  async 'so does the command at the cursor'() {
    const editor = await vscode.window.showTextDocument(source);
    editor.selection = new vscode.Selection(2, 0, 2, 0);
    assert.equal(await run('visa.showInstructions'), 1);
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    assert.equal(await run('visa.showInstructions'), 0);
  },
  async 'a text that changes changes the counts'() {
    const changed = text.getText().replace(/LOC 5/g, 'LOC 3');
    await vscode.workspace.fs.writeFile(file('compiled/more.visaasm'), new TextEncoder().encode(changed));
    await shared.until('the count of both texts', async () => (await counts())[0]?.[1] === '15 vISA instructions');
    await vscode.workspace.fs.delete(file('compiled/more.visaasm'));
    await shared.until('the count of one', async () => (await counts())[0]?.[1] === '7 vISA instructions');
  },
  async 'the setting turns them off'() {
    await turn(undefined);
    await shared.until('no count', async () => (await counts()).length === 0);
  },
};
