// Makes visa-lsp.vsix, for every platform: the server is in it, what the server needs comes from a package index.
// With a target (`node scripts/package.mjs linux-x64`) visa-lsp-TARGET.vsix, which holds that too.

import { execFileSync } from 'node:child_process';

const [target] = process.argv.slice(2);
const given = target === undefined ? [] : ['--target', target];
const out = target === undefined ? 'visa-lsp.vsix' : `visa-lsp-${target}.vsix`;
const pages = ['--readme-path', 'dist/README.md', '--changelog-path', 'dist/CHANGELOG.md'];
const options = ['--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links', ...pages, '-o', out];
execFileSync('node', ['node_modules/@vscode/vsce/vsce', 'package', ...given, ...options], {
  stdio: 'inherit',
  env: { ...process.env, ...(target === undefined ? {} : { VISA_TARGET: target }) },
});
