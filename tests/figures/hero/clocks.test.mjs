import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, expected, near } from './emitted.mjs';
const { COUNT, END, BASES, digits, flips, speed, code, similar, likeness, turns, verdict } = await emitted('clocks');

const positions = Array.from({ length: END }, (_, p) => p), all = v => Array(COUNT).fill(v);

test('hands equal those of sinusoidal, and so does what is alike in two codes', () => {
  for (const c of expected.clocks) {
    assert.ok(BASES.includes(c.base));
    const p = Math.floor(c.p), q = Math.floor(c.q);
    code(c.p, digits(p), all(1), c.base).forEach((v, j) => near(v, c.hands[j]));
    near(likeness(true, c.p, c.q, c.base), c.alike);
    assert.deepEqual(digits(p).reverse(), c.digits);
    near(likeness(false, p, q, c.base), (2 * c.agreeing - COUNT) / COUNT);
    code(p, digits(p), all(0), c.base).forEach((v, j) => assert.equal(v, digits(p)[j >> 1] ? 1 : -1));
  }
});
test('the similarity of digits is the dot product of their codes too', () => {
  for (const p of positions) for (const q of positions) {
    const [a, b] = [p, q].map(x => code(x, digits(x), all(0), 64));
    near(likeness(false, p, q, 64), a.reduce((t, v, j) => t + v * b[j], 0) / 2 / COUNT);
  }
});
test('what hands share depends on the distance alone, what digits share does not', () => {
  for (const base of BASES) for (let p = 0; p < END; p += .25) for (const by of [-9, -.5, 1, 8])
    near(likeness(true, p, p + by, base), likeness(true, 0, by, base));
  assert.deepEqual(new Set(positions.map(p => flips(p))), new Set([1, 2, 3, 4, 5, 6]));
  for (const p of positions) near(likeness(false, p, p + 1, 64), 1 - 2 * flips(p) / COUNT);
});
test('each clock of base 64 is half as fast as the one before it, as the digits are', () => {
  for (let i = 0; i < COUNT; i++) near(speed(i, 64), 2 ** -i);
  assert.deepEqual(turns(64), [57, 29, 14, 7.2, 3.6, 1.8]);
  for (const p of positions.filter(p => p % 2 === 0)) assert.equal(flips(p), 1);
});
test('half way a row is half digit, half hand, and no other row has changed', () => {
  const mix = [0, 0, .5, 1, 1, 1], d = digits(11), [mixed, square, round] = [mix, all(0), all(1)].map(m => code(11, d, m, 64));
  mixed.forEach((v, j) => near(v, [square[j], (square[j] + round[j]) / 2, round[j]][2 * mix[j >> 1]]));
  const share = m => similar(11, 20, d, digits(20), m, 64);
  near(share([0, 0, .5, 0, 0, 0]) * 2, share(all(0)) + share([0, 0, 1, 0, 0, 0]));
});
test('a digit half way through a flip is as far from 0 as from 1', () => {
  const d = [.5, 0, 0, 0, 0, 0];
  assert.equal(similar(0, 0, d, digits(0), all(0), 64), similar(0, 1, d, digits(1), all(0), 64));
});
test('every position is told apart, by digits and by hands', () => {
  for (const clocks of [false, true]) for (const p of positions) for (const q of positions)
    if (p !== q) assert.ok(likeness(clocks, p, q, 64) < .95, `${p} ${q}`); else near(likeness(clocks, p, q, 64), 1);
});
test('the verdict says what the numbers say', () => {
  assert.equal(verdict(false, 12, 64), 'From 12 to 13 one digit flips.');
  assert.equal(verdict(false, 11, 64), 'From 11 to 12 three digits flip at once.');
  assert.equal(verdict(false, 31, 64), 'From 31 to 32 all six digits flip at once: no code is less like that of 31 than its neighbor’s.');
  assert.deepEqual(positions.filter(q => likeness(false, 31, q, 64) <= likeness(false, 31, 32, 64)), [32]);
  assert.equal(verdict(false, 63, 64), 'From 63 to 64 all six digits flip at once: the odometer is back at 0.');
  assert.deepEqual(digits(64), digits(0));
  assert.match(verdict(true, 11.25, 10000), /57°, 12°, 2.7°, 0.57°, 0.12°, and 0.027°, wherever p is/);
});
