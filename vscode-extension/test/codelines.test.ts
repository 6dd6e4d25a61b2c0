import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodeLines } from '../src/views/codelines.ts';

const kernel = (...lines: [string, number[]][]): { lines: { text: string; visa: number[] }[] } => ({ lines: lines.map(([text, visa]) => ({ text, visa })) });
const answer = { ok: true, kernels: [kernel(['kernel a() {', []], ['x = 1;', [4, 5]], ['}', []]), kernel(['y = 2;', [5, 9]])] };

test('lines lead both ways, and kernels stand apart', () => {
  const code = new CodeLines().with(answer);
  assert.equal(code.text, 'kernel a() {\nx = 1;\n}\n\ny = 2;\n');
  assert.deepEqual([0, 1, 4, 7].map((line) => code.visaOf(line)), [[], [3, 4], [4, 8], []]);
  assert.deepEqual([3, 4, 8, 0].map((line) => code.codeOf(line)), [[1], [1, 4], [4], []]);
});

test('of a text with errors the last lines stay, below what is wrong', () => {
  const code = new CodeLines().with(answer).with({ ok: false, error: 'no such name', line: 7 });
  assert.match(code.text, /^\/\/ This is the pseudo-code from before .*\n\/\/ line 7: no such name\nkernel a\(\) {\n/);
  assert.deepEqual([code.codeOf(3), code.visaOf(3)], [[3], [3, 4]]);
  assert.equal(code.with(answer).text, new CodeLines().with(answer).text);
  assert.equal(new CodeLines().with({ ok: false, error: 'none' }).text, '// No pseudo-code.\n// none\n');
});
