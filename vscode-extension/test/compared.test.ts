// What is said of two programs that were compared.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summary } from '../src/views/compared.ts';

const kernel = (changes: number, renamed = 0) => ({ name: 'k', same: changes === 0, renamed, changes: Array(changes).fill({}) });

test('programs that differ in names only are the same', () => {
  assert.equal(summary({ ok: true, same: true, kernels: [kernel(0)] }), 'the programs are the same');
  assert.equal(summary({ ok: true, same: true, kernels: [kernel(0, 1), kernel(0, 2)] }), 'the programs are the same but for 3 names');
});

test('differences are counted over the kernels that have them', () => {
  assert.equal(summary({ ok: true, kernels: [kernel(1)] }), '1 difference in 1 of 1 kernel');
  assert.equal(summary({ ok: true, kernels: [kernel(2), kernel(0, 7), kernel(3)] }), '5 differences in 2 of 3 kernels');
});
