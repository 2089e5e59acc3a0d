import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, expected, near } from './emitted.mjs';
const dial = await emitted('dial');

test('the score is that of RoPE', () => {
  for (const c of expected.dial) { near(dial.theta(c.i), c.theta); near(dial.score(c.m, c.n, c.theta, c.q, c.k), c.score, 1e-11); }
});
test('moving both tokens leaves the score alone', () => {
  for (const t of [0, 1, 7, 18]) near(dial.score(14 + t, 6 + t, .1), dial.score(14, 6, .1));
});
test('wrap keeps the angle and lands in (−π, π]', () => {
  for (let a = -40; a < 40; a += .37) {
    const w = dial.wrap(a);
    assert.ok(w > -Math.PI && w <= Math.PI);
    near(Math.cos(w), Math.cos(a)); near(Math.sin(w), Math.sin(a));
  }
  assert.equal(dial.wrap(Math.PI), Math.PI);
});
test('locked moves keep n − m, also at both walls', () => {
  for (const to of [-9, 0, 3, 20, 32, 99]) for (const who of ['m', 'n']) {
    const s = dial.move({ m: 14, n: 6 }, who, to, true);
    assert.equal(s.m - s.n, 8);
    assert.ok(Math.min(s.m, s.n) >= 0 && Math.max(s.m, s.n) <= dial.MAX);
  }
  assert.deepEqual(dial.move({ m: 14, n: 6 }, 'm', 99, true), { m: 32, n: 24 });
  assert.deepEqual(dial.move({ m: 14, n: 6 }, 'n', 40, false), { m: 14, n: 32 });
});
