/** What is known of a group, and how: epoch, last change, owners, subscriptions. */

import { serverNow } from "../frame/clock.js";
import { find, h } from "../frame/dom.js";
import { clock, count, duration } from "../frame/format.js";
import { morph } from "../frame/morph.js";
import { brokerFacts, nameServerFacts, nextFacts } from "./reach.js";
import { holdersOf, lastOf, standingOf } from "./standing.js";
import { explain } from "../frame/terms.js";
import { plural, ui, word } from "../frame/words.js";

const CONSUMES = { CONSUME_PASSIVELY: "push", CONSUME_ACTIVELY: "pull" };

export class Facts {
  /** @param {Element} list @param {any} page the server's words beside the document */
  constructor(list, page) {
    this.list = list;
    this.page = page;
    this.fresh = find("[data-facts-fresh]");
  }

  draw(state) {
    const pairs = facts(state, this.page).map(([key, value]) =>
      h(
        "div",
        { "data-key": key },
        h("dt", {}, ui(key), key === "epoch" ? explain("epoch") : null),
        h("dd", {}, value, isReported(key, state) ? explain("reported") : null),
      ),
    );
    morph(this.list, h("dl", { class: "facts", "data-facts": true }, ...pairs));
    const { unseen, fresh, queues } = standingOf(state);
    const text = unseen ? plural("queues_fresh", queues, { n: fresh, all: queues }) : "";
    if (this.fresh.textContent !== text) this.fresh.textContent = text;
  }
}

function facts(state, { operator, nameservers }) {
  return [
    ["brokers", brokerFacts(state, operator)],
    ["name_servers", nameServerFacts(state.nameservers ?? nameservers)],
    ["next", nextFacts(state)],
    ["epoch", epoch(state)],
    ["last_change", lastChange(state.last_change)],
    ["owners", owners(state)],
    ["strategy", strategy(state.strategy)],
    ["consumes", consumes(state)],
    ["subscribes", subscriptions(state)],
    ["retry_lag", state.totals.retry_lag ? count(state.totals.retry_lag) : null],
  ].filter(([, value]) => value);
}

function epoch({ epoch: mark, held }) {
  if (!mark) return null;
  const { number, began_at: began } = mark;
  if (held) return ui("epoch_held", { number, time: clock(began) });
  const span = duration(Math.floor((serverNow() - began) / 1000) * 1000);
  return ui("epoch_since", { number, time: clock(began), span });
}

function lastChange(change) {
  return change
    ? `${clock(change.at)} ${word("change", change.text_key, change.params)}`
    : null;
}

function owners(state) {
  const { kind, queues } = state;
  if (kind !== "owned") return word("kind", kind);
  const old = queues.filter((queue) => holdersOf(queue).old).map((q) => lastOf(q).at);
  const told = old.length < queues.length ? ownersNow(state) : null;
  const before =
    old.length &&
    plural("owners_old", old.length, { time: clock(Math.min(...old)) });
  return [told, before].filter(Boolean).join("; ");
}

function ownersNow({ queues, members, totals }) {
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

/** Whether the word "reported" stands in the fact. */
function isReported(key, { strategy: { name, source } }) {
  return key === "strategy" && name && source === "reported";
}

function consumes({ consume_type: type, orderly }) {
  const how = CONSUMES[type];
  const order = orderly === null ? null : ui(orderly ? "orderly" : "concurrently");
  return [how && ui(how), order].filter(Boolean).join(", ");
}

/** All different subscriptions; more than one per topic deserves attention. */
function subscriptions({ members }) {
  const all = members.flatMap((member) => member.subscriptions);
  const lines = [
    ...new Set(all.map(({ topic, expression }) => `${topic} ${expression}`)),
  ].sort();
  return lines.length ? h("ul", {}, ...lines.map((line) => h("li", {}, line))) : null;
}
