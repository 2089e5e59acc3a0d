// The first screen: what its head does over all orders, and whether the files of the book are those that it writes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { attend, MIXED, nest, sizes, START, SWAPPED, verdict } from '../../book/front/front.js';
import { files } from '../../book/front/write.mjs';

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

test('the program is small', () => assert(readFileSync(new URL('front.js', FRONT)).length <= 16384));

test('ribbons stay within the tile that they leave', () => {
  for (const order of orders) for (const told of [false, true]) assert(nest(order, attend(order, told).weights).slice(0, 6).every(v => Math.abs(v) <= .5));
});

test('the line says what changed, and who weighs most', () => {
  assert.equal(verdict(START, false), 'Move a word. What changes?');
  assert.equal(verdict([4, 1, 2, 3, 0, 5], false), verdict(START, false)); // both “the” are one word
  assert.equal(verdict(SWAPPED, false), 'Nothing changes: to “jumps” it is the same sentence.');
  assert.equal(verdict(START, true), 'With positions, the fox has the largest weight.');
  assert.equal(verdict(SWAPPED, true), 'With positions, the dog has the largest weight.');
  for (const order of orders) {
    const { weights } = attend(order, true), most = { 1: 'the fox', 2: '“jumps” itself', 5: 'the dog' }[weights.indexOf(Math.max(...weights))];
    assert.equal(verdict(order, true), `With positions, ${most} has the largest weight.`);
  }
  assert.equal(verdict(MIXED, true), 'With positions, the dog has the largest weight.');
});
