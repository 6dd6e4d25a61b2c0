import assert from 'node:assert';
import { test } from 'node:test';
import { LineMap, type Edit } from '../src/views/linemap.ts';

const edit = (line: number, character: number, last: number, text: string): Edit => ({ range: { start: { line, character }, end: { line: last } }, text });
const all = (map: LineMap, count: number): (number | undefined)[] => Array.from({ length: count }, (_, line) => map.then(line));

test('an edit inside of a line moves none', () => {
  const map = new LineMap(3);
  map.edited(edit(1, 4, 1, 'word'));
  assert.deepEqual(all(map, 3), [0, 1, 2]);
});

test('lines that are put before a line leave it itself', () => {
  const map = new LineMap(3);
  map.edited(edit(1, 0, 1, 'new\r\nnew\r\n'));
  assert.deepEqual(all(map, 5), [0, undefined, undefined, 1, 2]);
  assert.equal(map.now(2), 4);
});

test('a line that is broken stays where it begins', () => {
  const map = new LineMap(3);
  map.edited(edit(1, 7, 1, '\n'));
  assert.deepEqual(all(map, 4), [0, 1, undefined, 2]);
});

test('lines that are gone have no place any more', () => {
  const map = new LineMap(5);
  map.edited(edit(1, 0, 3, ''));
  assert.deepEqual(all(map, 3), [0, 1, 4]);
  assert.equal(map.now(2), undefined);
});
