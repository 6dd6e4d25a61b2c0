import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ArrayError, arrayOf, bit, indexesOf, place, reader, roundToHalf, show } from '../src/run/array.ts';

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

test('floats have the digits of their type', () => {
  const cases: [string, ArrayBufferView, string[]][] = [
    ['float32', new Float32Array([0.1, 1 / 3, 16777216, 3.4028235e38, 1.5, -2.5e-7]), ['0.1', '0.33333334', '16777216', '3.4028235e+38', '1.5', '-2.5e-7']],
    ['float64', new Float64Array([0.1, 1 / 3]), ['0.1', '0.3333333333333333']],
    ['float16', new Uint16Array([0x2e66, 0x3555, 0x7bff, 0x0001, 0x8000]), ['0.1', '0.3333', '65500', '6e-8', '-0']],
  ];
  for (const [name, data, texts] of cases) {
    const array = held(name, [texts.length], data);
    assert.deepEqual(texts.map((_, n) => show(array, reader(array), n, 'decimal')), texts, name);
  }
});

test('every half reads back from its text', () => {
  const array = held('float16', [0x7c00], new Uint16Array(Array.from({ length: 0x7c00 }, (_, n) => n)));
  const read = reader(array);
  for (let n = 0; n < 0x7c00; n++) {
    assert.equal(roundToHalf(Number(show(array, read, n, 'decimal'))), read(n));
  }
  assert.deepEqual([65519, 65520, -1e300, Infinity, 2 ** -25].map(roundToHalf), [65504, Infinity, -Infinity, Infinity, 0]);
});

test('bits and places of elements', () => {
  const bits = new Uint8Array([0b10000001, 0, 0b10]);
  assert.deepEqual([0, 1, 7, 17].map((n) => bit(bits, n)), [true, false, true, true]);
  assert.deepEqual([indexesOf(bits, 9), indexesOf(bits, 2)], [[0, 7, 17], [0, 7]]);
  assert.deepEqual([place([2, 3, 4], 23), place([5], 3), place([], 0)], [[1, 2, 3], [3], []]);
});
