import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import "./page.js";

const { compareText, drain, queueStatus } = await import(
  "../../static/js/groups/status.js"
);
const listed = new URL("./queue_status.json", import.meta.url);
const QUEUE = {
  min: 0,
  max: 9_000,
  committed: 0,
  lag: 0,
  lag_ms: null,
  rate_in: 0,
  rate_out: 0,
  owners: ["a"],
  owner_source: "reported",
  expected: null,
  moved_at: null,
  unknown: {},
};

for (const example of JSON.parse(readFileSync(listed, "utf8"))) {
  test(example.name, () => {
    const queue = { ...QUEUE, ...example.queue };
    const { level, word } = queueStatus({ kind: example.kind ?? "owned" }, queue);
    const { kind, ms, reason } = drain(queue);
    const found = { level, word, drain: ms ?? reason ?? kind };
    assert.deepEqual(found, {
      level: example.level,
      word: example.word,
      drain: example.drain,
    });
  });
}

test("names are sorted as the server sorts them, by code points", () => {
  assert.deepEqual(["b", "B", "a", "é"].sort(compareText), ["B", "a", "b", "é"]);
});
