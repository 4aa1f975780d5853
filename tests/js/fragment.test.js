import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { ask, Refusal } = await import("../../static/js/frame/fragment.js");

let answer;

const answerWith = (status) => {
  answer = new Response("a reason", { status });
  globalThis.fetch = async () => answer;
};

test("an answer that is fine is handed on", async () => {
  answerWith(200);
  assert.equal((await ask("/")).status, 200);
});

test("a refusal carries its status, and its body holds no connection", async () => {
  answerWith(404);
  await assert.rejects(ask("/"), (error) => {
    assert.ok(error instanceof Refusal);
    assert.equal(error.status, 404);
    return true;
  });
  assert.ok(answer.bodyUsed);
});

test("who was signed out is led away once, and nothing goes on here", async () => {
  let left = 0;
  globalThis.location = { reload: () => (left += 1) };
  answerWith(401);
  const outcome = await Promise.race([
    ask("/").then(() => "went on"),
    // Two answers at once: a second reload would cut the first one off.
    ask("/").then(() => "went on"),
    new Promise((resolve) => setTimeout(() => resolve("waits"), 20)),
  ]);
  assert.deepEqual([left, outcome], [1, "waits"]);
});
