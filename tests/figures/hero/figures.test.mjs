// What d2lpos does not compute: how figures place and shade, and what a hand may do. `calls.mjs` holds the rest to d2lpos.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { emitted, near } from './emitted.mjs';

const rising = all => assert.deepEqual(all, [...all].sort((a, b) => a - b));

test('board: ink grows with a change, none is below the floor, and the legend goes by decades', async () => {
  const { FLOOR, darkness, decade } = await emitted('board');
  for (const sign of [1, -1]) {
    const ink = [FLOOR, 50, 100, 1000, 20000].map(v => darkness(sign * v, 20000));
    rising(ink);
    near(ink.at(-1), 1);
    assert.ok(ink[0] > 0 && darkness(sign * (FLOOR - 1), 20000) === 0);
  }
  assert.ok(darkness(-300, 20000) > darkness(300, 20000));
  rising([-2000, -200, -FLOOR, -5, 0, 5, FLOOR, 200, 2000].map(decade));
  near(decade(2000) - decade(200), 1); near(decade(-200), -decade(200)); near(decade(FLOOR - 1e-9), decade(FLOOR), 1e-6);
});
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
test('grid: all numbers lie inside the extent, and ticks are round, inside and few', async () => {
  const { extent, ticks } = await emitted('grid'), wide = [800, 300, 1300, 1000, 600];
  const [low, high] = extent([wide, [500, null, null, 500]], 'loss'), [from, to] = extent([[700, null, null, 700]], 'loss');
  assert.ok(low < 300 && high > 1300 && from < 700 && to > 700 && extent([wide], 'accuracy')[1] < 1100);
  assert.deepEqual(ticks([280, 1030], 4), [[400, '0.4'], [600, '0.6'], [800, '0.8'], [1000, '1.0']]);
  assert.deepEqual(ticks([690, 711], 4), [[690, '0.69'], [700, '0.70'], [710, '0.71']]);
  for (let end = 1020; end < 9000; end += 7) for (const steps of [4, 5, 8]) {
    const shown = ticks([1000, end], steps);
    assert.ok(shown.length >= (steps > 4 ? 2 : 1) && shown.length <= steps + 1, `${end} ${steps}: ${shown.length}`);
    for (const [v, t] of shown) near(Number(t) * 1000, v, 1e-9);
  }
});
test('ranks: all losses are on the scale', async () => {
  const { WAYS, LOWEST, HIGHEST, BIN, COUNTERS, opened, loss, tally } = await emitted('ranks'), data = opened(JSON.parse(readFileSync(new URL('../../../book/results/ranks.json', import.meta.url))));
  for (const rule in COUNTERS) {
    const all = WAYS.map(order => loss(data, order, rule)), ends = i => Math.round(100 * (LOWEST + BIN * i));
    tally(data, rule).forEach((n, i) => assert.equal(n, all.filter(v => Math.round(100 * v) >= ends(i) && Math.round(100 * v) < ends(i + 1)).length));
    assert.ok(Math.min(...all) >= LOWEST && Math.max(...all) < HIGHEST);
  }
});
test('shuffle: every output fits between the ends of the bars', async () => {
  const { START, LOW, HIGH, layer, put } = await emitted('shuffle'), orders = START.reduce((all, w) => all.flatMap(o => [...o, w].map((_, i) => put([...o, w], w, i))), [[]]);
  assert.equal(new Set(orders.map(String)).size, 720);
  for (const positions of [false, true]) for (const causal of [false, true]) for (const order of orders)
    for (const v of layer(order, { positions, causal }).flat()) assert.ok(v > LOW && v < HIGH, `${order} ${v}`);
});
