import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { formsFor, gridCell, levelOfValue } = await import(
  "../../static/js/map/scale.js"
);
const { step } = await import("../../static/js/map/walk.js");
const { cutMiddle } = await import("../../static/js/map/text.js");

test("levels: unknown has none, nothing is 0, the last has no upper end", () => {
  assert.deepEqual(
    [null, undefined, 0, 1, 99, 100, 1e9].map((value) => levelOfValue(value)),
    [null, null, 0, 1, 1, 2, 5],
  );
});

test("a narrow page has no grid, and a crowded one begins with blocks", () => {
  const few = { queues: 16, members: 3, groups: 2, left: 120 };
  assert.deepEqual(formsFor({ ...few, width: 400 }), ["packed", "table"]);
  assert.equal(formsFor({ ...few, width: 1200 })[0], "grid");
  const many = { queues: 20_000, members: 900, groups: 40, left: 120, width: 1200 };
  assert.equal(formsFor(many)[0], "blocks");
  assert.equal(gridCell(many), null);
});

test("arrows, m and u walk the map; other keys lead nowhere", () => {
  const column = (key, row, more = {}) => ({ key, rows: [row], ...more });
  const columns = [
    column("a", 0),
    column("b", 1, { moved: true }),
    { key: "c", rows: [], unowned: true },
  ];
  const model = {
    columns,
    rows: [{ columns: [columns[0]] }, { columns: [columns[1]] }],
    unowned: [columns[2]],
  };
  assert.equal(step(model, null, "ArrowRight"), 1);
  assert.equal(step(model, "c", "ArrowRight"), 2);
  assert.equal(step(model, "a", "ArrowDown"), 1);
  assert.equal(step(model, "b", "ArrowDown"), 2);
  assert.equal(step(model, "a", "m"), 1);
  assert.equal(step(model, "a", "u"), 2);
  assert.equal(step(model, "a", "x"), null);
  assert.equal(step({ columns: [] }, null, "Home"), null);
});

test("long names keep both ends", () => {
  const cut = cutMiddle("order-settlement-of-the-east", 12);
  assert.ok(cut.length <= 12 && cut.startsWith("ord") && cut.endsWith("st"), cut);
});
