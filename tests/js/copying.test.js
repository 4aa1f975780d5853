import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { shortened } = await import("../../static/js/frame/copying.js");

test("a short text is said as it is", () => {
  assert.equal(shortened(" 10.2.31.21@6285 "), "10.2.31.21@6285");
});

test("of a long text the beginning is said", () => {
  assert.equal(shortened("x".repeat(61)), `${"x".repeat(59)}…`);
});

test("of several lines the first is said", () => {
  assert.equal(shortened("one\ntwo"), "one…");
});
