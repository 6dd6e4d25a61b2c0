// ze_info in VS Code, inside its extension host: a folder that has nothing but documents wakes the extension, and with the text
// beside it findings, hover and definition go between the two files. Each test prints one JSON line.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('../host_shared.js');

const { until, words, code } = shared;
const { file, run, findings, ...tools } = shared.tools(vscode);
let document;

const at = (text, inside = 0) => shared.at(document, text, inside);
const replace = (from, to) => tools.replace(document, from, to);
const places = (found) => found.map((f) => [(f.targetUri ?? f.uri).path.split('/').pop(), (f.targetSelectionRange ?? f.targetRange ?? f.range).start.line]);

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
  async 'definition of an argument is its input'() {
    await vscode.workspace.fs.rename(file('mandelbrot.later'), file('mandelbrot.visaasm'));
    const kernel = await vscode.workspace.openTextDocument(file('mandelbrot.visaasm'));
    const found = await until('the way to the text', async () => {
      const there = await run('vscode.executeDefinitionProvider', document.uri, at('arg_byvalue', 3));
      return there.length > 0 && there;
    });
    const [[name, line]] = places(found);
    assert.equal(name, 'mandelbrot.visaasm');
    assert.match(kernel.lineAt(line).text, /^\.input /);
    const input = kernel.lineAt(line).text.split(/\s+/)[1];
    const hover = await run('vscode.executeHoverProvider', document.uri, at('arg_byvalue', 3));
    assert.ok(words(hover).includes(`.input ${input}`), words(hover));
    const back = await run('vscode.executeDefinitionProvider', kernel.uri, new vscode.Position(line, 8));
    const home = places(back).find(([where]) => where === 'mandelbrot.zeinfo.yaml');
    assert.ok(home, JSON.stringify(places(back)));
    assert.match(document.lineAt(home[1]).text, /arg_byvalue/);
  },
  async 'a disagreement leads to the text'() {
    const simd = /simd_size: +\d+/.exec(document.getText())[0];
    await replace(simd, simd.replace(/\d+$/, '1'));
    const found = await until('a finding', () => {
      const all = vscode.languages.getDiagnostics(document.uri);
      return all.find((d) => code(d) === 'V721');
    });
    assert.equal(found.range.start.line, at('simd_size').line);
    const [other] = found.relatedInformation;
    assert.equal(other.location.uri.path.split('/').pop(), 'mandelbrot.visaasm');
    const fixes = await run('vscode.executeCodeActionProvider', document.uri, found.range);
    const fix = fixes.find((a) => a.edit && /^change to/.test(a.title));
    assert.ok(fix, fixes.map((a) => a.title).join(', '));
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    await until('no finding', () => vscode.languages.getDiagnostics(document.uri).length === 0);
    assert.ok(document.getText().includes(simd));
  },
  async 'bytes beside sizes'() {
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const hints = await run('vscode.executeInlayHintProvider', document.uri, whole);
    assert.ok(hints.some((h) => /^bytes \d+\.\.\d+, \.input /.test(h.label.map?.((p) => p.value).join('') ?? h.label)));
  },
};

exports.run = shared.runner(tests);
