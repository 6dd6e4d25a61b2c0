import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coloursOf, parseTheme, rulesOf } from '../src/views/theme.ts';
import { coloured } from '../src/webview/code.ts';

test('the longest selector wins, the file that includes goes before the included one', () => {
  const base = parseTheme('{"tokenColors": [{"scope": "keyword", "settings": {"foreground": "#111"}}, {"scope": "comment, string", "settings": {"foreground": "#222"}}]}');
  const top = parseTheme('// a theme\n{"include": "./base.json", "tokenColors": [{"scope": ["keyword.control", "meta keyword"], "settings": {"foreground": "#333"}}, {"scope": "comment", "settings": {"foreground": "#444"}},]}');
  const colours = coloursOf(rulesOf([base, top]));
  assert.deepEqual([colours['mnemonic'], colours['comment'], colours['string']], ['#333', '#444', '#222']);
  assert.equal(colours['number'], undefined);
});

test('text in quotes is no comment and no comma too many', () => {
  assert.deepEqual(parseTheme('{"tokenColors": "./a//b,}.json" /* old */}'), { tokenColors: './a//b,}.json' });
  assert.deepEqual(rulesOf([parseTheme('{"tokenColors": "./a.tmTheme"}')]), []);
});

test('a line is cut into parts without a loss', () => {
  const line = '    (!P1) cmp.lt (M1, 16) P2 V32(0,0)<1;1,0>:f 0x10:ud // "why"';
  const parts = coloured(line);
  assert.equal(parts.map(([, text]) => text).join(''), line);
  const kinds = Object.fromEntries(parts.filter(([kind]) => kind !== '').map(([kind, text]) => [text, kind]));
  assert.deepEqual([kinds['cmp'], kinds['.lt'], kinds['M1'], kinds['P1'], kinds['V32'], kinds['0x10'], kinds[':f'], kinds['// "why"']], [
    ...['mnemonic', 'modifier', 'mask', 'variable', 'variable', 'number', 'type', 'comment'],
  ]);
  assert.deepEqual(coloured('loop: // again')[0], ['label', 'loop: ']);
});
