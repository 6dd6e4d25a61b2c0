// Makes dist/: the extension, the pages of its views, the server's wheel, the walkthrough's pictures, the extension's page.
// Usage: node scripts/build.mjs [--no-wheel]. The wheel is built with PYTHON (default python3) and pip; VISA_TARGET names a target
// whose wheels of other packages are brought along (wheels.mjs).

import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { fillServer } from './wheels.mjs';

const common = { bundle: true, minify: true, logLevel: 'warning', legalComments: 'none' };
rmSync('dist', { recursive: true, force: true });
await build({
  ...common,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  platform: 'node',
  target: 'node18',
  format: 'cjs',
  external: ['vscode'],
});
await build({
  ...common,
  entryPoints: ['results', 'flow', 'isa', 'form', 'zebin', 'lanes', 'machine', 'pressure', 'proof'].map((view) => `src/webview/${view}.ts`),
  outdir: 'dist/webview',
  platform: 'browser',
  target: 'es2022',
  format: 'iife',
});
mkdirSync('dist/images');
for (const name of ['install', 'problems', 'run', 'testing', 'flow']) {
  // The command that makes the pictures needs an extension before there are any.
  if (existsSync(`../docs/images/${name}.png`)) {
    copyFileSync(`../docs/images/${name}.png`, `dist/images/${name}.png`);
  }
}
// On the extension's page VS Code shows no files of the package, so the pictures are in the page itself. Late versions
// (1.139 is one) take pictures from the net only, and show the words instead.
const page = readFileSync('README.md', 'utf8').replace(/(?<=!\[[^\]]*\]\()\.\.\/docs\/images\/[\w-]+\.png(?=\))/g, (file) =>
  existsSync(file) ? `data:image/png;base64,${readFileSync(file).toString('base64')}` : file,
);
writeFileSync('dist/README.md', page);
copyFileSync('../CHANGELOG.md', 'dist/CHANGELOG.md');
if (!process.argv.includes('--no-wheel')) {
  fillServer(process.env.VISA_TARGET);
}
