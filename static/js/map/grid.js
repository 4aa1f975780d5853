/**
 * The grid: members by queues, large cells with a number or small ones without.
 *
 * Row, letter and hue show the owner; the level of the fill shows the lag. "No owner"
 * is always the last row, so that nothing jumps when it fills.
 */

import { hasHues, LETTERS } from "../groups/document.js";
import { s } from "../frame/dom.js";
import { word } from "../frame/words.js";
import { drawCell, drawGhost } from "./cell.js";
import { drawHeads } from "./heads.js";
import { marginBars, marginHeads } from "./margin.js";
import { drawNobody, rowTexts } from "./nobody.js";
import { patterns } from "./patterns.js";
import { GROUP_GAP, gridCell } from "./scale.js";
import { cutMiddle, underName } from "./text.js";

const LARGE = { height: 37, row: 41, gap: 2, top: 40 };
const SMALL = { height: 20, row: 22, gap: 1, top: 40 };
/** What a row's label needs beside the name: badge, gaps and a number of three digits. */
const BESIDE_NAME = 66;
const LETTER = 6.9;

/** What "missing since" and a time need under a name. */
const MISSING = 170;

/** The width that labels need; a document's labels do not change while it is shown. */
export function labelWidth(members) {
  const longest = Math.max(8, ...members.map(({ label }) => label.length));
  const least = members.some((member) => member.missing_since) ? MISSING : 120;
  return Math.min(212, Math.max(least, BESIDE_NAME + longest * LETTER));
}

/**
 * `low` is for rows of small height even where cells are wide, so that two maps fit
 * above each other; `left` is the labels' width if the columns are to match those of
 * another map.
 * @param {any} model
 * @param {{width: number, measure: string, low?: boolean, left?: number}} options
 * @returns {SVGElement|null} null when the cells do not fit
 */
export function drawGrid(model, { width, measure, low = false, left: given = 0 }) {
  const left = given || labelWidth(model.rows.map(({ member }) => member));
  const cell = gridCell({
    queues: model.columns.length,
    members: model.rows.length,
    width,
    left,
    groups: model.groups.length,
  });
  if (!cell) return null;
  const large = cell.large && !low;
  const shape = large ? LARGE : SMALL;
  const topics = model.topics > 1 ? 16 : 0;
  const top = shape.top + topics;
  const size = { ...shape, pitch: cell.pitch, large, left, measure, topics, top };
  const xs = columnXs(model, size);
  const right = (xs.at(-1) ?? left) + size.pitch + 14;
  const rows = model.rows.map((row, at) => drawRow(row, at, model, xs, size, right));
  const none = drawNobody(model, xs, size, right);
  const height = size.top + size.row * (model.rows.length + 1);
  return s(
    "svg",
    {
      class: "map",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "aria-hidden": "true",
    },
    patterns(),
    ...drawHeads(model, xs, size),
    ...marginHeads(model, right, size.topics),
    ...rows,
    none,
  );
}

function columnXs(model, size) {
  const xs = [];
  let x = size.left;
  model.groups.forEach(({ from, to }) => {
    for (let at = from; at <= to; at += 1, x += size.pitch) xs.push(x);
    x += GROUP_GAP;
  });
  return xs;
}

function drawRow({ member, columns }, at, model, xs, size, right) {
  const y = size.top + at * size.row;
  const mine = new Set(columns);
  const slots = model.columns.map((column, index) => {
    const box = { x: xs[index], y, width: size.pitch - size.gap, height: size.height };
    if (mine.has(column)) return drawCell(column, box, size);
    if (column.ghost === at) return drawGhost(column, box);
    return s("rect", { class: "slot", ...box });
  });
  return s(
    "g",
    { class: `slot-${member.slot}`, "data-row": at },
    ...label(member, columns.length, y, size, hasHues(model.state)),
    ...(columns.length ? slots : emptyRow(member, slots, y, size, xs)),
    ...marginBars(model, { member, columns }, y + size.height / 2, right),
  );
}

/** A row without queues says why. */
function emptyRow(member, slots, y, size, xs) {
  const text = word("idle", member.idle);
  return text ? sayLine(text, y, size, xs) : slots;
}

function label(member, queues, y, size, hue) {
  const middle = y + size.height / 2;
  const most = Math.floor((size.left - (size.large ? 34 : BESIDE_NAME)) / LETTER);
  const name = cutMiddle(member.label, most);
  const under = underName(member, queues);
  const number = size.large ? under : String(queues);
  const css = member.missing_since ? "strong trouble" : "strong";
  const texts = rowTexts({ name, number, css, middle, size });
  texts[0].append(s("title", {}, `${member.client_id} · ${under}`));
  return hue ? [...badge(member, middle), ...texts] : texts;
}

function badge({ slot }, middle) {
  const at = { x: 9, y: middle + 4, "text-anchor": "middle" };
  return [
    s("rect", {
      class: "badge-box",
      x: 0,
      y: middle - 9,
      width: 18,
      height: 18,
      rx: 4,
    }),
    s("text", { class: "letter", ...at }, LETTERS[slot]),
  ];
}

function sayLine(text, y, size, xs) {
  const middle = y + size.height / 2;
  const end = (xs.at(-1) ?? size.left) + size.pitch;
  const start = Math.min(end, size.left + 26 + text.length * 7.5);
  return [
    s("circle", { class: "idle-mark", cx: size.left + 8, cy: middle, r: 5.5 }),
    s("text", { x: size.left + 20, y: middle + 4 }, text),
    s("line", { class: "idle-line", x1: start, x2: end, y1: middle, y2: middle }),
  ];
}
