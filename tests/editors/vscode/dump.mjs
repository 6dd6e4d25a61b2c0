// From a dump folder to its run: the text is opened, Run is pressed, and nothing is asked.
// Usage: dump.mjs FOLDER. FOLDER has one text and no launch file.

import assert from 'node:assert';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { begin, LONG, openFile, openFolder, steps, webview } from './lib.mjs';

const settings = { 'security.workspace.trust.enabled': false };
const { code, page, words: [folder] } = await begin({ settings });
const name = readdirSync(folder).find((file) => file.endsWith('.visaasm'));
const message = page.locator('.notification-list-item', { hasText: 'proposed sizes and arguments' }).first();

export const passed = await steps(
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
