/**
 * The brokers of a group and the name servers, as facts in words: who answered, who does
 * not, since when, and when members are likely to follow.
 */

import { serverNow } from "../frame/clock.js";
import { h, icon } from "../frame/dom.js";
import { clock, duration } from "../frame/format.js";
import { brokerState, standingOf } from "./standing.js";
import { plural, ui } from "../frame/words.js";

/** Brokers that answered are named one by one up to this number, then counted. */
const ANSWERED_NAMED = 3;
/** A client asks for routes every 30 s, and rebalances every 20 s. */
const REACTION_MS = 50_000;

/** @param {boolean} operator whether the reader may say that a broker is gone for good */
export function brokerFacts(state, operator) {
  const { troubles } = standingOf(state);
  const goneUrl = (name) => operator && urlOf(state, name);
  const well = state.brokers.filter((each) => brokerState(each) === "answered");
  const named = well.length > ANSWERED_NAMED ? [] : well;
  return h(
    "ul",
    { class: "reach" },
    ...troubles.map((trouble) => troubled(trouble, goneUrl(trouble.name))),
    ...named.map(answered),
    well.length > named.length && item("ok", othersAnswered(well.length, troubles)),
  );
}

function othersAnswered(n, troubles) {
  return troubles.length
    ? plural("others_answered", n)
    : ui("name_servers_answered", { n, all: n });
}

function urlOf({ cluster, group }, broker) {
  const path = [cluster, "brokers", broker].map(encodeURIComponent).join("/");
  return `/clusters/${path}/gone/?group=${encodeURIComponent(group)}`;
}

function troubled({ name, state, since, address, error }, goneUrl) {
  const missing = state === "missing";
  const key = missing ? "unlisted_since" : "since_time";
  const time = since === null ? null : ui(key, { time: clock(since) });
  // Most errors begin with the address that they are about.
  const where = address && error?.includes(address) ? error : [address, error];
  const told = [time, ...[where].flat()].filter(Boolean).join(" · ");
  const gone = h("a", { class: "second", href: goneUrl }, ui("for_good"));
  return item("warn", ui(`broker_${state}`, { name }), told, missing && goneUrl && gone);
}

function answered(broker) {
  const { name, address, age_ms: age } = broker;
  const ago = age === null ? null : ui("ago", { span: duration(age) });
  const told = [address, ago].filter(Boolean).join(" · ");
  return item("ok", ui("broker_answered", { name }), told);
}

function item(level, text, told, more) {
  return h(
    "li",
    {},
    h("span", { class: `state ${level}` }, icon(level, "icon-small"), text),
    told && h("span", { class: "second dim" }, told),
    more,
  );
}

/** How many name servers answered, and which of them do not list a broker. */
export function nameServerFacts(servers) {
  if (!servers?.length) return null;
  const heard = servers.filter(({ answered: yes }) => yes);
  const names = [...new Set(heard.flatMap(({ unlisted }) => unlisted))].sort();
  const count = { n: heard.length, all: servers.length };
  return h(
    "ul",
    {},
    h("li", {}, ui("name_servers_answered", count)),
    ...servers.filter(({ answered: yes }) => !yes).map(silent),
    ...names.map((name) => {
      const n = heard.filter(({ unlisted }) => unlisted.includes(name)).length;
      return h("li", {}, ui("unlisted_by", { name, n, all: servers.length }));
    }),
  );
}

function silent({ address, error, since }) {
  const text = since
    ? ui("name_server_silent_since", { address, time: clock(since) })
    : ui("name_server_silent", { address });
  return h(
    "li",
    {},
    h("span", { class: "warn" }, text),
    error && h("span", { class: "second dim" }, error),
  );
}

/** When members are likely to have dropped the queues of brokers that are unlisted. */
export function nextFacts(state) {
  const missing = standingOf(state).troubles.filter(
    (trouble) => trouble.state === "missing" && trouble.since !== null,
  );
  if (!missing.length || !state.members.length) return null;
  const by = Math.max(...missing.map(({ since }) => since)) + REACTION_MS;
  // What was expected long ago has happened, or the map shows that it has not.
  if (serverNow() > by + REACTION_MS) return null;
  const names = missing.map(({ name }) => name);
  return ui("next_reaction", { names, time: clock(by) });
}
