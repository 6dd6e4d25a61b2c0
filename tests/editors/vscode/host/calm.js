// How a dump of a compiler looks when it is opened: what is folded, what stands between the lines, what is counted.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('./shared.js');

const { until } = shared;
const { file, run } = shared.tools(vscode);
const uri = file('dump/mandelbrot.visaasm');
let api;
let document;
let editor;

const at = (text, inside = 0) => shared.at(document, text, inside);
const line = (text) => at(text).line;
// A line that is folded away lies between two ranges of lines that are to be seen.
const isSeen = (wanted) => editor.visibleRanges.some((range) => range.start.line <= wanted && wanted <= range.end.line);
const isFolded = (wanted) => {
  const [first, last] = [editor.visibleRanges[0], editor.visibleRanges.at(-1)];
  return first.start.line < wanted && wanted < last.end.line && !isSeen(wanted);
};
const hints = async (from, to) => {
  const found = await run('vscode.executeInlayHintProvider', uri, new vscode.Range(from, 0, to, 0));
  return found.filter((hint) => hint.kind === vscode.InlayHintKind.Type).map((hint) => hint.position.line);
};

module.exports = {
  async 'the header is folded at the first opening'() {
    document = await vscode.workspace.openTextDocument(uri);
    editor = await vscode.window.showTextDocument(document);
    api = await vscode.extensions.getExtension('visa-lsp.visa-lsp').activate();
    await until('the server', () => api.server.running);
    await until('folds', () => isFolded(line('// .decl V5 ')) && isFolded(line('.decl V0050 ')));
    assert.ok(isSeen(line('/// VISA Predefined')) && isSeen(line('.decl V0032 ')) && isSeen(line('.input V0044')));
  },
  async 'what was unfolded stays unfolded'() {
    const start = line('.decl V0032 ');
    editor.selection = new vscode.Selection(start, 0, start, 0);
    await run('editor.unfold', { selectionLines: [start] });
    await until('the declarations', () => isSeen(start + 1));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(document.lineCount, 0), '// the end\n');
    await vscode.workspace.applyEdit(edit);
    const other = await vscode.workspace.openTextDocument(file('dump/other.visaasm'));
    await vscode.window.showTextDocument(other);
    editor = await vscode.window.showTextDocument(document);
    // The editor asks for ranges when it shows a text again; what it does with them takes it no time that one sees.
    await run('vscode.executeFoldingRangeProvider', uri);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.ok(isSeen(start + 1));
    assert.ok(isFolded(line('// .decl V5 ')));
  },
  async 'a text that is opened at a declaration shows it'() {
    document = await vscode.workspace.openTextDocument(file('dump/third.visaasm'));
    const place = at('.decl V0060 ');
    editor = await vscode.window.showTextDocument(document, { selection: new vscode.Range(place, place) });
    await until('the comments folded', async () => {
      await run('revealLine', { lineNumber: 0, at: 'top' });
      return isFolded(line('// .decl V5 '));
    });
    assert.ok(isSeen(line('.decl V0032 ') + 1), JSON.stringify(editor.visibleRanges));
  },
  async 'types stand nowhere, or on the line of the cursor'() {
    document = await vscode.workspace.openTextDocument(uri);
    editor = await vscode.window.showTextDocument(document);
    const settings = vscode.workspace.getConfiguration('visa', uri);
    const [first, last] = [line('_main_0:'), line('_0_016:')];
    assert.deepEqual(await hints(first, last), []);
    await settings.update('inlayHints', { types: 'cursorLine' }, vscode.ConfigurationTarget.Workspace);
    for (const text of ['mul (M1_NM, 1) V0048', 'mov (M1, 16) V0049']) {
      editor.selection = new vscode.Selection(at(text), at(text));
      await until('types of that line', async () => {
        const lines = await hints(first, last);
        return lines.length > 0 && lines.every((found) => found === line(text));
      });
    }
    await settings.update('inlayHints', { types: 'on' }, vscode.ConfigurationTarget.Workspace);
    await until('types of all lines', async () => new Set(await hints(first, last)).size > 20);
    await settings.update('inlayHints', undefined, vscode.ConfigurationTarget.Workspace);
    await until('no types', async () => (await hints(first, last)).length === 0);
  },
  async 'nothing is counted that is not there, and no name is a link'() {
    const lenses = await run('vscode.executeCodeLensProvider', uri, 20);
    const titles = lenses.map((lens) => lens.command?.title);
    assert.ok(titles.includes('Run'), titles.join(', '));
    assert.ok(!titles.some((title) => /reference/.test(title)), titles.join(', '));
    assert.deepEqual(await run('vscode.executeLinkProvider', uri), []);
  },
  async 'a native dump has its figures and leads to its text'() {
    const dump = await vscode.workspace.openTextDocument(file('dump/mandelbrot.asm'));
    await vscode.window.showTextDocument(dump);
    const language = () => vscode.workspace.textDocuments.find((one) => one.uri.path === dump.uri.path)?.languageId;
    await until('its language', () => language() === 'gen-asm');
    const titles = async () => (await run('vscode.executeCodeLensProvider', dump.uri, 9)).map((lens) => lens.command.title);
    await until('lenses', async () => (await titles()).length > 1);
    assert.deepEqual(await titles(), ['mandel on TGLLP: 1 instruction, SIMD16, no spill, 0 sends, 0 syncs, TRIVIAL_RA', 'Open vISA']);
    const [, link] = await run('vscode.executeCodeLensProvider', dump.uri, 9);
    await run(link.command.command, ...link.command.arguments);
    await until('the text', () => vscode.window.activeTextEditor.document.uri.path.endsWith('dump/mandelbrot.visaasm'));
  },
};
