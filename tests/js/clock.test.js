import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import "./page.js";

const HERE = 1_780_000_000_000;
let loaded = 0;

/** Load a page that the server wrote at `written`, and whose scripts run late. */
async function page(written, { arrived = 200, run = 9_000 } = {}) {
  document.documentElement.dataset.now = String(written);
  globalThis.performance = {
    timeOrigin: HERE,
    now: () => run,
    getEntriesByType: () => [{ responseStart: arrived }],
  };
  Date.now = () => HERE + run;
  const { serverNow } = await import(`../../static/js/frame/clock.js?${++loaded}`);
  return serverNow() - HERE;
}

const before = [globalThis.performance, Date.now];

afterEach(() => {
  [globalThis.performance, Date.now] = before;
});

test("a clock three seconds ahead or behind counts in full", async () => {
  assert.equal(await page(HERE + 200 + 3_000), 12_000);
  assert.equal(await page(HERE + 200 - 3_000), 6_000);
});

test("the time that scripts took to run is not taken for an offset", async () => {
  assert.equal(await page(HERE + 200), 9_000);
});

test("a page that does not tell the time goes by the browser's clock", async () => {
  assert.equal(await page(0), 9_000);
});
