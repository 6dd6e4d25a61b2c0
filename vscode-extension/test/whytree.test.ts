// The tree of causes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Report } from '../src/run/report.ts';
import { below, detailOf, questionsOf, rootsOf, titleOf, tooltipOf, type WhyAnswer, type WhyNode } from '../src/views/whytree.ts';

const node = (id: number, more: Partial<WhyNode> = {}): WhyNode => ({
  id, kind: 'instruction', path: 'k.visaasm', line: 10 + id, lane: 3, thread: 0, group: [1, 0, 0], text: `add ${id}`,
  values: { V32: 7 }, causes: [], distance: id - 1, times: 1, ...more,
});
const answer = (...nodes: WhyNode[]): WhyAnswer => ({ ok: true, value: 'y[3]', now: 7, expected: 8, nodes });

test('the writes of the value are at the top, in front of them the first differences', () => {
  assert.deepEqual(rootsOf(answer(node(1), node(2))).map((entry) => entry.node.id), [1]);
  assert.deepEqual(rootsOf(answer(node(2, { first_difference: true }), node(1))).map((entry) => entry.node.id), [2, 1]);
});

test('a loop of causes ends, and the other party of a race is below its node', () => {
  const loop = answer(node(1, { causes: [2], races: [3] }), node(2, { causes: [1, 2] }), node(3));
  const [root] = rootsOf(loop);
  const entries = below(loop, root!);
  assert.deepEqual(entries.map((entry) => [entry.node.id, entry.races]), [[2, false], [3, true]]);
  assert.deepEqual(below(loop, entries[0]!), []);
});

test('an entry says its line, its lane and what it wrote', () => {
  assert.equal(detailOf({ node: node(1, { times: 4 }), above: [], races: false }), 'line 11 · group 1,0,0 thread 0 · lane 3 · 4 times · V32 = 7');
  assert.equal(tooltipOf(node(1, { reads: { a: [1, 2] }, reference: { V32: 8 } })), 'add 1\nwrote: V32 = 7\nread: a = [1, 2]\nreference: V32 = 8');
  assert.equal(titleOf(answer(node(1))), 'y[3] = 7, expected 8');
});

test('what differs, faults and buffers can be asked for, and notes stand below the causes', () => {
  const differences = { count: 1, of: 4, text: '', first: [{ at: [1, 2], got: 6, expected: 7 }] };
  const report = { ok: false, expectations: [{ arg: 0, ok: false, message: '', differences }], faults: [{ kind: 'race', message: 'two stores' }] } as unknown as Report;
  assert.deepEqual(questionsOf(report, [{ arg: 0, name: 'y', shape: [2, 3] }, { index: 1, name: '' }]), [
    { label: 'y[1, 2]', description: 'got 6, expected 7', question: { value: 'y[1, 2]' } },
    { label: 'race 1', description: 'two stores', question: { fault: 1 } },
    { label: 'y[0, 0]', description: 'any of 2 × 3', question: { value: 'y[0, 0]' } },
    { label: '1[0]', description: 'any index', question: { value: '1[0]' } },
  ]);
  const roots = rootsOf({ ...answer(node(1)), notes: ['the launch was proposed'] });
  assert.deepEqual(roots.map((entry) => entry.node.text), ['add 1', 'the launch was proposed']);
});
