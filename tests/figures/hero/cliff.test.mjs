import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, expected, near } from './emitted.mjs';
const { ROWS, LONGEST, REMEDIES, rowAt, vectorAt, twins, gapTo, listed, price } = await emitted('cliff');

const lengths = Array.from({ length: LONGEST - ROWS + 1 }, (_, i) => ROWS + i), upTo = n => [...Array(n).keys()];

test('vectors, equal positions and distances are those of the lab', () => {
  assert.equal(new Set(expected.cliff.map(c => c.remedy)).size, REMEDIES.length);
  for (const c of expected.cliff) {
    const of = [c.p, c.length, REMEDIES[c.remedy]], row = rowAt(...of), gap = gapTo(...of);
    assert.equal(row === null, !c.vector.length);
    c.vector.forEach((v, j) => near(vectorAt(row)[j], v, 1e-6));
    assert.deepEqual(twins(...of), c.twins);
    assert.equal(gap === null, !c.gap.length);
    c.gap.forEach(v => near(gap, v, 1e-6));
  }
});
test('a text that fits keeps its rows, whatever the remedy', () => {
  for (const remedy of REMEDIES) assert.deepEqual(upTo(ROWS).map(p => rowAt(p, ROWS, remedy)), upTo(ROWS));
});
test('as many positions share a row as there are too many, unless the table is stretched', () => {
  for (const long of lengths) for (const remedy of ['last row', 'wrapped', 'blocks'])
    assert.equal(new Set(upTo(long).map(p => rowAt(p, long, remedy))).size, ROWS);
  for (const long of lengths) assert.equal(new Set(upTo(long).map(p => rowAt(p, long, 'stretched'))).size, long);
});
test('stretching begins with the first row, ends with the last, and shortens all steps alike', () => {
  for (const long of lengths) {
    assert.equal(rowAt(0, long, 'stretched'), 0);
    near(rowAt(long - 1, long, 'stretched'), ROWS - 1);
    for (const p of upTo(long - 1)) near(rowAt(p + 1, long, 'stretched') - rowAt(p, long, 'stretched'), (ROWS - 1) / (long - 1));
  }
});
test('only neighbors that can be seen have a distance', () => {
  assert.equal(gapTo(0, 20, 'last row'), null);
  assert.equal(gapTo(9, 20, 'last row'), 0);
  assert.equal(gapTo(8, 20, 'blocks'), null);
  near(gapTo(9, 20, 'blocks'), gapTo(1, 8, 'error'));
});
test('the words say what the numbers say', () => {
  assert.equal(listed([3, 11]), '3, 11');
  assert.equal(listed([7, 8, 9]), '7 to 9');
  assert.equal(listed([]), 'none');
  assert.match(price(11, 20, 'wrapped'), /^Positions 3, 11, 19 get/);
  assert.match(price(4, 10, 'wrapped'), /^Position 4 is alone/);
  assert.match(price(9, 20, 'last row'), /^Positions 7 to 19 get/);
  assert.match(price(9, 29, 'stretched'), /0\.25 times/);
  assert.match(price(19, 20, 'blocks'), /sees positions 16 to 19,/);
  for (const remedy of REMEDIES) assert.match(price(3, 8, remedy), /^The text fits/);
});
