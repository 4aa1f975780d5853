/**
 * The order of the table of queues: worst first, or by one of its columns. Text is
 * compared naturally (q2 before q10), and what is not known comes last either way.
 */

import { membersById } from "./document.js";
import { holdersOf, lastOf, shown } from "./standing.js";
import { drain, inHand, worstFirst } from "./status.js";

/** The columns by which one can sort; those that `falls` begin with the largest. */
export const SORTS = {
  queue: { value: (queue) => `${queue.topic} ${queue.broker} ${queue.queue_id}` },
  owner: { value: (queue, members) => ownerName(queue, members) },
  lag: { value: (queue) => shown(queue, "lag"), falls: true },
  oldest: { value: (queue) => queue.lag_ms, falls: true },
  rate_in: { value: (queue) => queue.rate_in, falls: true },
  rate_out: { value: (queue) => queue.rate_out, falls: true },
  in_hand: { value: inHand, falls: true },
  drains: { value: drainTime, falls: true },
  moved: { value: (queue) => queue.moved_at, falls: true },
};

const NATURAL = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** The order that an address names; "" (worst first) for what it cannot mean. */
export function sortOf(text) {
  return Object.hasOwn(SORTS, text.replace(/^-/, "")) ? text : "";
}

/** The order after a click on a column's heading: a second click reverses it. */
export function turned(sort, column) {
  if (!Object.hasOwn(SORTS, column)) return "";
  const first = SORTS[column].falls ? `-${column}` : column;
  if (sort.replace(/^-/, "") !== column) return first;
  return sort.startsWith("-") ? column : `-${column}`;
}

/** The queues of a document in that order. */
export function sorted(state, sort) {
  const worst = worstFirst(state);
  const { value } = SORTS[sort.replace(/^-/, "")] ?? {};
  if (!value) return worst;
  const members = membersById(state);
  const sign = sort.startsWith("-") ? -1 : 1;
  const known = worst.map((queue) => ({ queue, at: value(queue, members) }));
  const isKnown = ({ at }) => at !== null && at !== undefined;
  return [
    ...known.filter(isKnown).sort((a, b) => sign * compare(a.at, b.at)),
    ...known.filter((each) => !isKnown(each)),
  ].map(({ queue }) => queue);
}

function compare(a, b) {
  return typeof a === "string" ? NATURAL.compare(a, b) : a - b;
}

function ownerName(queue, members) {
  const [owner] = holdersOf(queue).owners;
  return owner === undefined ? null : (members.get(owner)?.label ?? owner);
}

/** Milliseconds until the lag is gone; a lag that never goes is the longest. */
function drainTime(queue) {
  if (lastOf(queue)) return null;
  const { kind, ms } = drain(queue);
  return { now: 0, span: ms, steady: Number.MAX_SAFE_INTEGER, never: Infinity }[kind];
}
