import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, near } from './emitted.mjs';
const { between, clock } = await emitted(new URL('../../../book/story', import.meta.url).pathname);

test('a part has its values at the steps and glides between them', () => {
  for (const [at, value] of [[0, 10], [1, 20], [2, 40]]) assert.equal(+between([10, 20, 40], at), value);
  assert.equal(+between([10, 20, 40], .5), 15);
  const way = Array.from({ length: 21 }, (_, i) => +between([10, 20], i / 20));
  way.slice(1).forEach((v, i) => assert.ok(v >= way[i]));
  assert.equal(between(['translate(0 -4)', 'translate(10 4)'], .5), 'translate(5 0)');
});
test('what differs in words changes half way, and the last value holds', () => {
  assert.deepEqual([.4, .6].map(at => between(['a(1)', 'b(2)'], at)), ['a(1)', 'b(2)']);
  assert.equal(+between([0, 1], 3.5), 1);
});
test('the clock rests at each step, glides to the next, and stops at the last', () => {
  const rhythm = [2, 1];
  for (const [seconds, at] of [[0, 0], [2, 0], [2.5, .5], [3, 1], [5, 1], [6, 2], [99, 2]]) near(clock(seconds, 2, rhythm), at);
});
