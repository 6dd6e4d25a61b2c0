import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelWidth, layout, type Graph, type Layout } from '../src/views/graph.ts';

function graph(count: number, pairs: [number, number, string?][]): Graph {
  const nodes = Array.from({ length: count }, (_, n) => ({ id: `${n}`, lines: ['x'.repeat(5 + n)], line: n, faint: false }));
  return { name: 'g', nodes, edges: pairs.map(([a, b, label = '']) => ({ from: `${a}`, to: `${b}`, label, kind: 'fall' })) };
}

interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

function meet(a: Rectangle, b: Rectangle): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function overlap(all: Rectangle[]): boolean {
  return all.some((a, n) => all.slice(n + 1).some((b) => meet(a, b)));
}

function labels({ routes }: Layout): Rectangle[] {
  return routes.filter((r) => r.label !== '').map((r) => ({ x: r.labelAt[0], y: r.labelAt[1] - 10, width: labelWidth(r.label), height: 12 }));
}

test('a diamond has three layers, and its boxes keep apart', () => {
  const { boxes, routes } = layout(graph(4, [[0, 1], [0, 2], [1, 3], [2, 3]]));
  assert.deepEqual(boxes.map((box) => box.y === boxes[1]!.y), [false, true, true, false]);
  assert.ok(boxes[0]!.y < boxes[1]!.y && boxes[1]!.y < boxes[3]!.y);
  assert.ok(routes.every((route) => !route.back));
  assert.ok(!overlap(boxes));
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
  const chain = layout(graph(300, Array.from({ length: 299 }, (_, n): [number, number] => [n, n + 1])));
  assert.ok(!overlap(chain.boxes));
});

test('an edge leaves its layer before it turns, so that it crosses no taller neighbour', () => {
  const tall = graph(5, [[0, 1], [0, 2], [1, 3], [2, 4]]);
  tall.nodes[2]!.lines = Array.from({ length: 12 }, () => 'xxxxxxxxxx');
  const { boxes, routes } = layout(tall);
  const [, second] = routes.find((route) => route.from === '1')!.points;
  assert.equal(second![0], routes.find((route) => route.from === '1')!.points[0]![0]);
  assert.ok(second![1] >= boxes[2]!.y + boxes[2]!.height);
});

test('labels stand on no block, on no other label, and not on the edge beside them', () => {
  const made = layout(
    graph(7, [
      ...[[0, 1, 'not taken: P1'], [0, 2, 'taken: P1'], [1, 3, 'not taken: P2'], [1, 4, 'taken: P2']],
      ...[[2, 5, 'taken: P3'], [2, 6, 'not taken: P3'], [6, 0, 'loop back: P4'], [5, 2, 'loop back']],
    ] as [number, number, string][]),
  );
  const texts = labels(made);
  assert.equal(texts.length, 8);
  assert.ok(!overlap(texts));
  assert.ok(texts.every((text) => made.boxes.every((box) => !meet(text, box))));
  assert.ok(texts.every((text) => text.x >= 0 && text.x + text.width <= made.width));
  for (const route of made.routes.filter((r) => r.from === '0')) {
    const [x] = route.points[0]!;
    assert.ok(texts.every((text) => x < text.x || x > text.x + text.width || text.y > made.boxes[1]!.y));
  }
});
