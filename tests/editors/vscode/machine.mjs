// Machine code beside a text: what belongs together is marked in all directions, edits are followed, and a finalizer that is
// missing, hangs or crashes is told of. Usage: machine.mjs FOLDER PICTURES. FOLDER has axpy.cl and axpy.visaasm.

import assert from 'node:assert';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { begin, changeMachine, command, goTo, inThemes, LONG, openFile, openFolder, photograph, steps, until, webview } from './lib.mjs';

const settings = { 'security.workspace.trust.enabled': false, 'files.autoSave': 'off', 'editor.stickyScroll.enabled': false, 'editor.hover.delay': 200 };
const { code, page, words: [folder, pictures] } = await begin({ settings, machine: { 'visa.platform': 'TGLLP' }, width: 1500, height: 860 });
const themed = join(pictures, 'themes');
mkdirSync(themed, { recursive: true });
const text = readFileSync(join(folder, 'axpy.visaasm'), 'utf8');
const lineOf = (needle) => text.slice(0, text.indexOf(needle)).split('\n').length;
const finalizer = (program, seconds) => changeMachine({ 'visa.finalizer': program, 'visa.finalizerTimeout': seconds });

/** A finalizer that is none. */
function fake(name, script) {
  const made = join(folder, name);
  writeFileSync(made, `#!/bin/sh\n${script}\n`);
  chmodSync(made, 0o755);
  return made;
}

let view;
const GEN = '.column:last-child .listing';
const SOURCE = '.column:first-child .listing';
const marked = (list) => view.locator(`${list} .line.there`).allInnerTexts();
const problem = () => view.locator('.notice p.bad').innerText({ timeout: 1000 });
const isStale = () => view.locator('.columns.stale').count().then((n) => n === 1);

/** The lines of the editor that are marked as partners, as they are written. */
const inEditor = () =>
  page.evaluate(() => {
    const editor = document.querySelector('.editor-instance .monaco-editor');
    const at = (node) => Math.round(node.getBoundingClientRect().top);
    const tops = [...editor.querySelectorAll('.view-overlays .cdr[class*="ced-"]')].filter((node) => node.offsetWidth > 50).map(at);
    return [...editor.querySelectorAll('.view-line')].filter((line) => tops.includes(at(line))).map((line) => line.textContent.replaceAll('\u00a0', ' ').trim());
  });

/** The first line of a list that says something. */
const lineWith = (list, words) => view.locator(`${list} .line`, { hasText: words }).first();

/** Types at the end of a line, and leaves the view as it is. */
async function typeAt(number, words) {
  await goTo(page, number);
  await page.keyboard.press('End');
  await page.keyboard.insertText(words);
}

export const passed = await steps(
  page,
  {
    async 'the cursor marks its partners'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await openFile(page, 'axpy.visaasm');
      await page.locator('.statusbar-item', { hasText: 'vISA' }).locator('.codicon-circuit-board').waitFor({ timeout: LONG });
      await page.keyboard.press('Control+b');
      await goTo(page, lineOf('    mad (M1'));
      await command(page, 'vISA: Show Machine Code');
      view = await webview(page, `${GEN} .line`);
      assert.equal(await view.locator('[role=listbox]').count(), 2);
      await until(page, 'partners of the cursor', async () => (await marked(GEN)).length > 0);
      const [gen, source] = [await marked(GEN), await marked(SOURCE)];
      assert.match(gen.join('\n'), /\bmad\b/);
      assert.equal(source.length, 1);
      assert.match(source[0], /mad\(a, x\[i\], y\[i\]\)/);
      await goTo(page, lineOf('    cmp.'));
      await until(page, 'other partners', async () => /\bcmp\b/.test((await marked(GEN)).join('\n')));
      return { gen, source };
    },
    async 'the lens shows it too, with the figures'() {
      await page.keyboard.press('Control+Home');
      await goTo(page, lineOf('.kernel'));
      await page.locator('.codelens-decoration', { hasText: /\d+ Gen instructions, \d+ of 128 GRF, no spill/ }).first().waitFor({ timeout: LONG });
    },
    async 'a click on Gen marks the text and the source'() {
      await lineWith(GEN, /\bmad\b/).click();
      await until(page, 'the line of the text', async () => /^mad \(M1/.test((await inEditor()).join('\n')));
      assert.match((await marked(SOURCE)).join('\n'), /mad\(a/);
      assert.equal(await view.locator(`${GEN} .line.here`).count(), 1);
      const told = await view.locator('.details').innerText();
      assert.match(told, /r\d+ \S/);
      await photograph(page, pictures, 'machine-code-light');
      return [await inEditor(), told];
    },
    async 'a click on the source marks the text and Gen'() {
      await lineWith(SOURCE, 'get_global_id').click();
      await until(page, 'lines of the text', async () => (await inEditor()).length > 1);
      const gen = await marked(GEN);
      assert.ok(gen.length > 1, String(gen.length));
      const visible = await view.evaluate((list) => {
        const [outer, inner] = [document.querySelector(list), document.querySelector(`${list} .there`)].map((node) => node.getBoundingClientRect());
        return inner.top >= outer.top && inner.bottom <= outer.bottom;
      }, GEN);
      assert.ok(visible, 'the first partner is in view');
      return [await inEditor(), gen];
    },
    async 'by keyboard'() {
      await view.locator(SOURCE).focus();
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowDown');
      assert.equal(await view.locator(`${SOURCE} .line.here i`).innerText(), '2');
      await page.keyboard.press('End');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowRight');
      assert.equal(await view.evaluate((list) => document.activeElement === document.querySelector(list), GEN), true);
      await page.keyboard.press('End');
      const active = await view.locator(GEN).getAttribute('aria-activedescendant');
      assert.equal(await view.locator(`#${active}`).getAttribute('aria-selected'), 'true');
      await until(page, 'one line of the text', async () => (await inEditor()).length === 1);
      const wanted = await inEditor();
      await page.keyboard.press('Enter');
      await until(page, 'the cursor in the text', async () => {
        const line = await page.locator('.editor-instance .view-line', { hasText: wanted[0].split(' ')[0] }).count();
        const place = await page.locator('.statusbar-item', { hasText: /Ln \d+,/ }).innerText();
        return (line > 0 && text.split('\n')[Number(/Ln (\d+)/.exec(place)[1]) - 1].trim() === wanted[0]) || place;
      }, (found) => found === true);
      await until(page, 'that the view has heard of it', async () => (await view.locator('.line.here').count()) === 0);
      await view.locator(SOURCE).focus();
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.locator('.tab.active', { hasText: 'axpy.cl' }).waitFor({ timeout: LONG });
      await command(page, 'View: Close Editor');
      await page.locator('.tab.active', { hasText: 'axpy.visaasm' }).waitFor({ timeout: LONG });
    },
    async 'what lives where, by hover'() {
      const titles = await view.locator(`${GEN} .reg[title]`).evaluateAll((all) => all.map((one) => one.title));
      assert.ok(titles.length > 10);
      await goTo(page, lineOf('    mad (M1'));
      await page.locator('.editor-instance .view-line', { hasText: 'mad (M1' }).locator('span > span', { hasText: /^V\d+$/ }).first().hover();
      const box = page.locator('.monaco-hover:visible .hover-contents', { hasText: 'in the machine code: r' }).first();
      await box.waitFor({ timeout: LONG });
      const told = /in the machine code: (.*)/.exec(await box.innerText())[1];
      await page.keyboard.press('Escape');
      await page.mouse.move(700, 850);
      return [titles[0], told];
    },
    async 'an edit is followed'() {
      const before = await view.locator(`${GEN} .line`).count();
      const at = lineOf('    mad (M1');
      await typeAt(at - 1, `\n${text.split('\n')[at - 1].trimStart()}`);
      await until(page, 'more Gen', async () => (await view.locator(`${GEN} .line`).count()) > before);
      await goTo(page, at + 1);
      await until(page, 'the partners of the line that has moved', async () => /\bmad\b/.test((await marked(GEN)).join('\n')));
      assert.equal(await isStale(), false);
    },
    async 'a broken line leaves the last result, greyed, with the reason'() {
      const before = await view.locator(`${GEN} .line`).count();
      const at = lineOf('    mad (M1');
      await typeAt(at - 1, '\n    nonsense (M1, 8) V33');
      await until(page, 'the reason', async () => /^No machine code: line \d+: /.test(await problem()));
      assert.match(await problem(), new RegExp(`line ${at}: `));
      assert.equal(await isStale(), true);
      assert.equal(await view.locator(`${GEN} .line`).count(), before);
      await goTo(page, at + 1);
      await until(page, 'partners of a line that was moved by the edit', async () => /\bmad\b/.test((await marked(GEN)).join('\n')));
      await photograph(page, themed, 'machine-code-broken');
      for (let n = 0; n < 8 && (await isStale()); n++) {
        await page.keyboard.press('Control+1');
        await page.keyboard.press('Control+z');
        await page.waitForTimeout(1500);
      }
      await until(page, 'a good result again', async () => (await view.locator('.notice p.bad').count()) === 0 && !(await isStale()));
    },
    async 'a finalizer that is not there'() {
      finalizer(join(folder, 'none'));
      await until(page, 'the words', async () => /No machine code: .*none: does not exist/.test(await problem()));
      assert.equal(await isStale(), true);
      assert.match(await view.locator('.notice').innerText(), /setting visa\.finalizer/);
      await photograph(page, themed, 'machine-code-missing');
      await view.getByRole('button', { name: 'Open Settings' }).click();
      await page.locator('.settings-editor', { hasText: 'Finalizer' }).first().waitFor({ timeout: LONG });
      await command(page, 'View: Close Editor');
      return problem();
    },
    async 'a finalizer that hangs'() {
      finalizer(fake('hangs', 'exec sleep 1000'), 2);
      await until(page, 'the words', async () => /did not end within 2 seconds: no machine code of 'saxpy'/.test(await problem()));
      assert.match(await view.locator('.notice').innerText(), /own fault/);
      return problem();
    },
    async 'an edit ends a finalizer that is under way'() {
      const begun = join(folder, 'begun');
      const started = () => (existsSync(begun) ? readFileSync(begun, 'utf8').trim().split('\n') : []);
      const runs = (pid) => existsSync(`/proc/${pid}`);
      finalizer(fake('waits', `echo $$ >> '${begun}'; exec sleep 1000`), 600);
      // Pressure and schedule are asked in processes of their own.
      await until(page, 'three processes', async () => started().length === 3 && started().every(runs));
      await view.locator('.working', { hasText: 'at work' }).waitFor({ timeout: LONG });
      const first = started();
      await typeAt(1, ' // edited');
      await until(page, 'the next three', async () => started().length === 6);
      await until(page, 'the end of the first three', async () => !first.some(runs));
      finalizer();
      await until(page, 'a result', async () => (await view.locator('.notice p.bad').count()) === 0 && !(await isStale()));
      await until(page, 'the end of all', async () => !started().some(runs));
    },
    async 'a finalizer that crashes'() {
      finalizer(fake('crashes', 'kill -SEGV $$'));
      await until(page, 'the words', async () => /the finalizer crashed \(segmentation fault\): no machine code of 'saxpy'/.test(await problem()));
      assert.equal(await isStale(), true);
      return problem();
    },
    async 'a good one, tried again'() {
      finalizer();
      await until(page, 'a result', async () => (await view.locator('.notice p.bad').count()) === 0 && !(await isStale()));
    },
    async 'as a page to share'() {
      await view.getByRole('button', { name: 'Save as Page…' }).click();
      const input = page.locator('.quick-input-widget:visible input').first();
      await input.waitFor({ timeout: LONG });
      const target = join(folder, 'axpy.visaasm.html');
      await until(page, 'the place that is proposed', () => input.inputValue(), (value) => value === target);
      await page.waitForTimeout(500);
      await page.keyboard.press('Enter');
      await until(page, 'the page', async () => existsSync(target) && readFileSync(target, 'utf8').includes('class="column source"'));
    },
    async 'in other themes'() {
      return inThemes(page, themed, 'machine-code', async () => {
        await goTo(page, lineOf('    mad (M1') + 1);
        const colours = await until(page, 'the colour of the editor', async () => {
          const editor = await page.locator('.editor-instance .view-line', { hasText: 'mad (M1' }).first().locator('span > span', { hasText: /^\s*mad$/ }).first().evaluate((span) => getComputedStyle(span).color);
          const gen = await lineWith(GEN, /\bmad\b/).locator('.key').first().evaluate((span) => getComputedStyle(span).color);
          return [editor, gen];
        }, ([editor, gen]) => editor === gen);
        await lineWith(GEN, /\bmad\b/).click();
        await until(page, 'the line of the text', async () => (await inEditor()).length === 1);
        if ((await page.locator('.monaco-workbench.vs-dark').count()) > 0) {
          await photograph(page, pictures, 'machine-code-dark');
        }
        return colours[0];
      });
    },
  },
  join(pictures, 'failed.png'),
);
