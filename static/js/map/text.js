/** Words and short names that several forms of the map share. */

import { clock, compact, count, duration, rate } from "../frame/format.js";
import { queueName } from "../groups/queue_rows.js";
import { lastOf, shown } from "../groups/standing.js";
import { plural, ui, word } from "../frame/words.js";

/** Cut in the middle and keep the tail, where names differ. */
export function cutMiddle(text, most) {
  if (text.length <= most) return text;
  const tail = Math.ceil((most - 1) * 0.6);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(-tail)}`;
}

/** The text in a large cell. */
export function cellNumber(queue, measure) {
  const value = shown(queue, { lag: "lag", rate: "rate_in", age: "lag_ms" }[measure]);
  if (value === null) return "—";
  if (measure === "lag") return compact(value);
  if (measure === "rate") return value < 10 ? rate(value) : compact(value);
  return shortAge(value);
}

/** An age in at most three characters: 42s, 3m, 9h */
function shortAge(value) {
  const seconds = Math.floor(value / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400
    ? `${Math.floor(seconds / 3600)}h`
    : `${Math.floor(seconds / 86_400)}d`;
}

/** One cell in a sentence, for the announcement while arrows move. */
export function cellSentence(column, model) {
  const { queue } = column;
  const owners = column.rows.map((row) => model.rows[row].member.label).join(", ");
  const value = shown(queue, "lag");
  const lag =
    value === null ? word("unknown", queue.unknown.lag ?? "not_asked") : count(value);
  const parts = [queueName(queue, model.topics > 1)];
  parts.push(column.unowned ? ui("no_owner") : owners || ui("owner_unknown"));
  parts.push(`${ui("lag")} ${lag}`);
  const last = lastOf(queue);
  if (last) parts.push(ui("as_of", { time: clock(last.at) }));
  if (queue.lag_ms) parts.push(`${ui("oldest")} ${duration(queue.lag_ms)}`);
  return parts.join(" · ");
}

/** The text of the row of queues without an owner, and whether it is a known fact. */
export function nobodyText({ state, columns, unowned }) {
  if (unowned.length) return { text: plural("queues_waiting", unowned.length), known: true };
  if (columns.every(({ rows }) => rows.length)) return everyQueueHeld(columns);
  const shared = state.kind === "shared_pop" || state.kind === "assigned_by_hand";
  return {
    text: shared ? word("kind", state.kind) : ui("owner_unknown"),
    known: false,
  };
}

function everyQueueHeld(columns) {
  const before = columns.filter(({ heldBefore }) => heldBefore);
  if (!before.length) return { text: ui("queues_none"), known: true };
  const time = clock(Math.min(...before.map(({ last }) => last.at)));
  return { text: ui("queues_none_old", { time }), known: false };
}

/** A sum of known values, marked ≥ if something is left out of it. */
export function sumText({ value, partial }, write) {
  if (value === null) return "—";
  return (partial ? "≥ " : "") + write(value);
}

/** The text under a member's name: its queues, or since when it has been missing. */
export function underName({ missing_since: since }, queues) {
  if (since) return ui("missing_since", { time: clock(since) });
  return queuesText(queues);
}

export function queuesText(n) {
  return plural("n_queues", n);
}
