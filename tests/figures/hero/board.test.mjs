import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, expected, near } from './emitted.mjs';
const { LAYERS, PAIRS, SLOW, FLOOR, READ, radians, lap, lapName, found, named, grown, darkness, decade } = await emitted('board');

const one = n => [n, 0, 0], board = f => ({ none: f('none'), columns: [...Array(PAIRS)].map((_, p) => f('pair ' + p)), rows: [...Array(LAYERS)].map((_, l) => f('layer ' + l)),
  cells: [...Array(LAYERS)].map((_, l) => [...Array(PAIRS)].map((_, p) => f(`${l} ${p}`))) });

test('pairs turn as in d2lpos, and the slow ones do not get around', () => {
  assert.equal(expected.board.length, PAIRS);
  for (const c of expected.board) {
    near(radians(c.pair), c.radians); near(lap(c.pair) / c.lap, 1);
    assert.equal(c.pair >= SLOW, c.lap > READ, `${c.pair}`);
  }
  assert.deepEqual([0, 1, 8, 31].map(lapName), ['6.3 tokens', '9 tokens', '110 tokens', '440,000 tokens']);
});
test('a choice finds its own cell, row, column or corner, in both studies', () => {
  const data = { base: one(9), ...board(name => [name]), sentence: board(name => name) }, held = true;
  for (const [layer, pair, name] of [[0, 0, '0 0'], [3, 31, '3 31'], [29, PAIRS, 'layer 29'], [LAYERS, 7, 'pair 7'], [LAYERS, PAIRS, 'none']])
    assert.deepEqual(found(data, { layer, pair, held }), [[name], name]);
  assert.deepEqual(found(data, { layer: 3, pair: 3, held: false }), [[0, 0, 0], 0]);
});
test('what stands still has a name', () => {
  const name = (layer, pair, held = true) => named({ layer, pair, held });
  assert.deepEqual([name(2, 3), name(2, PAIRS), name(LAYERS, 3), name(LAYERS, PAIRS), name(2, 3, false)],
    ['layer 2, pair 3', 'layer 2, all pairs', 'all layers, pair 3', 'everything', 'nothing']);
});
test('a rise has a plus, a fall a minus, and next to nothing neither', () => {
  assert.deepEqual([4501, 5, 4, 0, -4, -103, 19950].map(grown), ['+0.450', '+0.001', '0.000', '0.000', '0.000', '−0.010', '+1.995']);
});
test('ink grows with a change, and there is none below the floor', () => {
  for (const sign of [1, -1]) {
    const ink = [FLOOR, 50, 100, 1000, 20000].map(v => darkness(sign * v, 20000));
    assert.deepEqual(ink, [...ink].sort((a, b) => a - b));
    near(ink.at(-1), 1);
    assert.ok(ink[0] > 0 && darkness(sign * (FLOOR - 1), 20000) === 0);
  }
  assert.ok(darkness(-300, 20000) > darkness(300, 20000));
});
test('the legend goes by decades, from falls through zero to rises', () => {
  const at = [-2000, -200, -FLOOR, -5, 0, 5, FLOOR, 200, 2000].map(decade);
  assert.deepEqual(at, [...at].sort((a, b) => a - b));
  near(decade(2000) - decade(200), 1); near(decade(-200), -decade(200)); near(decade(FLOOR - 1e-9), decade(FLOOR), 1e-6);
});
