// An untrusted folder: the configured program is not started, nothing runs; trust given, it starts at once.
// Usage: untrusted.mjs FOLDER

import assert from 'node:assert';
import { existsSync, writeFileSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { begin, changeMachine, command, LONG, openFile, openFolder, steps } from './lib.mjs';

const { code, page, program, words: [folder] } = await begin();
const mark = join(folder, 'started');
const wrapper = join(folder, 'wrapper.sh');
writeFileSync(wrapper, `#!/bin/sh\ntouch '${mark}'\nexec '${program}' "$@"\n`);
chmodSync(wrapper, 0o755);
changeMachine({ 'visa.serverPath': wrapper });

export const passed = await steps(
  page,
  {
    async 'the folder is not trusted'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor({ timeout: LONG });
      await openFile(page, 'saxpy.visaasm');
      await page.locator('.notification-list-item', { hasText: 'In a folder that you trust' }).waitFor({ timeout: LONG });
    },
    async 'no run is offered, and no configured program was started'() {
      for (const name of ['Run Kernel', 'Debug Kernel']) {
        assert.equal(await page.locator(`.editor-actions .action-label[aria-label*="${name}"]`).count(), 0);
      }
      await page.locator('.monaco-editor .view-line').first().click();
      await page.keyboard.press('F5');
      await page.locator('.monaco-dialog-box', { hasText: /trust/i }).waitFor({ timeout: LONG });
      await page.keyboard.press('Escape');
      await page.locator('.monaco-dialog-box').waitFor({ state: 'hidden', timeout: LONG });
      await openFile(page, 'scale.cl');
      await page.locator('.editor-instance .view-line', { hasText: 'kernel' }).first().waitFor({ timeout: LONG });
      await page.keyboard.press('F1');
      await page.locator('.quick-input-widget:visible input').first().fill('>vISA: ');
      await page.locator('.quick-input-list .monaco-list-row', { hasText: 'vISA: ' }).first().waitFor({ timeout: LONG });
      assert.equal(await page.locator('.quick-input-list .monaco-list-row', { hasText: /Compile for|Show Machine Code|Show vISA/ }).count(), 0);
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('.codelens-decoration', { hasText: /Compile for|Show vISA/ }).count(), 0);
      await openFile(page, 'saxpy.visaasm');
      assert.ok(!existsSync(mark));
    },
    async 'trust starts the server'() {
      await command(page, 'Notifications: Show Notifications'); // it may have gone by itself
      await page.locator('.notification-list-item .monaco-button', { hasText: 'Manage Trust' }).click();
      await page.locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust$/ }).first().click();
      await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor({ state: 'hidden', timeout: LONG });
      await page.keyboard.press('Control+W');
      await page.locator('.statusbar-item', { hasText: 'vISA' }).locator('.codicon-circuit-board').waitFor({ timeout: LONG });
      assert.ok(existsSync(mark));
    },
  },
  join(folder, 'failed.png'),
);
