/** The packed form, for narrow places: each member with its own queues under it. */

import { ownerBadge } from "../groups/cells.js";
import { hasHues } from "../groups/document.js";
import { h, icon } from "../frame/dom.js";
import { compact } from "../frame/format.js";
import { ui, word } from "../frame/words.js";
import { rowSum } from "./model.js";
import { levelOf } from "./scale.js";
import {
  cellNumber,
  nobodyText,
  queuesText,
  sumText,
  underName,
} from "./text.js";

export function drawPacked(model, { measure }) {
  const brokers = shortBrokers(model);
  return h(
    "div",
    { class: "packed" },
    ...model.rows.map((row) => memberCard(row, model, brokers, measure)),
    nobodyCard(model, brokers, measure),
  );
}

function memberCard({ member, columns }, model, brokers, measure) {
  const why = word("idle", member.idle);
  return h(
    "section",
    { class: `packed-card slot-${member.slot}` },
    h(
      "div",
      { class: "packed-head" },
      hasHues(model.state) && ownerBadge(member),
      h("strong", { title: member.client_id, class: "packed-name" }, member.label),
      h(
        "span",
        { class: member.missing_since ? "warn" : "dim" },
        underName(member, columns.length),
      ),
      h("span", { class: "grow" }),
      lagOf({ member, columns }),
    ),
    why && !columns.length
      ? h("p", { class: "dim small" }, icon("idle"), ` ${why}`)
      : h(
          "div",
          { class: "packed-cells" },
          ...columns.map((c) => cell(c, brokers, model, measure)),
        ),
  );
}

function lagOf(row) {
  const text = sumText(rowSum(row, "lag"), compact);
  return h("span", { class: "ink" }, `${ui("lag")} `, h("strong", {}, text));
}

function nobodyCard(model, brokers, measure) {
  const n = model.unowned.length;
  const { text, known } = nobodyText(model);
  return h(
    "section",
    { class: "packed-card" },
    h(
      "div",
      { class: n ? "packed-head crit" : "packed-head dim" },
      icon(n ? "crit" : known ? "ok" : "unk"),
      h("strong", {}, ui("no_owner")),
      h("span", { class: "dim" }, n ? queuesText(n) : text),
      h("span", { class: "grow" }),
      n ? lagOf({ member: null, columns: model.unowned }) : null,
    ),
    n
      ? h(
          "div",
          { class: "packed-cells" },
          ...model.unowned.map((c) => cell(c, brokers, model, measure)),
        )
      : null,
  );
}

function cell(column, brokers, model, measure) {
  const { queue } = column;
  const level = levelOf(queue, measure);
  const marks = [
    column.last && "is-old",
    column.moved && "is-moved",
    column.unowned && "is-none",
    column.twice && "is-twice",
  ];
  const css = ["packed-cell", `level-${level ?? "unknown"}`, ...marks]
    .filter(Boolean)
    .join(" ");
  return h(
    "div",
    { class: css, "data-key": column.key },
    h("span", {}, `${brokers.get(queue.broker)}/${queue.queue_id} `),
    level === null || level > 3 || column.unowned
      ? h("b", {}, cellNumber(queue, measure))
      : null,
  );
}

/** The shortest tails of broker names that still differ: hz1@broker-a becomes a. */
function shortBrokers({ groups }) {
  const names = [...new Set(groups.map(({ broker }) => broker))];
  let length = 1;
  const tail = (name) => name.slice(-length);
  while (length < 6 && new Set(names.map(tail)).size < names.length) length += 1;
  const differ = new Set(names.map(tail)).size === names.length;
  return new Map(names.map((name, at) => [name, differ ? tail(name) : String(at + 1)]));
}
