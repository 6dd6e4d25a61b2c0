// The answers of proofs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchName, messageOf, summaryOf, withProgram, type Proof } from '../src/run/proof.ts';

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
