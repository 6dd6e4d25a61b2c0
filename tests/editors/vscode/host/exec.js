// An OpenCL program runs under visa-lsp from a launch configuration; its first fault is debugged.

const vscode = require('vscode');
const assert = require('node:assert');
const { runner, tools, until } = require('./shared.js');

const { file, run } = tools(vscode);
const folder = vscode.workspace.workspaceFolders[0];
const start = (name) => vscode.debug.startDebugging(folder, { type: 'visa', request: 'launch', name: 'Run under visa-lsp', host: file(name).fsPath });

exports.run = runner({
  async 'the first fault of a program is debugged'() {
    await vscode.extensions.getExtension('visa-lsp.visa-lsp').activate();
    assert.ok(await start('sums'));
    const session = await until('a session', () => vscode.debug.activeDebugSession);
    assert.match(session.configuration.program, /visa-lsp-exec\/1\.sums\.launch\.yaml$/);
    assert.equal(session.configuration.host, undefined);
    const thread = await until('a thread', async () => (await session.customRequest('threads')).threads[0]);
    const stack = await until('a frame', async () => {
      const answer = await session.customRequest('stackTrace', { threadId: thread.id }).catch(() => undefined);
      return answer?.stackFrames.length > 0 && answer;
    });
    assert.match(stack.stackFrames[0].name, /sums/);
    await vscode.debug.stopDebugging(session);
    await until('its end', () => vscode.debug.activeDebugSession === undefined);
  },
  async 'a program without a fault is not debugged'() {
    await start('right');
    assert.equal(vscode.debug.activeDebugSession, undefined);
    await run('notifications.clearAll');
  },
});
