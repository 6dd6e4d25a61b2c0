import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differenceText, headingOf, payloadText, placeOf } from '../src/run/report.ts';
import { withGuesses } from '../src/views/guesses.ts';

test('the place of a report is a file and a line, or none', () => {
  assert.deepEqual(placeOf('/a b/x.visaasm:51'), { file: '/a b/x.visaasm', line: 51, column: 1 });
  assert.equal(placeOf(':51'), undefined);
  assert.equal(placeOf(''), undefined);
});

test('a heading names the kernel, an element its place', () => {
  assert.deepEqual([headingOf('saxpy', 'OCL_asm1.visaasm'), headingOf(undefined, 'a.visaasm'), headingOf('', 'a.visaasm')], ['saxpy', 'a.visaasm', 'a.visaasm']);
  assert.equal(differenceText([2], 6, 7), '[2]: got 6, expected 7');
  assert.equal(differenceText([1, 3], 'nan', 0), '[1, 3]: got nan, expected 0');
});

test('what a message carries is shown in groups of four bytes, and cut where there is more', () => {
  assert.equal(payloadText({ bytes: 6, head: '00000001ab0c' }), '00000001 ab0c');
  assert.equal(payloadText({ bytes: 9, head: '0000000100000002' }), '00000001 00000002 … 9 bytes');
  assert.equal(payloadText({ bytes: 0, head: '' }), '');
});

test('the guesses of a made ze_info stand above it as comments', () => {
  const guesses = [{ line: 3, kernel: 'k', message: 'a\n  b' }, { line: 9, kernel: 'k', message: 'c' }];
  assert.equal(withGuesses('version: 1\n', guesses), '# k, line 3: a b\n# k, line 9: c\nversion: 1\n');
});
