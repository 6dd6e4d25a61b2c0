// The newcomer's path: an empty profile with the .vsix, a folder with the saxpy example; install the server when asked,
// reach a passed test and a run with visible buffers. Usage: newcomer.mjs FOLDER PICTURES

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { begin, LONG, openFile, openFolder, photograph, steps, webview } from './lib.mjs';

const { code, page, words: [folder, pictures] } = await begin();
mkdirSync(pictures, { recursive: true });
const picture = (name) => photograph(page, pictures, name, { messages: true });

export const passed = await steps(
  page,
  {
    async 'open the folder'() {
      await openFolder(page, code.origin, folder);
      // The message of the folder that was not trusted yet may still be there, without this button.
      await page.locator('.notification-list-item .monaco-button', { hasText: 'Install' }).waitFor({ timeout: LONG });
      await picture('install');
    },
    async 'install the server'() {
      await page.locator('.notification-list-item .monaco-button', { hasText: 'Install' }).click();
      await openFile(page, 'saxpy.visaasm');
      await page.locator('.statusbar-item', { hasText: 'vISA' }).locator('.codicon-circuit-board').waitFor({ timeout: LONG });
      await page.locator('.codelens-decoration', { hasText: 'Run' }).first().waitFor({ timeout: LONG });
      await photograph(page, pictures, 'open');
    },
    async 'run the tests'() {
      await page.locator('.activitybar .action-label[aria-label^="Testing"]').click();
      const item = page.locator('.test-explorer .monaco-list-row', { hasText: 'saxpy' }).first();
      await item.waitFor({ timeout: LONG });
      await page.locator('.test-explorer-tree, .test-explorer').first().hover();
      await page.locator('.pane-header .action-label[aria-label^="Run Tests"], .title-actions .action-label[aria-label^="Run Tests"]').first().click();
      for (const name of ['saxpy', 'mandelbrot']) {
        const row = page.locator('.test-explorer .monaco-list-row', { hasText: name }).first();
        await row.locator('.codicon-testing-passed-icon').waitFor({ timeout: LONG });
      }
      await page.mouse.move(900, 500);
      await picture('testing');
      return item.innerText();
    },
    async 'run the kernel'() {
      await page.locator('.editor-actions .action-label[aria-label*="Run Kernel"]').first().click();
      const view = await webview(page, 'article table td');
      await photograph(page, pictures, 'run');
      return (await view.locator('article').first().locator('tbody tr').first().innerText()).split('\t');
    },
  },
  join(pictures, 'failed.png'),
);
