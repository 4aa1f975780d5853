/** The bars at the right of each row: messages per second with their mean, and lag. */

import { s } from "../frame/dom.js";
import { compact, rate } from "../frame/format.js";
import { ui } from "../frame/words.js";
import { lastLagOf, rowSum } from "./model.js";
import { sumText } from "./text.js";

const BAR = 50;
const SECOND = 104;

export function marginHeads(model, x, down) {
  const mean = meanRate(model);
  const partial = model.rows.some((row) => rowSum(row, "rate_out").partial);
  const y = 12 + down;
  return [
    s("text", { x, y }, ui("messages_per_second")),
    mean !== null &&
      s("line", { class: "mean", x1: x + 1, x2: x + 1, y1: y + 12, y2: y + 22 }),
    mean !== null &&
      s(
        "text",
        { class: "tick", x: x + 6, y: y + 21 },
        ui("mean", { value: sumText({ value: mean, partial }, short) }),
      ),
    s("text", { x: x + SECOND, y }, ui("lag")),
    s("text", { class: "tick", x: x + SECOND, y: y + 21 }, ui("sum")),
  ].filter(Boolean);
}

/** Draw the bars of a row; `rateIn` is written for queues that nobody consumes. */
export function marginBars(model, row, y, x, rateIn) {
  const most = mostOf(model);
  const lag = rowSum(row, "lag");
  const old = lastLagOf(row.columns) ?? 0;
  const bars = bar("lag-bar", lag, most.lag, x + SECOND, y, compact, old);
  if (!row.member) {
    const text = ui("in_and_none_out", { value: sumText(rateIn, short) });
    return [s("text", { x, y: y + 4 }, text), ...bars];
  }
  const mean = meanRate(model);
  const at = mean === null || !most.rate ? null : x + (BAR * mean) / most.rate;
  return [
    ...bar("rate-bar", rowSum(row, "rate_out"), most.rate, x, y, short),
    at !== null && s("line", { class: "mean", x1: at, x2: at, y1: y - 9, y2: y + 9 }),
    ...bars,
  ].filter(Boolean);
}

/** The bar of a sum, followed by last known values, striped and not in its number. */
function bar(css, sum, most, x, y, write, old = 0) {
  const text = s(
    "text",
    { class: "bar-value", x: x + BAR + 6, y: y + 4 },
    sumText(sum, write),
  );
  if (sum.value === null && !old) return [text];
  const width = lengthOf(sum.value ?? 0, most);
  const box = { y: y - 5, height: 10 };
  return [
    s("rect", { class: "bar-track", x, width: BAR, ...box }),
    s("rect", { class: css, x, width, ...box }),
    old > 0 &&
      s("rect", {
        class: "old-lag",
        x: x + width,
        width: lengthOf(old, most),
        ...box,
      }),
    text,
  ].filter(Boolean);
}

function lengthOf(value, most) {
  return most > 0 ? Math.max(value > 0 ? 1 : 0, (BAR * value) / most) : 0;
}

const short = (value) => (value < 10 ? rate(value) : compact(value));

function meanRate({ rows }) {
  const rates = rows
    .map((row) => rowSum(row, "rate_out").value)
    .filter((value) => value !== null);
  return rates.length ? rates.reduce((a, b) => a + b, 0) / rates.length : null;
}

/** The value of a full bar: the longest of all, including its old part. */
function mostOf(model) {
  const rows = [...model.rows, { member: null, columns: model.unowned }];
  const lags = rows.map(
    (row) => (rowSum(row, "lag").value ?? 0) + (lastLagOf(row.columns) ?? 0),
  );
  const rates = model.rows.map((row) => rowSum(row, "rate_out").value ?? 0);
  return { rate: Math.max(0, ...rates), lag: Math.max(0, ...lags) };
}
