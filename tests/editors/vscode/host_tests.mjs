// Runs host/TESTS inside the extension host of a VS Code that has the .vsix. Usage: host_tests.mjs OPENED [TESTS]
// OPENED is a folder, or a file that is opened without one; TESTS is index.js unless named.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { begin } from './lib.mjs';

const settings = { 'security.workspace.trust.enabled': false, 'files.autoSave': 'off' };
const { code, page, words: [opened, tests = 'index.js'] } = await begin({ settings });
const host = join(import.meta.dirname, 'host');
const remote = (path) => `vscode-remote://${new URL(code.origin).host}${path}`;
const payload = [
  ['extensionDevelopmentPath', remote(host)],
  ['extensionTestsPath', remote(join(host, tests))],
  ['skipWelcome', 'true'],
];
const isFolder = statSync(opened).isDirectory();
if (!isFolder) {
  payload.push(['openFile', remote(opened)]);
}
// A built VS Code runs tests for its own driver alone, and shows no messages then: this page is told of it, and no other.
await page.addInitScript(() => {
  const get = Element.prototype.getAttribute;
  Element.prototype.getAttribute = function (name) {
    const value = get.call(this, name);
    return name === 'data-settings' ? value.replace('"developmentOptions":{', '$&"enableSmokeTestDriver":true,') : value;
  };
});
const start = isFolder ? `folder=${opened}` : 'ew=true'; // an empty window

const status = await new Promise((resolve) => {
  setTimeout(() => resolve('no answer in 540 s'), 540000).unref();
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
console.log(JSON.stringify({ exit: status }));
export const passed = status === 0;
