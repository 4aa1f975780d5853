import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { apiUrl, applyUpdate, isHandover } = await import(
  "../../static/js/groups/document.js"
);
const { queueKey } = await import("../../static/js/groups/status.js");

const queue = (id, changes = {}) => ({
  topic: "orders",
  broker: "broker-a",
  queue_id: id,
  lag: 0,
  owners: ["a"],
  ...changes,
});
const STATE = { run: "r", seq: 1, lag: 3, queues: [queue(0), queue(1), queue(10)] };

test("an update replaces what it names and nothing else", () => {
  const next = applyUpdate(STATE, { run: "r", seq: 2, changes: { lag: 4 } });
  assert.deepEqual([next.seq, next.lag], [2, 4]);
  assert.equal(next.queues, STATE.queues);
  assert.equal(STATE.lag, 3);
});

test("rows come, change and go by their keys, in the order of queues", () => {
  const changes = {
    [queueKey(queue(2))]: queue(2),
    [queueKey(queue(1))]: null,
    [queueKey(queue(10))]: queue(10, { lag: 7 }),
  };
  const next = applyUpdate(STATE, { run: "r", seq: 2, changes: { queues: changes } });
  assert.deepEqual(
    next.queues.map(({ queue_id, lag }) => [queue_id, lag]),
    [
      [0, 0],
      [2, 0],
      [10, 7],
    ],
  );
});

test("all rows may be replaced at once, and that is a handover", () => {
  const update = { run: "r", seq: 2, changes: { queues: [queue(5)] } };
  assert.deepEqual(applyUpdate(STATE, update).queues, [queue(5)]);
  assert.equal(isHandover(STATE, update), true);
});

test("a slash in a name is encoded twice", () => {
  assert.equal(
    apiUrl("east", "a/b c", "/members"),
    "/api/v1/clusters/east/groups/a%252Fb%20c/members",
  );
});
