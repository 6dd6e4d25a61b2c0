import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NpyError, parseNpy, reader, show } from '../src/run/npy.ts';

function npy(descr: string, shape: string, data: ArrayBufferView): Uint8Array {
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`.padEnd(117) + '\n';
  const bytes = new Uint8Array(data.buffer);
  const file = new Uint8Array(10 + header.length + bytes.length);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0]);
  file.set(new TextEncoder().encode(header), 10);
  file.set(bytes, 10 + header.length);
  return file;
}

test('values of every kind are read', () => {
  const cases: [string, ArrayBufferView, (number | bigint)[]][] = [
    ['<f4', new Float32Array([1.5, -2]), [1.5, -2]],
    ['<f8', new Float64Array([0.1]), [0.1]],
    ['<f2', new Uint16Array([0x3c00, 0xc000, 0x0001, 0x7c00]), [1, -2, 2 ** -24, Infinity]],
    ['<i2', new Int16Array([-3]), [-3]],
    ['|u1', new Uint8Array([255]), [255]],
    ['|i1', new Int8Array([-1]), [-1]],
    ['<u8', new BigUint64Array([2n ** 63n]), [2n ** 63n]],
    ['|b1', new Uint8Array([1]), [1]],
  ];
  for (const [descr, data, values] of cases) {
    const array = parseNpy(npy(descr, `(${values.length},)`, data));
    assert.deepEqual(values.map((_, n) => reader(array)(n)), values, descr);
  }
});

test('numbers are written in the chosen format', () => {
  const array = parseNpy(npy('<f4', '(2, 2)', new Float32Array([0.1, 3, -0, 1e-20])));
  const read = reader(array);
  assert.deepEqual([0, 1, 2, 3].map((n) => show(array, read, n, 'decimal')), ['0.1', '3', '-0', '1e-20']);
  assert.equal(show(array, read, 1, 'hex'), '0x40400000');
  assert.equal(show(array, read, 1, 'scientific'), '3.00000000e+0');
  const bytes = parseNpy(npy('|u1', '(1,)', new Uint8Array([5])));
  assert.equal(show(bytes, reader(bytes), 0, 'binary'), '00000101');
});

test('what cannot be shown is said', () => {
  assert.throws(() => parseNpy(new Uint8Array(20)), NpyError);
  assert.throws(() => parseNpy(npy('<c8', '(1,)', new Float32Array(2))), /not shown/);
  assert.throws(() => parseNpy(npy('<f4', '(9,)', new Float32Array(2))), /another length/);
});
