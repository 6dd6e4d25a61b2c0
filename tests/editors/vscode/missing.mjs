// When something is missing: no server, a wrong Python, a wrong program. The walkthrough of a newcomer.
// Usage: missing.mjs FOLDER PICTURES. FOLDER is a copy of examples/.

import { mkdirSync } from 'node:fs';
import assert from 'node:assert';
import { join } from 'node:path';
import { begin, changeMachine, command, LONG, openFile, openFolder, photograph, steps } from './lib.mjs';

const settings = { 'security.workspace.trust.enabled': false };
const { code, page, words: [folder, pictures] } = await begin({ settings, machine: { 'workbench.welcomePage.walkthroughs.openOnInstall': true, 'visa.python': '/nowhere/python3' } });
mkdirSync(pictures, { recursive: true });

const picture = (name) => photograph(page, pictures, name, { messages: true });
const message = (text) => page.locator('.notification-list-item', { hasText: text }).first();
const status = (text) => page.locator('.statusbar-item', { hasText: text }).first();
const answer = (text, button) => message(text).locator('.monaco-button', { hasText: button }).click();
const walkthrough = page.locator('.gettingStartedContainer', { hasText: 'Get started with vISA' });

/** The settings editor with one setting in it. */
async function setting(name) {
  await page.locator('.settings-editor .setting-item-contents', { hasText: name }).first().waitFor({ timeout: LONG });
  const found = await page.locator('.settings-editor .setting-item-contents').count();
  await command(page, 'View: Close All Editors');
  await openFile(page, 'saxpy.visaasm');
  return found;
}

async function quiet() {
  await command(page, 'Notifications: Clear All Notifications');
  await page.locator('.notification-list-item').first().waitFor({ state: 'hidden', timeout: LONG });
}

export const passed = await steps(
  page,
  {
    async 'the walkthrough opens by itself'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await walkthrough.waitFor({ timeout: LONG });
      await message('is not installed').waitFor({ timeout: LONG });
      await quiet();
      await picture('walkthrough');
      await command(page, 'View: Close All Editors');
    },
    async 'the status item offers to install'() {
      await openFile(page, 'saxpy.visaasm');
      await status('install server').waitFor({ timeout: LONG });
      await status('install server').click();
      await page.mouse.move(700, 300); // away from the item, whose hover would hide the message
    },
    async 'a wrong Python leads to its setting'() {
      await message('visa.python is no Python 3.11 or later').waitFor({ timeout: LONG });
      await picture('wrong-python');
      await answer('visa.python is no Python', 'Open Setting');
      return setting('Python');
    },
    async 'commands offer the server instead of failing'() {
      for (const title of ['vISA: Run Kernel', 'vISA: Assemble to .isa', 'vISA: Explain Opcode', 'vISA: Show Control-Flow Graph']) {
        await quiet();
        await command(page, title);
        await message('is not installed').locator('.monaco-button', { hasText: 'Install' }).waitFor({ timeout: LONG });
      }
      assert.equal(await page.locator('.notification-list-item').count(), 1);
      await picture('run-without-server');
    },
    async 'a wrong program leads to its setting'() {
      await quiet();
      changeMachine({ 'visa.python': undefined, 'visa.serverPath': '/nowhere/visa-lsp' });
      await message('visa.serverPath does not work').waitFor({ timeout: LONG });
      await answer('visa.serverPath does not work', 'Open Setting');
      await setting('Server Path');
      await status('no server').click();
      await page.mouse.move(700, 300);
      await message('visa.serverPath does not work').waitFor({ timeout: LONG });
    },
    async 'a run waits for the server that it offers'() {
      await quiet();
      changeMachine({ 'visa.serverPath': undefined });
      await message('is not installed').waitFor({ timeout: LONG });
      await quiet();
      // No message pops up over an item of the status bar that has the focus.
      await page.locator('.editor-instance .view-line').first().click();
      await command(page, 'vISA: Run Kernel');
      await answer('is not installed', 'Install');
      await page.locator('.tab', { hasText: 'vISA Run' }).first().waitFor({ timeout: LONG });
      await page.locator('.statusbar-item', { hasText: 'vISA' }).locator('.codicon-circuit-board').waitFor({ timeout: LONG });
    },
    async 'the walkthrough does not open again'() {
      await command(page, 'View: Close All Editors');
      await page.reload();
      await openFile(page, 'saxpy.visaasm');
      await page.locator('.statusbar-item', { hasText: 'vISA' }).locator('.codicon-circuit-board').waitFor({ timeout: LONG });
      assert.equal(await page.locator('.tab', { hasText: 'Walkthrough' }).count(), 0);
    },
  },
  join(pictures, 'failed.png'),
);
