// Runs HOST/index.js (host/ unless named) inside the extension host of a VS Code that has the .vsix. Usage: node host_tests.mjs VSIX FOLDER SERVER [HOST]
// SERVER is the visa-lsp program, set as visa.serverPath in the machine's settings.

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBrowser, startCode } from './lib.mjs';

const [vsix, folder, program, tests = 'host'] = process.argv.slice(2);
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
    await page.goto(`${code.origin}/?folder=${folder}&payload=${encodeURIComponent(JSON.stringify(payload))}`);
  })();
});
await context.close();
await code.stop();
console.log(JSON.stringify({ exit: status }));
process.exitCode = status === 0 ? 0 : 1;
