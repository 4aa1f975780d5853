import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { pointsOf, runsOf, SPAN_MS } = await import(
  "../../static/js/groups/sparkline.js"
);

const NOW = 1_780_000_000_000;
const BOX = { until: NOW, width: 64, height: 18 };

test("the newest look is the last point, and nothing is older than 15 minutes", () => {
  const trend = { at: [NOW - SPAN_MS, NOW - 30_000], lag: { q: [5, 7] } };
  const points = pointsOf({ trend, taken_at: NOW }, "q", 9);
  assert.deepEqual(points, [
    [NOW - 30_000, 7],
    [NOW, 9],
  ]);
});

test("a queue without a past has the newest look alone", () => {
  assert.deepEqual(pointsOf({ taken_at: NOW }, "q", 9), [[NOW, 9]]);
  assert.deepEqual(pointsOf({ taken_at: NOW }, "q", null), []);
});

test("the line spans the box, from zero to the largest value", () => {
  const runs = runsOf(
    [
      [NOW - 30_000, 0],
      [NOW, 10],
    ],
    BOX,
  );
  assert.deepEqual(runs, [["60.0,16.0", "62.0,2.0"]]);
});

test("no line crosses time that nobody looked at, or an unknown value", () => {
  const minutes = [10, 9.5, 6, 5.5, 5, 4.5];
  const lags = [1, 2, 3, null, 4, 5];
  const points = minutes.map((each, n) => [NOW - each * 60_000, lags[n]]);
  assert.deepEqual(
    runsOf(points, BOX).map((run) => run.length),
    [2, 1, 2],
  );
});
