import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plain } from '../src/plain.ts';

test('a name makes neither a link nor an icon', () => {
  assert.equal(plain("there is no kernel '[x](command:workbench.action.quit)'"), "there is no kernel '[x] (command:workbench.action.quit)'");
  assert.equal(plain('![p](http://a/b) $(alert)'), '![p] (http://a/b) $ (alert)');
  assert.equal(plain('[[a](command:b)](command:c)'), '[[a] (command:b)] (command:c)');
});

test('what is only text stays as it is', () => {
  const text = 'V32(0,0)<1;1,0> [32] costs 3 $ (or less)';
  assert.equal(plain(text), text);
});

test('a very long text is cut', () => {
  assert.equal(plain('a'.repeat(5000)).length, 1001);
});
