import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layout, type Graph } from '../src/views/graph.ts';

function graph(count: number, pairs: [number, number][]): Graph {
  const nodes = Array.from({ length: count }, (_, n) => ({ id: `${n}`, lines: ['x'.repeat(5 + n)], line: n, faint: false }));
  return { name: 'g', nodes, edges: pairs.map(([a, b]) => ({ from: `${a}`, to: `${b}`, label: '', kind: 'fall' })) };
}

function overlap(g: Graph): boolean {
  const { boxes } = layout(g);
  return boxes.some((a, n) =>
    boxes.slice(n + 1).some((b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height),
  );
}

test('a diamond has three layers, and its boxes keep apart', () => {
  const diamond = graph(4, [[0, 1], [0, 2], [1, 3], [2, 3]]);
  const { boxes, routes } = layout(diamond);
  assert.deepEqual(boxes.map((box) => box.y === boxes[1]!.y), [false, true, true, false]);
  assert.ok(boxes[0]!.y < boxes[1]!.y && boxes[1]!.y < boxes[3]!.y);
  assert.ok(routes.every((route) => !route.back && route.points.length === 2));
  assert.ok(!overlap(diamond));
});

test('an edge that goes back runs outside of every box', () => {
  const { boxes, routes } = layout(graph(3, [[0, 1], [1, 2], [2, 1]]));
  const back = routes.find((route) => route.back)!;
  assert.deepEqual([back.from, back.to], ['2', '1']);
  assert.ok(Math.min(...back.points.map(([x]) => x)) < Math.min(...boxes.map((box) => box.x)));
});

test('a block that jumps to itself, lone blocks and many blocks are laid out', () => {
  assert.equal(layout(graph(1, [[0, 0]])).routes[0]!.back, true);
  assert.equal(layout(graph(3, [])).boxes.length, 3);
  const chain = graph(300, Array.from({ length: 299 }, (_, n): [number, number] => [n, n + 1]));
  assert.ok(!overlap(chain));
});
