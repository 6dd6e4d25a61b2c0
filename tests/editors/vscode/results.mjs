// Results that one can read: what is not as expected in the Run panel and in the Testing view, by mouse and keyboard, in a
// light, a dark and two high-contrast themes. Usage: results.mjs FOLDER PICTURES. FOLDER is a copy of
// examples/. Pictures of other themes go to PICTURES/themes.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import assert from 'node:assert';
import { join } from 'node:path';
import { begin, command, LONG, openFile, openFolder, photograph, steps, until, webview } from './lib.mjs';

const settings = { 'security.workspace.trust.enabled': false, 'files.autoSave': 'off' };
const { code, page, words: [folder, pictures] } = await begin({ settings });
mkdirSync(join(pictures, 'themes'), { recursive: true });
const THEMES = { dark: 'Dark Modern', 'high-contrast': 'Default High Contrast', 'high-contrast-light': 'Default High Contrast Light' };
const saxpy = readFileSync(join(folder, 'saxpy.launch.yaml'), 'utf8').replace('kernel: saxpy\n', 'kernel: saxpy\nfile: saxpy.visaasm\n');
writeFileSync(join(folder, 'wrong.launch.yaml'), saxpy.replace('1, 3.5, 6, 8.5', '1, 3.5, 7, 8.5').replace('26, 28.5', '26.25, 28.5').replace('246, 248.5]', '246, 250]'));
writeFileSync(
  join(folder, 'matrix.launch.yaml'),
  saxpy.slice(0, saxpy.indexOf('expect:')).replace('y: {buffer: {dtype: float32, shape: [100]', 'y: {buffer: {dtype: float32, shape: [300, 100]'),
);


async function run(name) {
  await command(page, 'View: Close All Editors');
  await openFile(page, name);
  await page.locator('.editor-actions .action-label[aria-label*="Run Kernel"]').first().click();
}

export const passed = await steps(
  page,
  {
    async 'what is not as expected comes first'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await run('wrong.launch.yaml');
      const view = await webview(page, 'td.differs');
      assert.deepEqual(await view.locator('ul.checks li').allInnerTexts(), ['y is not as expected\nshow causes']);
      assert.deepEqual(await view.locator('section h2').allInnerTexts(), ['Expectations']);
      assert.match(await view.locator('p.wrong').innerText(), /^3 of 100 elements differ; largest error: 1\.5 absolute at \[99\], 0\.1429 relative at \[2\], /);
      assert.deepEqual(await view.locator('ul.first li').allInnerTexts(), ['[2]: got 6, expected 7', '[10]: got 26, expected 26.25', '[99]: got 248.5, expected 250']);
      const cells = await view.locator('td.differs').allInnerTexts();
      assert.deepEqual(cells.map((cell) => cell.split(/\s+/)), [['≠', '6', '7'], ['≠', '26', '26.25'], ['≠', '248.5', '250']]);
      const background = await view.locator('td.differs').first().evaluate((cell) => getComputedStyle(cell).backgroundColor);
      assert.notEqual(background, 'rgba(0, 0, 0, 0)');
      return background;
    },
    async 'inputs are folded'() {
      const view = await webview(page, 'details summary');
      assert.equal(await view.locator('details summary').innerText(), 'Inputs, unchanged (1)');
      assert.equal(await view.locator('details article').isVisible(), false);
      await command(page, 'View: Toggle Primary Side Bar Visibility');
      await photograph(page, pictures, 'run-failed');
      await command(page, 'View: Toggle Primary Side Bar Visibility');
      await view.locator('details summary').focus();
      await page.keyboard.press('Enter');
      await view.locator('details article h3', { hasText: 'x' }).waitFor({ timeout: LONG });
      await page.keyboard.press('Enter');
    },
    async 'only differences, by keyboard'() {
      const view = await webview(page, 'td.differs');
      await view.getByLabel('only differences').focus();
      await page.keyboard.press('Space');
      await view.locator('th', { hasText: 'got' }).waitFor({ timeout: LONG });
      const rows = (await view.locator('article.wrong tbody tr').allInnerTexts()).map((row) => row.split('\t'));
      assert.deepEqual(rows, [['[2]', '6', '7', '-1'], ['[10]', '26', '26.25', '-0.25'], ['[99]', '248.5', '250', '-1.5']]);
      await page.keyboard.press('Space');
      const next = view.getByRole('button', { name: 'Next difference' });
      for (const expected of ['≠ 6', '≠ 26', '≠ 248.5', '≠ 6']) {
        await next.focus();
        await page.keyboard.press('Enter');
        assert.match(await view.locator('td:focus').innerText(), new RegExp(`^${expected.replace('.', '\\.')}\\s`));
      }
      return rows;
    },
    async 'in other themes'() {
      const view = await webview(page, 'td.differs');
      const seen = {};
      for (const [name, title] of Object.entries(THEMES)) {
        mkdirSync(join(folder, '.vscode'), { recursive: true });
        writeFileSync(join(folder, '.vscode', 'settings.json'), JSON.stringify({ 'workbench.colorTheme': title }));
        await view.locator(`body.vscode-${name}`).waitFor({ timeout: LONG });
        await photograph(page, join(pictures, 'themes'), `run-failed-${name}`);
        seen[name] = await view.locator('td.differs').first().evaluate((cell) => {
          const { color, borderTopWidth, borderTopStyle } = getComputedStyle(cell);
          return [color, borderTopWidth, borderTopStyle];
        });
        assert.equal(seen[name][2], 'solid', 'a cell is marked by more than its colour');
      }
      rmSync(join(folder, '.vscode'), { recursive: true }); // back to the usual theme
      return seen;
    },
    async 'a large matrix is a table that turns its pages'() {
      await run('matrix.launch.yaml');
      const view = await webview(page, 'section h2:has-text("Outputs")');
      const y = view.locator('article.output');
      assert.equal(await y.locator('canvas').count(), 0);
      assert.deepEqual([await y.locator('tbody tr').count(), await y.locator('thead th').count()], [64, 64]);
      await y.getByTitle('Later columns').click();
      await y.getByTitle('Later rows').focus();
      await page.keyboard.press('Enter');
      assert.deepEqual(await y.locator('.pager .facts').allInnerTexts(), ['rows 64 to 127 of 300', 'columns 64 to 99 of 100']);
      assert.equal(await y.locator('tbody th').first().innerText(), '64');
      // An image is one that somebody asks for, and then there are no number forms.
      await y.getByLabel('Table or image').selectOption('image');
      await y.locator('canvas').waitFor({ timeout: LONG });
      assert.equal(await y.getByLabel('Number format').isVisible(), false);
      await y.getByLabel('Table or image').selectOption('table');
      assert.equal(await y.getByLabel('Number format').isVisible(), true);
    },
    async 'pixels are an image by themselves'() {
      await run('mandelbrot.launch.yaml');
      const view = await webview(page, 'article canvas');
      assert.equal(await view.locator('h3').first().innerText(), 'img (argument 0)');
      assert.equal(await view.getByLabel('Number format').first().isVisible(), false);
    },
    async 'a failed test shows both sides'() {
      await command(page, 'View: Close All Editors');
      await page.locator('.activitybar .action-label[aria-label^="Testing"]').click();
      const row = page.locator('.test-explorer .monaco-list-row', { hasText: 'wrong' }).first();
      await row.waitFor({ timeout: LONG });
      await page.locator('.test-explorer').first().hover();
      await page.locator('.pane-header .action-label[aria-label^="Run Tests"], .title-actions .action-label[aria-label^="Run Tests"]').first().click();
      await row.locator('.codicon-testing-failed-icon').waitFor({ timeout: LONG });
      await row.dblclick();
      await page.locator('.tab.active', { hasText: 'wrong.launch.yaml' }).waitFor({ timeout: LONG });
      const peek = page.locator('.zone-widget .monaco-diff-editor');
      await peek.waitFor({ timeout: LONG });
      const sides = await until(page, 'both sides', () => peek.locator('.editor.original .view-line, .editor.modified .view-line').allInnerTexts(), (texts) =>
        [/\[2\].7$/, /\[2\].6$/].every((wanted) => texts.some((text) => wanted.test(text.trim()))),
      );
      await page.mouse.move(900, 790); // no tip in the picture
      await photograph(page, pictures, 'testing-failed');
      const image = page.locator('.test-explorer .monaco-list-row', { hasText: 'mandelbrot' }).first();
      await image.locator('.codicon-testing-passed-icon').waitFor({ timeout: LONG }); // it may still be running
      await image.hover();
      await image.locator('.action-label[aria-label*="Show Buffers"]').click();
      await webview(page, 'article canvas');
      return sides.slice(0, 8);
    },
  },
  join(pictures, 'failed.png'),
);
