// A debugging session as a user has it, with mouse and keyboard: F5, breakpoints, the Lanes view, a condition, back in time,
// hover, a changed variable, other threads, a fault, a failed test. Usage: debug.mjs FOLDER PICTURES.
// FOLDER is a copy of examples/.

import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { begin, chooseTheme, command, goTo, inThemes, LONG, openFile, openFolder, photograph, steps, until, webview } from './lib.mjs';

const settings = {
  'security.workspace.trust.enabled': false,
  'editor.hover.delay': 200,
  'editor.stickyScroll.enabled': false,
  'files.autoSave': 'off',
  'debug.toolBarLocation': 'docked', // a floating bar covers tabs
};
const { code, page, program, words: [folder, pictures] } = await begin({ settings, width: 1440, height: 900 });
mkdirSync(join(pictures, 'themes'), { recursive: true });
execFileSync(program, ['asm', join(folder, 'saxpy.visaasm'), '-o', join(folder, 'lone.isa')]);

const mandelbrot = readFileSync(join(folder, 'mandelbrot.visaasm'), 'utf8');
const average = readFileSync(join(folder, 'average.visaasm'), 'utf8');
const lineOf = (text, needle) => text.slice(0, text.indexOf(needle)).split('\n').length;
const row = (text) => page.locator('.editor-instance .view-line', { hasText: text }).first();

/** Waits until the run stands on a line (from 1), and gives the page of the Lanes view once it shows that. */
async function stopsAt(line) {
  const lanes = await webview(page, 'table thead th');
  await lanes.locator('.bar .facts', { hasText: `line ${line} ·` }).waitFor({ timeout: LONG });
  await page.locator('.debug-top-stack-frame-line').first().waitFor({ timeout: LONG });
  return lanes;
}
const cells = (lanes, name) => lanes.locator('tbody tr', { has: lanes.getByText(name, { exact: true }) }).locator('td').allInnerTexts();
const key = (name) => page.keyboard.press(name);
const toolbar = (name) => page.locator(`.debug-toolbar .action-label[aria-label^="${name}"], .part .action-label[aria-label^="${name}"]`).first();

const at = {
  first: lineOf(mandelbrot, '    or (M1_NM, 1) %cr0'),
  sum: lineOf(mandelbrot, '    add (M1, 16) V0066'),
  count: lineOf(mandelbrot, '    add (M1_NM, 1) V0061'),
  next: lineOf(mandelbrot, '    cmp.lt (M1_NM, 16) P5'),
  gather: lineOf(average, '    gather4_scaled.R (M1, 16) x 0x0:ud next.0'),
};

export const passed = await steps(
  page,
  {
    async 'F5 stops on entry'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await openFile(page, 'mandelbrot.visaasm');
      await page.locator('.codelens-decoration', { hasText: 'Debug' }).first().waitFor({ timeout: LONG });
      await goTo(page, at.sum);
      await key('F5');
      const lanes = await stopsAt(at.first);
      return lanes.locator('.bar .facts').innerText();
    },
    async 'a breakpoint'() {
      await goTo(page, at.sum);
      await key('F9');
      await page.locator('.codicon-debug-breakpoint').first().waitFor({ timeout: LONG });
      await key('F5');
      const lanes = await stopsAt(at.sum);
      assert.equal((await cells(lanes, 'V0064')).length, 16);
      return cells(lanes, 'V0064');
    },
    async 'the operand under the cursor is outlined'() {
      await row('V0066(0,0)<1> V0064').locator('span > span', { hasText: 'V0064' }).first().click();
      const lanes = await webview(page, 'td.outlined');
      assert.equal(await lanes.locator('td.outlined').count(), 16);
      await lanes.locator('thead tr', { hasText: 'V0064(0,0)<1;1,0>' }).waitFor({ timeout: LONG });
      assert.equal(await lanes.locator('td.operand').count(), 16);
    },
    async 'where the other threads stand'() {
      const lanes = await webview(page, 'aside button');
      assert.equal(await lanes.locator('aside button').count(), 4);
      const named = () =>
        page.locator('.editor-instance .view-line span').evaluateAll((spans) => spans.map((span) => getComputedStyle(span, '::after').content).find((text) => text.includes('thread')));
      await lanes.locator('aside button', { hasText: 'thread 1' }).click();
      await lanes.locator('.bar .facts', { hasText: 'thread 1 ·' }).waitFor({ timeout: LONG });
      await until(page, 'words behind the line', named, (text) => text?.includes('threads 2, 3'));
      assert.ok((await page.locator('.glyph-margin-widgets .cgmr[class*="ced-"], .margin .cgmr[class*="ced-"]').count()) > 0);
      await lanes.locator('aside button', { hasText: 'thread 0' }).click();
      await stopsAt(at.sum);
    },
    async 'a conditional stop'() {
      await goTo(page, at.sum);
      await key('F9');
      await page.locator('.codicon-debug-breakpoint').first().waitFor({ state: 'hidden', timeout: LONG });
      await goTo(page, at.count);
      await command(page, 'Debug: Add Conditional Breakpoint');
      await page.locator('.breakpoint-widget .monaco-editor.focused').waitFor({ timeout: LONG });
      await page.keyboard.type('V0061[0] == 7 && sum(emask) > 1000');
      await page.locator('.breakpoint-widget .view-line', { hasText: /^V0061\[0\]\s==\s7\s&&\ssum\(emask\)\s>\s1000$/ }).waitFor({ timeout: LONG });
      await key('Enter');
      await page.locator('.codicon-debug-breakpoint-conditional').first().waitFor({ timeout: LONG });
      await key('F5');
      const lanes = await stopsAt(at.count);
      const [value] = await cells(lanes, 'V0061');
      assert.equal(value, '7');
      const inactive = await lanes.locator('thead th.inactive').count();
      assert.ok(inactive > 0 && inactive < 16, `${inactive} inactive lanes`);
      assert.ok((await lanes.locator('tbody td.inactive').count()) > inactive);
      assert.ok((await lanes.locator('tbody td.changed').count()) > 0);
      return [value, inactive];
    },
    async 'a step forward and a step back'() {
      const before = await cells(await stopsAt(at.count), 'V0061');
      await key('F10');
      let lanes = await stopsAt(at.next);
      const after = await cells(lanes, 'V0061');
      assert.equal(Number(after[0]), Number(before[0]) + 1);
      await toolbar('Step Back').click();
      lanes = await stopsAt(at.count);
      assert.deepEqual(await cells(lanes, 'V0061'), before);
      return [before[0], after[0]];
    },
    async hover() {
      await row('P4 V0066(0,0)').locator('span > span', { hasText: 'V0066' }).first().hover();
      const box = page.locator('.debug-hover-widget:visible');
      await box.waitFor({ timeout: LONG });
      const text = await box.innerText();
      assert.match(text, /\d+\.\d+/);
      await page.mouse.move(700, 5);
      return text.slice(0, 100);
    },
    async 'a variable is set'() {
      const rows = page.locator('.debug-variables .monaco-list-row');
      await rows.filter({ hasText: 'Variables' }).first().waitFor({ timeout: LONG });
      const wanted = rows.filter({ hasText: /^V0034/ }).first();
      for (let tries = 0; tries < 6 && !(await wanted.isVisible()); tries++) {
        // The list is made anew behind a stop, and a scope may be folded again.
        await page.locator('.debug-variables .monaco-list-row[aria-expanded="false"]', { hasText: 'Variables' }).first().click({ timeout: 3000 }).catch(() => undefined);
        await wanted.waitFor({ timeout: 3000 }).catch(() => undefined);
      }
      await wanted.locator('.value').dblclick();
      const box = page.locator('.debug-variables input');
      await box.waitFor({ timeout: LONG });
      await box.fill('33');
      await key('Enter');
      const lanes = await webview(page, 'tbody td');
      await lanes.locator('tbody tr', { hasText: 'V0034' }).locator('td', { hasText: '33' }).first().waitFor({ timeout: LONG });
    },
    async 'lanes, dark and light'() {
      await row('V0066(0,0)<1> V0064').locator('span > span', { hasText: 'V0065' }).first().click();
      const lanes = await webview(page, 'td.outlined');
      await lanes.getByLabel('Filter variables by name').fill('V00');
      await lanes.locator('tbody tr', { hasText: 'V0065' }).evaluate((line) => line.scrollIntoView({ block: 'center' }));
      await command(page, 'View: Toggle Primary Side Bar Visibility');
      await photograph(page, pictures, 'debug-lanes-light');
      await chooseTheme(page, 'Dark Modern', 'vs-dark');
      await photograph(page, pictures, 'debug-lanes-dark');
      await inThemes(page, join(pictures, 'themes'), 'debug-lanes');
      await command(page, 'View: Toggle Primary Side Bar Visibility');
      await lanes.getByLabel('Filter variables by name').fill('');
      await lanes.getByLabel('How numbers are shown').selectOption('hex');
      await lanes.locator('tbody tr', { hasText: 'V0034' }).locator('td', { hasText: '0x00000021' }).first().waitFor({ timeout: LONG });
      await lanes.getByLabel('How numbers are shown').selectOption('declared');
    },
    async 'a fault stops before its effect'() {
      await goTo(page, at.count);
      await key('F9');
      await page.locator('.codicon-debug-breakpoint-conditional').first().waitFor({ state: 'hidden', timeout: LONG });
      await key('Shift+F5');
      await page.locator('.debug-top-stack-frame-line').first().waitFor({ state: 'hidden', timeout: LONG });
      await command(page, 'View: Close All Editors');
      await page.locator('.activitybar .action-label[aria-label^="Explorer"]').click();
      await openFile(page, 'average.visaasm');
      await page.locator('.codelens-decoration a', { hasText: 'Debug' }).first().click();
      await stopsAt(lineOf(average, '    mul (M1_NM, 1) group_base'));
      await key('F5');
      const widget = page.locator('.exception-widget');
      await widget.waitFor({ timeout: LONG });
      const lanes = await stopsAt(at.gather);
      const said = await widget.innerText();
      assert.match(said, /out-of-bounds/);
      const offsets = await cells(lanes, 'next');
      assert.equal(offsets[15], '128');
      await page.locator('.editor-instance .view-line', { hasText: 'next.0' }).locator('span > span', { hasText: 'next' }).first().click();
      await lanes.locator('td.outlined').first().waitFor({ timeout: LONG });
      await photograph(page, pictures, 'debug-fault');
      return said;
    },
    async 'who wrote this?'() {
      await command(page, 'vISA: Go Back to Last Write');
      await stopsAt(lineOf(average, '    add (M1, 16) next'));
      await key('Shift+F5');
      await page.locator('.debug-top-stack-frame-line').first().waitFor({ state: 'hidden', timeout: LONG });
    },
    async 'a failing test is debugged'() {
      const launch = readFileSync(join(folder, 'saxpy.launch.yaml'), 'utf8');
      writeFileSync(join(folder, 'wrong.launch.yaml'), launch.replace('kernel: saxpy', 'kernel: saxpy\nfile: saxpy.visaasm').replace('      1, 3.5,', '      1, 4.5,'));
      await command(page, 'View: Close All Editors');
      await page.locator('.activitybar .action-label[aria-label^="Testing"]').click();
      const test = page.locator('.test-explorer .monaco-list-row', { hasText: 'wrong' }).first();
      await test.waitFor({ timeout: LONG });
      await test.click();
      await test.hover();
      await test.locator('.action-label[aria-label*="Debug Test"]').click();
      const saxpy = readFileSync(join(folder, 'saxpy.visaasm'), 'utf8');
      const lanes = await webview(page, 'table thead th');
      await lanes.locator('.bar .facts', { hasText: 'line' }).waitFor({ timeout: LONG });
      await page.locator('.tab.active', { hasText: 'saxpy.visaasm' }).waitFor({ timeout: LONG });
      const store = lineOf(saxpy, '    mad (M1, 16)') + 1;
      await goTo(page, store);
      await key('F9');
      await key('F5');
      await stopsAt(store);
      await page.locator('.activitybar .action-label[aria-label^="Testing"]').click({ force: true }); // a badge lies on it
      await photograph(page, pictures, 'debug-test');
      await goTo(page, store);
      await key('F9');
      await key('F5');
      await test.locator('.codicon-testing-failed-icon').waitFor({ timeout: LONG });
    },
    async 'an object without its text'() {
      await command(page, 'View: Close All Editors');
      await page.locator('.activitybar .action-label[aria-label^="Explorer"]').click({ force: true });
      await openFile(page, 'lone.isa');
      await page.locator('.editor-actions .action-label[aria-label*="Debug Kernel"]').first().click();
      await page.locator('.tab.active', { hasText: 'saxpy (listing)' }).waitFor({ timeout: LONG });
      const lanes = await webview(page, 'table thead th');
      await lanes.locator('.bar .facts', { hasText: '16 of 16 lanes active' }).waitFor({ timeout: LONG });
      const seen = await row('mul (M1_NM, 1)').innerText();
      await key('F10');
      await lanes.locator('.bar .facts', { hasText: 'line 2 ·' }).waitFor({ timeout: LONG });
      assert.equal(await page.locator('.squiggly-error').count(), 0, 'a listing has no findings');
      await row('shl (M1, 16)').click();
      await key('F9');
      await page.locator('.codicon-debug-breakpoint').first().waitFor({ timeout: LONG });
      await key('F5');
      await lanes.locator('.bar .facts', { hasText: 'line 6 ·' }).waitFor({ timeout: LONG });
      await key('F9');
      await key('Shift+F5');
      return seen;
    },
  },
  join(pictures, 'failed.png'),
);
