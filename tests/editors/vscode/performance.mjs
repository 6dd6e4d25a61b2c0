// Register pressure and the heat of a profiled run: the curve, what is live, marked lines, bars beside lines, a graph in colours.
// Usage: performance.mjs FOLDER PICTURES. FOLDER is a copy of examples/ with the text tiles.visaasm.

import { mkdirSync, readFileSync } from 'node:fs';
import assert from 'node:assert';
import { join } from 'node:path';
import { begin, command, goTo, inThemes, LONG, openFile, openFolder, photograph, steps, until, webview } from './lib.mjs';

const settings = { 'security.workspace.trust.enabled': false, 'files.autoSave': 'off', 'editor.stickyScroll.enabled': false, 'editor.foldingImportsByDefault': false };
const { code, page, words: [folder, pictures] } = await begin({ settings });
const themed = join(pictures, 'themes');
mkdirSync(themed, { recursive: true });

const ready = () => page.locator('.statusbar-item', { hasText: 'vISA' }).locator('.codicon-circuit-board').waitFor({ timeout: LONG });
const atLine = (line) => page.locator('.statusbar-item', { hasText: `Ln ${line},` }).waitFor({ timeout: LONG });
const close = () => command(page, 'View: Close All Editors');
const choose = (label) => page.locator('.quick-input-list .monaco-list-row', { hasText: label }).first().click();
const tiles = readFileSync(join(folder, 'tiles.visaasm'), 'utf8').split('\n');
const loop = readFileSync(join(folder, 'mandelbrot.visaasm'), 'utf8').split('\n');

let view;
const heading = () => view.locator('section h2').innerText().catch(() => '');
const said = () => view.locator('.curve').getAttribute('aria-valuetext');
/** The bars beside lines that are to be seen, each with its width in the picture. */
const bars = () =>
  page.locator('.editor-instance .glyph-margin-widgets .cgmr').evaluateAll((all) =>
    all.map((one) => /url\("data:image\/svg\+xml;base64,([^"]+)"/.exec(getComputedStyle(one).backgroundImage)?.[1]).flatMap((svg) => (svg ? [/width="([\d.]+)" height="10"/.exec(atob(svg))[1]] : [])),
  );
const behind = (text) =>
  page.locator('.editor-instance .view-line').evaluateAll(
    (rows, wanted) => rows.flatMap((row) => [...row.querySelectorAll('span')].map((span) => getComputedStyle(span, '::after').content)).filter((content) => content.includes(wanted)),
    text,
  );

export const passed = await steps(
  page,
  {
    async 'the curve of the kernel of the cursor'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await openFile(page, 'tiles.visaasm');
      await ready();
      await command(page, 'vISA: Show Register Pressure');
      view = await webview(page, '.curve svg');
      await page.keyboard.press('Control+b');
      assert.match(await view.locator('.bar .facts').innerText(), /^tiles: up to 101 GRF rows of 32 bytes$/);
      assert.match(await view.locator('.curve').innerText(), /peak: 101 rows, line 296/);
      assert.ok((await view.locator('.curve .loop').count()) > 0);
      return view.locator('.curve').innerText();
    },
    async 'what is live follows the cursor'() {
      await goTo(page, 300);
      await until(page, 'the list of line 300', async () => (await heading()).startsWith('Live behind line 300: '));
      const names = await view.locator('section tr th').allInnerTexts();
      assert.ok(names.includes('V0133') && names.includes('V0070'), names.join(' '));
      await goTo(page, 222);
      await until(page, 'another list', async () => (await heading()).startsWith('Live behind line 222: '));
      assert.ok(!(await view.locator('section tr th').allInnerTexts()).includes('V0133'));
      return names.length;
    },
    async 'a click goes there'() {
      await view.getByRole('button', { name: 'Go to Peak' }).click();
      await atLine(296);
      const box = await view.locator('.curve').boundingBox();
      await view.locator('.curve').click({ position: { x: box.width - 14, y: 100 } });
      const last = tiles.findLastIndex((line) => /^\s+\w/.test(line)) + 1;
      await atLine(last);
      return last;
    },
    async 'by keyboard'() {
      await view.locator('.curve').focus();
      await page.keyboard.press('Home');
      const first = await until(page, 'the first line', async () => /^line (\d+): \d+ rows$/.exec(await said())?.[1]);
      await page.keyboard.press('ArrowRight');
      await until(page, 'the next line', async () => Number(/^line (\d+)/.exec(await said())[1]) > Number(first));
      await page.keyboard.press('p');
      await until(page, 'the peak', async () => (await said()) === 'line 296: 101 rows, loop depth 1');
      await page.keyboard.press('Enter');
      await atLine(296);
    },
    async 'the lines of a variable are marked'() {
      await view.getByRole('button', { name: 'V0133', exact: true }).click();
      await view.locator('.curve .life').waitFor({ timeout: LONG });
      await view.locator('tr.marked').waitFor({ timeout: LONG });
      const marked = () => page.locator('.editor-instance .view-overlays .cdr').evaluateAll((all) => all.filter((one) => getComputedStyle(one).borderLeftWidth === '3px').length);
      await goTo(page, 298);
      assert.ok((await until(page, 'marked lines', marked)) >= 10);
      await photograph(page, pictures, 'pressure');
      await inThemes(page, themed, 'pressure');
      const at = tiles.findIndex((line, n) => n > 290 && line.includes('V0133')) + 1;
      await goTo(page, at);
      await page.locator('.editor-instance .view-line', { hasText: tiles[at - 1].trim().split(' ')[0] }).locator('span > span', { hasText: 'V0133' }).first().click();
      await command(page, 'vISA: Mark Where a Variable Is Live');
      await view.locator('.curve .life').first().waitFor({ state: 'hidden', timeout: LONG });
      assert.equal(await marked(), 0);
      await goTo(page, 222);
      await page.keyboard.press('Home');
      await command(page, 'vISA: Mark Where a Variable Is Live');
      await choose('V0070');
      await view.locator('.curve .life').waitFor({ timeout: LONG });
    },
    async 'an edit counts anew'() {
      await goTo(page, 222);
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.keyboard.type('mvo');
      await view.locator('p.bad', { hasText: 'the text has errors' }).waitFor({ timeout: LONG });
      await page.keyboard.press('Control+z');
      await page.keyboard.press('Control+z');
      await view.locator('.curve svg').waitFor({ timeout: LONG });
      assert.equal(await view.locator('.curve .life').count(), 0);
      await command(page, 'File: Revert File');
    },
    async 'heat of a run'() {
      await close();
      await page.keyboard.press('Control+b');
      await openFile(page, 'mandelbrot.visaasm');
      await page.keyboard.press('Control+b');
      await command(page, 'vISA: Run Kernel with Profile');
      await webview(page, 'article canvas');
      await goTo(page, loop.findIndex((line) => line.startsWith('_0_021:')) + 4);
      const widths = await until(page, 'bars', async () => ((await bars()).length > 5 ? bars() : undefined));
      assert.ok(new Set(widths).size >= 2, widths.join(' '));
      const words = await until(page, 'words behind the hottest line', async () => (await behind('executions'))[0]);
      assert.match(words, /1,121 executions/);
      await command(page, 'vISA: Choose Heat...');
      await choose('Idle lanes');
      const idle = await until(page, 'idle lanes', async () => (await behind('lanes idle'))[0]);
      await command(page, 'vISA: Choose Heat...');
      await choose('Traffic');
      await until(page, 'no words of lanes', async () => (await behind('lanes idle')).length === 0);
      await goTo(page, 191);
      const traffic = await until(page, 'cache lines', async () => (await behind('cache lines'))[0]);
      await command(page, 'vISA: Choose Heat...');
      await choose('Executions');
      await command(page, 'View: Close Editors in Other Groups');
      await goTo(page, 139);
      await until(page, 'executions', async () => (await behind('executions'))[0]);
      await photograph(page, pictures, 'heat');
      return [words, idle, traffic];
    },
    async 'the flow graph in colours'() {
      await command(page, 'vISA: Show Control-Flow Graph');
      const graph = await webview(page, 'svg g.block.heat-5');
      assert.match(await graph.locator('g.block.heat-5').first().getAttribute('aria-label'), /executions/);
      await goTo(page, loop.findIndex((line) => line.startsWith('_0_021:')) + 4);
      await photograph(page, pictures, 'heat-flow');
      await inThemes(page, themed, 'heat');
      return graph.locator('g.block[class*="heat-"]').count();
    },
    async 'an edit takes the heat away'() {
      await goTo(page, 139);
      await page.keyboard.press('Home');
      await page.keyboard.type(' ');
      await until(page, 'no bars', async () => (await bars()).length === 0);
      assert.deepEqual(await behind('executions'), []);
      await command(page, 'File: Revert File');
    },
  },
  join(pictures, 'failed.png'),
);
