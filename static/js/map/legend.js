/** The meaning of the marks in the form shown; only of those that can be seen. */

import { h, icon, s } from "../frame/dom.js";
import { clock } from "../frame/format.js";
import { ui } from "../frame/words.js";
import { stripes } from "./cell.js";
import { lastLagOf, oldestOf } from "./model.js";
import { patterns } from "./patterns.js";
import { FRACTIONS } from "./scale.js";

export function drawLegend(model, { form, measure, change = false }) {
  const heat = form === "strips" || form === "blocks";
  const items = [heat ? heatScale(measure) : levelScale(model, measure)];
  if (form !== "blocks" && model.columns.some(({ moved }) => moved))
    items.push(sample("moved", change ? "changes" : "moved"));
  if (model.unowned.length) items.push(sample("none"));
  if (form === "grid" && model.columns.some(({ ghost }) => ghost !== null))
    items.push(sample("expected"));
  if (model.columns.some(({ twice }) => twice)) items.push(sample("twice"));
  items.push(...oldValues(model, form));
  if (model.rows.some(({ member }) => member.idle)) {
    items.push(h("span", {}, icon("idle"), ui("legend_idle")));
  }
  if (form === "strips") items.push(h("span", { class: "dim" }, ui("legend_strips")));
  if (form === "blocks") items.push(h("span", { class: "dim" }, ui("legend_blocks")));
  return h("div", { class: "legend" }, ...items);
}

function levelScale(model, measure) {
  const slot = model.rows[0]?.member.slot ?? 0;
  const steps = FRACTIONS.map((share, level) =>
    s(
      "g",
      { class: `slot-${slot}`, transform: `translate(${level * 19} 0)` },
      s("rect", { class: "tint", width: 16, height: 16, rx: 2 }),
      s("rect", {
        class: "level",
        y: 16 - 16 * share,
        width: 16,
        height: 16 * share,
        rx: 1,
      }),
    ),
  );
  return scale(measure, steps);
}

function heatScale(measure) {
  const steps = FRACTIONS.map((_share, level) =>
    s("rect", { class: `heat-${level}`, x: level * 19, width: 19, height: 16 }),
  );
  return scale(measure, steps);
}

function scale(measure, steps) {
  return h(
    "span",
    {},
    `${ui(`${measure}_from`)} `,
    s("svg", { class: "map", width: 114, height: 16, "aria-hidden": "true" }, ...steps),
    ` ${ui(`${measure}_to`)} `,
    h("span", { class: "dim" }, ui(`${measure}_steps`)),
  );
}

function oldValues(model, form) {
  const at = oldestOf(model.columns);
  if (at === null) return [];
  const items = [sample("old", "old", { time: clock(at) })];
  const bars = form === "grid" || form === "strips";
  if (bars && lastLagOf(model.columns) !== null) items.push(sample("old_bar"));
  return items;
}

const DRAWINGS = {
  old: () => [
    patterns(),
    s("rect", { class: "tint", width: 16, height: 16, rx: 2 }),
    s("rect", { class: "level", y: 8, width: 16, height: 8 }),
    stripes({ x: 0, y: 0, width: 16, height: 16 }),
  ],
  old_bar: () => [
    patterns(),
    s("rect", { class: "lag-bar", y: 3, width: 8, height: 10 }),
    s("rect", { class: "old-lag", x: 8, y: 3, width: 8, height: 10 }),
  ],
  moved: () => [
    s("rect", { class: "tint", width: 16, height: 16, rx: 2 }),
    s("rect", { class: "moved", x: 0.75, y: 0.75, width: 14.5, height: 14.5, rx: 2 }),
    s("path", { class: "moved-notch", d: "M16 16v-7l-7 7Z" }),
  ],
  none: () => [
    patterns(),
    s("rect", { class: "hatch", x: 0.5, y: 0.5, width: 15, height: 15, rx: 2 }),
  ],
  expected: () => [
    s("rect", { class: "ghost", x: 0.5, y: 0.5, width: 15, height: 15, rx: 2 }),
  ],
  twice: () => [
    s("rect", { class: "twice", x: 1, y: 1, width: 14, height: 14, rx: 2 }),
  ],
};

function sample(name, words = name, values = {}) {
  const drawing = s(
    "svg",
    { class: "map slot-0", width: 16, height: 16, "aria-hidden": "true" },
    ...DRAWINGS[name](),
  );
  return h("span", {}, drawing, ui(`legend_${words}`, values));
}
