import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockAt, labelOf, wrapped } from '../src/views/blocks.ts';

const blocks = [
  { id: 0, firstLine: 10, lastLine: 14 },
  { id: 1, firstLine: 17, lastLine: 20 },
];

test('a line is in the block around it, and between two blocks in the one before', () => {
  assert.deepEqual([10, 14, 15, 17, 20].map((line) => blockAt(blocks, line)), ['0', '0', '0', '1', '1']);
  assert.deepEqual([0, 9, 21].map((line) => blockAt(blocks, line)), [undefined, undefined, undefined]);
  assert.equal(blockAt([], 3), undefined);
});

test('edges say why control goes their way', () => {
  assert.equal(labelOf('branch', 'P1'), 'taken: P1');
  assert.equal(labelOf('fall', '!(P1)'), 'not taken: !P1');
  assert.equal(labelOf('fall', '!(!P1)'), 'not taken: P1');
  assert.equal(labelOf('back', ''), 'loop back');
  assert.equal(labelOf('back', 'P2'), 'loop back: P2');
  assert.equal(labelOf('call', ''), 'call');
  assert.deepEqual([labelOf('fall', ''), labelOf('branch', '')], ['', '']);
});

test('a long line goes on below, whole', () => {
  const code = 'gather4_scaled.R (M1, 16) T6 0x0:ud V0052(0,0)<1;1,0> and_one_more_operand_of_a_long_name(0,0)<1;1,0> V0053.0';
  const lines = wrapped(code);
  assert.equal(lines.map((line) => line.trim()).join(' '), code);
  assert.ok(lines.length === 2 && lines.every((line) => line.length <= 76));
});
