// Runs inside the extension host of VS Code, beside the installed extension; each test prints one JSON line.

const vscode = require('vscode');
const assert = require('node:assert');
const shared = require('../host_shared.js');

const { until, words, code } = shared;
const { file, run, findings, ...tools } = shared.tools(vscode);
let api;
let document;

const at = (text, inside = 0) => shared.at(document, text, inside);
const replace = (from, to) => tools.replace(document, from, to);

const tests = {
  async activation() {
    document = await vscode.workspace.openTextDocument(file('saxpy.visaasm'));
    await vscode.window.showTextDocument(document);
    assert.equal(document.languageId, 'visa');
    const extension = vscode.extensions.getExtension('visa-lsp.visa-lsp');
    api = await extension.activate();
    await until('the server', () => api.server.running);
  },
  async status() {
    assert.match(await until('the status', () => api.status.text), /vISA 4\.1 · any/);
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
  async hover() {
    const mnemonic = await run('vscode.executeHoverProvider', document.uri, at('mad (M1', 1));
    assert.match(words(mnemonic), /Multiply, then add/);
    const region = await run('vscode.executeHoverProvider', document.uri, at('x_value(0,0)<1;1,0>', 14));
    assert.match(words(region), /GRF|byte/i);
  },
  async definition() {
    const [found] = await run('vscode.executeDefinitionProvider', document.uri, at('x_value(0,0)', 2));
    assert.equal((found.targetRange ?? found.range).start.line, at('.decl x_value').line);
  },
  async references() {
    const found = await run('vscode.executeReferenceProvider', document.uri, at('.decl x_value', 8));
    assert.equal(found.length, 3);
  },
  async completion() {
    const offers = await run('vscode.executeCompletionItemProvider', document.uri, at('mad (M1', 2));
    const labels = offers.items.map((i) => i.label.label ?? i.label);
    assert.ok(labels.includes('mad') && labels.includes('mul'), labels.slice(0, 20).join(' '));
  },
  async snippets() {
    const scratch = await vscode.workspace.openTextDocument({ language: 'visa', content: '' });
    await vscode.window.showTextDocument(scratch);
    await run('editor.action.insertSnippet', { langId: 'visa', name: 'mad instruction' });
    await until('the snippet', () => scratch.getText().startsWith('mad (M1, 16) dst'));
    await run('workbench.action.revertAndCloseActiveEditor');
    await vscode.window.showTextDocument(document);
  },
  async rename() {
    const edit = await run('vscode.executeDocumentRenameProvider', document.uri, at('.decl x_value', 8), 'x_read');
    const edits = edit.get(document.uri);
    assert.equal(edits.length, 3);
    assert.ok(edits.every((e) => e.newText === 'x_read'));
  },
  async 'semantic colours'() {
    const legend = await run('vscode.provideDocumentSemanticTokensLegend', document.uri);
    const tokens = await run('vscode.provideDocumentSemanticTokens', document.uri);
    assert.ok(legend.tokenTypes.includes('variable'));
    assert.ok(tokens.data.length > 5 * 100);
  },
  async symbols() {
    const [kernel] = await run('vscode.executeDocumentSymbolProvider', document.uri);
    assert.equal(kernel.name, 'saxpy');
    const blocks = kernel.children.find((group) => group.name === 'Blocks');
    assert.ok(blocks.children.some((block) => block.name === 'done'));
  },
  async formatting() {
    const edits = await run('vscode.executeFormatDocumentProvider', document.uri, { tabSize: 4, insertSpaces: true });
    assert.ok(edits === undefined || Array.isArray(edits));
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
  async 'values beside the lines'() {
    const input = await until('a value', () => api.inline.of(document.uri).find((text) => text.startsWith('y = ')));
    assert.match(input, /float32\[100\] \[1\.0, 3\.5, 6\.0/);
  },
  async 'quick run'() {
    const launch = file('saxpy.launch.yaml');
    const kept = await vscode.workspace.fs.readFile(launch);
    await vscode.workspace.fs.delete(launch);
    // The zebin of another test: its ze_info, made from the text, calls what the buffers hold bytes.
    const zebin = await vscode.workspace.fs.readFile(file('saxpy.zebin'));
    await vscode.workspace.fs.delete(file('saxpy.zebin'));
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
    await vscode.workspace.fs.writeFile(file('saxpy.zebin'), zebin);
    await run('workbench.action.closeAllEditors');
    await vscode.window.showTextDocument(document);
  },
  async 'testing view'() {
    await until('the tests', () => api.tests.names.length === 4);
    assert.deepEqual(api.tests.names.sort(), ['mandelbrot', 'saxpy', 'saxpy_sizes', 'wrong']);
    const reports = await api.tests.runAll();
    assert.deepEqual(reports.map((r) => [r.launch.replace(/.*\//, ''), r.ok]).sort(), [
      ['mandelbrot.launch.yaml', true],
      ['saxpy.launch.yaml', true],
      ['saxpy_sizes.launch.yaml', true],
      ['wrong.launch.yaml', false],
    ]);
    assert.equal(new Set(reports.map((r) => r.process)).size, 1, 'one process for all tests');
  },
  async 'what a failed test says'() {
    const [report] = (await api.tests.runAll()).filter((r) => !r.ok);
    const uri = file('wrong.launch.yaml');
    const [message, ...others] = await api.tests.messages({ id: uri.toString(), uri }, report);
    assert.deepEqual(others, []);
    assert.equal(message.message, 'y: 1 of 100 elements differ: [1] is 3.5, expected 4.5; largest error at [1]: 1 absolute, 0.2222 relative, 3145728 ulp');
    assert.equal(message.expectedOutput, '[0] 1\n[1] 4.5\n[2] 6\n[3] 8.5\n⋯');
    assert.equal(message.actualOutput, '[0] 1\n[1] 3.5\n[2] 6\n[3] 8.5\n⋯');
    const launch = await vscode.workspace.openTextDocument(uri);
    assert.deepEqual([message.location.uri.path, launch.lineAt(message.location.range.start.line).text], [uri.path, '  - arg: y']);
  },
  async 'what is not as expected comes first'() {
    await run('visa.runKernel', file('wrong.launch.yaml'));
    const { buffers } = api.results.content;
    assert.deepEqual(buffers.map((b) => [b.title, b.group]), [['y', 'wrong'], ['x', 'input']]);
    assert.equal(buffers[0].wrong[0].count, 1);
  },
  async 'a test that takes too long'() {
    const write = (name, text) => vscode.workspace.fs.writeFile(file(name), new TextEncoder().encode(text));
    const content = ['.version 4.1', '.kernel "endless"', 'again:', '    jmp (M1, 1) again', '    ret (M1, 1)', ''].join('\n');
    await write('endless.visaasm', content);
    await write('endless.launch.yaml', 'kernel: endless\nfile: endless.visaasm\ngroups: [1]\nlocal_size: [8]\nargs: []\nexpect: []\n');
    await until('the test', () => api.tests.names.includes('endless'));
    const settings = vscode.workspace.getConfiguration('visa');
    await settings.update('testTimeout', 10, vscode.ConfigurationTarget.Workspace);
    const reports = await api.tests.runAll();
    await settings.update('testTimeout', undefined, vscode.ConfigurationTarget.Workspace);
    const endless = reports.find((r) => r.uri.endsWith('endless.launch.yaml'));
    assert.match(endless.error, /took longer than 10 seconds/);
    assert.deepEqual(reports.map((r) => [r.uri.replace(/.*\//, '').split('.')[0], r.ok]).sort(), [['endless', false], ['mandelbrot', true], ['saxpy', true], ['saxpy_sizes', true], ['wrong', false]]);
    for (const name of ['endless.launch.yaml', 'endless.visaasm']) {
      await vscode.workspace.fs.delete(file(name));
    }
    await until('the tests that are left', () => api.tests.names.length === 4);
  },
  async assembling() {
    const answer = await run('visa.assembleFile', document.uri);
    assert.equal(answer.ok, true);
    const bytes = await vscode.workspace.fs.readFile(file('saxpy.isa'));
    assert.equal(new TextDecoder().decode(bytes.subarray(0, 4)), 'CISA');
  },
  async 'isa editor'() {
    await run('vscode.openWith', file('saxpy.isa'), 'visa.isa');
    const { input } = vscode.window.tabGroups.activeTabGroup.activeTab;
    assert.equal(input.viewType, 'visa.isa');
    const text = await run('visa.openDisassemblyText');
    assert.equal(text.languageId, 'visa');
    assert.match(text.getText(), /\.kernel "saxpy"/);
    await until('findings of the disassembly', () => vscode.languages.getDiagnostics(text.uri) !== undefined);
    const hovers = await run('vscode.executeHoverProvider', text.uri, text.positionAt(text.getText().indexOf('mad (M1') + 1));
    assert.match(words(hovers), /Multiply, then add/);
  },
  async 'control flow'() {
    await run('visa.showFlowGraph', document.uri);
    const { graph, error } = api.flow.content;
    assert.ok(graph, error);
    assert.ok(graph.nodes.length >= 3 && graph.edges.length >= 3, JSON.stringify(graph));
  },
  async 'the flow graph follows text and cursor'() {
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
  async 'zebin editor'() {
    await run('vscode.openWith', file('saxpy.zebin'), 'visa.zebin');
    assert.equal(vscode.window.tabGroups.activeTabGroup.activeTab.input.viewType, 'visa.zebin');
    const told = await api.zebin.content(file('saxpy.zebin'));
    assert.deepEqual([told.ok, told.kernels.map((k) => k.name), told.modules.map((m) => m.name)], [true, ['saxpy'], ['saxpy']]);
    assert.ok(told.sections.some((s) => s.name === '.ze_info' && s.type === 'ZEINFO' && s.bytes > 0));
    await api.zebin.open(file('saxpy.zebin'), { kind: 'zeinfo', kernel: 'saxpy' });
    const { document: zeInfo, selection } = vscode.window.activeTextEditor;
    assert.match(zeInfo.lineAt(selection.active.line).text, /name:\s*'?saxpy/);
    await api.zebin.open(file('saxpy.zebin'), { kind: 'module', name: 'saxpy' });
    const visa = vscode.window.activeTextEditor.document;
    assert.equal(visa.languageId, 'visa');
    assert.match(visa.getText(), /\.kernel "saxpy"/);
    assert.match((await api.zebin.content(file('none.zebin'))).error, /There is no none\.zebin/);
    assert.match((await api.zebin.content(file('saxpy.visaasm'))).error, /is no zebin that can be read/);
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
  async 'pages are read-only documents'() {
    await vscode.window.showTextDocument(document);
    await run('visa.showZeInfoFile', document.uri);
    const page = await until('ze_info', () => vscode.workspace.textDocuments.find((d) => d.uri.scheme === 'visa-page' && /saxpy\.zeinfo/.test(d.uri.path) && d.uri.authority === 'ze_info'));
    assert.match(page.getText(), /name:\s*'?saxpy/);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(page.uri, new vscode.Position(0, 0), 'x');
    assert.equal(await vscode.workspace.applyEdit(edit).then((done) => done && page.isDirty, () => false), false);
    await run('visa.explainWord', 'mad');
    const words = await until('the page', () => vscode.workspace.textDocuments.find((d) => d.uri.authority === 'explain'));
    assert.match(words.getText(), /Multiply, then add/);
    assert.ok(!vscode.workspace.textDocuments.some((d) => d.isUntitled && d.languageId === 'markdown'));
    await run('workbench.action.closeAllEditors');
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
  async 'messages of a run'() {
    const content = [
      '.version 4.1',
      '.kernel "sender"',
      '.decl V32 v_type=G type=ud num_elts=16 align=GRF',
      '    mov (M1, 16) V32(0,0)<1> 0x1:ud',
      '    raw_sends.1.1.1.1 (M1, 16) 0x12:ud 0x3:ud V32.0 V32.0 V32.0',
      '    ret (M1, 1)',
      '',
    ].join('\n');
    const scratch = await vscode.workspace.openTextDocument({ language: 'visa', content });
    await vscode.window.showTextDocument(scratch);
    assert.equal(scratch.getText(), content);
    // VS Code gives the name of a closed untitled text to the next one: until the server has this one, the other is run.
    const report = await until('the run of this text', async () => {
      const found = await api.runner.quick(scratch.uri, { groups: [1, 1, 1], local_size: [16, 1, 1], args: [] });
      return found.kernel === 'sender' ? found : undefined;
    });
    assert.equal(report.ok, true, report.error);
    // Not what the panel holds: another run of these tests may come to its end, and into it, only now.
    const [sent] = report.messages;
    assert.ok(sent, `${scratch.uri}: ${JSON.stringify(report)}`);
    assert.deepEqual([sent.kind, sent.count, sent.line], ['raw_sends', 1, 5]);
    assert.ok(sent.payload.some((part) => part.operand === 'src1' && part.bytes === 32));
    assert.deepEqual(report.findings, []);
    await run('workbench.action.revertAndCloseActiveEditor');
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

exports.run = shared.runner(tests);
