// What the mathematics of figures gives: a list of [figure, name, arguments] in, the values out; without arguments what has the name.
// An argument may be a call itself: { call: [name, arguments] }.
import { readFileSync } from 'node:fs';
import { emitted } from './emitted.mjs';

const calls = JSON.parse(readFileSync(0, 'utf8')), figures = {};
for (const [figure] of calls) figures[figure] ??= await emitted(figure);
const value = (figure, name, args) => args ? figures[figure][name](...args.map(one => one?.call ? value(figure, ...one.call) : one)) : figures[figure][name];
process.stdout.write(JSON.stringify(calls.map(call => value(...call) ?? null)));
