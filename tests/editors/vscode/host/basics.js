// What the extension does with a text, its launch files and its tests, beside the installed extension.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('./shared.js');

const { until, code } = shared;
const { file, run, findings, ...tools } = shared.tools(vscode);
let api;
let document;
let reports;

const at = (text, inside = 0) => shared.at(document, text, inside);
const replace = (from, to) => tools.replace(document, from, to);

module.exports = {
  async activation() {
    document = await vscode.workspace.openTextDocument(file('saxpy.visaasm'));
    await vscode.window.showTextDocument(document);
    assert.equal(document.languageId, 'visa');
    const extension = vscode.extensions.getExtension('visa-lsp.visa-lsp');
    api = await extension.activate();
    await until('the server', () => api.server.running);
  },
  async status() {
    await until('the platform that the launch file tells', () => /vISA 4\.1 · TGLLP/.test(api.status.text));
  },
  async squiggle() {
    await replace('mad (M1, 16)', 'madd (M1, 16)');
    const [found] = await findings(document.uri);
    assert.equal(code(found), 'V201');
    assert.equal(found.range.start.line, at('madd').line);
  },
  async 'quick fix'() {
    const range = new vscode.Range(at('madd'), at('madd', 4));
    const actions = await run('vscode.executeCodeActionProvider', document.uri, range);
    const fix = actions.find((a) => a.edit && /mad\b/.test(a.title));
    assert.ok(fix, `no fix among ${actions.map((a) => a.title).join(', ')}`);
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    await until('no finding', () => vscode.languages.getDiagnostics(document.uri).length === 0);
    assert.ok(document.getText().includes('mad (M1, 16)'));
  },
  async 'several ranges are formatted at once'() {
    const editor = await vscode.window.showTextDocument(document);
    const before = document.getText();
    const lines = ['.decl x_value', 'done:', 'ret (M1'].map((words) => at(words).line);
    await editor.edit((edit) => lines.forEach((line) => edit.insert(new vscode.Position(line, 0), '  ')));
    const { provideDocumentRangesFormattingEdits } = api.server.client.getFeature('textDocument/rangeFormatting').getProvider(document);
    const ranges = [lines[0], lines[2]].map((line) => new vscode.Range(line, 0, line, 4));
    const options = { tabSize: 4, insertSpaces: true };
    const { token } = new vscode.CancellationTokenSource();
    const edits = await provideDocumentRangesFormattingEdits(document, ranges, options, token);
    assert.deepEqual([...new Set(edits.map((edit) => edit.range.start.line))], [lines[0], lines[2]]);
    await editor.edit((edit) => lines.forEach((line) => edit.delete(new vscode.Range(line, 0, line, 2))));
    assert.equal(document.getText(), before);
  },
  async snippets() {
    const scratch = await vscode.workspace.openTextDocument({ language: 'visa', content: '' });
    await vscode.window.showTextDocument(scratch);
    await run('editor.action.insertSnippet', { langId: 'visa', name: 'mad instruction' });
    await until('the snippet', () => scratch.getText().startsWith('mad (M1, 16) dst'));
    await run('workbench.action.revertAndCloseActiveEditor');
    await vscode.window.showTextDocument(document);
  },
  async 'code lens'() {
    const lenses = await run('vscode.executeCodeLensProvider', document.uri, 20);
    const titles = lenses.map((l) => l.command?.title);
    assert.ok(titles.includes('Run'), titles.join(', '));
    const lens = lenses.find((l) => l.command?.title === 'Run');
    const report = await run(lens.command.command, ...lens.command.arguments);
    assert.equal(report.ok, true);
  },
  async 'run results'() {
    const report = await run('visa.runKernel', document.uri);
    assert.equal(report.ok, true);
    const shown = api.results.content;
    const y = shown.buffers.find((b) => b.arg === 'y');
    assert.deepEqual(y.array.shape, [100]);
    assert.equal(new Float32Array(y.array.bytes.slice().buffer)[2], 6);
  },
  async 'run of unsaved text'() {
    await replace('mad (M1, 16)', 'madd (M1, 16)');
    const report = await run('visa.runKernel', document.uri);
    assert.equal(report.ok, false);
    assert.match(report.error, /saxpy\.visaasm:\d+:\d+: error V201/);
    await run('undo');
    await document.save();
    assert.ok(document.getText().includes('mad (M1, 16)'));
  },
  async proofs() {
    const proofs = () => vscode.languages.getDiagnostics(document.uri).filter((d) => d.source === 'prove');
    await replace('cmp.lt (M1, 16)', 'cmp.le (M1, 16)');
    const { results, error } = await run('visa.proveKernels', document.uri);
    assert.ok(results?.some((one) => one.answer === 'refuted'), error);
    const [found] = proofs();
    assert.deepEqual([code(found), found.severity], ['bounds', vscode.DiagnosticSeverity.Warning]);
    assert.equal(found.range.start.line, results.find((one) => one.answer === 'refuted').line - 1);
    const report = await run('visa.runKernel', found.relatedInformation[0].location.uri); // of the text as it is open
    assert.ok(report.faults.some((fault) => fault.kind === 'out-of-bounds' && fault.line === found.range.start.line + 1), report.error);
    const [shown] = api.prover.content.kernels;
    const bounds = shown.properties.find(({ name }) => name === 'bounds');
    assert.deepEqual([shown.name, bounds.refuted[0].launch], ['saxpy', found.relatedInformation[0].location.uri.fsPath]);
    assert.ok(shown.assumptions.length > 0);
    const titles = (await run('vscode.executeCodeLensProvider', document.uri, 50)).filter(({ range }) => range.start.line === found.range.start.line).map(({ command }) => command.title);
    assert.deepEqual(titles, ['bounds: Run', 'Debug']);
    await run('workbench.action.closeEditorsInOtherGroups');
    await vscode.window.showTextDocument(document);
    await run('undo');
    await until('no proof of an older text', () => proofs().length === 0);
    assert.ok(document.getText().includes('cmp.lt (M1, 16)'));
  },
  async 'quick run'() {
    const launch = file('saxpy.launch.yaml');
    const kept = await vscode.workspace.fs.readFile(launch);
    await vscode.workspace.fs.delete(launch);
    const proposed = await run('visa.runKernel', document.uri); // what the form would offer
    assert.ok(proposed.instructions > 0, proposed.error);
    await run('visa.quickRun', document.uri);
    const { arguments: found, kernel, localSize } = api.form.content;
    assert.deepEqual([kernel, localSize, found.map((a) => [a.name, a.kind])], [
      'saxpy',
      [16, 1, 1],
      [['a', 'value'], ['n', 'value'], ['x', 'buffer'], ['y', 'buffer']],
    ]);
    const quick = { groups: [2, 1, 1], args: { a: 0.5, n: 20, x: Array.from({ length: 20 }, (_, n) => n), y: { buffer: { shape: [20], init: 'ones' } } } };
    const report = await api.runner.quick(document.uri, quick);
    assert.equal(report.ok, true, report.error ?? JSON.stringify([report.faults, report.expectations, report.notes]));
    const y = api.results.content.buffers.find((b) => b.name === 'y' || b.arg === 'y' || b.arg === 3);
    assert.deepEqual([...new Float32Array(y.array.bytes.slice().buffer)].slice(0, 4), [1, 1.5, 2, 2.5]);
    // A mistake is named, and nothing is written.
    assert.match((await api.runner.quick(document.uri, { args: { a: 'many' } })).error, /argument a: /);
    const saved = await api.form.save(document.uri, quick);
    assert.equal(saved.path, launch.path);
    const again = await run('visa.runKernel', document.uri);
    assert.equal(again.ok, true, again.error);
    await vscode.workspace.fs.writeFile(launch, kept);
    await run('workbench.action.closeAllEditors');
    await vscode.window.showTextDocument(document);
  },
  async 'testing view'() {
    await until('the tests', () => api.tests.names.length === 5);
    assert.deepEqual(api.tests.names.sort(), ['average', 'mandelbrot', 'saxpy', 'saxpy_sizes', 'wrong']);
    reports = await api.tests.runAll();
    assert.deepEqual(reports.map((r) => [r.launch.replace(/.*\//, ''), r.ok]).sort(), [
      ['average.launch.yaml', true],
      ['mandelbrot.launch.yaml', true],
      ['saxpy.launch.yaml', true],
      ['saxpy_sizes.launch.yaml', true],
      ['wrong.launch.yaml', false],
    ]);
    assert.equal(new Set(reports.map((r) => r.process)).size, 1, 'one process for all tests');
  },
  async 'what a failed test says'() {
    const [report] = reports.filter((r) => !r.ok);
    const uri = file('wrong.launch.yaml');
    const [message, ...others] = await api.tests.messages({ id: uri.toString(), uri }, report);
    assert.deepEqual(others, []);
    assert.equal(message.message, 'y: 1 of 100 elements differ: [1] is 3.5, expected 4.5; largest error at [1]: 1 absolute, 0.2222 relative, 3145728 ulp');
    assert.equal(message.expectedOutput, '[0] 1\n[1] 4.5\n[2] 6\n[3] 8.5\n⋯');
    assert.equal(message.actualOutput, '[0] 1\n[1] 3.5\n[2] 6\n[3] 8.5\n⋯');
    const launch = await vscode.workspace.openTextDocument(uri);
    assert.deepEqual([message.location.uri.path, launch.lineAt(message.location.range.start.line).text], [uri.path, '  - arg: y']);
  },
  async 'a test that takes too long'() {
    const write = (name, text) => vscode.workspace.fs.writeFile(file(name), new TextEncoder().encode(text));
    const content = ['.version 4.1', '.kernel "endless"', 'again:', '    jmp (M1, 1) again', '    ret (M1, 1)', ''].join('\n');
    await write('endless.visaasm', content);
    await write('endless.launch.yaml', 'kernel: endless\nfile: endless.visaasm\ngroups: [1]\nlocal_size: [8]\nargs: []\nexpect: []\n');
    await until('the test', () => api.tests.names.includes('endless'));
    const settings = vscode.workspace.getConfiguration('visa');
    await settings.update('testTimeout', 5, vscode.ConfigurationTarget.Workspace);
    const timed = await api.tests.runAll();
    await settings.update('testTimeout', undefined, vscode.ConfigurationTarget.Workspace);
    const endless = timed.find((r) => r.uri.endsWith('endless.launch.yaml'));
    assert.match(endless.error, /took longer than 5 seconds/);
    assert.deepEqual(timed.map((r) => [r.uri.replace(/.*\//, '').split('.')[0], r.ok]).sort(), [['average', true], ['endless', false], ['mandelbrot', true], ['saxpy', true], ['saxpy_sizes', true], ['wrong', false]]);
    for (const name of ['endless.launch.yaml', 'endless.visaasm']) {
      await vscode.workspace.fs.delete(file(name));
    }
    await until('the tests that are left', () => api.tests.names.length === 5);
  },
  async assembling() {
    const answer = await run('visa.assembleFile', document.uri);
    assert.equal(answer.ok, true);
    const bytes = await vscode.workspace.fs.readFile(file('saxpy.isa'));
    assert.equal(new TextDecoder().decode(bytes.subarray(0, 4)), 'CISA');
  },
  async 'the flow graph follows text and cursor'() {
    await run('visa.showFlowGraph', document.uri);
    const editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
    const put = (line) => (editor.selection = new vscode.Selection(line, 0, line, 0));
    const block = () => api.flow.content.graph?.nodes.find((node) => node.id === api.flow.content.at)?.lines[0];
    put(at('    ret (M1').line);
    await until('the last block', () => block() === 'done:');
    put(at('    mad (M1').line);
    await until('another block', () => block() !== undefined && block() !== 'done:');
    await tools.replace(document, 'done:', 'ended:');
    await until('the new label', () => api.flow.content.graph?.nodes.some((node) => node.lines[0] === 'ended:'));
    await run('undo');
  },
  async 'two programs side by side'() {
    const [text, object, other] = ['saxpy.visaasm', 'saxpy.isa', 'average.visaasm'].map(file);
    assert.equal((await run('visa.compareWith', text, [text, object])).same, true);
    const told = await run('visa.compareWith', text, [other, text]);
    assert.equal(told.same, false);
    const { input, label } = vscode.window.tabGroups.activeTabGroup.activeTab;
    assert.match(label, /saxpy\.visaasm ↔ average\.visaasm/);
    const [left, right] = await Promise.all([input.original, input.modified].map((uri) => vscode.workspace.openTextDocument(uri)));
    assert.deepEqual([left.getText(), right.getText()], [told.a, told.b]);
    assert.equal(right.languageId, 'visa');
  },
  async task() {
    const [task] = await vscode.tasks.fetchTasks({ type: 'visa' });
    const ended = new Promise((resolve) => vscode.tasks.onDidEndTaskProcess((e) => resolve(e.exitCode)));
    await run('workbench.action.closeAllEditors');
    await vscode.workspace.fs.writeFile(file('broken.visaasm'), new TextEncoder().encode('.version 4.1\n.kernel "k"\n    movv (M1, 1) %null 0x0:d\n'));
    await vscode.tasks.executeTask(task);
    assert.equal(await ended, 1);
    const found = await until('the problem', () =>
      vscode.languages.getDiagnostics(file('broken.visaasm')).find((d) => d.source === 'visa-lsp'),
    );
    assert.deepEqual([code(found), found.range.start.line], ['V201', 2]);
  },
  async 'untitled text'() {
    document = await vscode.workspace.openTextDocument(file('saxpy.visaasm'));
    const scratch = await vscode.workspace.openTextDocument({ language: 'visa', content: document.getText().replace('mad (M1', 'madd (M1') });
    await vscode.window.showTextDocument(scratch);
    const found = await until('a finding', () => vscode.languages.getDiagnostics(scratch.uri).find((d) => code(d) === 'V201'));
    const edit = new vscode.WorkspaceEdit();
    edit.replace(scratch.uri, new vscode.Range(found.range.start, found.range.end), 'mad');
    await vscode.workspace.applyEdit(edit);
    assert.ok((await run('visa.runKernel', scratch.uri)).instructions > 0);
    const report = await api.runner.quick(scratch.uri, { args: { n: 4 } });
    assert.equal(report.ok, true, report.error);
    assert.ok(report.instructions > 0);
    await run('workbench.action.revertAndCloseActiveEditor');
    // The next untitled text gets the same name: this one has to be gone before.
    await until('the text to be closed', () => !vscode.workspace.textDocuments.some((d) => d.uri.toString() === scratch.uri.toString()));
    await run('workbench.action.closeAllEditors');
  },
  async 'settings are live'() {
    await vscode.window.showTextDocument(document);
    const settings = () => vscode.workspace.getConfiguration('visa', document.uri);
    const lenses = async () => (await run('vscode.executeCodeLensProvider', document.uri)).length;
    await until('lenses', async () => (await lenses()) > 0);
    await settings().update('codeLens', false, vscode.ConfigurationTarget.Workspace);
    await until('no lenses', async () => (await lenses()) === 0);
    await settings().update('platform', 'DG2', vscode.ConfigurationTarget.Workspace);
    await until('the platform in the status bar', () => /DG2/.test(api.status.text));
    await settings().update('codeLens', undefined, vscode.ConfigurationTarget.Workspace);
    await settings().update('platform', undefined, vscode.ConfigurationTarget.Workspace);
    await until('lenses again', async () => (await lenses()) > 0);
  },
  async 'what the manifest names is there'() {
    const { packageJSON, extensionUri } = vscode.extensions.getExtension('visa-lsp.visa-lsp');
    const known = new Set(await vscode.commands.getCommands(true));
    const { commands, walkthroughs, languages, grammars, snippets } = packageJSON.contributes;
    assert.deepEqual(commands.map((c) => c.command).filter((name) => !known.has(name)), []);
    const pictures = walkthroughs.flatMap((w) => w.steps.map((step) => step.media.image));
    const icons = languages.flatMap((l) => (l.icon ? [l.icon.light, l.icon.dark] : []));
    const files = [packageJSON.icon, ...icons, ...pictures, ...[...grammars, ...snippets].map((c) => c.path)];
    for (const name of files) {
      assert.ok((await vscode.workspace.fs.stat(vscode.Uri.joinPath(extensionUri, name))).size > 0, name);
    }
  },
  async restart() {
    await run('visa.restartServer');
    assert.ok(api.server.running);
  },
};
