import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, expected, near } from './emitted.mjs';
const stretch = await emitted('stretch');

test('every rule divides as in d2lpos', () => {
  for (const c of expected.stretch) c.divisors.forEach((v, i) => near(stretch.divisor(c.rule, i, c.length), v, 1e-9, c.rule));
});
test('unseen angles and steps are those that follow', () => {
  for (const c of expected.stretch) {
    assert.deepEqual(stretch.unseen(c.rule, c.length), c.unseen, `${c.rule} ${c.length}`);
    near(stretch.furthest(c.rule, c.length), c.furthest, 1e-9);
    near(stretch.step(c.rule, c.length), c.step, 1e-9);
  }
});
test('nothing is new at the length of training, whatever the rule', () => {
  for (const rule in stretch.RULES) assert.deepEqual(stretch.unseen(rule, stretch.TRAINED), []);
  assert.equal(stretch.step('dynamic ntk', stretch.TRAINED), 1);
});
test('the words name pairs in number and order', () => {
  assert.match(stretch.trouble('as trained', 512), /^Pairs 3, 4, 5, 6, and 7 come to angles.*step as they did\.$/);
  assert.match(stretch.trouble('linear', 512), /^All pairs stay .* as little as 13 %\.$/);
});
