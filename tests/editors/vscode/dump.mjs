// From a dump folder to its run: the text is opened, Run is pressed, and nothing is asked.
// Usage: node dump.mjs VSIX FOLDER SERVER. FOLDER has one text and no launch file.

import assert from 'node:assert';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LONG, openBrowser, openFile, openFolder, startCode, steps, webview } from './lib.mjs';

const [vsix, folder, program] = process.argv.slice(2);
const name = readdirSync(folder).find((file) => file.endsWith('.visaasm'));
const settings = { 'security.workspace.trust.enabled': false };
const code = await startCode({ vsix, settings, machine: { 'visa.serverPath': program } });
const { context, page } = await openBrowser();
const message = page.locator('.notification-list-item', { hasText: 'proposed sizes and arguments' }).first();

const good = await steps(
  page,
  {
    async 'open and run'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await openFile(page, name);
      await page.locator('.editor-actions .action-label[aria-label*="Run Kernel"]').first().click();
      const view = await webview(page, 'article table td');
      await message.waitFor({ timeout: LONG });
      return view.locator('h1, header').first().innerText();
    },
    async 'what was proposed can be changed'() {
      await message.locator('.monaco-button', { hasText: 'Change...' }).click();
      const form = await webview(page, 'table.form');
      assert.match(await form.locator('body').innerText(), /groups\s+how many/);
    },
    async 'and kept'() {
      await page.locator('.tab', { hasText: name }).first().click();
      await page.locator('.editor-actions .action-label[aria-label*="Run Kernel"]').first().click();
      await message.locator('.monaco-button', { hasText: 'Save as Launch File' }).click();
      await page.locator('.tab.active', { hasText: '.launch.yaml' }).waitFor({ timeout: LONG });
      return readdirSync(folder);
    },
  },
  join(folder, 'failed.png'),
);
await context.close();
await code.stop();
process.exitCode = good ? 0 : 1;
