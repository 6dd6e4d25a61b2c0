// "Read as Code": pseudo-code beside a text, in step with it by the cursor of either, after edits too; of a block in a source of another
// language as well. Usage: code.mjs FOLDER PICTURES. FOLDER has mandelbrot.visaasm, with its ze_info, and run.cpp.

import assert from 'node:assert';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { begin, command, goTo, inThemes, LONG, openFile, openFolder, photograph, steps, until } from './lib.mjs';

const settings = { 'security.workspace.trust.enabled': false, 'files.autoSave': 'off', 'editor.stickyScroll.enabled': false, 'editor.fontSize': 12, 'visa.embedded.enabled': true };
const { code, page, words: [folder, pictures] } = await begin({ settings, machine: { 'visa.platform': 'TGLLP' }, width: 1500, height: 860 });
const themed = join(pictures, 'themes');
mkdirSync(themed, { recursive: true });
const text = readFileSync(join(folder, 'mandelbrot.visaasm'), 'utf8');
const lineOf = (needle) => text.slice(0, text.indexOf(needle)).split('\n').length;
const group = (number) => page.locator('.editor-group-container').nth(number);
const lineWith = (number, words) => group(number).locator('.view-line', { hasText: words }).first();

/** The lines of a group's editor that are marked as partners, as they are written. */
const marked = (number) =>
  page.evaluate((at) => {
    const editor = document.querySelectorAll('.editor-group-container')[at].querySelector('.editor-instance .monaco-editor');
    const top = (node) => Math.round(node.getBoundingClientRect().top);
    const tops = [...editor.querySelectorAll('.view-overlays .cdr[class*="ced-"]')].filter((node) => node.offsetWidth > 50).map(top);
    return [...editor.querySelectorAll('.view-line')].filter((line) => tops.includes(top(line))).map((line) => line.textContent.replaceAll('\u00a0', ' ').trim());
  }, number);

export const passed = await steps(
  page,
  {
    async 'the cursor marks the line of pseudo-code'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await openFile(page, 'mandelbrot.visaasm');
      await page.locator('.statusbar-item', { hasText: 'vISA' }).locator('.codicon-circuit-board').waitFor({ timeout: LONG });
      await page.keyboard.press('Control+b');
      await goTo(page, lineOf('    mad (M1, 16) V0062'));
      await command(page, 'vISA: Read as Code');
      await lineWith(1, 'kernel void mandel(global uchar4 *img').waitFor({ timeout: LONG });
      await until(page, 'the partner', async () => (await marked(1)).join() === 'acc = fma(t * 2.0f, acc, sum2);' || (await marked(1)), (found) => found === true);
      await photograph(page, pictures, 'read-as-code-light');
    },
    async 'a click on pseudo-code marks its instructions'() {
      await lineWith(1, 'float sum = fma(').click();
      await until(page, 'two instructions', async () => (await marked(0)).length === 2);
      const found = await marked(0);
      assert.match(found.join('\n'), /^mov .*V0057.*\nmad .*V0058/);
      return found;
    },
    async 'an edit is followed'() {
      const at = lineOf('    mad (M1, 16) V0062');
      await goTo(page, at);
      await page.keyboard.press('End');
      await page.keyboard.insertText('\n    add (M1, 16) V0062(0,0)<1> V0062(0,0)<1;1,0> 0x40e00000:f');
      await lineWith(1, '+ 7.0f').waitFor({ timeout: LONG });
      await until(page, 'the partner of the new line', async () => /7\.0f/.test((await marked(1)).join()));
    },
    async 'of a broken text the last pseudo-code stays, with the reason'() {
      await page.keyboard.insertText('\n    nonsense');
      await group(1).locator('.view-lines').hover();
      await page.mouse.wheel(0, -5000);
      await lineWith(1, 'from before the last edits').waitFor({ timeout: LONG });
      assert.match(await lineWith(1, /line\s\d+:/).innerText(), /nonsense/);
      await photograph(page, themed, 'read-as-code-broken');
      await page.keyboard.press('Control+1');
      await command(page, 'File: Revert File');
      await until(page, 'the pseudo-code of the text as it was', async () => (await group(1).locator('.view-line', { hasText: /edits|7\.0f/ }).count()) === 0);
    },
    async 'in other themes'() {
      return inThemes(page, themed, 'read-as-code', async () => {
        await goTo(page, lineOf('    mad (M1, 16) V0062'));
        await until(page, 'the partner', async () => (await marked(1)).length === 1);
        if ((await page.locator('.monaco-workbench.vs-dark').count()) > 0) {
          await photograph(page, pictures, 'read-as-code-dark');
        }
        return marked(1);
      });
    },
    async 'a block in C++ too'() {
      await command(page, 'View: Close All Editors');
      await page.keyboard.press('Control+b');
      await openFile(page, 'run.cpp');
      await goTo(page, 2);
      await command(page, 'vISA: Read as Code');
      await until(page, 'the line of the product', async () => /\*/.test((await marked(1)).join()));
      return marked(1);
    },
  },
  join(pictures, 'failed.png'),
);
