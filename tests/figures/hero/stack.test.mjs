import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { emitted, expected, near } from './emitted.mjs';
const { FARTHEST, TRAINED, SIGHT, SORTS, weight, sharpness, reaches, could, recorded, nearest, beside, average, stackName, inPercent, theory, record } = await emitted('stack');

const of = (...found) => ({ 'as trained': found, sharper: found }), stack = (words, ...found) => ({ layers: words.split(' '), found: of(...found) });
const data = { lengths: [32, 64, 128, 256], stacks: [stack('full full full full', [1000], [900], [450], [300]), stack('window window window none', [1000, 900], [800, 700], [900, 800], [851, 752]),
  stack('none none none none', [1000], [900], [800], [700])] };
const four = kind => Array(4).fill(kind), mixed = [...four('window').slice(1), 'none'];

test('weights and what was heard of are those of attention', () => {
  assert.ok(expected.stack.length >= 24);
  for (const c of expected.stack) {
    const layers = c.layers.split(' ');
    layers.forEach((kind, i) => { const v = weight(kind, c.length, Boolean(c.sharper)); if (c.weights[i] < 0) assert.equal(v, null); else near(v, c.weights[i], 1e-6, c.layers); });
    assert.deepEqual(reaches(layers, c.length), c.reaches);
    const { most, whose, unknown } = could(layers, c.length, Boolean(c.sharper)), best = Math.max(0, ...c.weights);
    near(most, best, 1e-6);
    assert.deepEqual(whose, c.weights.flatMap((v, i) => best && v === best ? [i] : []));
    assert.deepEqual(unknown, c.weights.flatMap((v, i) => v < 0 ? [i] : []));
  }
});
test('logits are sharper past training alone, and never in a window', () => {
  assert.deepEqual([8, TRAINED].map(n => sharpness(n, true)), [1, 1]);
  near(sharpness(FARTHEST, true), 1.6); assert.equal(sharpness(FARTHEST, false), 1);
  assert.equal(weight('window', SIGHT, true), weight('window', SIGHT, false));
  for (const kind of SORTS) assert.equal(weight(kind, TRAINED, true), weight(kind, TRAINED, false));
});
test('a stack is found as it is, and the nearest differ in the fewest layers', () => {
  assert.equal(recorded(data, mixed), data.stacks[1]);
  assert.equal(recorded(data, [...mixed].reverse()), undefined);
  assert.deepEqual(nearest(data, mixed), [data.stacks[1]]);
  assert.deepEqual(nearest(data, ['full', 'full', 'none', 'none']), [data.stacks[0], data.stacks[2]]);
});
test('a length is told by the recorded one that is nearest by ratio', () => {
  assert.deepEqual([32, 45, 46, 90, 91, 181, 182, 256].map(n => beside(data.lengths, n)), [0, 0, 1, 1, 2, 2, 3, 3]);
});
test('stacks and shares have names', () => {
  assert.deepEqual([mixed, four('none'), ['none', 'full', 'none', 'none']].map(stackName), ['3 window, 1 none', '4 none', '1 none, 1 full, 2 none']);
  assert.deepEqual([0, .004, .814, .995, .9966, 1].map(inPercent), ['0 %', '0 %', '81 %', '100 %', '> 99 %', '100 %']);
  near(average([851, 752]), 801.5);
});
test('theory is told for layers that see, that do not, and that nobody knows of', () => {
  assert.equal(theory(mixed, 256, false), 'Layer 4 could give the needle 81 % of its weight. ');
  assert.equal(theory(four('none'), 256, true), 'Layers 1, 2, 3, and 4 could each give the needle > 99 % of its weight. ');
  assert.equal(theory(four('window'), 256, false), 'No layer sees the needle. Windows pass things on, at most 60 tokens far. ');
  assert.equal(theory(['full', 'window', 'none', 'window'], 64, false), 'Layer 3 could give the needle 95 % of its weight. Layer 1 meets angles that training never showed: theory does not say. ');
  assert.equal(theory(four('full'), 33, false), 'Layers 1, 2, 3, and 4 meet angles that training never showed: theory does not say. ');
});
test('the record is told, that there is none, and where it falls behind theory', () => {
  assert.equal(record(data, mixed, 256, false), '2 trained models found 80 % of needles that stand anywhere in 256 tokens.');
  assert.equal(record(data, four('none'), 140, false), '1 trained model found 80 % of needles that stand anywhere in 128 tokens.');
  assert.equal(record(data, four('none'), 256, true), 'Yet 1 trained model found 70 % of needles that stand anywhere in 256 tokens.');
  assert.equal(record(data, four('full'), 256, false), '1 trained model found 30 % of needles that stand anywhere in 256 tokens.');
  assert.equal(record(data, ['full', 'full', 'none', 'none'], 256, false), 'Nobody has trained this one; nearest: 4 full; 4 none.');
});
test('the page gets what is published', () => {
  const { lengths, trained, window } = JSON.parse(readFileSync(new URL('../../../book/results/stacks-needle.json', import.meta.url)));
  assert.deepEqual([lengths.at(-1), trained, window], [FARTHEST, TRAINED, SIGHT]);
});
