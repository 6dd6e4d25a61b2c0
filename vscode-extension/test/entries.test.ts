import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buffer, EntryError, number, numbers, sizes, value } from '../src/run/entries.ts';

test('numbers are read as people write them', () => {
  assert.deepEqual(['1', ' -2.5 ', '0x10', '-0x10', '1e-3', '.5', '+3'].map((text) => number(text, 'a')), [1, -2.5, 16, -16, 1e-3, 0.5, 3]);
  assert.deepEqual(numbers('1, 2 3;4', 'a'), [1, 2, 3, 4]);
  assert.deepEqual(sizes('8x4', 'groups'), [8, 4, 1]);
});

test('what is no number is named', () => {
  for (const text of ['', 'many', '1..2', '0x', '--1', 'Infinity', '1e999']) {
    assert.throws(() => number(text, 'x'), (error: Error) => error instanceof EntryError && error.message.startsWith('x: '), text);
  }
  for (const text of ['', '0', '1,2,3,4', '1.5', 'a']) {
    assert.throws(() => sizes(text, 'groups'), EntryError, text);
  }
});

test('fields become arguments of a launch file', () => {
  const fields = { dtype: 'float32', shape: '20x36x4', fill: 'zeros', values: '' };
  assert.deepEqual(buffer(fields, 'x'), { dtype: 'float32', shape: [20, 36, 4], init: 'zeros' });
  assert.deepEqual(buffer({ ...fields, fill: 'random' }, 'x')['init'], { random: 1 });
  assert.deepEqual(buffer({ ...fields, fill: 'values', values: '1, 2' }, 'x'), { dtype: 'float32', values: [1, 2] });
  assert.throws(() => buffer({ ...fields, shape: '' }, 'x'), /x: a length is wanted/);
  assert.deepEqual(value('int32', '7', 'n'), { value: 7, dtype: 'int32' });
  assert.deepEqual(value('int32', '7, 8', 'n'), { value: [7, 8], dtype: 'int32' });
});
