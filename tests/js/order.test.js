import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { sorted, sortOf, turned } = await import("../../static/js/groups/order.js");
const { changedQuery } = await import("../../static/js/frame/address.js");

function queue(broker, id, changes = {}) {
  return {
    topic: "orders",
    broker,
    queue_id: id,
    lag: 0,
    lag_ms: 0,
    owners: ["a"],
    owner_source: "reported",
    rate_in: 1,
    rate_out: 1,
    pulled: 0,
    committed: 0,
    moved_at: null,
    unknown: {},
    ...changes,
  };
}

const stateOf = (...queues) => ({ kind: "owned", members: [], queues });
const ids = (state, sort) =>
  sorted(state, sort).map(({ broker, queue_id: id }) => `${broker}/${id}`);

test("names are sorted naturally, in both directions", () => {
  const state = stateOf(queue("b10", 0), queue("b2", 10), queue("b2", 9));
  assert.deepEqual(ids(state, "queue"), ["b2/9", "b2/10", "b10/0"]);
  assert.deepEqual(ids(state, "-queue"), ["b10/0", "b2/10", "b2/9"]);
});

test("what is not known comes last in both directions", () => {
  const unknown = { lag: null, unknown: { lag: "no_answer" } };
  const state = stateOf(queue("b", 0, unknown), queue("b", 1, { lag: 5 }), queue("b", 2));
  assert.deepEqual(ids(state, "-lag"), ["b/1", "b/2", "b/0"]);
  assert.deepEqual(ids(state, "lag"), ["b/2", "b/1", "b/0"]);
});

test("a lag that never drains takes longer than any other", () => {
  const state = stateOf(
    queue("b", 0, { lag: 500, rate_in: 10, rate_out: 20 }),
    queue("b", 1, { lag: 500, rate_in: 20, rate_out: 10 }),
    queue("b", 2),
  );
  assert.deepEqual(ids(state, "-drains"), ["b/1", "b/0", "b/2"]);
});

test("without a column the worst comes first", () => {
  const state = stateOf(queue("b", 0), queue("b", 1, { owners: [] }));
  assert.deepEqual(ids(state, ""), ["b/1", "b/0"]);
});

test("a second click reverses, and the state's heading leads back", () => {
  assert.equal(turned("", "lag"), "-lag");
  assert.equal(turned("-lag", "lag"), "lag");
  assert.equal(turned("lag", "queue"), "queue");
  assert.equal(turned("queue", "queue"), "-queue");
  assert.equal(turned("queue", "state"), "");
});

test("an address that names no column means worst first", () => {
  assert.equal(sortOf("-lag"), "-lag");
  assert.equal(sortOf("constructor"), "");
  assert.equal(sortOf("x"), "");
});

test("parameters of others stay in the address", () => {
  assert.equal(changedQuery("?view=grid&sort=lag", { sort: "" }), "?view=grid");
  assert.equal(changedQuery("", { queue: "a|b|1" }), "?queue=a%7Cb%7C1");
  assert.equal(changedQuery("?sort=lag", { sort: "" }), "");
});
