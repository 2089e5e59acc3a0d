import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, expected, near } from './emitted.mjs';
const { WORDS, START, LAYER, LOW, HIGH, layer, inverse, put, change, compare } = await emitted('shuffle');

const orders = START.reduce((all, w) => all.flatMap(o => [...o, w].map((_, i) => put([...o, w], w, i))), [[]]);
const plain = { positions: false, causal: false };
const settings = [plain, { positions: true, causal: false }, { positions: false, causal: true }, { positions: true, causal: true }];
const nearAll = (a, b, tol) => a.flat(2).forEach((v, i) => near(v, b.flat(2)[i], tol));

test('the tables are the same', () => {
  for (const k in LAYER) { assert.equal(LAYER[k].length, expected.layer[k].length); nearAll(LAYER[k], expected.layer[k]); }
});
test('weights, outputs and mean are those of attention in every setting', () => {
  for (const c of expected.shuffle) {
    const y = layer(c.order, c), place = inverse(c.order);
    nearAll(y.weights, place.map(p => place.map(r => c.weights[p][r])));
    nearAll(y.outputs, place.map(p => c.outputs[p]));
    nearAll(y.mean, c.mean);
  }
});
test('without position and mask, no order of the words changes a number', () => {
  const was = layer(START, plain);
  assert.equal(new Set(orders.map(String)).size, 720);
  for (const order of orders) {
    const now = layer(order, plain);
    nearAll(now.weights, was.weights); nearAll(now.outputs, was.outputs); nearAll(now.mean, was.mean);
  }
});
test('with either of them, every other sentence changes an output', () => {
  for (const how of settings.slice(1)) {
    const was = layer(START, how);
    for (const order of orders) {
      const now = layer(order, how), by = START.map(w => change(now.outputs[w], was.outputs[w]));
      const other = order.some((w, p) => WORDS[w] !== WORDS[p]);
      if (other) assert.ok(Math.max(...by) > .01, `${order}: ${by}`);
      else { near(change(now.mean, was.mean), 0); for (const w of [1, 2, 3, 5]) near(by[w], 0); } // the two “the” changed places
    }
  }
});
test('two equal words have equal rows until something tells their places', () => {
  const twins = how => { const y = layer(START, how); return change(y.outputs[0], y.outputs[4]); };
  near(twins(plain), 0);
  for (const how of settings.slice(1)) assert.ok(twins(how) > .1);
});
test('every output fits between the ends of the bars', () => {
  for (const how of settings) for (const order of orders)
    for (const v of layer(order, how).outputs.flat()) assert.ok(v > LOW && v < HIGH, `${order} ${v}`);
});
test('the picture is worth looking at: no row is flat, none is all on one word', () => {
  for (const row of layer(START, plain).weights) assert.ok(Math.max(...row) > .3 && Math.max(...row) < .8, row);
});
test('a moved word arrives, and the others keep their order', () => {
  assert.deepEqual(put(START, 1, 4), [0, 2, 3, 4, 1, 5]);
  assert.deepEqual(put([0, 2, 3, 4, 1, 5], 1, 1), START);
  assert.deepEqual(inverse([5, 1, 2, 3, 4, 0]), [5, 1, 2, 3, 4, 0]);
  assert.deepEqual(inverse([2, 0, 1]), [1, 2, 0]);
});
test('the verdict says what the numbers say', () => {
  const say = (order, how) => compare(order, { ...plain, ...how }).verdict;
  const swapped = [0, 5, 2, 3, 4, 1], twins = [4, 1, 2, 3, 0, 5];
  assert.equal(say(START), 'The original order. The two rows “the” are alike.');
  assert.equal(say(START, { causal: true }), 'The original order. The two rows “the” are no longer alike.');
  assert.match(say(swapped), /^Another order, and every word has kept its output/);
  assert.match(say(twins), /^The two “the” have changed places: the same sentence again, and no number has noticed/);
  assert.match(say(twins, { positions: true }), /^The two “the” .* each has the other’s output/);
  assert.match(say(swapped, { positions: true }), /^Outputs have changed, most for “fox”: positions tell the layer/);
  assert.match(say(swapped, { causal: true }), /^Outputs have changed, most for “dog”: the mask tells the layer/);
  assert.match(say(swapped, { positions: true, causal: true }), /: positions and mask tell the layer/);
});
