import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, near } from './emitted.mjs';
const { shows, told, ranked, extent, ticks } = await emitted('grid');

const cells = [[500, 490, 510, 499, 501], [], [900, 880, 920, 899, 901], [500, null, null, 500]];

test('numbers are thousandths, with a true minus sign', () => {
  assert.deepEqual([1413, 0, -3].map(shows), ['1.413', '0.000', '−0.003']);
});
test('a cell is told as mean, interval and number of seeds', () => {
  assert.deepEqual(told(cells[0]), ['0.500', '0.490 to 0.510', '2']);
  assert.deepEqual(told(cells[3]), ['0.500', '–', '1']);
  assert.deepEqual(told(cells[1]), ['–', 'not measured', '0']);
});
test('the best is first, what ties stays as it was, and what has no value is last', () => {
  assert.deepEqual(ranked(cells, true, 'accuracy'), [2, 0, 3, 1]);
  assert.deepEqual(ranked(cells, true, 'loss_last'), [0, 3, 2, 1]);
  assert.deepEqual(ranked(cells, false, 'loss'), [0, 2, 3, 1]);
});
test('all numbers lie inside the extent, and no accuracy passes 1', () => {
  const [low, high] = extent([...cells, [800, 300, 1300, 1000, 600]], 'loss');
  assert.ok(low < 300 && high > 1300);
  assert.ok(extent([[800, 300, 1300, 1000, 600]], 'accuracy')[1] < 1100);
  const [from, to] = extent([[700, null, null, 700]], 'loss');
  assert.ok(from < 700 && to > 700);
});
test('ticks are round, inside and few, and written with the digits that they need', () => {
  assert.deepEqual(ticks([280, 1030], 4), [[400, '0.4'], [600, '0.6'], [800, '0.8'], [1000, '1.0']]);
  assert.deepEqual(ticks([690, 711], 4), [[690, '0.69'], [700, '0.70'], [710, '0.71']]);
  for (let high = 1020; high < 9000; high += 7) for (const steps of [4, 5, 8]) {
    const found = ticks([1000, high], steps);
    assert.ok(found.length >= (steps > 4 ? 2 : 1) && found.length <= steps + 1, `${high} ${steps}: ${found.length}`);
    for (const [v, t] of found) near(Number(t) * 1000, v, 1e-9);
  }
});
