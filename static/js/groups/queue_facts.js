/** What the drawer of a queue says of it, and where it leads. */

import { serverNow } from "../frame/clock.js";
import { copyButton } from "../frame/copying.js";
import { h } from "../frame/dom.js";
import { clock, moment } from "../frame/format.js";
import { shown } from "./standing.js";
import { ui } from "../frame/words.js";

/** How the broker names of a static topic's logical queues begin. */
const LOGICAL = "__syslo__";

/** Where the messages, the offset and the past of a queue are, as far as one may look. */
export function links(queue, urls) {
  const { messages, offsets, timeline } = urls;
  const place = { topic: queue.topic, broker: queue.broker, queue: queue.queue_id };
  const committed = shown(queue, "committed");
  const at = { by: "offset", ...place, offset: committed };
  const named = `${queue.broker}/${queue.queue_id}`;
  // Messages of a logical queue are searched in the queues of the brokers.
  const logical = queue.broker.startsWith(LOGICAL);
  const newest = { by: "newest", ...(logical ? { topic: queue.topic } : place) };
  return [
    ["newest_messages", messages && `${messages}?${params(newest)}`],
    [
      "first_waiting",
      messages && !logical && committed !== null && shown(queue, "lag")
        ? `${messages}?${params(at)}`
        : null,
    ],
    [
      "move_offsets",
      offsets &&
        `${offsets}?${params({ to: "earliest", topic: queue.topic, queue: named })}`,
    ],
    ["timeline", timeline],
  ]
    .filter(([, url]) => url)
    .map(([key, url]) => h("li", {}, h("a", { href: url }, ui(key))));
}

export function topic(queue) {
  const { topic: name } = queue;
  return h("span", { class: "dim" }, ` ${name} `, copyButton(name, ui("topic")));
}

export function span() {
  return h("span", { class: "dim small" }, ui("last_15_minutes"));
}

export function fact([key, value]) {
  return h("div", { "data-key": key }, h("dt", {}, ui(key)), h("dd", {}, value));
}

/** When an event happened: between two looks, or one time if they are close. */
export function between({ at: [after, by] }) {
  const now = serverNow();
  return by - after < 1000 ? moment(by, now) : `${moment(after, now)} – ${clock(by)}`;
}

export function params(values) {
  return new URLSearchParams(values).toString();
}
