import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byLine, short, shortName } from '../src/debug/answers.ts';

const threads = [0, 1, 2].map((n) => ({ id: n + 5, name: `group 1,0,0 thread ${n}: items ${n},0,0`, line: n === 1 ? 7 : 9 }));

test('threads are told by their number in the group, and gathered by line', () => {
  assert.deepEqual(threads.map(shortName), ['0', '1', '2']);
  assert.equal(shortName({ id: 4, name: 'another', line: 1 }), '4');
  assert.deepEqual([...byLine(threads)].map(([line, there]) => [line, there.map(({ id }) => id)]), [
    [9, [5, 7]],
    [7, [6]],
  ]);
});

test('long fractions are cut, whole numbers and words never', () => {
  assert.deepEqual(['7.65735769', '-0.0903000012', '0.5', '1.17549435e-38', '2.00000001'].map(short), ['7.65736', '-0.0903', '0.5', '1.17549e-38', '2']);
  assert.deepEqual(['4294967295', '-2147483648', '0x3f800000', 'nan', '-inf', ''].map(short), ['4294967295', '-2147483648', '0x3f800000', 'nan', '-inf', '']);
});
