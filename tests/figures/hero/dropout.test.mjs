import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, expected, near } from './emitted.mjs';
const drop = await emitted('dropout');

test('the encoding is sinusoidal', () => {
  drop.encode(expected.encode.p, drop.D).forEach((v, j) => near(v, expected.encode.v[j]));
});
test('mean and sd agree with 20 000 draws of combine', () => {
  for (const c of expected.drop) {
    const s = drop.stats(c.place, c.rate, drop.P0, drop.P0 + c.offset);
    near(s.mean, c.kernel, 1e-11);
    near(s.mean, c.mean, 5 * s.sd / Math.sqrt(c.n) + 1e-9, c.place);
    near(s.sd, c.sd, .04 * s.sd + 1e-9, c.place);
  }
});
test('the same coins, six placements: who is hit', () => {
  const u = [.05, .9, .15, .5], v = [.7, .1, .6, .2], m = p => drop.masks(p, .2, u, v);
  assert.deepEqual(m('none'), { token: [1, 1, 1, 1], position: [1, 1, 1, 1] });
  assert.deepEqual(m('sum').token, m('sum').position);
  assert.deepEqual(m('token'), { token: [0, 1.25, 0, 1.25], position: [1, 1, 1, 1] });
  assert.deepEqual(m('position'), { token: m('none').token, position: m('token').token });
  assert.deepEqual(m('independent'), { token: m('token').token, position: [1.25, 0, 1.25, 1.25] });
  assert.deepEqual(m('whole position'), { token: [1, 1, 1, 1], position: [0, 0, 0, 0] });
});
test('the generator repeats and is uniform enough', () => {
  const a = drop.random(7), b = drop.random(7), v = Array.from({ length: 1e4 }, a);
  assert.deepEqual(v.slice(0, 5), Array.from({ length: 5 }, b));
  near(v.reduce((x, y) => x + y) / 1e4, .5, .01);
});
