// Runs HOST/index.js (host/ unless named) inside the extension host of a VS Code that has the .vsix. Usage: node host_tests.mjs VSIX OPENED SERVER [HOST]
// OPENED is a folder, or a file that is opened without one; SERVER is the visa-lsp program, set as visa.serverPath in the
// machine's settings.

import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBrowser, startCode } from './lib.mjs';

const [vsix, opened, program, tests = 'host'] = process.argv.slice(2);
const host = join(dirname(fileURLToPath(import.meta.url)), tests);
const settings = { 'security.workspace.trust.enabled': false, 'files.autoSave': 'off' };
const code = await startCode({ vsix, settings, machine: { 'visa.serverPath': program }, driver: true });
const { context, page } = await openBrowser();
const remote = (path) => `vscode-remote://${new URL(code.origin).host}${path}`;
const payload = [
  ['extensionDevelopmentPath', remote(host)],
  ['extensionTestsPath', remote(join(host, 'index.js'))],
  ['skipWelcome', 'true'],
];
const isFolder = statSync(opened).isDirectory();
if (!isFolder) {
  payload.push(['openFile', remote(opened)]);
}
const start = isFolder ? `folder=${opened}` : 'ew=true'; // an empty window

const status = await new Promise((resolve) => {
  setTimeout(() => resolve('no answer in 400 s'), 400000).unref();
  void (async () => {
    await page.exposeFunction('codeAutomationLog', (_, args) => {
      const line = args.join(' ');
      if (line.startsWith('{"test"')) {
        console.log(line);
      }
    });
    await page.exposeFunction('codeAutomationExit', resolve);
    await page.goto(`${code.origin}/?${start}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
  })();
});
await context.close();
await code.stop();
console.log(JSON.stringify({ exit: status }));
process.exitCode = status === 0 ? 0 : 1;
