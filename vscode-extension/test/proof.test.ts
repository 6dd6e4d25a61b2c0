// The answers of proofs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelsOf, launchName, messageOf, summaryOf, withProgram, type Proof } from '../src/run/proof.ts';

const proof = (answer: Proof['answer'], more: Partial<Proof> = {}): Proof => ({ property: 'race', kernel: 'k', line: 7, answer, assumptions: [], ...more });

test('answers are counted, the good ones first', () => {
  assert.equal(summaryOf([proof('refuted'), proof('proved'), proof('proved'), proof('unknown')]), '2 proved, 1 refuted, 1 unknown');
  assert.equal(summaryOf([]), 'nothing to prove');
});

test('a line says what is not proved, with the reason', () => {
  assert.equal(messageOf(proof('refuted')), 'race: a launch has this fault');
  assert.equal(messageOf(proof('unknown', { reason: 'images' })), 'race: neither proved nor refuted: images');
});

test('a launch is a file that names its program wherever it lies', () => {
  assert.equal(launchName(proof('refuted', { kernel: '../a b' })), '.._a_b.race.7.launch.yaml');
  assert.equal(withProgram('kernel: k\nfile: k.visaasm\nargs:\n', 'C:\\a "b"$&\\k.visaasm'), 'kernel: k\nfile: "C:\\\\a \\"b\\"$&\\\\k.visaasm"\nargs:\n');
  assert.equal(withProgram('kernel: k\n', '/k.visaasm'), 'kernel: k\n');
});

test('answers stand by kernel and property, equal ones together', () => {
  const fault = { kind: 'race', message: 'two stores' } as Proof['faults'] extends (infer F)[] | undefined ? F : never;
  const need = { buffer: 'y', elements: 'n', unit: 'elements' };
  const results = [
    proof('proved', { assumptions: ['n is not negative'], needs: [need] }),
    proof('proved', { line: 9, assumptions: ['n is not negative'], needs: [need] }),
    proof('refuted', { line: 11, launch: 'kernel: k', faults: [fault] }),
    proof('refuted', { line: 12, launch: 'kernel: k', faults: [fault] }),
    proof('unknown', { property: 'bounds', line: 5, reason: 'images' }),
    proof('unknown', { property: 'bounds', line: 8, reason: 'images' }),
  ];
  assert.deepEqual(kernelsOf(results, () => '/k.launch.yaml'), [
    {
      name: 'k',
      needs: [need],
      assumptions: ['n is not negative'],
      properties: [
        { name: 'race', summary: '2 proved, 2 refuted', refuted: [{ launch: '/k.launch.yaml', lines: [11, 12], words: 'a launch has this fault', faults: [fault] }], others: [] },
        { name: 'bounds', summary: '2 unknown', refuted: [], others: [{ words: 'unknown: images', lines: [5, 8] }] },
      ],
    },
  ]);
});
