import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textsOf } from '../src/run/difference.ts';
import type { Buffer as RunBuffer, Expectation, Report } from '../src/run/report.ts';
import { titleOf } from '../src/run/report.ts';
import { buffersOf, withoutData } from '../src/run/shown.ts';

const base64 = (data: ArrayBufferView): string => Buffer.from(data.buffer as ArrayBuffer).toString('base64');

function buffer(arg: number, values: number[], more: Partial<RunBuffer> = {}): RunBuffer {
  const data = base64(new Float32Array(values));
  return { arg, name: `b${arg}`, title: `b${arg} (argument ${arg})`, dtype: 'float32', shape: [values.length], head: [], data, written: true, changed: true, image: null, ...more };
}

function failed(arg: number, values: number[], differing: number[], more: Partial<Expectation> = {}): Expectation {
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  differing.forEach((n) => (bits[n >> 3]! |= 1 << (n & 7)));
  const differences = { count: differing.length, of: values.length, text: 'largest error', first: [], elements: base64(bits) };
  const expected = { dtype: 'float32', shape: [values.length], head: [], data: base64(new Float32Array(values)) };
  return { arg, ok: false, message: 'elements differ', expected, differences, ...more };
}

test('what is not as expected comes first, then what was written, then the rest', () => {
  const report: Report = {
    ok: false,
    buffers: [buffer(0, [1], { written: false, changed: false }), buffer(1, [2], { changed: false }), buffer(2, [3]), buffer(3, [4])],
    expectations: [{ arg: 3, ok: true, message: 'holds' }, failed(2, [5], [0])],
  };
  const shown = buffersOf(report);
  assert.deepEqual(shown.map((b) => [b.arg, b.group]), [[2, 'wrong'], [1, 'output'], [3, 'output'], [0, 'input']]);
  assert.deepEqual([...shown[0]!.wrong[0]!.differs!], [1]);
  assert.equal(titleOf(report, 3), 'b3 (argument 3)');
  assert.ok(!JSON.stringify(withoutData(report)).includes('"data"'));
});

test('a difference has the elements that differ with some around them', () => {
  const got = Array.from({ length: 40 }, (_, n) => n);
  const expected = got.map((n) => (n === 10 || n === 30 ? n + 0.1 : n));
  const texts = textsOf(failed(0, expected, [10, 30]), buffer(0, got))!;
  assert.deepEqual(texts.got.split('\n'), ['⋯', '[8] 8', '[9] 9', '[10] 10', '[11] 11', '[12] 12', '⋯', '[28] 28', '[29] 29', '[30] 30', '[31] 31', '[32] 32', '⋯']);
  const differing = texts.expected.split('\n').filter((line, n) => line !== texts.got.split('\n')[n]);
  assert.deepEqual(differing, ['[10] 10.1', '[30] 30.1']);
});

test('a small matrix has a row in each line', () => {
  const shape = [2, 3];
  const wrong = failed(0, [1, 2, 3, 4, 5, 7], [5]);
  const texts = textsOf({ ...wrong, expected: { ...wrong.expected!, shape } }, buffer(0, [1, 2, 3, 4, 5, 6], { shape }))!;
  assert.deepEqual([texts.got, texts.expected], ['[0] 1  2  3\n[1] 4  5  6', '[0] 1  2  3\n[1] 4  5  7']);
});

test('many differences stay a short text', () => {
  const got = Array.from({ length: 100_000 }, (_, n) => n);
  const texts = textsOf(failed(0, got.map((n) => n + 1), got), buffer(0, got))!;
  assert.equal(texts.got.split('\n').length, 301);
});

test('arrays of another size are shown whole, arrays too large by their first differences', () => {
  const other = textsOf(failed(0, [1, 2, 3], [], { differences: null }), buffer(0, [1, 2]))!;
  assert.deepEqual([other.got, other.expected], ['[0] 1\n[1] 2', '[0] 1\n[1] 2\n[2] 3']);
  const { expected, differences, ...rest } = failed(0, [2], [0]);
  const first = [{ at: [1, 2], got: 3, expected: 'nan' }];
  const large = textsOf({ ...rest, expected: { ...expected!, data: undefined as never }, differences: { ...differences!, first } }, undefined)!;
  assert.deepEqual([large.got, large.expected], ['[1, 2] 3', '[1, 2] nan']);
});
