import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, expected, near } from './emitted.mjs';
const { TEXT, KINDS, COUNTS, place, places, size, band, explain, shade } = await emitted('buckets');
const cases = expected.buckets;

test('every offset is looked up where d2lpos looks', () => {
  for (const c of cases) assert.deepEqual(c.numbers.map((_, i) => place(c, i - 127)), c.numbers, `${c.kind} ${c.buckets}`);
});
test('what training never touched is counted as in d2lpos', () => {
  for (const c of cases) assert.equal(places(c).filter(p => !p.seen).length, c.fresh, `${c.kind} ${c.length}`);
});
test('the places lie side by side and leave no offset out', () => {
  for (const kind in KINDS) for (const buckets of COUNTS) for (const far of [40, 256]) {
    const all = places({ kind, buckets, far, clip: 5, length: 9 }).sort((a, b) => a.first - b.first);
    assert.equal(all[0].first, 1 - TEXT); assert.equal(all.at(-1).last, kind === 'causal' ? 0 : TEXT - 1);
    all.slice(1).forEach((p, i) => assert.equal(p.first, all[i].last + 1));
    assert.ok(all.every(p => p.number < size({ kind, buckets, clip: 5 })));
  }
});
test('bands fill the square: their areas are the numbers of pairs', () => {
  const area = points => Math.abs(points.reduce((sum, [x, y], i) => {
    const [u, v] = points[(i + 1) % points.length];
    return sum + x * v - u * y;
  }, 0)) / 2;
  near(area(band(-8, 8, 8)), 64);
  near(area(band(-8, 0, 8)), 32);
  near(area(band(1, 3, 8)), (49 - 25) / 2);
  near(area(band(-1, 1, 8)), 64 - 49);
  near(area(band(-20, -2, 8)), 18);
});
test('the words say what the numbers say', () => {
  const t5 = { kind: 'causal', buckets: 32, far: 128, clip: 16, length: 64 };
  assert.equal(explain(t5, -3), 'Only 3 to the left uses bucket 3. A text of 128 tokens uses 5 buckets that training never touched.');
  assert.match(explain(t5, -120), /^15 offsets share bucket 31, and training used none of them\./);
  assert.match(explain({ ...t5, far: 64 }, -120), /Training has touched all that a text of 128 tokens uses\.$/);
  assert.match(explain({ ...t5, kind: 'shaw' }, 100), /^112 offsets share row 32\./);
});
test('the nearer, the darker, and no two buckets of one side are alike', () => {
  for (const c of cases) {
    const all = places(c).filter(p => p.last <= 0).sort((p, q) => q.last - p.last), shades = all.map(p => shade(c, p));
    for (let i = 1; i < shades.length; i++) assert.ok(shades[i] < shades[i - 1]);
    assert.ok(shades.every(v => v > .05 && v < .95));
  }
});
