import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { emitted, expected, near } from './emitted.mjs';
const { AIMS, FITTED, HEADINGS, VIEWS, rates, side, stands, aimed, weights, target, hit, margins, parts, said } = await emitted('patch');
const fits = JSON.parse(readFileSync(new URL('../../../d2lpos/figures/patch.json', import.meta.url)));
const look = (kind, aim, view, row, column) => weights(kind, fits[aim][kind], view, row, column);

test('weights, shares and targets are those of attention', () => {
  assert.equal(expected.patch.length, Object.keys(AIMS).length * 2 * 4);
  for (const c of expected.patch) {
    const found = look(c.kind, c.aim, c.view, c.row, c.column), n = side(c.view), aims = target(c.aim, c.view, c.row, c.column), why = `${c.aim} ${c.kind} ${c.view}`;
    found.filter((_, i) => i % (n === 8 ? 13 : 61) === 0).forEach((v, i) => near(v, c.some[i], 1e-6, why));
    const [rows, columns] = margins(found);
    rows.forEach((v, i) => near(v, c.rows[i], 1e-6, why)); columns.forEach((v, i) => near(v, c.columns[i], 1e-6, why));
    assert.deepEqual(aims.flatMap((on, i) => on ? [i] : []), c.targets, why);
    if (c.hit.length) near(hit(found, aims), c.hit[0], 1e-6, why); else assert.equal(hit(found, aims), null);
  }
});
test('axial pairs turn by row or by column, mixed ones by both, and all of them as fast', () => {
  assert.ok(rates('axial').every(([r, c]) => Math.abs(r * c) < 1e-12));
  assert.equal(rates('mixed').filter(([r, c]) => Math.abs(r * c) > 1e-12).length, 8);
  const speeds = kind => rates(kind).map(r => Math.hypot(...r)), fast = speeds('axial').slice(0, 8);
  for (const kind in HEADINGS) for (const v of speeds(kind)) assert.ok(v <= 1 + 1e-12 && fast.some(w => Math.abs(v - w) < 1e-12));
});
test('axial weights are the share of a row times the share of a column, wherever the query is; those of mixed are not', () => {
  const apart = (kind, aim, view, row, column) => { const w = look(kind, aim, view, row, column), [rows, columns] = margins(w), n = rows.length; return Math.max(...w.map((v, i) => Math.abs(v - rows[Math.floor(i / n)] * columns[i % n]))); };
  for (const aim in AIMS) for (const view in VIEWS) for (const [row, column] of [[3, 3], [0, 5], [7, 1]]) near(apart('axial', aim, view, row, column), 0, 1e-12);
  for (const aim of ['diagonal', 'ring']) assert.ok(apart('mixed', aim, '8 × 8', 3, 3) > .03);
});
test('to scale a picture keeps its size, counted it is cut from a corner', () => {
  assert.deepEqual([0, 7].map(i => stands('8 × 8', i)), [0, 7]);
  assert.deepEqual([0, 15].map(i => stands('counted', i)), [0, 15]);
  assert.deepEqual([0, 1, 15].map(i => stands('to scale', i)), [-3.75, -3.25, 3.75]);
  assert.deepEqual([aimed('row', .5, 3), aimed('row', 1, 3), aimed('right', -.5, 1.5), aimed('right', 0, 0), aimed('diagonal', -2, -2.5), aimed('ring', 0, -3.5), aimed('ring', 2, 1)], [true, false, true, false, true, true, false]);
});
test('shares have names, and words tell what is left and what is new', () => {
  assert.deepEqual([null, 0, .125, .994, .9999].map(parts), ['–', '< 1 %', '13 %', '99 %', '> 99 %']);
  const left = { axial: .927, mixed: .0001, sum: .923 };
  assert.equal(said('diagonal', '8 × 8', .125, left), 'Axial weights are a row’s share times a column’s, the bars, and no such product is a diagonal line. An even share would be 13 %. '
    + 'Fitted on 8 × 8 patches, axial leaves 93 % of the target’s variance, mixed < 1 %, and a free choice of all shares of rows and columns 92 %.');
  assert.match(said('right', 'counted', 0, { axial: 0, mixed: 0, sum: 0 }), /^One row and one column .* out of the picture\. .* mixed < 1 %\. Positions are counted .* never fitted\.$/);
  assert.match(said('row', 'to scale', .1, { axial: 0, mixed: 0, sum: 0 }), /^Rows alone decide.* Coordinates run from −1 to 1/);
  assert.deepEqual(Object.keys(fits), Object.keys(AIMS)); assert.equal(FITTED, 8);
});
