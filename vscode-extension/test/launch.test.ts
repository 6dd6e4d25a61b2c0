import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outline } from '../src/run/launch.ts';
import { placeIn } from '../src/run/report.ts';

test('the expectations of a launch file have lines', () => {
  const text = 'kernel: "k" # the first\nfile: a.visaasm\nexpect:\n  - arg: y\n    values: [\n      1]\n  - {arg: 0, npy: o.npy}\nargs: []\n';
  assert.deepEqual(outline(text), { kernel: 'k', file: 'a.visaasm', expectLine: 2, itemLines: [3, 6] });
});

test('places in messages are found', () => {
  assert.deepEqual(placeIn('/a b/x.visaasm:51:5: error V201'), { file: '/a b/x.visaasm', line: 51, column: 5 });
  assert.equal(placeIn('no place here'), undefined);
});
