// What the VS Code scripts share: the server with an empty profile and our .vsix in it, the browser, the moves of a user.
// The folder that install.sh has filled is told by VISA_LSP_TEST_VSCODE.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const installed = process.env.VISA_LSP_TEST_VSCODE;
const { chromium } = createRequire(`${installed}/`)('playwright-core');

/** How long is waited for what must come, in milliseconds; a machine may be busy with other tests. */
export const LONG = 120000;

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  // What moves by itself is painted again and again.
  'editor.cursorBlinking': 'solid',
  'workbench.reduceMotion': 'on',
  'testing.automaticallyOpenTestResults': 'neverOpen',
};

// This one belongs to the machine that extensions run on.
const MACHINE = { 'workbench.welcomePage.walkthroughs.openOnInstall': false };

/** A folder that goes when the script ends. */
function temporary(name) {
  const made = mkdtempSync(join(tmpdir(), name));
  process.on('exit', () => rmSync(made, { recursive: true, force: true, maxRetries: 3 }));
  return made;
}

/** Writes settings of the user or the machine anew. */
function writeSettings(home, whose, values) {
  mkdirSync(join(home, 'data', whose), { recursive: true });
  writeFileSync(join(home, 'data', whose, 'settings.json'), JSON.stringify({ ...(whose === 'User' ? SETTINGS : MACHINE), ...values }));
}

/** Starts VS Code's server with a new profile that holds the .vsix and nothing else. */
async function startCode(vsix) {
  const home = temporary('visa-code-');
  writeSettings(home, 'User', {});
  writeSettings(home, 'Machine', {});
  const args = [
    join(installed, 'node_modules/code-server/lib/vscode/out/server-main.js'),
    ...['--host', '127.0.0.1', '--port', '0', '--without-connection-token', '--accept-server-license-terms'],
    ...['--telemetry-level', 'off', '--server-data-dir', home],
    ...['--extensions-dir', join(home, 'extensions'), '--install-extension', vsix, '--start-server'],
  ];
  // Neither a visa-lsp of the machine nor its Python environment is to be found by a newcomer.
  const env = { ...process.env, PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, VIRTUAL_ENV: undefined, PYTHONPATH: undefined };
  const child = spawn(join(installed, 'bin/node'), args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let said = '';
  const port = await new Promise((resolve, reject) => {
    const look = (text) => {
      said += text;
      const found = /Extension host agent listening on (\d+)/.exec(said);
      if (found) {
        resolve(found[1]);
      }
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    setTimeout(() => reject(new Error(`the server does not come up: ${said}`)), LONG).unref();
  });
  const stop = () =>
    new Promise((resolve) => {
      child.removeAllListeners('exit');
      child.on('exit', resolve);
      child.kill();
      setTimeout(() => child.kill('SIGKILL'), 5000).unref();
    });
  return { origin: `http://127.0.0.1:${port}`, home, stop };
}

/** A browser with a new profile; pictures are drawn at the size of the page. */
export function openBrowser() {
  return chromium.launchPersistentContext(temporary('visa-chromium-'), {
    executablePath: process.env.VISA_LSP_TEST_CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    reducedMotion: 'reduce',
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync', '--force-device-scale-factor=1'],
    ],
  });
}

// What the scripts of a process share: a start costs more than most of them.
const session = {};

export async function startSession(vsix, program) {
  [session.code, session.context] = await Promise.all([startCode(vsix), openBrowser()]);
  session.program = program;
}

export async function endSession() {
  await session.context.close();
  await session.code.stop();
}

/** Runs a script with its arguments in a new page; gives whether its steps were good. */
export async function play(script, ...words) {
  const page = await session.context.newPage();
  page.setDefaultTimeout(LONG); // a page loads, and a click waits, as long as what is waited for by name
  for (const old of session.context.pages().filter((one) => one !== page)) {
    await old.close(); // whatever is not saved in it
  }
  session.played = (session.played ?? 0) + 1;
  Object.assign(session, { page, words });
  const { passed } = await import(`./${script}?${session.played}`);
  return passed;
}

/** Changes settings of the machine; a value that is undefined takes one away. A window that is open takes them over. */
export function changeMachine(values) {
  Object.assign(session.machine, values);
  writeSettings(session.code.home, 'Machine', session.machine);
}

/** What a script needs, with settings of the user and of the machine that hold for it. */
export async function begin({ settings = {}, machine = {}, width = 1280, height = 800 } = {}) {
  const { code, page, program, words } = session;
  writeSettings(code.home, 'User', settings);
  session.machine = {};
  changeMachine({ ...(program === undefined ? {} : { 'visa.serverPath': program }), ...machine });
  await page.setViewportSize({ width, height });
  return { code, page, program, words };
}

/** Opens a folder, waits for its files and trusts it unless told otherwise. */
export async function openFolder(page, origin, folder, { trust = true } = {}) {
  await page.goto(`${origin}/?folder=${folder}`);
  await page.locator('.explorer-folders-view .monaco-list-row').first().waitFor({ timeout: LONG });
  const restricted = page.locator('.statusbar-item', { hasText: 'Restricted Mode' });
  if (trust && (await restricted.waitFor({ timeout: 3000 }).then(() => true, () => false))) {
    await restricted.click();
    await page.locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust$/ }).first().click();
    await restricted.waitFor({ state: 'hidden', timeout: LONG });
    await page.keyboard.press('Control+W');
  }
}

export async function openFile(page, name) {
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: name }).first().dblclick();
  await page.locator('.tab.active', { hasText: name }).waitFor({ timeout: LONG });
}

/** Puts the cursor into a line of the first editor. */
export async function goTo(page, number) {
  const input = page.locator('.quick-input-widget:visible input').first();
  const gone = async () => {
    await page.keyboard.press('Control+1');
    await page.waitForTimeout(100); // the focus may come out of a view, where the workbench hears keys later
    await page.keyboard.press('Control+g');
    await input.fill(`:${number}`, { timeout: 3000 });
    await page.keyboard.press('Enter');
    await page.locator('.statusbar-item', { hasText: `Ln ${number},` }).waitFor({ timeout: 3000 });
    return true;
  };
  for (let tries = 0; tries < 6; tries++) {
    if (await gone().catch(() => false)) {
      return;
    }
    await page.keyboard.press('Escape');
  }
  throw new Error(`the cursor does not go to line ${number}`);
}

/** Runs a command by its title. */
export async function command(page, title) {
  const input = page.locator('.quick-input-widget:visible input').first();
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
  const offered = async () => {
    await input.fill(`>${title}`, { timeout: 3000 });
    await row.waitFor({ timeout: LONG / 6 });
    return true;
  };
  for (let tries = 0; tries < 6; tries++) {
    if (!(await input.isVisible())) {
      // The focus may be inside a view, where the workbench hears no keys.
      await page.locator(tries === 0 ? 'body' : '.statusbar').press('F1');
      await input.waitFor({ timeout: 3000 }).catch(() => undefined);
    }
    // The box goes away when an editor takes the focus that opens only now.
    if (await offered().catch(() => false)) {
      await row.click();
      await page.mouse.move(2, 2); // no tip is to hide what comes
      return;
    }
  }
  throw new Error(`no quick input, or no command ${title}`);
}

/** Chooses a colour theme by the name that settings have for it, and waits until the workbench is of its kind. */
export async function chooseTheme(page, theme, kind) {
  changeMachine({ 'workbench.colorTheme': theme }); // a file of the user's settings is not watched
  await page.locator(`.monaco-workbench.${kind}`).first().waitFor({ timeout: LONG });
}

// By the names of pictures. With VISA_LSP_TEST_THEMES every view is shown in all of them, to be looked at.
const ALL = process.env.VISA_LSP_TEST_THEMES !== undefined;
const THEMES = {
  'dark-modern': ['Dark Modern', 'vs-dark'],
  'light-high-contrast': ['Default High Contrast Light', 'hc-light'],
  ...(ALL ? { 'light-modern': ['Light Modern', 'vs'], 'dark-high-contrast': ['Default High Contrast', 'hc-black'] } : {}),
};

/** Pictures of what is on the page as `NAME-THEME.png`, and what `look` sees in each theme; where nothing looks, a test needs none. */
export async function inThemes(page, folder, name, look) {
  const seen = {};
  for (const [called, [theme, kind]] of look || ALL ? Object.entries(THEMES) : []) {
    await chooseTheme(page, theme, kind);
    seen[called] = await look?.();
    await photograph(page, folder, `${name}-${called}`);
  }
  changeMachine({ 'workbench.colorTheme': undefined });
  await page.locator('.monaco-workbench.vs').first().waitFor({ timeout: LONG });
  return seen;
}

/** What `look` gives once that is enough; an error of its is not. */
export async function until(page, what, look, enough = Boolean, time = LONG / 4) {
  const end = Date.now() + time;
  for (;;) {
    const found = await Promise.resolve().then(look).catch((error) => error);
    if (!(found instanceof Error) && enough(found)) {
      return found;
    }
    assert.ok(Date.now() < end, `waited in vain for ${what}: ${found instanceof Error ? found : JSON.stringify(found)}`);
    await page.waitForTimeout(100);
  }
}

/** The page inside a webview that holds what a selector names. */
export async function webview(page, selector, timeout = LONG) {
  const end = Date.now() + timeout;
  while (Date.now() < end) {
    for (const frame of page.frames()) {
      if (frame.name() === 'active-frame' || frame.parentFrame()?.parentFrame()) {
        const found = await frame.locator(selector).first().isVisible().catch(() => false);
        if (found) {
          return frame;
        }
      }
    }
    await page.waitForTimeout(100);
  }
  throw new Error(`no view shows ${selector}`);
}

/** Takes a picture of the page as `NAME.png` of a folder once the page has come to rest; with no message in the way unless they are wanted. */
export async function photograph(page, folder, name, { messages = false } = {}) {
  if (!messages && (await page.locator('.notification-toast').first().isVisible())) {
    await command(page, 'Notifications: Clear All Notifications');
    await page.locator('.notification-toast').first().waitFor({ state: 'hidden', timeout: LONG });
  }
  let [before, picture] = [Buffer.of(), await page.screenshot()];
  for (let n = 0; n < 5 && !picture.equals(before); n++) {
    await page.waitForTimeout(250);
    [before, picture] = [picture, await page.screenshot()];
  }
  writeFileSync(join(folder, `${name}.png`), picture);
}

/** Runs steps in order, prints each as one JSON line with its time; a picture of the page is taken where one fails. */
export async function steps(page, all, failure) {
  for (const [name, work] of Object.entries(all)) {
    const start = Date.now();
    try {
      const seen = await work();
      console.log(JSON.stringify({ step: name, ok: true, seconds: (Date.now() - start) / 1000, seen }));
    } catch (error) {
      const told = await page.locator('.notification-list-item').allInnerTexts().catch(() => []);
      console.log(JSON.stringify({ step: name, ok: false, error: String(error.message).slice(0, 600), told }));
      await page.screenshot({ path: failure }).catch(() => undefined);
      return false;
    }
  }
  return true;
}
