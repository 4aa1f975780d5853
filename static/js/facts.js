/** What is known of a group, and how: epoch, last change, owners, subscriptions. */

import { serverNow } from "./clock.js";
import { h, icon } from "./dom.js";
import { clock, count, duration } from "./format.js";
import { ui, word } from "./words.js";

const CONSUMES = { CONSUME_PASSIVELY: "push", CONSUME_ACTIVELY: "pull" };

export class Facts {
  constructor(list) {
    this.list = list;
  }

  draw(state) {
    const pairs = facts(state).map(([key, value]) =>
      h("div", {}, h("dt", {}, ui(key)), h("dd", {}, value)),
    );
    const fresh = h("dl", {}, ...pairs);
    if (fresh.innerHTML !== this.list.innerHTML)
      this.list.replaceChildren(...fresh.childNodes);
  }
}

function facts(state) {
  return [
    ["epoch", epoch(state.epoch)],
    ["last_change", lastChange(state.last_change)],
    ["owners", owners(state)],
    ["strategy", strategy(state.strategy)],
    ["consumes", consumes(state)],
    ["subscribes", subscriptions(state)],
    ["retry_lag", state.totals.retry_lag ? count(state.totals.retry_lag) : null],
    ["brokers", h("ul", {}, ...state.brokers.map(broker))],
  ].filter(([, value]) => value);
}

function epoch(mark) {
  if (!mark) return null;
  const { number, began_at: began } = mark;
  const span = duration(Math.floor((serverNow() - began) / 1000) * 1000);
  return ui("epoch_since", { number, time: clock(began), span });
}

function lastChange(change) {
  return change
    ? `${clock(change.at)} ${word("change", change.text_key, change.params)}`
    : null;
}

function owners({ kind, queues, members, totals }) {
  if (kind !== "owned") return word("kind", kind);
  const sources = new Set(queues.map((queue) => queue.owner_source));
  if (sources.has("reported")) {
    return ui("owners_reported", {
      n: totals.reporting ?? members.length,
      all: members.length,
    });
  }
  return sources.has("inferred") ? ui("owners_inferred") : ui("owners_assumed");
}

function strategy({ name, source }) {
  return name ? `${name}, ${ui(source ?? "assumed")}` : null;
}

function consumes({ consume_type: type, orderly }) {
  const how = CONSUMES[type];
  const order = orderly === null ? null : ui(orderly ? "orderly" : "concurrently");
  return [how && ui(how), order].filter(Boolean).join(", ");
}

/** Every different subscription; more than one per topic is worth a look. */
function subscriptions({ members }) {
  const all = members.flatMap((member) => member.subscriptions);
  const lines = [
    ...new Set(all.map(({ topic, expression }) => `${topic} ${expression}`)),
  ].sort();
  return lines.length ? h("ul", {}, ...lines.map((line) => h("li", {}, line))) : null;
}

function broker({ name, answered }) {
  const css = answered ? "ok" : "warn";
  const text = ui(answered ? "broker_answered" : "broker_silent", { name });
  return h(
    "li",
    {},
    h("span", { class: css }, icon(answered ? "ok" : "warn", "icon-small")),
    ` ${text}`,
  );
}
