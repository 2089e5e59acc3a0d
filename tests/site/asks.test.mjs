import test from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url), scripts = '../../book/_static/';
const ask = require(`${scripts}ask.js`), sketch = require(`${scripts}sketch.js`);

/** A browser's storage, which can be full. */
class Storage {
  getItem(key) { return key in this ? this[key] : null; }
  setItem(key, value) { if (Storage.full) throw Object.assign(new Error(), { name: 'QuotaExceededError' }); this[key] = value; }
  removeItem(key) { delete this[key]; }
}
function fresh() {
  delete require.cache[require.resolve(`${scripts}memory.js`)];
  Storage.full = false;
  Object.defineProperty(globalThis, 'localStorage', { value: new Storage(), configurable: true, writable: true });
  return require(`${scripts}memory.js`);
}
const off = () => Object.defineProperty(globalThis, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); }, configurable: true });

test('memory keeps entries by kind and id, takes one back, and forgets a kind', () => {
  const memory = fresh();
  assert.deepEqual(memory.all('predictions'), {});
  assert.ok(memory.write('predictions', 'a', { value: 1 }) && memory.write('predictions', 'b', 2) && memory.write('reviews', 'a', 3));
  assert.deepEqual(memory.all('predictions'), { a: { value: 1 }, b: 2 });
  memory.write('predictions', 'a');
  assert.deepEqual(memory.all('predictions'), { b: 2 });
  localStorage.other = 'of another program';
  memory.forget('predictions');
  assert.deepEqual([memory.all('predictions'), memory.all('reviews')], [{}, { a: 3 }]);
  assert.deepEqual([localStorage.other, memory.trouble], ['of another program', '']);
});
test('what another tab has written meanwhile is kept', () => {
  const memory = fresh();
  memory.write('predictions', 'a', 1);
  localStorage['d2lpos:predictions'] = '{"a":1,"theirs":2}';
  memory.write('predictions', 'b', 3);
  assert.deepEqual(memory.all('predictions'), { a: 1, theirs: 2, b: 3 });
});
test('without storage the page remembers, and says so', () => {
  const memory = fresh();
  off();
  assert.equal(memory.write('predictions', 'a', 1), false);
  assert.match(memory.trouble, /its storage is off: your answers last until you leave this page/);
  memory.write('predictions', 'b', 2);
  assert.deepEqual(memory.all('predictions'), { a: 1, b: 2 });
  memory.forget('predictions');
  assert.deepEqual(memory.all('predictions'), {});
});
test('a full storage keeps what it has, the page remembers the rest, and room is used when it comes', () => {
  const memory = fresh();
  memory.write('predictions', 'a', 1);
  Storage.full = true;
  assert.equal(memory.write('predictions', 'b', 2), false);
  assert.match(memory.trouble, /its storage is full/);
  assert.deepEqual([memory.all('predictions'), JSON.parse(localStorage['d2lpos:predictions'])], [{ a: 1, b: 2 }, { a: 1 }]);
  Storage.full = false;
  assert.equal(memory.write('predictions', 'c', 3), true);
  assert.deepEqual([JSON.parse(localStorage['d2lpos:predictions']), memory.trouble], [{ a: 1, b: 2, c: 3 }, '']);
});
test('what cannot be read begins anew, with a sentence', () => {
  for (const broken of ['{', '[1]', 'null', '7']) {
    const memory = fresh();
    localStorage['d2lpos:predictions'] = broken;
    assert.deepEqual(memory.all('predictions'), {});
    assert.match(memory.trouble, /cannot be read/);
  }
});
test('numbers are read as people write them, and all else is no number', () => {
  const right = { '12': 12, ' 12.5 ': 12.5, '12,5': 12.5, '1,000': 1000, '-1,234.5': -1234.5, '−3': -3, '16 %': 16, '60°': 60, '.5': .5, '1e3': 1000, '2.': 2 };
  for (const [text, value] of Object.entries(right)) assert.equal(ask.number(text), value, text);
  for (const text of ['abc', '12a', '1 2', '', '%', '0x10', 'Infinity', 'NaN', '1,2,3', '--1', '1/2']) assert.ok(isNaN(ask.number(text)), text);
});
test('a stroke sets the handles that it passes, and the one where it ends', () => {
  assert.deepEqual(sketch.stroke([0, 0], [4, 8], 5), { 0: 0, 1: 2, 2: 4, 3: 6, 4: 8 });
  assert.deepEqual(sketch.stroke([3.5, 7], [.5, 1], 5), { 1: 2, 2: 4, 3: 6 });
  assert.deepEqual(sketch.stroke([2.2, 5], [2.2, 5], 5), { 2: 5 });
  assert.deepEqual(sketch.stroke([-1, 3], [-1, 3], 5), { 0: 3 });
  assert.deepEqual(sketch.stroke([4.3, 3], [9, 3], 5), { 4: 3 });
});
test('a value stays inside its plot', () => {
  assert.deepEqual([-1, .503, 7].map(value => sketch.inside(value, [0, 1])), [0, .5, 1]);
  assert.equal(sketch.inside(2.2222, [1, 5]), 2.24);
});
test('a curve is missed where it is farthest off', () => {
  const question = { right: [1, 2, 3], within: .5 };
  assert.equal(sketch.miss(question, [1.4, 1.6, 3.5]), null);
  assert.equal(sketch.miss(question, [1, 2.6, 1]), 'below');
  assert.equal(sketch.miss(question, [0, 2, 5]), 'above');
});
