import assert from "node:assert/strict";
import { test } from "node:test";

const { placed, selection, step, timeAt } = await import(
  "../../static/js/timeline/span.js"
);

const SPAN = { since: 60_000, until: 120_000 };

test("a place outside of the picture is its nearer end", () => {
  assert.equal(timeAt(SPAN, 0.5), 90_000);
  assert.equal(timeAt(SPAN, -1), 60_000);
  assert.equal(timeAt(SPAN, 2), 120_000);
});

test("a span may be dragged in either direction, and a click is none", () => {
  assert.deepEqual(selection(90_000, 70_000), { since: 70_000, until: 90_000 });
  assert.equal(selection(90_000, 90_400), null);
});

test("a selection is placed in the picture", () => {
  const part = { since: 75_000, until: 105_000 };
  assert.deepEqual(placed(SPAN, part), { x: 25, width: 50 });
});

test("keys move the cursor, and Shift leaves the other end where it is", () => {
  const at = { cursor: 90_000, anchor: 90_000 };
  const left = { key: "ArrowLeft", shiftKey: true };
  assert.deepEqual(step(SPAN, at, left), { cursor: 89_000, anchor: 90_000 });
  const home = { key: "Home", shiftKey: false };
  assert.deepEqual(step(SPAN, at, home), { cursor: 60_000, anchor: 60_000 });
  const end = { cursor: 120_000, anchor: 120_000 };
  assert.deepEqual(step(SPAN, end, { key: "ArrowRight", shiftKey: false }), end);
  assert.equal(step(SPAN, at, { key: "x", shiftKey: false }), null);
});
