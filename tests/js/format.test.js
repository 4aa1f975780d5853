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

test("a moment of another day has its date in front", () => {
  const at = Date.UTC(2026, 2, 13, 20, 1, 9);
  document.documentElement.dataset.zone = "UTC";
  assert.equal(format.moment(at, at + 3_600_000), "20:01:09");
  assert.equal(format.moment(at, at + 4 * 3_600_000), "2026-03-13 20:01:09");
  document.documentElement.dataset.zone = "Asia/Shanghai";
  assert.equal(format.moment(at, at + 4 * 3_600_000), "04:01:09");
});
