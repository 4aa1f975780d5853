import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.js";

const { plural, ui, word } = await import("../../static/js/frame/words.js");

for (const name of ["{left}", "{name}", "$&", "$1 $$ $`", "{{left}}", "\\{left}"]) {
  test(`a client that is called ${name} stays as it is`, () => {
    const values = { name, left: "now" };
    assert.equal(ui("greeting", values), `${name} has left now`);
    assert.equal(word("ui", "greeting", values), `${name} has left now`);
    assert.equal(plural("left_by", 1, values), `${name} has left now`);
    assert.equal(plural("left_by", 3, values), `${name}, 3 in all`);
    assert.equal(ui("names", { names: [name, "b"] }), `${name}, b`);
  });
}

test("a placeholder without a value stays, whatever objects inherit", () => {
  assert.equal(ui("greeting", { name: "a" }), "a has left {left}");
  assert.equal(word("ui", "{constructor}"), "{constructor}");
});

test("a key without an entry is shown with its underscores opened", () => {
  assert.equal(word("status", "not_known_here"), "not known here");
  assert.equal(word("ui", null), "");
});

test("one and several", () => {
  assert.equal(plural("things", 0), "0 things");
  assert.equal(plural("things", 1), "1 thing");
  assert.equal(plural("things", 2), "2 things");
  assert.equal(word("ui", "things", { n: "1" }, 1), "1 thing");
  assert.equal(plural("things", 4), "4 things");
});

test("lists are joined", () => {
  assert.equal(ui("names", { names: ["a", "b"] }), "a, b");
});
