/** One cell of the map: tint and level, marks for moved and owned twice, ghosts. */

import { s } from "../frame/dom.js";
import { FRACTIONS, levelOf } from "./scale.js";
import { cellNumber } from "./text.js";

const NUMBER = 16;

/** A queue in its owner's row; one that shows an old value is striped. */
export function drawCell(column, box, { large, measure }) {
  const level = levelOf(column.queue, measure);
  const old = Boolean(column.last);
  return s(
    "g",
    { class: old ? "cell is-old" : "cell", "data-key": column.key },
    s("rect", { class: "tint", ...box, rx: 2 }),
    fill(box, level, large),
    old && stripes(box),
    level === null &&
      !old &&
      s("rect", { class: "not-known", ...inset(box, 0.5), rx: 2 }),
    large && old && ground(box),
    large && number(column.queue, box, measure),
    column.moved && !column.twice && moved(box, large),
    column.twice && twice(box, large),
  );
}

/** A queue that somebody else is expected to hold. */
export function drawGhost(column, box) {
  return s(
    "g",
    { "data-key": column.key },
    s("rect", { class: "slot", ...box }),
    s("rect", { class: "ghost", ...inset(box, 0.5), rx: 2 }),
  );
}

/** A queue without an owner. */
export function drawHatch(column, box, { large, measure }) {
  return s(
    "g",
    { class: "cell", "data-key": column.key },
    s("rect", { class: "hatch", ...inset(box, 0.5), rx: 2 }),
    column.last && stripes(box),
    large && ground(box),
    large && number(column.queue, box, measure),
  );
}

/** The stripes over a cell whose value is old. */
export function stripes(box) {
  return s(
    "g",
    { class: "old" },
    s("rect", { class: "old-stripes", ...box, rx: 2 }),
    s("rect", { class: "old-frame", ...inset(box, 0.5), rx: 2 }),
  );
}

/** The ground of a number where the fill under it is not even. */
export function ground({ x, y, width }) {
  const box = { x: x + 2, y: y + 2, width: width - 4, height: 14, rx: 2 };
  return s("rect", { class: "number-ground", ...box });
}

function fill(box, level, large) {
  if (!level) return null;
  const room = large ? box.height - NUMBER : box.height;
  const height = Math.max(2, room * FRACTIONS[level]);
  return s("rect", {
    class: "level",
    x: box.x,
    y: box.y + box.height - height,
    width: box.width,
    height,
    rx: 1.5,
  });
}

function number(queue, box, measure) {
  const at = { x: box.x + box.width / 2, y: box.y + 12, "text-anchor": "middle" };
  return s("text", { class: "number", ...at }, cellNumber(queue, measure));
}

function moved(box, large) {
  const [right, bottom] = [box.x + box.width, box.y + box.height];
  return s(
    "g",
    {},
    s("rect", { class: "moved", ...inset(box, 0.75), rx: 2 }),
    large && s("path", { class: "moved-notch", d: `M${right} ${bottom}v-7l-7 7Z` }),
  );
}

function twice(box, large) {
  const at = {
    x: box.x + box.width - 3,
    y: box.y + box.height - 4,
    "text-anchor": "end",
  };
  return s(
    "g",
    {},
    s("rect", { class: "twice", ...inset(box, 1), rx: 2 }),
    large && s("text", { class: "twice-word", ...at }, "×2"),
  );
}

function inset({ x, y, width, height }, by) {
  return { x: x + by, y: y + by, width: width - 2 * by, height: height - 2 * by };
}
