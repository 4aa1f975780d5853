/**
 * The map's model of a group's document: rows are members in the order in which
 * RocketMQ sorts them, columns are queues by topic, broker and id.
 */

import { serverNow } from "../frame/clock.js";
import { sortedMembers } from "../groups/members.js";
import { holdersOf, lastOf, standingOf } from "../groups/standing.js";
import { isTwice, isUnowned, queueKey, queueOrder } from "../groups/status.js";

const MOVED_MS = 5 * 60 * 1000;
/** A sweep sees a new epoch up to a second after the moves that it brought. */
const SEEN_LATE_MS = 1000;

/**
 * @param {any} state the document
 * @param {{members?: any[], queues?: any[]}} [part] only these, for one block
 */
export function buildModel(state, part = {}) {
  const members = part.members ?? sortedMembers(state).map(labelled);
  const queues = [...(part.queues ?? state.queues)].sort(queueOrder);
  const index = rowsById(members);
  const columns = queues.map((queue) => column(state, queue, index));
  return {
    state,
    rows: members.map((member, row) => ({
      member,
      columns: columns.filter((c) => c.rows.includes(row)),
    })),
    columns,
    groups: brokerGroups(columns),
    unowned: columns.filter((c) => c.unowned),
    topics: new Set(queues.map((queue) => queue.topic)).size,
    troubles: new Map(troublesOf(state).map((trouble) => [trouble.name, trouble])),
  };
}

function labelled(member) {
  const { connection: n, connections: all, label } = member;
  return all > 1 ? { ...member, label: `${label} (${n}/${all})` } : member;
}

/** Connections with one client id have separate rows; what one holds, all hold. */
function rowsById(members) {
  const index = new Map();
  members.forEach(({ client_id: id }, row) =>
    index.set(id, [...(index.get(id) ?? []), row]),
  );
  return index;
}

/** A scenario of what-if has no brokers. */
function troublesOf(state) {
  return state.brokers ? standingOf(state).troubles : [];
}

function column(state, queue, index) {
  const { owners, old } = holdersOf(queue);
  const rows = [...new Set(owners)].flatMap((id) => index.get(id) ?? []);
  const expected = index.get(queue.expected)?.[0];
  return {
    key: queueKey(queue),
    queue,
    last: lastOf(queue),
    heldBefore: old,
    rows,
    unowned: isUnowned(state, queue) || state.kind === "offline",
    twice: isTwice(state, queue),
    ghost: expected !== undefined && !rows.includes(expected) ? expected : null,
    moved: isMoved(state, queue),
  };
}

/** True for five minutes after a rebalance moved it, or until the next epoch. */
function isMoved({ epoch }, { moved_at: movedAt }) {
  if (movedAt === null || serverNow() - movedAt > MOVED_MS) return false;
  return !epoch || movedAt >= epoch.began_at - SEEN_LATE_MS;
}

/** Runs of columns on one broker, separated by gaps. */
function brokerGroups(columns) {
  const groups = [];
  columns.forEach(({ queue }, at) => {
    const last = groups.at(-1);
    if (last && last.topic === queue.topic && last.broker === queue.broker)
      last.to = at;
    else groups.push({ topic: queue.topic, broker: queue.broker, from: at, to: at });
  });
  return groups;
}

/** Whether a sum over columns leaves messages out; an empty queue hides none. */
export function isPartial(columns, field) {
  const hides = ({ max, min }) => max == null || min == null || max > min;
  return columns.some(
    ({ queue }) => (queue[field] ?? null) === null && (field !== "lag" || hides(queue)),
  );
}

/** A sum of a row: of fresh values, and whether something is left out of it. */
export function rowSum({ member, columns }, field) {
  // A member's own sum may leave out queues that it held before.
  const told = columns.some(({ last }) => last) ? null : member?.[field];
  return {
    value: told ?? sumOf(columns, field),
    partial: isPartial(columns, field),
  };
}

/** The last known lag of queues; it is shown beside the sum, never in it. */
export function lastLagOf(columns) {
  const known = columns
    .map(({ queue, last }) => (queue.lag === null ? (last?.lag ?? null) : null))
    .filter((value) => value !== null);
  return known.length ? known.reduce((a, b) => a + b, 0) : null;
}

/** The oldest moment that cells show; null if all are fresh. */
export function oldestOf(columns) {
  const times = columns.filter(({ last }) => last).map(({ last }) => last.at);
  return times.length ? Math.min(...times) : null;
}

/** Sum of a field over columns; null when none of them is known. */
export function sumOf(columns, field) {
  const known = knownOf(columns, field);
  return known.length ? known.reduce((a, b) => a + b, 0) : null;
}

/** Largest value of a field over columns; null when none is known. */
export function worstOf(columns, field) {
  const known = knownOf(columns, field);
  return known.length ? Math.max(...known) : null;
}

/** The known values of a field; one that a document lacks counts as null. */
function knownOf(columns, field) {
  return columns
    .map(({ queue }) => queue[field] ?? null)
    .filter((value) => value !== null);
}
