import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { emitted, expected, near } from './emitted.mjs';
const { CHUNKS, SIZE, DEALS, COUNTERS, WAYS, LOWEST, HIGHEST, BIN, exchange, starts, astray, wrong, work, opened, loss, tally } = await emitted('ranks');

const file = JSON.parse(readFileSync(new URL('../../../book/results/ranks.json', import.meta.url))), data = opened(file), rules = Object.keys(COUNTERS);
const { zigzag } = DEALS, plain = DEALS['plain quarters'], dealt = DEALS['dealt in turn'];

test('positions, offsets and work are those of d2lpos', () => {
  assert.ok(expected.ranks.length >= 15);
  for (const c of expected.ranks) {
    const order = [...c.order].map(Number);
    assert.deepEqual(starts(order, c.rule), c.starts);
    assert.deepEqual(astray(order, c.rule).map(Number), c.astray);
    near(wrong(order, c.rule), c.wrong);
    assert.deepEqual(work(order), c.work);
  }
});
test('each way to deal stands in the table once, the earlier chunk first', () => {
  assert.equal(WAYS.length, 2520);
  assert.equal(new Set(WAYS.map(String)).size, 2520);
  for (const order of WAYS) {
    assert.deepEqual([...order].sort(), plain);
    for (let i = 0; i < CHUNKS; i += 2) assert.ok(order[i] < order[i + 1]);
  }
  assert.equal(data.row.length, 2520);
  assert.equal(Object.keys(data.each).length, 14);
});
test('chunks change places, and the earlier one of a processor stays first', () => {
  assert.deepEqual(exchange(zigzag, 7, 4), [0, 4, 1, 6, 2, 5, 3, 7]);
  assert.deepEqual(exchange(zigzag, 7, 1), [0, 1, 6, 7, 2, 5, 3, 4]);
  assert.deepEqual(exchange(zigzag, 0, 7), zigzag);
  assert.deepEqual(exchange(zigzag, 5, 5), zigzag);
  for (const order of WAYS.filter((_, i) => i % 100 === 0)) for (let a = 0; a < CHUNKS; a++) for (let b = 0; b < a; b++) {
    const now = exchange(order, a, b), has = (some, c) => Math.floor(some.indexOf(c) / 2);
    assert.ok(WAYS.some(way => way.join() === now.join()));
    assert.deepEqual([has(now, a), has(now, b)], [has(order, b), has(order, a)]);
  }
});
test('the three deals are what their names say', () => {
  assert.deepEqual(plain.map(c => c >> 1), [0, 0, 1, 1, 2, 2, 3, 3]);
  for (let p = 0; p < 4; p++) {
    assert.deepEqual(zigzag.slice(2 * p, 2 * p + 2), [p, 7 - p]);
    assert.deepEqual(dealt.slice(2 * p, 2 * p + 2), [p, p + 4]);
  }
  assert.equal(new Set(work(zigzag)).size, 1);
});
test('the text is right for every deal, and the row alone for plain quarters', () => {
  for (const order of WAYS) {
    assert.equal(wrong(order, 'text'), 0); assert.equal(loss(data, order, 'text'), data.right / 100);
    assert.equal(wrong(order, 'row') === 0, order.join() === plain.join());
    assert.ok(wrong(order, 'each') > .7);
    assert.equal(work(order).reduce((a, b) => a + b), CHUNKS * SIZE * (CHUNKS * SIZE + 1) / 2);
  }
  assert.equal(loss(data, plain, 'row'), loss(data, plain, 'text'));
});
test('all losses are on the scale', () => {
  for (const rule of rules) {
    const bins = tally(data, rule), all = WAYS.map(order => loss(data, order, rule));
    assert.equal(bins.length, 50);
    assert.equal(bins.reduce((a, b) => a + b), WAYS.length);
    bins.forEach((n, i) => assert.equal(n, all.filter(v => Math.round(100 * v) >= Math.round(100 * (LOWEST + BIN * i)) && Math.round(100 * v) < Math.round(100 * (LOWEST + BIN * (i + 1)))).length));
    assert.ok(Math.min(...all) >= LOWEST && Math.max(...all) < HIGHEST);
  }
});
