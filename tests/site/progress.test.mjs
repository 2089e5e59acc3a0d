import test from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url), scripts = '../../book/_static/';
const reading = require(`${scripts}reading.js`), progress = require(`${scripts}progress.js`);

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
test('receipts are found in what a check printed, and in what a reader types', () => {
  assert.deepEqual(progress.receipts('✓ attention: 5 properties hold\n  one token\nReceipt: 9BZJ9J\n'), ['9BZJ9J']);
  assert.deepEqual(progress.receipts('Receipt: AAAAAA Receipt:BBBBBB\nReceipt: AAAAAA'), ['AAAAAA', 'BBBBBB']);
  assert.deepEqual(progress.receipts(' 9bzj9j, CCCCCC\n'), ['9BZJ9J', 'CCCCCC']);
  assert.deepEqual(progress.receipts(' \n'), []);
});
test('of a notebook count the outputs of the reader, not those of the book', () => {
  const output = text => ({ output_type: 'execute_result', data: { 'text/plain': text } });
  const cells = [
    { cell_type: 'code', outputs: [output('Receipt: AAAAAA')], metadata: { tags: ['exercise'] } },
    { cell_type: 'code', outputs: [output(['✓ b\n', 'Receipt: BBBBBB'])] },
    { cell_type: 'code', outputs: [{ output_type: 'stream', text: ['Receipt: CCCCCC'] }], metadata: {} },
    { cell_type: 'code', outputs: [output('Receipt: DDDDDD')], metadata: { tags: ['solution'] } },
  ];
  assert.deepEqual(progress.receipts(progress.printed({ cells })), ['AAAAAA', 'BBBBBB', 'CCCCCC']);
  for (const odd of [{ cells: [null, 1, {}, { outputs: 'none' }, { outputs: [null, { text: 1 }, { data: 'x' }] }] }, { cells: [] }])
    assert.equal(progress.printed(odd), '');
  for (const none of [null, 1, 'cells', [], {}, { cells: {} }]) assert.equal(progress.printed(none), null);
});
test('what was saved is told from anything else', () => {
  assert.deepEqual(progress.saved({ d2lpos: { read: { a: 'x' } } }), { read: { a: 'x' } });
  for (const none of [null, {}, { d2lpos: null }, { d2lpos: [] }, { d2lpos: { read: [] } }, { d2lpos: { passed: 'all' } }])
    assert.equal(progress.saved(none), null);
});
