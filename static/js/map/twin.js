/** The map as a table: the same facts for screen readers, for copying and for reading. */

import { known, ownerBadge } from "../groups/cells.js";
import { hasHues } from "../groups/document.js";
import { h } from "../frame/dom.js";
import { clock, count, rate } from "../frame/format.js";
import { reasonOf } from "../groups/status.js";
import { plural, ui, word } from "../frame/words.js";
import { lastLagOf, oldestOf, rowSum } from "./model.js";
import { nobodyText, sumText, underName } from "./text.js";

export function drawTwin(model) {
  const heads = ["member", "queues", "queue_names", "messages_per_second", "lag"];
  return h(
    "div",
    { class: "scroll-x", tabindex: "0" },
    h(
      "table",
      { class: "twin" },
      h("caption", { class: "unseen" }, mapLabel(model)),
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

/** The map in a sentence: how much there is, and how much of it is not fresh. */
export function mapLabel({ columns, rows, unowned }) {
  const queues = plural("n_queues", columns.length);
  const label = plural("map_label", rows.length, { queues, unowned: unowned.length });
  const n = columns.filter(({ last }) => last).length;
  if (!n) return label;
  const time = clock(oldestOf(columns));
  return `${label}; ${plural("map_label_old", n, { time })}`;
}

const numeric = (key) => (["member", "queue_names"].includes(key) ? "" : "num");

function memberRow({ member, columns }, model) {
  const why = word("idle", member.idle);
  return h(
    "tr",
    {},
    h(
      "td",
      { title: member.client_id },
      hasHues(model.state) && ownerBadge(member),
      ` ${member.label}`,
      member.missing_since && second(underName(member, columns.length)),
    ),
    h("td", { class: "num" }, String(columns.length)),
    h("td", { class: "wrap" }, ...(columns.length ? queuesOf(columns) : [why])),
    sumCell({ member, columns }, "rate_out", rate, "first_sample"),
    lagCell({ member, columns }),
  );
}

function second(text) {
  return h("span", { class: "second dim" }, text);
}

/** The sum of fresh values. */
function sumCell(row, field, write, reason) {
  const sum = rowSum(row, field);
  const old = row.columns.find(({ last }) => last);
  const why = old ? reasonOf(old.queue, field) : reason;
  const value = sum.value === null ? known(null, write, why) : sumText(sum, write);
  return h("td", { class: "num" }, value);
}

/** The lag; last known lag is shown beside the sum. */
function lagCell(row) {
  const cell = sumCell(row, "lag", count, "not_asked");
  const old = lastLagOf(row.columns);
  if (old === null) return cell;
  const time = clock(oldestOf(row.columns));
  cell.append(second(`${count(old)} ${ui("as_of", { time })}`));
  return cell;
}

function nobodyRow(model) {
  const n = model.unowned.length;
  const nobody = { member: null, columns: model.unowned };
  const { text, known: sure } = nobodyText(model);
  return h(
    "tr",
    { class: n ? "crit" : "dim" },
    h("td", {}, ui("no_owner")),
    h("td", { class: "num" }, sure ? String(n) : "—"),
    h("td", { class: "wrap" }, ...(n ? queuesOf(model.unowned) : [text])),
    h("td", { class: "num" }, ""),
    n ? lagCell(nobody) : h("td", { class: "num" }, ""),
  );
}

/** Queues as runs: broker-a 0-5, broker-b 6. */
export function ranges(columns) {
  const runs = [];
  for (const { queue } of columns) {
    const { topic, broker, queue_id: id } = queue;
    const run = runs.at(-1);
    const same = run?.topic === topic && run.broker === broker;
    if (same && run.to + 1 === id) run.to = id;
    else runs.push({ topic, broker, from: id, to: id });
  }
  return runs
    .map(({ broker, from, to }) => `${broker} ${from === to ? from : `${from}-${to}`}`)
    .join(", ");
}

/** The fresh queues of a row, and under them those that show an old value. */
function queuesOf(columns) {
  const old = columns.filter(({ last }) => last);
  const text = ranges(columns.filter(({ last }) => !last));
  if (!old.length) return [text];
  const time = clock(oldestOf(old));
  return [text, second(`${ui("as_of", { time })}: ${ranges(old)}`)];
}
