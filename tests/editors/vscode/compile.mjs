// OpenCL sources: lenses compile a kernel and show its text, what the compiler says is a problem, a save compiles again.
// Usage: compile.mjs FOLDER PICTURES. FOLDER has axpy.cl alone.

import assert from 'node:assert';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { begin, changeMachine, command, goTo, LONG, openFile, openFolder, photograph, steps, until, webview } from './lib.mjs';

const settings = { 'security.workspace.trust.enabled': false, 'files.autoSave': 'off', 'editor.stickyScroll.enabled': false };
const { code, page, words: [folder, pictures] } = await begin({ settings, width: 1500, height: 860 });
mkdirSync(pictures, { recursive: true });

const lens = (words) => page.locator('.editor-instance .codelens-decoration :is(a, span)', { hasText: words }).first();
const squiggles = () => page.locator('.editor-instance .squiggly-error').count();
const listed = () => page.locator('.statusbar-item[id="status.problems"]').getAttribute('aria-label');
const clear = () => command(page, 'Notifications: Clear All Notifications');

export const passed = await steps(
  page,
  {
    async 'a folder of sources wakes the extension, and kernels have lenses'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await openFile(page, 'axpy.cl');
      await lens('Compile for...').waitFor({ timeout: LONG });
      for (const words of ['Run', 'Prove', 'Debug', 'Show vISA']) {
        await lens(words).waitFor({ timeout: LONG });
      }
      await page.keyboard.press('Control+b');
    },
    async 'the text of a kernel is shown, and cannot be edited'() {
      const tab = page.locator('.tab.active', { hasText: 'saxpy.visaasm' });
      // A click on a lens is lost where the editor draws its lenses anew.
      const shown = async () => {
        await lens('Show vISA').click();
        return tab.waitFor({ timeout: 15000 }).then(() => true);
      };
      await until(page, 'the text of the kernel', shown, Boolean, LONG);
      await page.locator('.editor-instance .view-line', { hasText: '.kernel "saxpy"' }).first().waitFor({ timeout: LONG });
      await page.locator('.editor-instance .view-line', { hasText: '.kernel "saxpy"' }).first().click();
      await page.keyboard.type('x');
      assert.equal(await page.locator('.tab.dirty').count(), 0);
      // The editor asks for lenses anew when it has the focus.
      await page.keyboard.press('Control+1');
      await lens(/Show vISA \(tgllp SIMD\d+: \d+ Gen instructions/).waitFor({ timeout: LONG });
      assert.deepEqual(readdirSync(folder), ['axpy.cl']);
      return lens(/tgllp SIMD/).innerText();
    },
    async 'its machine code has the source beside it'() {
      await page.keyboard.press('Control+2');
      await command(page, 'vISA: Show Machine Code');
      const view = await webview(page, '.column:last-child .listing .line');
      assert.equal(await view.locator('[role=listbox]').count(), 2);
      await view.locator('.column:first-child .line', { hasText: 'get_global_id' }).click({ position: { x: 40, y: 6 } });
      assert.ok((await view.locator('.column:last-child .line.there').count()) > 1);
      await photograph(page, pictures, 'compile-machine-code');
    },
    async 'a kernel runs from its source, and its faults are there'() {
      await page.keyboard.press('Control+1');
      await lens('Run').click();
      const view = await webview(page, 'header h1');
      assert.equal(await view.locator('header h1').innerText(), 'saxpy');
      assert.match(await view.locator('section article h3').first().innerText(), /^y \(argument 0\)/);
      assert.deepEqual(readdirSync(folder), ['axpy.cl']);
      await photograph(page, pictures, 'compile-run');
    },
    async 'for another device'() {
      await page.keyboard.press('Control+1');
      await lens('Compile for...').click();
      await page.locator('.quick-input-list .monaco-list-row', { hasText: 'DG2' }).first().click();
      await lens(/Show vISA \(dg2 SIMD\d+: /).waitFor({ timeout: LONG });
      await lens('Show vISA').click();
      await page.locator('.statusbar-item', { hasText: '· DG2' }).waitFor({ timeout: LONG });
    },
    async 'what the compiler says is a problem of the source'() {
      await goTo(page, 4);
      await page.keyboard.press('End');
      await page.keyboard.insertText(' wrong = 1;');
      await lens('Show vISA').click();
      await page.locator('.editor-instance .squiggly-error').first().waitFor({ timeout: LONG });
      await page.locator('.notification-list-item', { hasText: 'axpy.cl was not compiled: the problems say why' }).waitFor({ timeout: LONG });
      await page.keyboard.press('Control+Shift+m');
      const row = page.locator('.markers-panel .monaco-list-row', { hasText: /undeclared identifier 'wrong'/ }).first();
      await row.waitFor({ timeout: LONG });
      assert.match(await row.innerText(), /ocloc/);
      await clear();
      await photograph(page, pictures, 'compile-problem');
      await page.keyboard.press('Control+j');
      return listed();
    },
    async 'and goes when the source is mended and saved'() {
      await goTo(page, 4);
      for (let n = 0; n < 5; n++) {
        await page.keyboard.press('Control+z'); // word by word
      }
      await page.keyboard.press('Control+s');
      await until(page, 'no problem', async () => (await squiggles()) === 0);
      await lens(/dg2 SIMD\d+: /).waitFor({ timeout: LONG });
    },
    async 'a compiler that is not there'() {
      changeMachine({ 'visa.ocloc': join(folder, 'none') });
      const told = page.locator('.notification-list-item', { hasText: 'none: does not exist; name the program ocloc' });
      // The server hears of the setting at some time.
      await until(page, 'that it is missed', async () => {
        await lens('Compile for...').click();
        await page.locator('.quick-input-list .monaco-list-row', { hasText: 'TGLLP' }).first().click();
        return told.waitFor({ timeout: 5000 }).then(() => true);
      });
      await told.getByText('Open Setting').click();
      await page.locator('.settings-editor', { hasText: 'Ocloc' }).first().waitFor({ timeout: LONG });
    },
  },
  join(pictures, 'failed.png'),
);
