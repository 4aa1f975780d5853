/** The rows of the table of queues, and the cells that the drawer of a queue has too. */

import { known, numberCell, ownerCell, queueState } from "./cells.js";
import { serverNow } from "../frame/clock.js";
import { membersById } from "./document.js";
import { h } from "../frame/dom.js";
import { count, duration, rate } from "../frame/format.js";
import { sorted } from "./order.js";
import { pointsOf, sparkline } from "./sparkline.js";
import { lastOf, shown } from "./standing.js";
import { drain, inHand, isUnowned, queueKey, queueStatus, reasonOf } from "./status.js";
import { ui } from "../frame/words.js";

const DRAIN_CSS = { now: "", steady: "dim", never: "rising" };

/** The first rows of the table, in its order. */
export function queueRows(state, { limit = Infinity, sort = "", open = "" } = {}) {
  const members = membersById(state);
  const withTopic = (state.topics ?? topicsOf(state)).size > 1;
  return sorted(state, sort)
    .slice(0, limit)
    .map((queue) => queueRow(state, queue, { members, withTopic, open }));
}

export function topicsOf({ queues }) {
  return new Set(queues.map((queue) => queue.topic));
}

function queueRow(state, queue, { members, withTopic, open }) {
  const key = queueKey(queue);
  const number = (column, write) =>
    numberCell(queue[column], write, reasonOf(queue, column));
  return h(
    "tr",
    { "data-key": key, class: lastOf(queue) && "striped" },
    h("td", { "data-flash": true }, queueState(state, queue)),
    h("td", { class: "strong cut", title: queue.topic }, opener(queue, withTopic, open)),
    ownerCell(queue, members, isUnowned(state, queue)),
    numberCell(shown(queue, "lag"), count, reasonOf(queue, "lag"), "num strong"),
    h("td", {}, queueLine(state, queue)),
    number("lag_ms", duration),
    number("rate_in", rate),
    number("rate_out", rate),
    numberCell(inHand(queue), count, reasonOf(queue, "pulled")),
    h("td", { class: "num" }, drained(queue)),
    h("td", { class: "num dim" }, moved(queue)),
  );
}

/** The queue's name: it opens the drawer with everything about the queue. */
function opener(queue, withTopic, open) {
  return h(
    "button",
    {
      class: "row-name",
      type: "button",
      "data-open": true,
      "aria-expanded": String(queueKey(queue) === open),
    },
    queueName(queue, withTopic),
  );
}

/** The lag of the last 15 minutes, in the colour of the queue's state. */
export function queueLine(state, queue, size = {}) {
  const points = pointsOf(state, queueKey(queue), queue.lag);
  const { level } = queueStatus(state, queue);
  return sparkline(points, { until: state.taken_at, level, ...size });
}

export function queueName(queue, withTopic) {
  const name = `${queue.broker} / ${queue.queue_id}`;
  return withTopic ? `${queue.topic} · ${name}` : name;
}

/** When the lag will be gone, as a cell says it. */
export function drained(queue) {
  const { kind, ms, reason } = drain(queue);
  if (kind === "span") return duration(ms);
  if (kind === "unknown") return known(null, String, reason);
  return h("span", { class: DRAIN_CSS[kind] }, ui(kind));
}

function moved(queue) {
  if (queue.moved_at === null) return "";
  return ui("ago", { span: duration(serverNow() - queue.moved_at) });
}
