// The documentation site in a browser: pictures of its pages, a search, and what it asks of other hosts.
// Arguments: the site's origin, a folder for pictures, a word to search for, the page that has to be found.

import { join } from 'node:path';
import { LONG, openBrowser, steps } from '../editors/vscode/lib.mjs';

const [origin, pictures, word, wanted] = process.argv.slice(2);
const context = await openBrowser();
const page = context.pages()[0] ?? (await context.newPage());
await page.setViewportSize({ width: 1280, height: 800 });
const elsewhere = [];
await context.route('**/*', (route) => {
  const url = route.request().url();
  if (url.startsWith(origin) || url.startsWith('data:') || url.startsWith('blob:')) {
    return route.continue();
  }
  elsewhere.push(url);
  return route.abort();
});
const picture = (name) => page.screenshot({ path: join(pictures, `${name}.png`) });
const broken = () => page.evaluate(() => [...document.images].filter((i) => i.complete && !i.naturalWidth).map((i) => i.src));

const ok = await steps(
  page,
  {
    'the first page has its pictures, light and dark': async () => {
      await page.goto(`${origin}/index.html`);
      await page.locator('h1', { hasText: 'visa-lsp' }).waitFor({ timeout: LONG });
      await picture('first-light');
      await page.locator('.md-header__option label:not([hidden])').click();
      await page.locator('body[data-md-color-scheme=slate]').waitFor({ timeout: LONG });
      await picture('first-dark');
      const missing = await broken();
      if (missing.length) {
        throw new Error(`pictures are missing: ${missing}`);
      }
    },
    'search finds a word': async () => {
      await page.locator('.md-search__input').click();
      await page.locator('.md-search__input').pressSequentially(word);
      const result = page.locator(`.md-search-result__link[href*="${wanted}"]`).first();
      await result.waitFor({ timeout: LONG });
      await picture('search');
      await result.click();
      await page.locator('h1', { hasText: word }).waitFor({ timeout: LONG });
      await picture('instruction');
    },
    'pages of every kind are shown': async () => {
      for (const name of ['tutorials/find-a-race', 'reference/commands', 'reference/instructions/index', 'launch', 'editors/vscode']) {
        await page.goto(`${origin}/${name}.html`);
        await page.locator('.md-content h1').first().waitFor({ timeout: LONG });
        await picture(name.replaceAll('/', '-'));
      }
    },
    'nothing is asked of another host': async () => {
      if (elsewhere.length) {
        throw new Error(elsewhere.join(' '));
      }
    },
  },
  join(pictures, 'failure.png'),
);
await context.close();
process.exit(ok ? 0 : 1);
