import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { emitted, near } from './emitted.mjs';

const NAMES = ['buckets', 'cliff', 'clocks', 'dial', 'dropout', 'gates', 'lengths', 'longer', 'packed', 'pairs', 'patch', 'shuffle', 'slopes', 'stretch'];
const heroes = Object.fromEntries(await Promise.all(NAMES.map(async name => [name, await emitted(name)])));
const { along } = heroes.dial, moments = Array.from({ length: 101 }, (_, i) => i / 100);
/** The states of a tour, a hundredth of it apart. */
const states = name => moments.map(t => along(heroes[name].TOUR, t));

test('a number glides to the next, and anything else waits for its time', () => {
  const tour = { p: [[.2, 4], [.6, 8], [.8, 0]], on: [[0, false], [.5, true]] };
  const p = [0, .2, .4, .6, .7, .8, 1].map(t => along(tour, t).p);
  assert.deepEqual(p.map(v => +v.toFixed(9)), [4, 4, 6, 8, 4, 0, 0]);
  assert.ok(along(tour, .25).p - 4 < .25, 'it starts gently');
  assert.deepEqual([0, .49, .5, 1].map(t => along(tour, t).on), [false, false, true, true]);
});
test('the hand may go where each tour goes', () => {
  const between = (low, high) => v => v >= low && v <= high, one = values => v => values.includes(v);
  const { buckets, cliff, clocks, dial, dropout, gates, lengths, longer, packed, pairs, patch, shuffle, slopes, stretch } = heroes;
  const allowed = {
    buckets: { offset: between(1 - buckets.TEXT, 0), length: between(8, buckets.TEXT) },
    cliff: { p: between(0, cliff.LONG - 1) },
    clocks: { p: between(0, clocks.END - 1) },
    dial: { m: between(0, dial.MAX), n: between(0, dial.MAX) },
    dropout: { place: one(Object.keys(dropout.PLACES)) },
    gates: { stop: between(.02, gates.GATE) },
    lengths: { at: between(0, lengths.LENGTHS.length - 1) },
    longer: { length: between(longer.TRAINED, longer.FARTHEST) },
    packed: { way: one(['count on', 'begin again', 'mask by text']) },
    pairs: { at: between(0, pairs.NONE) },
    patch: { aim: one(Object.keys(patch.AIMS)), view: one(Object.keys(patch.VIEWS)), row: between(0, patch.FITTED - 1), column: between(0, patch.FITTED - 1) },
    shuffle: { order: v => [...v].sort().join() === shuffle.START.join() },
    slopes: { back: between(4, 35) },
    stretch: { length: between(stretch.TRAINED, stretch.LONGEST), rule: one(Object.keys(stretch.RULES)) },
  };
  for (const name of NAMES) for (const state of states(name)) {
    assert.deepEqual(Object.keys(state).sort(), Object.keys(allowed[name]).sort(), name);
    for (const key in state) assert.ok(allowed[name][key](state[key]), `${name} ${key} ${state[key]}`);
  }
});
test('the plain clocks begin at p, stay in the text, and end where the first hill has a valley', async () => {
  const { walk, likeness, END } = await emitted('clocks', 'plain');
  for (let p = 0; p < END; p++) {
    const seen = moments.map(t => along(walk(p), t).p), end = seen.at(-1);
    assert.equal(seen[0], p);
    assert.ok(Math.min(...seen) >= 0 && Math.max(...seen) < END && Math.abs(Math.max(...seen) - Math.min(...seen)) > 25, `${p}`);
    assert.ok(likeness(true, p, end, 64) < 0, `${p} ${end}`);
  }
});
test('dial: both move ten places and back, and the score stays', () => {
  const { score, theta } = heroes.dial, shown = states('dial').map(({ m, n }) => [Math.round(m), Math.round(n)]), [[m, n]] = shown;
  for (const [a, b] of shown) near(score(a, b, theta(8)), score(m, n, theta(8)));
  assert.equal(Math.max(...shown.map(([a]) => a)) - m, 10); assert.deepEqual(shown.at(-1), [m, n]);
});
test('pairs: one after the other stands still, the fastest last, and it costs the most', () => {
  const { columns } = JSON.parse(readFileSync(new URL('../../../book/results/real-board.json', import.meta.url))), shown = states('pairs').map(s => Math.round(s.at));
  assert.deepEqual(shown, [...shown].sort((a, b) => b - a));
  assert.deepEqual([shown[0], shown.at(-1)], [heroes.pairs.NONE, 0]);
  assert.ok(columns[0][0] > 5 * Math.max(...columns.slice(1).map(([rise]) => rise)));
});
test('shuffle: no output changes without positions, and some do with them', () => {
  const { compare, START } = heroes.shuffle, moved = states('shuffle').map(s => s.order).filter(order => order.join() !== START.join());
  for (const order of moved) { near(compare(order, { positions: false, causal: false }).most, 0); assert.ok(compare(order, { positions: true, causal: false }).most > .1); }
  assert.ok(new Set(moved.map(order => order.join())).size > 2);
});
test('patch: both draw the line of a row wherever the query is, one alone a diagonal; each cut is shown, and the first again', () => {
  const fits = JSON.parse(readFileSync(new URL('../../../d2lpos/figures/patch.json', import.meta.url))), { weights, target, hit, VIEWS } = heroes.patch;
  const at = s => [s.row, s.column].map(Math.round), see = s => ['axial', 'mixed'].map(kind => hit(weights(kind, fits[s.aim][kind], '8 × 8', ...at(s)), target(s.aim, '8 × 8', ...at(s))));
  const first = states('patch').filter(s => s.view === '8 × 8'), lines = first.filter(s => s.aim === 'row'), others = first.filter(s => s.aim !== 'row');
  assert.ok(new Set(lines.map(s => at(s)[0])).size > 3 && lines.length > 15 && others.length > 30);
  for (const s of lines) assert.ok(Math.min(...see(s)) > .98);
  for (const s of others) { const [axial, mixed] = see(s); assert.ok(s.aim === 'diagonal' && axial < .3 && mixed > .97, `${at(s)} ${axial} ${mixed}`); }
  assert.deepEqual(states('patch').map(s => s.view).filter((v, i, all) => v !== all[i - 1]), [...Object.keys(VIEWS), '8 × 8']);
});
test('slopes: head after head loses the word', () => {
  const { slopes, share, tokens, SHARE } = heroes.slopes;
  const see = states('slopes').map(s => slopes(8, 'released').filter(m => share(m, tokens(Math.round(s.back)), 6) >= SHARE).length);
  assert.deepEqual(see, [...see].sort((a, b) => b - a)); assert.ok(see[0] === 8 && see.at(-1) < 4, see);
});
test('stretch: new angles come with length, and the rule takes them away', () => {
  const { unseen } = heroes.stretch, count = s => unseen(s.rule, Math.round(s.length)).length;
  assert.deepEqual([0, .55, .7, 1].map(t => count(along(heroes.stretch.TOUR, t))), [0, 5, 0, 5]);
});
test('packed: positions count on, and begin again', () => {
  const data = JSON.parse(readFileSync(new URL('../../../book/results/packed.json', import.meta.url))), { ends } = heroes.packed, shown = states('packed').map(s => ends(data, s.way)[2]);
  assert.deepEqual([...new Set(shown)], [data.first.length, 0]);
});
test('longer: RoPE is past its training at once, and without position the weight falls by and by', () => {
  const { weight, TRAINED, FARTHEST } = heroes.longer, shown = states('longer').map(s => s.length), see = kind => shown.map(n => weight(kind, n));
  assert.deepEqual([shown[0], shown.at(-1)], [TRAINED, FARTHEST]);
  assert.ok(see('full')[0] > .8 && see('full').at(-1) === null && see('window').every(v => v === 0));
  assert.deepEqual(see('none'), see('none').sort((a, b) => b - a)); assert.ok(see('none').at(-1) < .4);
});
test('gates: the full stop sends what came before it away, and no word after it', () => {
  const { STOP, TOUR, distances, gatesOf } = heroes.gates, [start, shut, end] = [0, .6, 1].map(t => distances(gatesOf(along(TOUR, t).stop)));
  assert.ok(shut[0] > start[0] + 3.7); assert.deepEqual(shut.slice(STOP), start.slice(STOP)); assert.deepEqual(end, start);
});
test('cliff: the walk goes over the edge', () => {
  const { rowAt } = heroes.cliff, rows = [0, 1].map(t => rowAt(along(heroes.cliff.TOUR, t).p, 'error'));
  assert.ok(rows[0] !== null && rows[1] === null);
});
test('dropout: each way is shown', () => {
  assert.deepEqual(new Set(states('dropout').map(s => s.place)), new Set(Object.keys(heroes.dropout.PLACES)));
});
test('buckets: the whole row is swept, and training ends up too short', () => {
  const { bucket, places, TEXT } = heroes.buckets, found = new Set(states('buckets').map(s => bucket(Math.round(s.offset), 32, 128, false)));
  assert.ok(found.size > 20);
  const fresh = t => places({ kind: 'causal', buckets: 32, far: 128, length: along(heroes.buckets.TOUR, t).length }).filter(p => !p.seen).length;
  assert.equal(fresh(0), 0); assert.equal(fresh(1), 10);
  assert.equal(Math.min(...states('buckets').map(s => s.offset)), 1 - TEXT);
});
