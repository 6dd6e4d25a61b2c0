// vISA in a C++ source as a user sees it: the finding in the string, the lens above the block, the block beside it, what a block that is
// run leaves; in light and dark. Usage: embedded.mjs FOLDER PICTURES. FOLDER has kernel.cpp, with a mistake, and run.cpp,
// and sets visa.embedded.enabled.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { begin, chooseTheme, inThemes, LONG, openFile, openFolder, photograph, steps, webview } from './lib.mjs';

const settings = {
  'security.workspace.trust.enabled': false,
  'files.autoSave': 'off',
  'editor.stickyScroll.enabled': false,
  'editor.fontSize': 12,
};
const { code, page, words: [folder, pictures] } = await begin({ settings, width: 1500, height: 620 });
mkdirSync(pictures, { recursive: true });
const lens = page.locator('.codelens-decoration a', { hasText: 'Open as vISA' }).first();
const squiggles = (group) => page.locator('.editor-group-container').nth(group).locator('.squiggly-error');

export const passed = await steps(
  page,
  {
    async 'the lens stands above the block'() {
      await openFolder(page, code.origin, folder, { trust: false });
      await openFile(page, 'kernel.cpp');
      await lens.waitFor({ timeout: LONG });
      await page.keyboard.press('Control+b');
      await squiggles(0).first().waitFor({ timeout: LONG });
    },
    async 'it opens the block beside the source'() {
      await lens.click();
      await page.locator('.tab.active', { hasText: 'kernel.cpp.1.visaasm' }).waitFor({ timeout: LONG });
      await squiggles(1).first().waitFor({ timeout: LONG });
      await photograph(page, pictures, 'embedded');
      await chooseTheme(page, 'Dark Modern', 'vs-dark');
      await photograph(page, pictures, 'embedded-dark');
      await inThemes(page, pictures, 'embedded');
      return page.locator('.tab').allInnerTexts();
    },
    async 'a block is run, and its operands are shown'() {
      await page.keyboard.press('Control+b');
      await openFile(page, 'run.cpp');
      await page.locator('.editor-group-container.active .codelens-decoration a', { hasText: 'Run this block' }).first().click({ timeout: LONG });
      await webview(page, 'text=value_buffer');
      await photograph(page, pictures, 'embedded-run');
      await chooseTheme(page, 'Dark Modern', 'vs-dark');
      await photograph(page, pictures, 'embedded-run-dark');
    },
  },
  join(pictures, 'failed.png'),
);
