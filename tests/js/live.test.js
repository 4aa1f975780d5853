import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import "./page.js";

const { Feed } = await import("../../static/js/frame/live.js");

const settled = () => new Promise((resolve) => setImmediate(resolve));
let told;

function feed(load) {
  return new Feed({
    watch: { cluster: "east" },
    load,
    apply: (update) => told.push(["apply", update.seq]),
    replace: (document) => told.push(["replace", document.seq]),
    connection: () => {},
  });
}

beforeEach(() => (told = []));

test("the next number is applied, an old one is ignored", () => {
  const followed = feed(async () => null);
  [followed.run, followed.seq] = ["r", 5];
  for (const seq of [6, 6, 4, 7]) followed.take({ run: "r", seq });
  assert.deepEqual(told, [
    ["apply", 6],
    ["apply", 7],
  ]);
});

test("a gap and another run load the document anew", async () => {
  let newest = { run: "r", seq: 9 };
  const followed = feed(async () => newest);
  [followed.run, followed.seq] = ["r", 5];
  followed.take({ run: "r", seq: 8 });
  await settled();
  newest = { run: "s", seq: 1 };
  followed.take({ run: "s", seq: 1 });
  await settled();
  assert.deepEqual(told, [
    ["replace", 9],
    ["replace", 1],
  ]);
});

test("what arrives while loading follows what was loaded, if it is newer", async () => {
  let answer;
  const followed = feed(() => new Promise((resolve) => (answer = resolve)));
  const loading = followed.reload();
  for (const seq of [3, 4, 5]) followed.take({ run: "r", seq });
  answer({ run: "r", seq: 3 });
  await loading;
  assert.deepEqual(told, [
    ["replace", 3],
    ["apply", 4],
    ["apply", 5],
  ]);
});
