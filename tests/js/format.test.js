import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import "./page.js";

const format = await import("../../static/js/frame/format.js");
const listed = new URL("../dashboard/wording/figures.json", import.meta.url);

for (const [name, cases] of Object.entries(JSON.parse(readFileSync(listed, "utf8")))) {
  test(`${name} writes what the server writes`, () => {
    for (const [value, text] of cases) assert.equal(format[name](value), text);
  });
}
