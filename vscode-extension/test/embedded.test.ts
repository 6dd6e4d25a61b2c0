import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { test } from 'node:test';

const load = createRequire(resolve('package.json'));
const textmate = load('vscode-textmate');
const oniguruma = load('vscode-oniguruma');

// As much of a host's grammar as the injection sees: strings with escapes, and comments.
const HOST = {
  scopeName: 'source.cpp',
  patterns: [
    { name: 'comment.line.cpp', match: '//.*' },
    { name: 'string.quoted.double.cpp', begin: '"', end: '"', patterns: [{ name: 'constant.character.escape.cpp', match: '\\\\.' }] },
  ],
  repository: {},
};

async function scopes(line: string): Promise<[string, string][]> {
  await oniguruma.loadWASM(readFileSync(load.resolve('vscode-oniguruma/release/onig.wasm')).buffer).catch(() => undefined);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources: string[]) => new oniguruma.OnigScanner(sources),
      createOnigString: (text: string) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (name: string) =>
      name === 'source.cpp'
        ? HOST
        : textmate.parseRawGrammar(readFileSync('syntaxes/embedded.tmLanguage.json', 'utf8'), 'embedded.json'),
    getInjections: (name: string) => (name === 'source.cpp' ? ['visa.embedded'] : []),
  });
  const grammar = await registry.loadGrammar('source.cpp');
  const found = grammar.tokenizeLine(line, textmate.INITIAL).tokens as { startIndex: number; endIndex: number; scopes: string[] }[];
  return found.map(({ startIndex, endIndex, scopes }) => [line.slice(startIndex, endIndex), scopes.at(-1) ?? '']);
}

test('words of vISA are coloured inside of strings', async () => {
  const found = await scopes('asm("add.sat (M1_NM, 16) %0(0,0)<1> %[b](0,0)<1;1,0> 0x1:d\\n" : "+rw"(x));');
  const of = (word: string): string | undefined => found.find(([text]) => text === word)?.[1];
  assert.equal(of('add.sat'), 'keyword.operator.word.visa');
  assert.equal(of('M1_NM'), 'constant.language.mask.visa');
  assert.equal(of('%0'), 'variable.parameter.operand.visa');
  assert.equal(of('%[b]'), 'variable.parameter.operand.visa');
  assert.equal(of('<1;1,0>'), 'keyword.operator.region.visa');
  assert.equal(of('0x1:d'), 'constant.numeric.visa');
  assert.equal(of('\\n'), 'constant.character.escape.cpp');
  assert.ok(found.some(([text, scope]) => text.includes('(x));') && scope === 'source.cpp'), 'the string ends where it ends');
});

test('a declaration is coloured, and what is no vISA is not', async () => {
  const found = await scopes('f(".decl t v_type=G type=d num_elts=16");');
  assert.deepEqual(found.find(([text]) => text === '.decl')?.[1], 'keyword.other.directive.visa');
  assert.deepEqual(found.find(([text]) => text === 't')?.[1], 'variable.other.declaration.visa');
  for (const line of ['print("add (x, 16) %0 <1>");', 'add (M1, 16) x;', '// "add (M1, 16) x"']) {
    assert.ok((await scopes(line)).every(([, scope]) => !scope.includes('visa')), line);
  }
});
