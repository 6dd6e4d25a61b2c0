// What a user sees: every view is brought up with mouse and keyboard in a real VS Code, looked into, and photographed.
// Usage: views.mjs FOLDER PICTURES. FOLDER is a copy of examples/.

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import assert from 'node:assert';
import { join } from 'node:path';
import { begin, command, goTo, inThemes, LONG, openFile, openFolder, photograph, steps, until, webview } from './lib.mjs';

const settings = {
  'security.workspace.trust.enabled': false,
  'editor.hover.delay': 200,
  'editor.stickyScroll.enabled': false,
  'files.autoSave': 'off',
};
const { code, page, words: [folder, pictures] } = await begin({ settings });
mkdirSync(join(pictures, 'themes'), { recursive: true });
const saxpy = join(folder, 'saxpy.visaasm');
const good = readFileSync(saxpy, 'utf8');

const picture = (name) => photograph(page, pictures, name);
const line = (text) => page.locator('.editor-instance .view-line', { hasText: text }).first();
const ready = () => page.locator('.statusbar-item', { hasText: 'vISA' }).locator('.codicon-circuit-board').waitFor({ timeout: LONG });

const lineOf = (text, needle) => text.slice(0, text.indexOf(needle)).split('\n').length;

export const passed = await steps(
  page,
  {
    async 'semantic colours'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await openFile(page, 'saxpy.visaasm');
      await ready();
      await page.locator('.codelens-decoration', { hasText: 'Run' }).first().waitFor({ timeout: LONG });
      await goTo(page, lineOf(good, '    mad (M1'));
      const colour = async (text) => line(text).evaluate((row) => {
        const spans = [...row.querySelectorAll('span > span')].filter((span) => span.textContent.trim());
        return spans.map((span) => [span.textContent.trim(), getComputedStyle(span).color]);
      });
      const seen = await colour('mad (M1');
      assert.ok(new Set(seen.map(([, c]) => c)).size >= 3, JSON.stringify(seen));
      return seen.slice(0, 4);
    },
    async hover() {
      const token = line('mad (M1').locator('span > span', { hasText: 'x_value' }).first();
      await token.hover();
      const box = page.locator('.monaco-hover:visible .hover-contents').first();
      await box.waitFor({ timeout: LONG });
      const text = await box.innerText();
      assert.match(text, /GRF|byte/i);
      await picture('hover');
      return text.slice(0, 200);
    },
    async definition() {
      await page.keyboard.press('Escape');
      await page.mouse.move(700, 790);
      await line('mad (M1').locator('span > span', { hasText: 'x_value' }).first().click();
      await page.keyboard.press('F12');
      const wanted = lineOf(good, '.decl x_value');
      await page.locator('.statusbar-item', { hasText: `Ln ${wanted},` }).waitFor({ timeout: LONG });
    },
    async completion() {
      await goTo(page, lineOf(good, '    mad (M1'));
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.keyboard.type('mu');
      await page.locator('.suggest-widget.visible .monaco-list-row', { hasText: 'mul' }).first().waitFor({ timeout: LONG });
      await picture('completion');
      await page.keyboard.press('Escape');
      for (let n = 0; n < 12; n++) {
        await page.keyboard.press('Control+z');
      }
    },
    async rename() {
      await line('mad (M1').locator('span > span', { hasText: 'y_value' }).first().click();
      await page.keyboard.press('F2');
      const box = page.locator('.rename-box input');
      await box.waitFor({ timeout: LONG });
      await box.fill('result');
      await page.keyboard.press('Enter');
      await line(/result.*\(0,0\)/).waitFor({ timeout: LONG });
      const rows = await page.locator('.view-line', { hasText: 'result' }).count();
      await page.keyboard.press('Control+z');
      await line(/mad.*y_value/).waitFor({ timeout: LONG });
      return rows;
    },
    async problems() {
      await command(page, 'File: Revert File');
      writeFileSync(saxpy, good.replace('    mad (M1, 16) y_value', '    madd (M1, 16) y_value').replace('offset.0 y_value.0\n\n', 'offset.0 y_valu.0\n\n'));
      await page.locator('.editor-instance .squiggly-error').first().waitFor({ timeout: LONG });
      await page.keyboard.press('Control+Shift+M');
      for (const meant of ['mad', 'y_value']) {
        await page.locator('.markers-panel .monaco-list-row', { hasText: `did you mean \`${meant}\`` }).first().waitFor({ timeout: LONG });
      }
      await picture('problems');
      const rows = await page.locator('.markers-panel .monaco-list-row').allInnerTexts();
      await page.keyboard.press('Control+Shift+M');
      return rows;
    },
    async 'a failed run names its line'() {
      await page.locator('.editor-actions .action-label[aria-label*="Run Kernel"]').first().click();
      const view = await webview(page, 'ul.reports a');
      const text = await view.locator('ul.reports a').first().innerText();
      assert.match(text, /V201/);
      writeFileSync(saxpy, good);
      await page.locator('.editor-instance .squiggly-error').first().waitFor({ state: 'hidden', timeout: LONG });
      return text;
    },
    async 'run with an image'() {
      const launch = readFileSync(join(folder, 'mandelbrot.launch.yaml'), 'utf8');
      const larger = [['[3, 5, 1]', '[8, 18, 1]'], ['[20, 36, 4]', '[72, 128, 4]'], ['value: 36', 'value: 128'], ['value: 20', 'value: 72'], ['0.0903', '0.0248']];
      const text = larger.reduce((t, [from, to]) => t.replace(from, to), launch.slice(0, launch.indexOf('expect:')));
      writeFileSync(join(folder, 'larger.launch.yaml'), text);
      await command(page, 'View: Close All Editors');
      await openFile(page, 'larger.launch.yaml');
      await page.locator('.editor-actions .action-label[aria-label*="Run Kernel"]').first().click();
      const view = await webview(page, 'article canvas');
      const size = await view.locator('canvas').first().evaluate((c) => [c.width, c.height]);
      assert.deepEqual(size, [128, 72]);
      await picture('run-image');
      return view.locator('header').innerText();
    },
    async 'run with reports, findings and messages'() {
      const names = ['quotient.visaasm', 'quotient.launch.yaml'];
      names.forEach((name) => copyFileSync(join(import.meta.dirname, 'faulty', name), join(folder, name)));
      const text = readFileSync(join(folder, 'quotient.visaasm'), 'utf8');
      await command(page, 'View: Close All Editors');
      await openFile(page, 'quotient.visaasm');
      await page.locator('.editor-actions .action-label[aria-label*="Run Kernel"]').first().click();
      const view = await webview(page, 'h2:has-text("Messages")');
      assert.deepEqual(await view.locator('h2').allInnerTexts(), ['Reports (2)', 'Outputs', 'Findings (1)', 'Messages (1)']);
      const links = { Messages: 'raw_sends', Findings: 'div', Reports: 'scatter4_scaled.R' };
      for (const [heading, mnemonic] of Object.entries(links)) {
        const wanted = lineOf(text, `    ${mnemonic}`);
        const link = view.locator('section', { hasText: heading }).locator('a').first();
        assert.equal(await link.innerText(), `line ${wanted}`);
        await link.click();
        await page.locator('.statusbar-item', { hasText: `Ln ${wanted},` }).waitFor({ timeout: LONG });
      }
      const other = view.locator('section', { hasText: 'Reports' }).locator('.where', { hasText: 'other party' });
      assert.match(await other.innerText(), /^other party: group \(0, 0, 0\), thread 0, instruction \d+, line \d+$/);
      await goTo(page, 1);
      await other.locator('a').click();
      await page.locator('.statusbar-item', { hasText: `Ln ${lineOf(text, '    scatter4')},` }).waitFor({ timeout: LONG });
      assert.equal(await view.locator('h1').innerText(), 'quotient');
      const bounds = view.locator('section', { hasText: 'Reports' }).locator('li').first();
      assert.match(await bounds.innerText(), /bytes 48-51, element 12 of quotient,[^]*\nwork items: lanes 12 to 15: global /);
      assert.match(await bounds.locator('code.excerpt').innerText(), /^scatter4_scaled\.R /);
      await command(page, 'View: Toggle Primary Side Bar Visibility');
      await picture('run-findings');
      await inThemes(page, join(pictures, 'themes'), 'run-findings');
      await command(page, 'View: Toggle Primary Side Bar Visibility');
      const seen = (await view.locator('section').allInnerTexts()).slice(0, 3);
      // The line is marked until the text changes.
      const mark = page.locator('.editor-instance .squiggly-error').first();
      await mark.waitFor({ timeout: LONG });
      await goTo(page, 1);
      await page.keyboard.type(' ');
      await mark.waitFor({ state: 'hidden', timeout: LONG });
      await page.keyboard.press('Control+z');
      await command(page, 'View: Close All Editors');
      await page.locator('.tab').first().waitFor({ state: 'hidden', timeout: LONG });
      names.forEach((name) => rmSync(join(folder, name)));
      return seen;
    },
    async 'quick run'() {
      await command(page, 'View: Close All Editors');
      const launch = join(folder, 'saxpy.launch.yaml');
      const kept = readFileSync(launch, 'utf8');
      rmSync(launch);
      await openFile(page, 'saxpy.visaasm');
      await command(page, 'vISA: Quick Run');
      const form = await webview(page, 'table.form');
      assert.deepEqual([await form.locator('h1').innerText(), await form.getByLabel('Kernel').count()], ['Run saxpy', 0]);
      await form.getByLabel('Thread groups: x, y, z').fill('many');
      await form.getByRole('button', { name: 'Run', exact: true }).click();
      await form.locator('p.bad', { hasText: "groups: 'many' is no number" }).waitFor({ timeout: LONG });
      await form.getByLabel('Thread groups: x, y, z').fill('4');
      await form.getByLabel('a: value').fill('2.5');
      await form.getByLabel('n: value').fill('50');
      for (const name of ['x', 'y']) {
        await form.getByLabel(`${name}: length, or lengths with x between them`).fill('64');
      }
      await form.getByLabel('y: contents').selectOption('ones');
      await form.getByRole('button', { name: 'Run', exact: true }).click();
      const view = await webview(page, 'article table td');
      const row = view.locator('article').first().locator('tbody tr').first();
      assert.deepEqual((await row.innerText()).split('\t').slice(1, 4), ['1', '3.5', '6']);
      await command(page, 'View: Toggle Primary Side Bar Visibility');
      await picture('quick-run');
      await command(page, 'View: Toggle Primary Side Bar Visibility');
      await form.getByRole('button', { name: 'Save as Launch File' }).click();
      await page.locator('.tab.active', { hasText: 'saxpy.launch.yaml' }).waitFor({ timeout: LONG });
      assert.match(readFileSync(launch, 'utf8'), /groups: \[4, 1, 1\]/);
      writeFileSync(launch, kept);
      return (await row.innerText()).split('\t');
    },
    async 'a choice of kernels keeps what was entered'() {
      await command(page, 'View: Close All Editors');
      const two = join(folder, 'two.visaasm');
      const text = readFileSync(join(folder, 'saxpy.visaasm'), 'utf8');
      const both = text + text.replace(/^\.version.*$/m, '').replace('"saxpy"', '"other"');
      writeFileSync(two, both);
      await openFile(page, 'two.visaasm');
      await command(page, 'vISA: Quick Run');
      const form = await webview(page, 'table.form');
      const kernel = form.getByLabel('Kernel');
      assert.deepEqual(await kernel.locator('option').allInnerTexts(), ['saxpy', 'other']);
      await form.getByLabel('n: value').fill('50');
      // What is wrong with a choice is told, and the form stays.
      const problems = () => page.locator('.statusbar-item[id="status.problems"]').getAttribute('aria-label');
      const clean = await problems();
      writeFileSync(two, both.replace('mad (M1, 16)', 'madd (M1, 16)'));
      await until(page, 'the problem', problems, (label) => label !== clean);
      await kernel.selectOption('other');
      await form.locator('p.bad', { hasText: 'the text has errors' }).waitFor({ timeout: LONG });
      assert.deepEqual([await kernel.inputValue(), await form.getByLabel('n: value').inputValue()], ['saxpy', '50']);
      writeFileSync(two, both);
      await until(page, 'no problem', problems, (label) => label === clean);
      await kernel.selectOption('other');
      await form.locator('h1', { hasText: 'Run other' }).waitFor({ timeout: LONG });
      await kernel.selectOption('saxpy');
      await form.locator('h1', { hasText: 'Run saxpy' }).waitFor({ timeout: LONG });
      assert.equal(await form.getByLabel('n: value').inputValue(), '50');
      rmSync(two);
    },
    async 'values beside the lines'() {
      await command(page, 'View: Close All Editors');
      await openFile(page, 'saxpy.visaasm');
      await page.locator('.editor-actions .action-label[aria-label*="Run Kernel"]').first().click();
      await webview(page, 'article table td');
      await line('.input y').waitFor({ timeout: LONG });
      const text = await line('.input y').evaluate((row) =>
        [...row.querySelectorAll('span')].map((span) => getComputedStyle(span, '::after').content).find((c) => c.includes('float32')),
      );
      assert.match(text, /y = float32\[100\]/);
      return text;
    },
  },
  join(pictures, 'failed.png'),
);
