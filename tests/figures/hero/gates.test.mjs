import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, expected, near } from './emitted.mjs';
const { SENTENCE, MIDST, PRESETS, distances, shares, alibi, isPreset, inShare, tellRuler } = await emitted('gates');

const last = SENTENCE.length - 1, all = gate => SENTENCE.map(() => gate);

test('distances and weights are those of FoX, and slopes those of ALiBi', () => {
  assert.ok(expected.gates.length >= 50);
  for (const { preset, gates, query, far, weights, slope } of expected.gates) {
    const own = distances(gates, query);
    assert.equal(own.length, query + 1);
    own.forEach((d, j) => far[j] < 0 ? assert.equal(d, Infinity) : near(d, far[j], 1e-9, preset));
    shares(own).forEach((v, j) => near(v, weights[j], 1e-12, preset));
    const m = alibi(gates, query);
    if (slope < 0 && Math.abs(slope + 1) < 1e-12) assert.equal(m, null); else near(m, slope, 1e-9, preset);
    if (preset) gates.forEach((g, i) => near(PRESETS[preset][i], g));
  }
});
test('a gate moves the words before its own, all by the same, and the first gate moves none', () => {
  const gates = PRESETS.equal, pulled = i => gates.map((g, j) => j === i ? g / 2 : g), before = distances(gates, last);
  SENTENCE.forEach((_, i) => distances(pulled(i), last).forEach((d, j) => near(d - before[j], j < i ? Math.log(2) : 0)));
});
test('gates of 1 leave no distance, and a gate of 0 leaves no weight before its word', () => {
  assert.deepEqual(distances(all(1), last), all(0));
  const shut = PRESETS.stop.map((g, i) => i === MIDST ? 0 : g), weights = shares(distances(shut, last));
  assert.ok(weights.every((v, i) => i < MIDST ? v === 0 : v > .1));
});
test('equal gates are ALiBi: only those that count must be equal', () => {
  const slope = (gates, query = last) => { const m = alibi(gates, query); return m && +m.toFixed(9); };
  assert.deepEqual([slope(PRESETS.equal), slope(all(1)), slope(all(0)), slope(PRESETS.stop), slope(PRESETS.nouns), slope(all(.5), 0)], [.5, 0, null, null, null, null]);
  near(alibi([.1, ...all(.5).slice(1)], last), Math.LN2);
  near(alibi(PRESETS.stop, MIDST - 1), -Math.log(.9));
});
test('a preset is known until a gate is touched, and shares are read', () => {
  for (const name in PRESETS) assert.deepEqual(Object.keys(PRESETS).filter(other => isPreset(PRESETS[name], other)), [name]);
  assert.ok(!isPreset(all(.61), 'equal'));
  assert.deepEqual([0, .004, .01, .394, 1].map(inShare), ['0 %', '< 1 %', '1 %', '39 %', '100 %']);
});
test('the ruler is told in words', () => {
  const told = [[PRESETS.equal, last], [all(1), 4], [PRESETS.stop, last], [PRESETS.nouns, last], [all(0), last], [all(.5), 0]].map(of => tellRuler(...of));
  for (const [i, words] of ['ruler of ALiBi with slope 0.50', 'slope would be 0.', 'from 0.11 to 3.91', 'from 0.00 to 1.00', 'A gate of 0 forgets', 'no gate counts'].entries()) assert.ok(told[i].includes(words), told[i]);
});
