import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ArrayError, arrayOf, reader, show } from '../src/run/array.ts';

function held(name: string, shape: number[], data: ArrayBufferView): ReturnType<typeof arrayOf> {
  return arrayOf(name, shape, new Uint8Array(data.buffer));
}

test('values of every kind are read', () => {
  const cases: [string, ArrayBufferView, (number | bigint)[]][] = [
    ['float32', new Float32Array([1.5, -2]), [1.5, -2]],
    ['float64', new Float64Array([0.1]), [0.1]],
    ['float16', new Uint16Array([0x3c00, 0xc000, 0x0001, 0x7c00]), [1, -2, 2 ** -24, Infinity]],
    ['int16', new Int16Array([-3]), [-3]],
    ['uint8', new Uint8Array([255]), [255]],
    ['int8', new Int8Array([-1]), [-1]],
    ['uint64', new BigUint64Array([2n ** 63n]), [2n ** 63n]],
    ['bool', new Uint8Array([1]), [1]],
  ];
  for (const [name, data, values] of cases) {
    const array = held(name, [values.length], data);
    assert.deepEqual(values.map((_, n) => reader(array)(n)), values, name);
  }
});

test('numbers are written in the chosen format', () => {
  const array = held('float32', [2, 2], new Float32Array([0.1, 3, -0, 1e-20]));
  const read = reader(array);
  assert.deepEqual([0, 1, 2, 3].map((n) => show(array, read, n, 'decimal')), ['0.1', '3', '-0', '1e-20']);
  assert.equal(show(array, read, 1, 'hex'), '0x40400000');
  assert.equal(show(array, read, 1, 'scientific'), '3.00000000e+0');
  const bytes = held('uint8', [1], new Uint8Array([5]));
  assert.equal(show(bytes, reader(bytes), 0, 'binary'), '00000101');
});

test('what cannot be shown is said', () => {
  assert.throws(() => held('text', [1], new Uint8Array(20)), ArrayError);
  assert.throws(() => held('complex64', [1], new Float32Array(2)), /not shown/);
  assert.throws(() => held('float32', [9], new Float32Array(2)), /another length/);
});
