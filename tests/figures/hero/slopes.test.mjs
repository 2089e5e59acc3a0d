import test from 'node:test';
import assert from 'node:assert/strict';
import { emitted, expected, near } from './emitted.mjs';
const { MOST, RULES, FEW, MANY, slopes, tokens, beyond, sees, share, percent, seen, slopeName, remark } = await emitted('slopes');

const every = Array.from({ length: MOST }, (_, h) => h + 1);

test('slopes, windows and shares are those of d2lpos', () => {
  for (const c of expected.slopes) slopes(c.heads, RULES[+c.paper]).forEach((m, h) => {
    near(m, c.slopes[h], 1e-6);
    assert.equal(sees(m, c.length), c.windows[h], `${c.heads} ${c.paper} ${c.length} ${h}`);
    near(1 - beyond(3, m, c.length), c.nearest[h], 1e-6);
    near(share(m, c.back, c.match, c.length), c.shares[h], 1e-6);
  });
});
test('the rules agree for powers of two alone', () => {
  for (const n of every) {
    const [a, b] = RULES.map(rule => slopes(n, rule));
    assert.equal(a.length, n);
    assert.equal(a.every((m, h) => m === b[h]), Number.isInteger(Math.log2(n)));
  }
});
test('the gentlest slope is 1/256 whatever the rule and the number of heads', () => {
  for (const n of every) for (const rule of RULES) near(Math.min(...slopes(n, rule)), 1 / 256, 1e-15);
});
test('all weight is beyond no key, none beyond all, and a window is never longer than the text', () => {
  for (const m of slopes(16, 'paper')) for (let place = FEW; place <= MANY; place++) {
    const T = tokens(place);
    near(beyond(0, m, T), 1); near(beyond(T, m, T), 0);
    assert.ok(sees(m, T) >= 1 && sees(m, T) <= T);
    assert.ok(beyond(sees(m, T), m, T) <= .01 + 1e-12);
  }
});
test('a word pays a toll: its share falls with distance, and a score higher by it makes up for that', () => {
  for (const m of slopes(8, 'paper')) {
    for (let place = FEW; place < MANY; place++) assert.ok(share(m, tokens(place + 1), 6, 1e5) < share(m, tokens(place), 6, 1e5) || share(m, tokens(place), 6, 1e5) < 1e-300);
    const paid = back => { const it = Math.exp(m * back) * Math.exp(-m * back); return it / (it + 1 / -Math.expm1(-m) - Math.exp(-m * back)); };
    near(share(m, 40, 40 * m, 1e6), paid(40), 1e-9);
  }
});
test('the words say what the numbers say', () => {
  assert.equal(seen(slopes(8, 'released'), 64, 6, 512), '6 of 8 heads give the word 64 back 1 % of its weight or more; head 6, with a toll of 1.0 on it, gives 70 %.');
  assert.equal(seen(slopes(8, 'released'), 400, 0, 512), 'No head gives the word 400 back 1 % of its weight or more.');
  assert.match(seen(slopes(8, 'released'), 4, 6, 512), /^Every head gives the word 4 back/);
  assert.deepEqual([0, .004, .0123, 1].map(percent), ['0 %', '< 1 %', '1 %', '100 %']);
  assert.equal(slopeName(1 / 8), '1/8');
  assert.equal(slopeName(2 ** -.5), '0.71');
  assert.deepEqual([tokens(FEW), tokens(36), tokens(MANY)], [4, 512, 4096]);
  assert.equal(remark(8, 'paper', 512), 'The text cuts the windows of 2 of 8 heads short. With 8 heads both rules agree.');
  assert.match(remark(1, 'paper', 512), /^The text cuts the window of every head short\. With 1 head both rules agree\.$/);
  assert.match(remark(12, 'paper', 1024), /^The text cuts the window of one head short\. .* fall evenly/);
  assert.match(remark(12, 'released', 4096), /^The text cuts no window short\. .* those of 8 heads, and some of those of 16\.$/);
});
