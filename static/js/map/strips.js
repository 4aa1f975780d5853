/**
 * Strips, for up to some hundred queues: one line per member in three columns, heaviest
 * first, with its queues packed worst first. Hue shows lag here; the line is the owner.
 */

import { s } from "../frame/dom.js";
import { compact } from "../frame/format.js";
import { shown } from "../groups/standing.js";
import { ui } from "../frame/words.js";
import { stripes } from "./cell.js";
import { lastLagOf, rowSum } from "./model.js";
import { patterns } from "./patterns.js";
import { levelOf } from "./scale.js";
import { cutMiddle, sumText, underName } from "./text.js";

const PITCH = 20;
const NAME = 110;
const LAG = 124;
const BAR = 70;
const GAP = 24;

export function drawStrips(model, { width, measure }) {
  const lines = linesOf(model);
  const across = width >= 1080 ? 3 : width >= 720 ? 2 : 1;
  const down = Math.ceil(lines.length / across);
  const part = (width - GAP * (across - 1)) / across;
  const most = Math.max(1, ...lines.map(({ lag, old }) => (lag.value ?? 0) + old));
  const height = 22 + down * PITCH;
  const heads = Array.from({ length: across }, (_none, at) =>
    head(at * (part + GAP), part),
  );
  const body = lines.map((line, at) => {
    const x = Math.floor(at / down) * (part + GAP);
    return drawLine(line, x, 22 + (at % down) * PITCH, part, most, measure);
  });
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
    ...heads.flat(),
    ...body,
  );
}

function linesOf(model) {
  const lines = model.rows.map(lineOf);
  // A member that was heavy when last heard of is not light.
  const weight = ({ lag, old }) => Math.max(lag.value ?? 0, old);
  lines.sort((a, b) => weight(b) - weight(a));
  if (!model.unowned.length) return lines;
  return [lineOf({ member: null, columns: model.unowned }), ...lines];
}

function lineOf(row) {
  return { ...row, lag: rowSum(row, "lag"), old: lastLagOf(row.columns) ?? 0 };
}

function head(x, part) {
  return [
    s("text", { class: "tick", x, y: 11 }, ui("member")),
    s("text", { class: "tick", x: x + NAME, y: 11 }, ui("queues_worst_first")),
    s("text", { class: "tick", x: x + part - LAG + 6, y: 11 }, ui("lag")),
  ];
}

function drawLine({ member, columns, lag, old }, x, y, part, most, measure) {
  const name = member?.label ?? ui("no_owner");
  const css = member?.missing_since ? "trouble" : "name";
  const label = s(
    "text",
    { class: member ? css : "none-name", x, y: y + 14 },
    cutMiddle(name, 15),
  );
  if (member) {
    const title = `${member.client_id} · ${underName(member, columns.length)}`;
    label.append(s("title", {}, title));
  }
  const room = part - NAME - LAG;
  const pitch = Math.min(
    11,
    Math.max(3, Math.floor(room / Math.max(1, columns.length))),
  );
  const worst = [...columns].sort(
    (a, b) => Number(Boolean(a.last)) - Number(Boolean(b.last)) || lagOf(b) - lagOf(a),
  );
  const right = x + part - LAG + 6;
  const width = (BAR * (lag.value ?? 0)) / most;
  const bar = { y: y + 5, height: 10 };
  return s(
    "g",
    {},
    label,
    ...worst.map((column, at) =>
      cell(column, x + NAME + at * pitch, y + 3, pitch - 1, measure),
    ),
    ...(columns.length ? [] : empty(x + NAME, y + 10)),
    s("rect", { class: "bar-track", x: right, width: BAR, ...bar }),
    s("rect", {
      class: "lag-bar",
      x: right,
      width: lag.value ? Math.max(1, width) : 0,
      ...bar,
    }),
    old > 0 &&
      s("rect", {
        class: "old-lag",
        x: right + width,
        width: Math.max(1, (BAR * old) / most),
        ...bar,
      }),
    s(
      "text",
      { class: "bar-value", x: right + BAR + 8, y: y + 14 },
      sumText(lag, compact),
    ),
  );
}

function lagOf({ queue }) {
  return shown(queue, "lag") ?? -1;
}

function cell(column, x, y, width, measure) {
  const level = levelOf(column.queue, measure);
  const box = { x, y, width, height: 14, rx: 2 };
  return s(
    "g",
    { class: "cell", "data-key": column.key },
    s("rect", {
      class: column.unowned ? "hatch" : `heat-${level ?? "unknown"}`,
      ...box,
    }),
    column.last && stripes({ x, y, width, height: 14 }),
    column.moved &&
      s("rect", {
        class: "moved",
        ...box,
        x: x + 0.75,
        y: y + 0.75,
        width: Math.max(1, width - 1.5),
        height: 12.5,
      }),
    column.twice &&
      s("rect", {
        class: "twice",
        ...box,
        x: x + 1,
        y: y + 1,
        width: Math.max(1, width - 2),
        height: 12,
      }),
  );
}

function empty(x, y) {
  return [
    s("circle", { class: "idle-mark", cx: x + 6, cy: y, r: 5 }),
    s("text", { x: x + 16, y: y + 4 }, ui("idle")),
  ];
}
