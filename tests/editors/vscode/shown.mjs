// The views that show what is there: flow graph, zebin, object, pages; in light, dark and high contrast.
// Usage: shown.mjs FOLDER PICTURES. FOLDER is a copy of examples/.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import assert from 'node:assert';
import { join } from 'node:path';
import { begin, command, goTo, inThemes, LONG, openFile, openFolder, photograph, steps, until, webview } from './lib.mjs';

const settings = { 'security.workspace.trust.enabled': false, 'files.autoSave': 'off', 'editor.stickyScroll.enabled': false };
const { code, page, program, words: [folder, pictures] } = await begin({ settings });
const themed = join(pictures, 'themes');
mkdirSync(themed, { recursive: true });
execFileSync(program, ['asm', '--zebin', join(folder, 'mandelbrot.visaasm')]);
const text = readFileSync(join(folder, 'mandelbrot.visaasm'), 'utf8');

const picture = (name) => photograph(page, pictures, name);
const lineOf = (needle) => text.slice(0, text.indexOf(needle)).split('\n').length;
const line = (needle) => page.locator('.editor-instance .view-line', { hasText: needle }).first();
const tab = (name) => page.locator('.tab.active', { hasText: name }).first();
const close = () => command(page, 'View: Close All Editors');

let graph;
const focused = () => graph.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
const current = () => graph.locator('g.block.current').getAttribute('aria-label').catch(() => '');
const percent = async () => Number.parseInt(await graph.locator('.percent').innerText(), 10);

export const passed = await steps(
  page,
  {
    async 'the block of the cursor is marked'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await openFile(page, 'mandelbrot.visaasm');
      await page.locator('.statusbar-item', { hasText: 'vISA' }).locator('.codicon-circuit-board').waitFor({ timeout: LONG });
      await command(page, 'vISA: Show Control-Flow Graph');
      graph = await webview(page, 'svg g.block');
      await page.keyboard.press('Control+b');
      for (const label of ['_0_024:', '_0_027:', '_0_017:']) {
        await goTo(page, lineOf(`${label}\n`) + 1);
        await until(page, `the block of ${label}`, async () => (await current())?.includes(label));
        const inView = await graph.evaluate(() => {
          const [block, frame] = ['.block.current', '.frame'].map((name) => document.querySelector(name).getBoundingClientRect());
          return block.top >= frame.top && block.top < frame.bottom && block.left >= frame.left - 1;
        });
        assert.ok(inView, label);
      }
      return current();
    },
    async 'from block to block by keyboard'() {
      await graph.locator('g.block[tabindex="0"]').focus();
      assert.match(await focused(), /^Block 2 of 13/);
      await page.keyboard.press('Home');
      assert.match(await focused(), /^Block 1 of 13, line \d+, to block 2, not taken: P2, to block 13, taken: !P2/);
      const way = [];
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowUp', 'End', 'ArrowUp']) {
        await page.keyboard.press(key);
        way.push(/^Block (\d+)/.exec(await focused())[1]);
      }
      assert.ok(new Set(way).size >= 4, way.join(' '));
      const ring = await graph.locator('g.block:focus rect.ring').evaluate((rect) => getComputedStyle(rect).stroke);
      assert.notEqual(ring, 'none');
      await page.keyboard.press('0');
      assert.equal(await percent(), 100);
      await page.keyboard.press('+');
      assert.equal(await percent(), 125);
      await page.keyboard.press('-');
      await page.keyboard.press('-');
      assert.equal(await percent(), 80);
      await page.keyboard.press('f');
      const whole = await graph.evaluate(() => {
        const frame = document.querySelector('.frame').getBoundingClientRect();
        return [...document.querySelectorAll('g.block')].every((block) => {
          const box = block.getBoundingClientRect();
          return box.top >= frame.top && box.bottom <= frame.bottom && box.left >= frame.left && box.right <= frame.right;
        });
      });
      assert.ok(whole, 'the whole graph fits');
      const wanted = Number(/line (\d+)/.exec(await focused())[1]);
      await page.keyboard.press('Enter');
      await page.locator('.statusbar-item', { hasText: `Ln ${wanted},` }).waitFor({ timeout: LONG });
      return way;
    },
    async 'buttons zoom and fit'() {
      await graph.getByRole('button', { name: 'Full size' }).or(graph.locator('.percent')).first().click();
      assert.equal(await percent(), 100);
      await graph.getByRole('button', { name: 'Zoom in', exact: true }).click();
      assert.equal(await percent(), 125);
      await graph.getByRole('button', { name: 'Fit' }).click();
      assert.ok((await percent()) < 100);
    },
    async 'labels stand beside the edges'() {
      const { labels, meeting } = await graph.evaluate(() => {
        const texts = [...document.querySelectorAll('text.label')].filter((one) => one.textContent !== '');
        const boxes = [...document.querySelectorAll('g.block rect:not(.ring)'), ...texts].map((one) => [one, one.getBoundingClientRect()]);
        const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        return {
          labels: texts.map((one) => one.textContent),
          meeting: texts.filter((one) => boxes.some(([other, box]) => other !== one && meet(one.getBoundingClientRect(), box))).map((one) => one.textContent),
        };
      });
      assert.deepEqual(meeting, []);
      assert.ok(labels.includes('loop back') && labels.includes('taken: !P2'), labels.join(', '));
      return labels;
    },
    async 'the colours of the editor'() {
      await graph.locator('.percent').click();
      await goTo(page, lineOf('_0_021:\n') + 1);
      await graph.locator('g.block.current', { hasText: '_0_021:' }).waitFor({ timeout: LONG });
      await picture('flow');
      const seen = await inThemes(page, themed, 'flow', () =>
        until(page, 'the same colours', async () => {
          const editor = await line(/^\s*add\s\(M1/).evaluate((row) => {
            const spans = [...row.querySelectorAll('span > span')];
            const colour = (word) => getComputedStyle(spans.find((span) => span.textContent.trim() === word)).color;
            return ['add', 'M1'].map(colour);
          });
          const drawn = await graph.evaluate(() => {
            const text = [...document.querySelectorAll('g.block text')].find((one) => one.textContent.startsWith('add (M1'));
            return ['mnemonic', 'mask'].map((kind) => getComputedStyle(text.querySelector(`.${kind}`)).fill);
          });
          return editor.join() === drawn.join() && drawn;
        }),
      );
      assert.ok(new Set(Object.values(seen).map(String)).size >= 2, JSON.stringify(seen));
      return seen;
    },
    async zebin() {
      await close();
      await page.keyboard.press('Control+b');
      await openFile(page, 'mandelbrot.zebin');
      const view = await webview(page, 'table.parts');
      const tables = await view.locator('table.parts').allInnerTexts();
      assert.match(tables[0], /mandel\s+16\s+128\s+7/);
      assert.match(tables[1], /\.visaasm\.mandelbrot\s+VISAASM\s+[\d,]+ bytes/);
      await picture('zebin');
      await inThemes(page, themed, 'zebin');
      await view.getByRole('button', { name: 'mandel', exact: true }).click();
      await tab('mandelbrot.zeinfo.yaml').waitFor({ timeout: LONG });
      await line('name').waitFor({ timeout: LONG });
      await page.keyboard.type('x');
      assert.equal(await page.locator('.tab.dirty').count(), 0);
      await view.getByRole('button', { name: 'mandelbrot.visaasm' }).click();
      await tab('mandelbrot.visaasm').waitFor({ timeout: LONG });
      await line('.kernel "mandel"').waitFor({ timeout: LONG });
      writeFileSync(join(folder, 'mandelbrot.zebin'), 'no ELF file');
      await view.locator('p.bad', { hasText: 'no zebin that can be read' }).waitFor({ timeout: LONG });
      return tables;
    },
    async 'an object is followed'() {
      await close();
      const object = join(folder, 'saxpy.isa');
      execFileSync(program, ['asm', join(folder, 'saxpy.visaasm')]);
      const bytes = readFileSync(object);
      await openFile(page, 'saxpy.isa');
      const view = await webview(page, '.listing .line');
      await view.locator('summary').click();
      await view.locator('.line', { hasText: 'cmp.lt' }).evaluate((row) => row.scrollIntoView({ block: 'center' }));
      await picture('isa');
      await inThemes(page, themed, 'isa');
      await view.locator('button', { hasText: 'Open as Text' }).click();
      await tab('saxpy.isa.visaasm').waitFor({ timeout: LONG });
      await page.locator('.tab', { hasText: /^saxpy\.isa$/ }).click();
      rmSync(object);
      await view.locator('p.bad', { hasText: 'There is no saxpy.isa' }).waitFor({ timeout: LONG });
      const gone = await view.locator('p.bad').innerText();
      writeFileSync(object, 'CISA and nothing else');
      await view.locator('p.bad', { hasText: 'saxpy.isa is no object that can be read' }).waitFor({ timeout: LONG });
      const wrong = await view.locator('p.bad').innerText();
      writeFileSync(object, bytes);
      await view.locator('.listing .line', { hasText: '.kernel "saxpy"' }).waitFor({ timeout: LONG });
      return [gone, wrong];
    },
    async 'explain offers words'() {
      await close();
      await openFile(page, 'saxpy.visaasm');
      const saxpy = readFileSync(join(folder, 'saxpy.visaasm'), 'utf8');
      await goTo(page, saxpy.slice(0, saxpy.indexOf('    mad (M1')).split('\n').length);
      await line('mad (M1').locator('span > span', { hasText: 'mad' }).first().click();
      await command(page, 'vISA: Explain Opcode, Rule or Variable');
      const row = page.locator('.quick-input-list .monaco-list-row.focused', { hasText: 'Multiply, then add' });
      await row.waitFor({ timeout: LONG });
      await page.mouse.move(640, 795);
      await picture('explain');
      await page.keyboard.press('Enter');
      const view = await webview(page, 'h1:has-text("mad")');
      assert.match(await view.locator('body').innerText(), /Multiply, then add/);
      // The box goes away when the page takes the focus that opens only now.
      await until(page, 'the rule', async () => {
        await command(page, 'vISA: Explain Opcode, Rule or Variable');
        await page.locator('.quick-input-widget:visible input').first().fill('undeclared-name', { timeout: 3000 });
        await page.locator('.quick-input-list .monaco-list-row.focused', { hasText: 'V101' }).waitFor({ timeout: LONG / 6 });
        return true;
      });
      await page.keyboard.press('Escape');
    },
    async 'made ze_info cannot be edited, and nobody asks to save it'() {
      await close();
      await openFile(page, 'saxpy.visaasm');
      await command(page, 'vISA: Show ze_info');
      await page.locator('.tab', { hasText: 'saxpy.zeinfo.yaml' }).waitFor({ timeout: LONG });
      await line('zebin').or(line('version')).first().click();
      await page.keyboard.type('x');
      assert.equal(await page.locator('.tab.dirty').count(), 0);
      await close();
      await page.locator('.tab').first().waitFor({ state: 'hidden', timeout: LONG });
      assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
    },
  },
  join(pictures, 'failed.png'),
);
