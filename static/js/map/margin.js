/** The bars at the right of each row: messages per second with their mean, and lag. */

import { s } from "../dom.js";
import { compact, rate } from "../format.js";
import { ui } from "../words.js";
import { sumOf } from "./model.js";

const BAR = 50;
const SECOND = 104;

export function marginHeads(model, x, down) {
  const mean = meanRate(model);
  const y = 12 + down;
  return [
    s("text", { x, y }, ui("messages_per_second")),
    mean !== null &&
      s("line", { class: "mean", x1: x + 1, x2: x + 1, y1: y + 12, y2: y + 22 }),
    mean !== null &&
      s(
        "text",
        { class: "tick", x: x + 6, y: y + 21 },
        ui("mean", { value: short(mean) }),
      ),
    s("text", { x: x + SECOND, y }, ui("lag")),
    s("text", { class: "tick", x: x + SECOND, y: y + 21 }, ui("sum")),
  ].filter(Boolean);
}

/** `rateIn` is told of queues that nobody consumes. */
export function marginBars(model, row, y, x, rateIn) {
  const most = mostOf(model);
  const lag = row.member
    ? (row.member.lag ?? sumOf(row.columns, "lag"))
    : sumOf(row.columns, "lag");
  const bars = bar("lag-bar", lag, most.lag, x + SECOND, y, compact);
  if (!row.member) {
    const text = ui("in_and_none_out", {
      value: rateIn === null ? "—" : short(rateIn),
    });
    return [s("text", { x, y: y + 4 }, text), ...bars];
  }
  const mean = meanRate(model);
  const at = mean === null || !most.rate ? null : x + (BAR * mean) / most.rate;
  return [
    ...bar("rate-bar", row.member.rate_out, most.rate, x, y, short),
    at !== null && s("line", { class: "mean", x1: at, x2: at, y1: y - 9, y2: y + 9 }),
    ...bars,
  ].filter(Boolean);
}

function bar(css, value, most, x, y, write) {
  const text = s(
    "text",
    { class: "bar-value", x: x + BAR + 6, y: y + 4 },
    value === null ? "—" : write(value),
  );
  if (value === null) return [text];
  const width = most > 0 ? Math.max(value > 0 ? 1 : 0, (BAR * value) / most) : 0;
  return [
    s("rect", { class: "bar-track", x, y: y - 5, width: BAR, height: 10 }),
    s("rect", { class: css, x, y: y - 5, width, height: 10 }),
    text,
  ];
}

const short = (value) => (value < 10 ? rate(value) : compact(value));

function meanRate({ rows }) {
  const rates = rows
    .map(({ member }) => member.rate_out)
    .filter((value) => value !== null);
  return rates.length ? rates.reduce((a, b) => a + b, 0) / rates.length : null;
}

function mostOf(model) {
  const lags = model.rows.map(
    ({ member, columns }) => member.lag ?? sumOf(columns, "lag") ?? 0,
  );
  return {
    rate: Math.max(0, ...model.rows.map(({ member }) => member.rate_out ?? 0)),
    lag: Math.max(0, sumOf(model.unowned, "lag") ?? 0, ...lags),
  };
}
