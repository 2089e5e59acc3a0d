import test from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url), reading = require('../../book/_static/reading.js');

test('a section counts when its end was in sight and it had a third of its time', () => {
  assert.equal(reading.needs(240), 20);
  assert.equal(reading.needs(100_000), reading.most);
  const none = { spent: 0, ended: false };
  assert.equal(reading.second(none, { top: 900, bottom: 1500 }, 900), none);  // below the window
  assert.equal(reading.second(none, { top: -500, bottom: 0 }, 900), none);  // above it
  assert.deepEqual(reading.second(none, { top: 899, bottom: 1500 }, 900), { spent: 1, ended: false });
  assert.deepEqual(reading.second({ spent: 4, ended: false }, { top: -500, bottom: 900 }, 900), { spent: 5, ended: true });
  assert.deepEqual(reading.second({ spent: 4, ended: true }, { top: 10, bottom: 901 }, 900), { spent: 5, ended: true });
});
test('a reader goes on at the first section from there on that is not read', () => {
  const keys = ['a', 'b', 'c'];
  assert.equal(reading.next(keys, 'a', {}), 'a');
  assert.equal(reading.next(keys, 'b', { b: '2026-11-24' }), 'c');
  assert.equal(reading.next(keys, 'gone', { a: '2026-11-24' }), 'b');
  assert.equal(reading.next(keys, 'c', { c: '2026-11-24' }), null);
});
