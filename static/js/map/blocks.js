/**
 * The aggregated form, for more than strips can hold: brokers by tens of members. A
 * block's number is its queues, its heat the worst lag among them; it opens as cells.
 */

import { s } from "../frame/dom.js";
import { shown } from "../groups/standing.js";
import { ui } from "../frame/words.js";
import { ground, stripes } from "./cell.js";
import { worstOf } from "./model.js";
import { patterns } from "./patterns.js";
import { MEASURES, levelOfValue } from "./scale.js";
import { cutMiddle } from "./text.js";

const TEN = 10;
const CELL = 30;
const LEFT = 130;

/** The blocks of a model by "broker|ten". */
export function blocksOf(model) {
  const blocks = new Map();
  model.rows.forEach(({ columns }, row) => {
    columns.forEach((column) => add(blocks, column, Math.floor(row / TEN)));
  });
  model.unowned.forEach((column) => add(blocks, column, -1));
  return blocks;
}

function add(blocks, column, ten) {
  const key = `${column.queue.broker}|${ten}`;
  const block = blocks.get(key) ?? { broker: column.queue.broker, ten, columns: [] };
  block.columns.push(column);
  blocks.set(key, block);
}

/** The part of the document that a block holds. */
export function partOf(model, key) {
  const block = blocksOf(model).get(key);
  if (!block) return null;
  const members =
    block.ten < 0
      ? []
      : model.rows
          .slice(block.ten * TEN, block.ten * TEN + TEN)
          .map(({ member }) => member);
  return { members, queues: block.columns.map(({ queue }) => queue) };
}

export function drawBlocks(model, { width, measure }) {
  const brokers = [...new Set(model.columns.map(({ queue }) => queue.broker))];
  const tens = Math.ceil(model.rows.length / TEN);
  const blocks = blocksOf(model);
  const none = model.unowned.length ? 1 : 0;
  const pitch = Math.max(
    16,
    Math.min(CELL, Math.floor((width - LEFT) / Math.max(1, tens + none))),
  );
  const height = 20 + brokers.length * CELL;
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
    ...heads(tens, none, pitch),
    ...brokers.flatMap((broker, row) =>
      drawBroker(model, broker, row, tens, none, pitch, blocks, measure),
    ),
  );
}

function heads(tens, none, pitch) {
  const labels = Array.from({ length: tens }, (_none, ten) =>
    s(
      "text",
      { class: "tick", x: LEFT + (ten + 0.5) * pitch, y: 12, "text-anchor": "middle" },
      String(ten * TEN + 1),
    ),
  );
  if (none) {
    labels.push(
      s(
        "text",
        {
          class: "none-name",
          x: LEFT + (tens + 0.5) * pitch,
          y: 12,
          "text-anchor": "middle",
        },
        "?",
      ),
    );
  }
  return labels;
}

function drawBroker(model, broker, row, tens, none, pitch, blocks, measure) {
  const y = 20 + row * CELL;
  const trouble = model.troubles.get(broker);
  const title = trouble ? ui(`broker_${trouble.state}`, { name: broker }) : broker;
  const parts = [
    s(
      "text",
      { class: trouble && "trouble", x: 0, y: y + 18 },
      cutMiddle(broker, 18),
      s("title", {}, title),
    ),
  ];
  for (let at = 0; at < tens + none; at += 1) {
    const ten = at < tens ? at : -1;
    const box = { x: LEFT + at * pitch, y, width: pitch - 2, height: CELL - 2 };
    const block = blocks.get(`${broker}|${ten}`);
    parts.push(
      block ? drawBlock(block, box, measure) : s("rect", { class: "slot", ...box }),
    );
  }
  return parts;
}

/** The heat is the worst fresh value; in a block without any, the worst last value. */
function drawBlock(block, box, measure) {
  const { field, steps } = MEASURES[measure];
  const worst = worstOf(block.columns, field) ?? lastWorst(block.columns, field);
  const level = levelOfValue(worst, steps);
  const old = block.columns.some(({ last }) => last);
  const at = {
    x: box.x + box.width / 2,
    y: box.y + box.height / 2 + 4,
    "text-anchor": "middle",
  };
  return s(
    "g",
    { class: "cell block", "data-block": `${block.broker}|${block.ten}` },
    s("rect", { class: `heat-${level ?? "unknown"}`, ...box, rx: 2 }),
    old && stripes(box),
    old && ground({ ...box, y: at.y - 14 }),
    s(
      "text",
      { class: !old && level !== null && level > 3 ? "number on-dark" : "number", ...at },
      String(block.columns.length),
    ),
  );
}

function lastWorst(columns, field) {
  const values = columns.map(({ queue }) => shown(queue, field));
  const known = values.filter((value) => value !== null);
  return known.length ? Math.max(...known) : null;
}
