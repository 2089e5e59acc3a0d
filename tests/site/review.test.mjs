// When questions come back, counted from dates.
import assert from "node:assert/strict";
import {createRequire} from "node:module";
import test from "node:test";

const review = createRequire(import.meta.url)("../../book/_static/review.js");
const said = (on, missed = null) => ({value: 1, missed, on});
const answers = (...all) => all.reduce((before, one) => review.after(before, one), undefined);

test("right answers wait 3, 7 and 21 days, and then 21 again", () => {
  const dates = ["2026-01-01", "2026-01-04", "2026-01-11", "2026-02-01"];
  const waits = dates.map((on, at) => review.left(answers(...dates.slice(0, at + 1).map(one => said(one))), on));
  assert.deepEqual(waits, [3, 7, 21, 21]);
});

test("a wrong answer waits a day, however far the question had come", () => {
  const entry = answers(said("2026-01-01"), said("2026-01-04"), said("2026-01-20", "2"));
  assert.equal(review.left(entry, "2026-01-20"), 1);
  assert.equal(review.left(entry, "2026-01-23"), -2);
  assert.deepEqual([entry.asked, entry.right], [3, 2]);
});

test("a right answer before its day changes no date and no step, but is counted", () => {
  const entry = answers(said("2026-01-01"), said("2026-01-02"), said("2026-01-03"));
  assert.deepEqual([entry.on, entry.step, entry.asked, entry.right], ["2026-01-01", 1, 3, 3]);
  const known = answers(said("2026-01-01", "0"), said("2026-01-01"));
  assert.deepEqual([review.left(known, "2026-01-01"), known.missed], [1, null]);
});

test("the clocks go forward, and a day is a day", () => {
  assert.equal(review.left(answers(said("2026-03-27")), "2026-03-30"), 0);
});

test("what was wrong comes first, then the longest unseen; the rest waits", () => {
  const entries = {
    "1.1": answers(said("2026-01-05")),
    "1.2": answers(said("2026-01-03")),
    "1.3": answers(said("2026-01-08", "0")),
    "1.4": answers(said("2026-01-07")),
    "1.5": answers(said("2026-01-02", "below")),
  };
  assert.deepEqual(review.due(entries, "2026-01-08"), {ids: ["1.5", "1.3", "1.2", "1.1"], wrong: 2, next: 2});
  assert.deepEqual(review.due({}, "2026-01-08"), {ids: [], wrong: 0, next: Infinity});
});
