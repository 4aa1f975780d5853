/** The status of a queue, in one word. */

import { lastOf, shown } from "./standing.js";

const LAG_FLOOR = 100;
const RATE_FLOOR = 1;
const RATE_MARGIN = 0.05;
const WORST = { crit: 0, warn: 1, unk: 2, ok: 3 };
/** Kinds of groups whose progress the broker does not know. */
export const UNMEASURED = ["broadcasting", "mixed"];
const OLD = 4;
const SPECIAL_ICONS = { falling_behind: "behind", shared: "shared", idle: "idle" };

/** @returns {{level: string, word: string}} */
export function queueStatus(state, queue) {
  if (UNMEASURED.includes(state.kind)) return { level: "unk", word: "not_measured" };
  if (lastOf(queue)) return { level: "unk", word: "stale" };
  if (queue.lag === null) return { level: "unk", word: "unknown" };
  if (state.kind === "offline") return { level: "unk", word: "no_members" };
  if (isUnowned(state, queue)) return { level: "crit", word: "no_owner" };
  if (isTwice(state, queue)) return { level: "crit", word: "owned_twice" };
  return pace(queue);
}

/** True if a queue is known to have no owner: one not yet asked for is not missing. */
export function isUnowned(state, queue) {
  return state.kind === "owned" && Boolean(queue.owner_source) && !queue.owners.length;
}

export function isTwice(state, queue) {
  return state.kind === "owned" && queue.owners.length > 1;
}

/** The key of the reason why a value of a queue is not known now. */
export function reasonOf(queue, column) {
  const { unknown } = queue;
  if (column in unknown) return unknown[column];
  if (lastOf(queue)) return unknown.lag ?? unknown.max;
  if (column === "pulled") return unknown.committed;
  return column.startsWith("rate_") ? "first_sample" : undefined;
}

/**
 * When the lag will be gone: now, after a span, never, or it neither grows nor shrinks.
 * @returns {{kind: string, ms?: number, reason?: string}}
 */
export function drain({ lag, rate_in: rateIn, rate_out: rateOut, owners, unknown }) {
  if (lag === null) return { kind: "unknown", reason: unknown.lag };
  if (lag < LAG_FLOOR) return { kind: "now" };
  if (rateIn === null || rateOut === null)
    return { kind: "unknown", reason: "first_sample" };
  if (!rateOut) {
    return owners.length ? { kind: "never" } : { kind: "unknown", reason: "no_rate" };
  }
  const growth = rateIn - rateOut;
  if (Math.abs(growth) <= Math.max(RATE_FLOOR, rateIn * RATE_MARGIN))
    return { kind: "steady" };
  return growth > 0 ? { kind: "never" } : { kind: "span", ms: (lag / -growth) * 1000 };
}

/** Messages pulled and not yet committed. */
export function inHand({ pulled, committed }) {
  return pulled === null || committed === null ? null : Math.max(0, pulled - committed);
}

export function stateIcon(level, word) {
  return SPECIAL_ICONS[word] ?? level;
}

/**
 * Queues by state, then by lag, with small lags counting as none (or rows would jump),
 * then as RocketMQ sorts; those that show an old value come last.
 */
export function worstFirst(state) {
  const rank = new Map(
    state.queues.map((q) => [
      q,
      lastOf(q) ? OLD : WORST[queueStatus(state, q).level],
    ]),
  );
  const lag = (queue) => {
    const value = shown(queue, "lag");
    return value >= LAG_FLOOR ? value : 0;
  };
  return [...state.queues].sort(
    (a, b) => rank.get(a) - rank.get(b) || lag(b) - lag(a) || queueOrder(a, b),
  );
}

/** Compare topic, broker and queue id, strings by code unit as Java compares them. */
export function queueOrder(a, b) {
  return (
    compareText(a.topic, b.topic) ||
    compareText(a.broker, b.broker) ||
    a.queue_id - b.queue_id
  );
}

export function compareText(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export function queueKey(queue) {
  return `${queue.topic}|${queue.broker}|${queue.queue_id}`;
}

function pace({ lag, rate_in: rateIn, rate_out: rateOut }) {
  if (lag < LAG_FLOOR || rateIn === null || rateOut === null) {
    return { level: "ok", word: "healthy" };
  }
  const margin = Math.max(RATE_FLOOR, rateIn * RATE_MARGIN);
  if (rateOut > rateIn + margin) return { level: "ok", word: "catching_up" };
  if (rateOut < rateIn - margin) return { level: "warn", word: "falling_behind" };
  return { level: "ok", word: "healthy" };
}
