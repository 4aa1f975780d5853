/** The last row of the grid: queues without an owner, or a quiet tick. */

import { s } from "../frame/dom.js";
import { ui } from "../frame/words.js";
import { drawHatch } from "./cell.js";
import { marginBars } from "./margin.js";
import { rowSum } from "./model.js";
import { nobodyText } from "./text.js";

const ALARM =
  "M6 1h6l4 4v6l-4 4H6l-4-4V5l4-4Zm0 5.2L7.9 8 6 9.9l1 1L8.9 9l1.9 1.9 1-1L9.9 8" +
  "l1.9-1.8-1-1L8.9 7 7 5.2Z";
const TICK =
  "M9 2a6 6 0 1 1 0 12A6 6 0 0 1 9 2Zm-.9 8.8 3.9-4-.9-.9-3 3.1-1.4-1.4-.9.9 2.3 2.3Z";

export function drawNobody(model, xs, size, right) {
  const y = size.top + model.rows.length * size.row;
  const middle = y + size.height / 2;
  const n = model.unowned.length;
  const { text, known } = nobodyText(model);
  const texts = rowTexts({
    name: ui("no_owner"),
    number: size.large ? text : known ? String(n) : "—",
    css: n ? "none-name" : "tick",
    middle,
    size,
  });
  const nobody = { member: null, columns: model.unowned };
  const rateIn = rowSum(nobody, "rate_in");
  const bars = n ? marginBars(model, nobody, middle, right, rateIn) : [];
  const cells = model.columns.map((column, at) => cell(column, xs[at], y, size));
  return s("g", {}, known && mark(middle, n > 0), ...texts, ...cells, ...bars);
}

/** A row's name, and its number under the name or at the right end. */
export function rowTexts({ name, number, css, middle, size }) {
  const right = { x: size.left - 8, y: middle + 4, "text-anchor": "end" };
  return [
    s("text", { class: css, x: 26, y: size.large ? middle - 2 : middle + 4 }, name),
    s(
      "text",
      { class: "tick", ...(size.large ? { x: 26, y: middle + 13 } : right) },
      number,
    ),
  ];
}

function cell(column, x, y, size) {
  const box = { x, y, width: size.pitch - size.gap, height: size.height };
  if (column.unowned) return drawHatch(column, box, size);
  return s("rect", { class: "slot", ...box, y: y + size.height / 2 - 1, height: 2 });
}

function mark(y, alarm) {
  return s("path", {
    class: alarm ? "none-mark" : "none-quiet",
    "fill-rule": "evenodd",
    d: alarm ? ALARM : TICK,
    transform: `translate(0 ${y - 8})`,
  });
}
