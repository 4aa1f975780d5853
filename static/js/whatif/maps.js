/**
 * The two maps of the what-if page: the same columns now and then, so that a move is a
 * vertical jump. New members get hues that nobody has.
 */

import { find, readJson } from "../frame/dom.js";
import { drawBlocks } from "../map/blocks.js";
import { drawGrid, labelWidth } from "../map/grid.js";
import { drawLegend } from "../map/legend.js";
import { buildModel } from "../map/model.js";
import { drawPacked } from "../map/packed.js";
import { formsFor } from "../map/scale.js";
import { drawStrips } from "../map/strips.js";

const HUES = 12;
const DRAW = { packed: drawPacked, strips: drawStrips, blocks: drawBlocks };
const NOBODY = -1;
const known = new Map(readJson("members").map((member) => [member.client_id, member]));
/** @type {any} */
let comparison = null;
let labels = {};
let slots = [];
let assumed = new Set();
/** @type {ResizeObserver|null} */
let watched = null;

/** Draw both maps of the comparison that is in the page now. */
export function drawMaps() {
  comparison = readJson("comparison");
  if (!comparison || !find("[data-after]")) return;
  labels = readJson("labels") ?? {};
  slots = slotsOf(comparison.clients);
  assumed = new Set(comparison.loads.assumed_of);
  draw();
  watched?.disconnect();
  watched = new ResizeObserver(draw);
  watched.observe(find("[data-after]"));
}

function draw() {
  const now = comparison.rows.find(({ key }) => key === "NOW");
  const then = comparison.rows.find(({ key }) => key === comparison.chosen);
  const stage = find("[data-after]");
  if (!then?.owners || !stage?.clientWidth) return;
  const moved = new Set([...then.moved, ...then.gained, ...then.lost]);
  const only = new URLSearchParams(location.search).get("only") === "moved";
  const none = only && !moved.size;
  find("[data-none-moved]").hidden = !none;
  if (none) {
    for (const each of [stage, find("[data-before]"), find("[data-legend]")])
      each?.replaceChildren();
    return;
  }
  const after = modelOf(then, moved, only && moved);
  const before = modelOf(now, new Set(), only && moved);
  const left = labelWidth([...after.rows, ...before.rows].map(({ member }) => member));
  const form = formOf(after, stage.clientWidth, left);
  if (find("[data-before]")) show(find("[data-before]"), before, form, left);
  show(stage, after, form, left);
  find("[data-legend]").replaceChildren(
    drawLegend(after, { form, measure: "lag", change: form !== "blocks" }),
  );
}

/** The form of both maps: the largest that fits both, over the same columns. */
function formOf(model, width, left) {
  const sizes = { queues: model.columns.length, members: model.rows.length };
  return formsFor({ ...sizes, groups: model.groups.length, width, left })[0];
}

function show(stage, model, form, left) {
  const options = { width: stage.clientWidth, measure: "lag", low: true, left };
  const grid = form === "grid" ? drawGrid(model, options) : null;
  stage.replaceChildren(grid ?? (DRAW[form] ?? drawPacked)(model, options));
}

/** A row of the comparison in the shape of a group's document; `only` some queues. */
function modelOf(row, moved, only) {
  const members = row.members.client.map((client, at) => memberOf(row, client, at));
  const queues = comparison.queues.flatMap((queue, at) =>
    only && !only.has(at) ? [] : queueOf(row, queue, at),
  );
  const model = buildModel(
    { kind: "owned", epoch: null, members, queues },
    { members },
  );
  const keys = new Set(
    [...moved].map((at) => comparison.queues[at].slice(0, 3).join("|")),
  );
  model.columns.forEach((column) => (column.moved = keys.has(column.key)));
  return model;
}

function memberOf(row, client, at) {
  const id = comparison.clients[client];
  return {
    client_id: id,
    label: labels[id] ?? id,
    slot: slots[client],
    queues: row.members.queues[at],
    lag: row.members.lag[at],
    rate_out:
      comparison.loads.unit === "rate" && !row.members.load_assumed[at]
        ? row.members.load[at]
        : null,
    idle: row.members.queues[at] ? null : "no_queues",
  };
}

/**
 * A queue that the row does not know is left out. A queue of nobody has no owners, and
 * one whose owner is not known has no source of owners either.
 */
function queueOf(row, [topic, broker, id, lag, load], at) {
  const owners = row.owners[at];
  const unheard = owners === null && row.unheard.includes(at);
  if (owners === null && !unheard) return [];
  const holders = owners === NOBODY || unheard ? [] : [owners].flat();
  const rate = comparison.loads.unit === "rate" && !assumed.has(at) ? load : null;
  return [
    {
      topic,
      broker,
      queue_id: id,
      lag,
      lag_ms: null,
      rate_in: rate,
      rate_out: rate,
      owners: holders.map((client) => comparison.clients[client]),
      owner_source: unheard ? null : "reported",
      expected: null,
      moved_at: null,
      unknown: {},
    },
  ];
}

function slotsOf(clients) {
  const taken = new Set(
    clients.map((id) => known.get(id)?.slot).filter((slot) => slot !== undefined),
  );
  const free = Array.from({ length: HUES }, (_none, slot) => slot).filter(
    (slot) => !taken.has(slot),
  );
  return clients.map((id, at) => known.get(id)?.slot ?? free.shift() ?? at % HUES);
}
