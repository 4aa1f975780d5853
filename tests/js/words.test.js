import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { plural, ui, word } = await import("../../static/js/frame/words.js");

test("a value that looks like a placeholder stays as it is", () => {
  assert.equal(ui("greeting", { name: "{left}", left: "now" }), "{left} has left now");
});

test("a key without an entry is shown with its underscores opened", () => {
  assert.equal(word("status", "not_known_here"), "not known here");
  assert.equal(word("ui", null), "");
});

test("one and several", () => {
  assert.equal(plural("things", 1), "1 thing");
  assert.equal(plural("things", 4), "4 things");
});

test("lists are joined", () => {
  assert.equal(ui("names", { names: ["a", "b"] }), "a, b");
});
