import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layout, type Graph } from '../src/views/graph.ts';
import { moved } from '../src/views/moves.ts';

// 0 leads to 1 and 2, both to 3, and 3 back to 0.
const diamond: Graph = {
  name: 'g',
  nodes: [0, 1, 2, 3].map((n) => ({ id: `${n}`, lines: ['mov (M1, 16) a b'], line: n, faint: false })),
  edges: [[0, 1], [0, 2], [1, 3], [2, 3], [3, 0]].map(([a, b]) => ({ from: `${a}`, to: `${b}`, label: '', kind: 'fall' })),
};
const made = layout(diamond);
const walk = (from: string, ...keys: string[]): string[] => keys.map((key) => (from = moved(made, from, key) ?? from));

test('down and up follow the edges', () => {
  assert.deepEqual(walk('0', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp'), ['1', '3', '1', '0']);
});

test('left and right go by place', () => {
  assert.deepEqual(walk('1', 'ArrowRight', 'ArrowDown'), ['2', '3']);
  assert.equal(moved(made, '2', 'ArrowLeft'), '1');
});

test('an edge that goes back is followed where nothing lies below', () => {
  assert.equal(moved(made, '3', 'ArrowDown'), '0');
});

test('home and end, keys without a meaning, and a block that is not there', () => {
  assert.deepEqual([moved(made, '2', 'Home'), moved(made, '2', 'End')], ['0', '3']);
  assert.equal(moved(made, '2', 'x'), undefined);
  assert.equal(moved(made, '9', 'Home'), undefined);
});

test('every block of blocks without edges is reached', () => {
  const lone = layout({ ...diamond, edges: [] });
  assert.equal(moved(lone, '0', 'ArrowRight'), '1');
  assert.equal(moved(lone, '1', 'ArrowRight'), '2');
});
