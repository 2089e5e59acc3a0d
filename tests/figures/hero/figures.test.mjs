// What d2lpos does not compute: how figures place and shade, and what a hand may do. `calls.mjs` holds the rest to d2lpos.
import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, near } from './emitted.mjs';

const rising = all => assert.deepEqual(all, [...all].sort((a, b) => a - b));

test('buckets: bands fill the square, and the nearer a bucket, the darker', async () => {
  const { band, places, shade } = await emitted('buckets');
  const area = points => Math.abs(points.reduce((sum, [x, y], i) => {
    const [u, v] = points[(i + 1) % points.length];
    return sum + x * v - u * y;
  }, 0)) / 2;
  for (const [a, b, pairs] of [[-8, 8, 64], [-8, 0, 32], [1, 3, (49 - 25) / 2], [-1, 1, 64 - 49], [-20, -2, 18]]) near(area(band(a, b, 8)), pairs);
  for (const o of [{ kind: 'causal', buckets: 32, far: 128 }, { kind: 'both', buckets: 8, far: 256 }, { kind: 'shaw', clip: 16 }]) {
    const shades = places(o).filter(p => p.last <= 0).sort((p, q) => p.last - q.last).map(p => shade(o, p));
    rising(shades);
    assert.ok(new Set(shades).size === shades.length && shades.every(v => v > .05 && v < .95));
  }
});
test('clocks: half way a row is half digit, half hand, and no other row has changed', async () => {
  const { digits, code, similar } = await emitted('clocks'), all = v => Array(6).fill(v), mix = [0, 0, .5, 1, 1, 1];
  const d = digits(11), [mixed, square, round] = [mix, all(0), all(1)].map(m => code(11, d, m, 64)), share = m => similar(11, 20, d, digits(20), m, 64);
  mixed.forEach((v, j) => near(v, [square[j], (square[j] + round[j]) / 2, round[j]][2 * mix[j >> 1]]));
  near(share([0, 0, .5, 0, 0, 0]) * 2, share(all(0)) + share([0, 0, 1, 0, 0, 0]));
});
test('dial: the query takes the key along, also at both walls, and no angle reaches half a turn', async () => {
  const { MAX, theta, move } = await emitted('dial');
  for (const to of [-9, 0, 3, 20, 99]) {
    const s = move({ m: 14, n: 6 }, 'm', to);
    assert.ok(s.m - s.n === 8 && s.n >= 0 && s.m <= MAX);
  }
  assert.deepEqual(move({ m: 14, n: 6 }, 'm', 99), { m: 31, n: 23 });
  assert.deepEqual(move({ m: 14, n: 6 }, 'n', 40), { m: 14, n: 31 });
  assert.ok(MAX * theta(8) < Math.PI);
});
test('dropout: the same coins, six placements', async () => {
  const { masks } = await emitted('dropout'), m = p => masks(p, .2, [.05, .9, .15, .5], [.7, .1, .6, .2]), ones = [1, 1, 1, 1], units = [0, 1.25, 0, 1.25];
  assert.deepEqual(['none', 'sum', 'token', 'position', 'independent', 'whole position'].map(m).map(o => [o.token, o.position]),
    [[ones, ones], [units, units], [units, ones], [ones, units], [units, [1.25, 0, 1.25, 1.25]], [ones, [0, 0, 0, 0]]]);
});
test('shuffle: every output fits between the ends of the bars', async () => {
  const { START, LOW, HIGH, layer, put } = await emitted('shuffle'), orders = START.reduce((all, w) => all.flatMap(o => [...o, w].map((_, i) => put([...o, w], w, i))), [[]]);
  assert.equal(new Set(orders.map(String)).size, 720);
  for (const positions of [false, true]) for (const causal of [false, true]) for (const order of orders)
    for (const v of layer(order, { positions, causal }).flat()) assert.ok(v > LOW && v < HIGH, `${order} ${v}`);
});
