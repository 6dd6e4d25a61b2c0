// How a dump of a compiler looks when it is opened: what is folded, what stands between the lines, what the outline has.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('../host_shared.js');

const { until, words } = shared;
const { file, run } = shared.tools(vscode);
const uri = file('mandelbrot.visaasm');
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

const tests = {
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
    const other = await vscode.workspace.openTextDocument(file('other.visaasm'));
    await vscode.window.showTextDocument(other);
    editor = await vscode.window.showTextDocument(document);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    assert.ok(isSeen(start + 1));
    assert.ok(isFolded(line('// .decl V5 ')));
  },
  async 'a text that is opened at a declaration shows it'() {
    document = await vscode.workspace.openTextDocument(file('third.visaasm'));
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
  async 'groups of the outline'() {
    const [kernel] = await run('vscode.executeDocumentSymbolProvider', uri);
    const groups = new Map(kernel.children.map((group) => [group.name, group]));
    assert.deepEqual([...groups.keys()].sort(), ['Blocks', 'Inputs', 'Variables']);
    for (const group of groups.values()) {
      assert.equal(group.detail, String(group.children.length));
      assert.ok(kernel.range.contains(group.range) && group.range.contains(group.selectionRange));
      assert.ok(group.children.every((child) => group.range.contains(child.range)));
    }
    const inside = at('cmp.gt (M1_NM, 16) P3');
    const blocks = groups.get('Blocks').children.filter((block) => block.range.contains(inside));
    assert.deepEqual(blocks.map((block) => block.name), ['_0_017']);
  },
  async 'hover of an alias'() {
    const shown = words(await run('vscode.executeHoverProvider', uri, at('.decl V0072 ', 7)));
    assert.match(shown, /by this name: no writes, 1 read/);
    assert.match(shown, /by every name for bytes of `V0069`: 2 writes .*, 3 reads .* — `V0069` written 2×, read 2×, `V0072` read 1×/);
    const region = words(await run('vscode.executeHoverProvider', uri, at('V0050(0,0)<1;1,0>', 12)));
    assert.match(region, /a number is the lane that reads the element/);
  },
};

exports.run = shared.runner(tests);
