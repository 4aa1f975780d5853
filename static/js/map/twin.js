/** The map as a table: the same facts for screen readers, for copying and for reading. */

import { known, ownerBadge } from "../cells.js";
import { hasHues } from "../document.js";
import { h } from "../dom.js";
import { count, rate } from "../format.js";
import { ui, word } from "../words.js";
import { sumOf } from "./model.js";
import { nobodyText } from "./text.js";

export function drawTwin(model) {
  const heads = ["member", "queues", "queue_names", "messages_per_second", "lag"];
  return h(
    "div",
    { class: "scroll-x" },
    h(
      "table",
      { class: "twin" },
      h("caption", { class: "unseen" }, ui("map_label", labelValues(model))),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ...heads.map((key) =>
            h("th", { scope: "col", class: numeric(key) }, ui(key)),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        ...model.rows.map((row) => memberRow(row, model)),
        nobodyRow(model),
      ),
    ),
  );
}

export function labelValues(model) {
  return {
    queues: model.columns.length,
    members: model.rows.length,
    unowned: model.unowned.length,
  };
}

const numeric = (key) => (["member", "queue_names"].includes(key) ? "" : "num");

function memberRow({ member, columns }, model) {
  return h(
    "tr",
    {},
    h(
      "td",
      { title: member.client_id },
      hasHues(model.state) && ownerBadge(member),
      ` ${member.label}`,
    ),
    h("td", { class: "num" }, String(columns.length)),
    h(
      "td",
      { class: "wrap" },
      columns.length ? ranges(columns) : word("idle", member.idle),
    ),
    h("td", { class: "num" }, known(member.rate_out, rate, "first_sample")),
    h(
      "td",
      { class: "num" },
      known(member.lag ?? sumOf(columns, "lag"), count, "not_asked"),
    ),
  );
}

function nobodyRow(model) {
  const n = model.unowned.length;
  const { text, known: sure } = nobodyText(model);
  return h(
    "tr",
    { class: n ? "crit" : "dim" },
    h("td", {}, ui("no_owner")),
    h("td", { class: "num" }, sure ? String(n) : "—"),
    h("td", { class: "wrap" }, n ? ranges(model.unowned) : text),
    h("td", { class: "num" }, ""),
    h(
      "td",
      { class: "num" },
      n ? known(sumOf(model.unowned, "lag"), count, "not_asked") : "",
    ),
  );
}

/** Queues as runs: broker-a 0-5, broker-b 6. */
export function ranges(columns) {
  const runs = [];
  for (const { queue } of columns) {
    const last = runs.at(-1);
    const next = last && last.topic === queue.topic && last.broker === queue.broker;
    if (next && last.to + 1 === queue.queue_id) last.to = queue.queue_id;
    else
      runs.push({
        topic: queue.topic,
        broker: queue.broker,
        from: queue.queue_id,
        to: queue.queue_id,
      });
  }
  return runs
    .map(({ broker, from, to }) => `${broker} ${from === to ? from : `${from}-${to}`}`)
    .join(", ");
}
