// The first two screens: what the head does over all orders, what a sentence is told, and whether the files of the book are those that are written.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { attend, change, FILM, nest, SAYS, sizes, START, SWAPPED, verdict } from '../../book/front/front.js';
import { files, judged, own } from '../../book/front/write.mjs';

const FRONT = new URL('../../book/front/', import.meta.url);
const all = function* (rest, head = []) { if (!rest.length) yield head; for (const w of rest) yield* all(rest.filter(v => v !== w), [...head, w]); };
const orders = [...all(START)];

test('the files of the book are current', () => {
  for (const name in files) assert.equal(readFileSync(new URL(name, FRONT), 'utf8'), files[name], `${name}: run node book/front/write.mjs`);
});

test('the picture that stands there first is as high as the one that moves', () => {
  const css = readFileSync(new URL('front.css', FRONT), 'utf8');
  for (const W of [847, 799]) assert(css.includes(`(max-width:${W}.98px) {height:${sizes(W).H}px}`));
});

test('the programs are small', () => { for (const [name, most] of [['front.js', 18432], ['own.js', 13312]]) assert(readFileSync(new URL(name, FRONT)).length <= most); });

test('ribbons stay within the tile that they leave', () => {
  for (const order of orders) for (const told of [false, true]) assert(nest(order, attend(order, told).weights).slice(0, 6).every(v => Math.abs(v) <= .5));
});

test('the line says what changed, and who weighs most', () => {
  assert.equal(verdict(START, false), 'Move a word. What will “jumps” notice?');
  assert.equal(verdict([4, 1, 2, 3, 0, 5], false), verdict(START, false)); // both “the” are one word
  assert.equal(verdict(SWAPPED, false), SAYS.nothing);
  assert.equal(verdict(START, true), 'Told where each word stands, “jumps” listens most to the fox.');
  assert.equal(verdict(SWAPPED, true), SAYS.notices);
  for (const order of orders) {
    const { weights, vector } = attend(order, true), most = { 1: 'the fox', 2: 'itself', 5: 'the dog' }[weights.indexOf(Math.max(...weights))];
    assert(verdict(order, true).endsWith(`listens most to ${most}.`) || change(vector, attend(START, true).vector) < .005, order);
  }
});

test('the film makes one swap twice, in eight seconds, and ends with what changed', () => {
  const orders = FILM.flatMap(([, { order }]) => order ? [order] : []), [ms, { say }] = FILM.at(-2);
  assert.deepEqual(orders, [SWAPPED, START, SWAPPED]);
  assert(FILM.at(-1)[0] <= 8000 && ms < 8000 && say === 'notices');
  assert.equal(FILM.findIndex(([, { told }]) => told), 3); // before the second swap
});

// First sentences that nobody here has written: they are the beginnings of famous books.
const BOOKS = [
  'Call me Ishmael. Some years ago - never mind how long precisely - having little or no money in my purse,',
  'Happy families are all alike; every unhappy family is unhappy in its own way.',
  "My father's family name being Pirrip, and my Christian name Philip, my infant tongue could make of both names",
  'Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do:',
  'All children, except one, grow up. They soon know that they will grow up, and the way Wendy knew was this.',
  'The Time Traveller (for so it will be convenient to speak of him) was expounding a recondite matter to us.',
  'No one would have believed in the last years of the nineteenth century that this world was being watched',
  "You don't know about me without you have read a book by the name of The Adventures of Tom Sawyer;",
  'There was no possibility of taking a walk that day. We had been wandering, indeed, in the leafless shrubbery',
  'I have just returned from a visit to my landlord - the solitary neighbour that I shall be troubled with.',
  'Miss Brooke had that kind of beauty which seems to be thrown into relief by poor dress.',
  'You will rejoice to hear that no disaster has accompanied the commencement of an enterprise',
  'To Sherlock Holmes she is always the woman. I have seldom heard him mention her under any other name.',
  'Dorothy lived in the midst of the great Kansas prairies, with Uncle Henry, who was a farmer,',
  'When Mary Lennox was sent to Misselthwaite Manor to live with her uncle everybody said she was',
  'I remember him as if it were yesterday, as he came plodding to the inn door,',
  'Four score and seven years ago our fathers brought forth on this continent, a new nation,',
  'I went to the woods because I wished to live deliberately, to front only the essential facts of life,',
  'When on board H.M.S. Beagle, as naturalist, I was much struck with certain facts in the distribution',
  'The Mole had been working very hard all the morning, spring-cleaning his little home.',
];
test('what the second screen says is true of twenty sentences', () => {
  const [rope, alibi] = ['rope', 'alibi'].map(name => own.reader(globalThis.d2lposReaders[name]));
  assert.equal(BOOKS.length, 20);
  const sums = { at: 0, off: 0, far: 0, alibi: 0, alibiFar: 0 };
  for (const words of BOOKS) {
    const n = words.length, far = own.stops(n).at(-1), read = (model, before, told) => own.count(judged(model, words, before, told));
    assert(n <= own.MOST && far > 2 * own.TRAINED && far + n <= 512, words);
    const at = read(rope, 0, true), off = read(rope, 0, false), end = read(rope, far, true), [start, last] = [0, far].map(before => read(alibi, before, true));
    assert(off.right < at.right && end.right < at.right, words); // “…, not …”
    assert(last.right >= .75 * start.right, words); // the control
    assert.equal(own.result({ told: true, before: 0, n, now: at, base: at }), `It guesses ${at.right} of ${n - 1} characters before it sees them.`);
    assert.equal(own.result({ told: true, before: far, n, now: end, base: at }), `Pushed ${far} characters on, past its training: ${end.right} of ${n - 1} right, not ${at.right}.`);
    for (const [key, { right, of }] of Object.entries({ at, off, far: end, alibi: start, alibiFar: last })) sums[key] += right / of / 20;
  }
  assert(sums.at > 2 * sums.off && sums.at > 2 * sums.far && sums.alibiFar > .9 * sums.alibi, JSON.stringify(sums));
});

test('what the second screen cannot say, it does not say', () => {
  const rope = own.reader(globalThis.d2lposReaders.rope);
  const line = words => { const base = own.count(judged(rope, words, 0, true)); return own.result({ told: true, before: 0, n: words.length, now: base, base }); };
  assert.match(line('Hello you'), /^Write a little more/);
  assert.match(line('Всё смешалось в доме Облонских, и жена узнала'), /^It does not know most of these characters/);
  assert.match(line('NOBODY IS ALLOWED TO PARK HERE EXCEPT ON SUNDAYS AND HOLIDAYS'), /^It guesses only \d+ of 60 characters before it sees them/);
  assert.equal(own.result({ told: true, before: 40, n: 60, now: { right: 30, of: 60 }, base: { right: 30, of: 60 } }), 'Pushed 40 characters on, within its training: 30 of 60 right, as before.');
});
